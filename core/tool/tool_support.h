// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandbox/file_locks.h"
#include "core/tool/sandbox_tools.h"

#include <QHash>
#include <QSet>

namespace paddock::tools {

// What the sandbox tools share; inside the room only.

struct Settings {
    SandboxToolOptions options;
    std::shared_ptr<FileLocks> locks;
};
using SettingsPtr = std::shared_ptr<const Settings>;

ToolPtr makeBashTool(SettingsPtr settings);
std::vector<ToolPtr> makeFileTools(const SettingsPtr &settings);
std::vector<ToolPtr> makeSearchTools(const SettingsPtr &settings);
ToolPtr makePresentFilesTool();

/// A tool with a fixed specification and settings.
class SandboxTool : public Tool
{
public:
    SandboxTool(SettingsPtr settings, ToolSpec spec) : m_settings(std::move(settings)), m_spec(std::move(spec)) {}
    ToolSpec spec() const override { return m_spec; }

protected:
    const SettingsPtr m_settings;
    const ToolSpec m_spec;
};

/// One parameter of a schema, in order.
struct Parameter {
    const char *name;
    Json schema;
    bool required = true;
};
/// The schema of a tool; `description` stands first, as in every sandbox tool (sandbox.md §2.1).
ToolSpec makeSpec(const QString &name, const QString &description, const std::vector<Parameter> &parameters);

ToolOutcome answer(const ToolCall &call, const QString &text);
/// An outcome with status Error; "Error: " is put in front unless it is there.
ToolOutcome failure(const ToolCall &call, const QString &text);

/// The sandbox of the execution. An Error with the whole text for the model (§2.1), or Cancelled.
Task<Result<SandboxPtr>> acquire(RuntimePtr runtime, std::stop_token stop);

/// Why a file operation failed, whatever backend said so.
enum class Trouble { NotFound, Permission, IsDirectory, NotDirectory, Binary, Special, Other };
/// `wantsDirectory`: the operation works on directories, so a wrong kind means "not a directory".
Trouble troubleOf(const Error &error, bool wantsDirectory);
/// The whole text of Trouble::Special: what the path is instead of a file, e.g. a named pipe.
QString specialFileText(const Error &error, const QString &path);

/// The verdict on skills paths (§1.8), cached for one call.
class SkillGate
{
public:
    explicit SkillGate(const SandboxToolOptions &options) : m_options(options) {}
    /// The text to refuse with, or nothing.
    std::optional<QString> refusal(const QString &path);
    bool isClosed(const QString &path) { return refusal(path).has_value(); }

private:
    const SandboxToolOptions &m_options;
    QHash<QString, bool> m_verdicts;
};

} // namespace paddock::tools
