// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"

#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace paddock {

// The virtual path model of sandbox.md §1: pure functions over strings, except resolveUserDataPath, which reads links.
// Errors: PermissionError of the spec is ErrorCode::PermissionDenied, SandboxRuntimeError is FailedPrecondition.

inline constexpr QStringView virtualRoot = u"/mnt/user-data";
inline constexpr QStringView virtualWorkspace = u"/mnt/user-data/workspace";
inline constexpr QStringView virtualUploads = u"/mnt/user-data/uploads";
inline constexpr QStringView virtualOutputs = u"/mnt/user-data/outputs";
inline constexpr QStringView virtualAcp = u"/mnt/acp-workspace";
inline constexpr QStringView defaultSkillsRoot = u"/mnt/skills";

/// The host folders of a thread as translation needs them; an empty one is not known.
struct ThreadDirs {
    QString workspace;
    QString uploads;
    QString outputs;
    bool isEmpty() const { return workspace.isEmpty() && uploads.isEmpty() && outputs.isEmpty(); }
};

/// A configured mount as the access gate sees it.
struct MountRule {
    QString containerPath;
    bool readOnly = false;
};

/// "path equals base or starts with base + '/'".
bool isUnder(QStringView path, QStringView base);
/// Lexical: one leading slash, no empty or "." segments, ".." resolved and never above "/", no trailing slash.
QString normalizeVirtualPath(const QString &path);
/// Any segment is ".." after "\" is read as "/".
bool hasParentSegment(QStringView path);

/// §1.3, replace_virtual_path.
QString replaceVirtualPath(const QString &path, const std::optional<ThreadDirs> &thread);
/// §1.3, replace_virtual_paths_in_command; host folders are quoted as their place in the command asks.
QString replaceVirtualPathsInCommand(const QString &command, const std::optional<ThreadDirs> &thread);

/// §1.4, the gate: void or the error of the first rule that fires.
Result<void> validateLocalToolPath(const QString &path, const std::optional<ThreadDirs> &thread, bool readOnly,
                                   const QString &skillsRoot, const std::vector<MountRule> &mounts);
/// §1.4, the second half: the host path with all links resolved, which lies inside one of the three folders. The paths
/// may change afterwards: whoever opens the result must do so beneath a directory descriptor (beneath.h).
Result<QString> resolveUserDataPath(const QString &path, const ThreadDirs &thread);

/// §1.8: which skill owns a path under the skills root; nullopt for roots and paths elsewhere.
std::optional<QString> skillNameOf(const QString &path, const QString &skillsRoot);
QString disabledSkillText(const QString &name);

} // namespace paddock
