// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandbox/secrets.h"
#include "core/sandbox/truncate.h"
#include "core/tool/tool.h"

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

namespace paddock {

/// Settings of the sandbox tools with the spec's defaults (sandbox.md §2.2, §13). Sizes are code points; 0 turns a cap off.
struct SandboxToolOptions {
    /// False hides `bash` (the table of §3.7); a local sandbox also asks again at each call.
    bool offerBash = true;
    bool offerPresentFiles = true;
    std::chrono::seconds bashTimeout{600};
    qsizetype bashOutputChars = defaultBashOutputChars;
    qsizetype lsOutputChars = defaultLsOutputChars;
    qsizetype readFileChars = defaultReadFileChars;
    /// sandbox.line_truncation; the shipped configuration says true.
    Truncation truncation = Truncation::ByLine;
    std::optional<int> globMaxResults;
    std::optional<int> grepMaxResults;
    QString skillsRoot = QStringLiteral("/mnt/skills");
    /// Whether a skill's files are closed to the agent (§1.8); null: none is. Asked on the agent's loop, at most once per
    /// skill and call; a state that cannot be read must count as disabled.
    std::function<bool(const QString &skill)> isSkillDisabled;
    SecretSources secrets;
    /// Keeps a version of a text file that a tool changed (at most 1 MiB, never a sensitive one) under its hash, for diffs
    /// later. Called on the agent's loop.
    std::function<void(const QString &sha256, const QByteArray &content)> keepVersion;
};

/// bash, ls, read_file, write_file, str_replace, glob, grep and present_files over whatever sandbox an execution holds. They
/// share one set of file locks, so make them once per process or per run.
std::vector<ToolPtr> sandboxTools(const SandboxToolOptions &options);

} // namespace paddock
