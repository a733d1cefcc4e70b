// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/tool/sandbox_tools.h"

namespace paddock::tools {

/// The content of a file before or after a tool changed it.
struct FileVersion {
    bool exists = false;
    bool isKnown = false; ///< false: too large or not readable
    QByteArray content;
};

/// Reads a version; what cannot be read is unknown, which never stops a write.
Task<FileVersion> readVersion(SandboxPtr sandbox, QString path, std::stop_token stop);

/// Emits file.changed with certainty "tool" (design.md §4) for a path under /mnt/user-data; nothing when nothing changed. Text
/// versions are kept first, so that nobody reads a hash without its content. The event names the file that `written` says;
/// the path asked for is told besides when links led from it to there.
void tellFileChanged(const SandboxToolOptions &options, const RuntimePtr &runtime, const ToolCall &call, const QString &path,
                     const FileWritten &written, const FileVersion &before, const FileVersion &after);

} // namespace paddock::tools
