// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/tool/file_change.h"

#include "core/base/text.h"
#include "core/sandbox/virtual_paths.h"
#include "core/sandbox/workspace_rules.h"

namespace paddock::tools {

Task<FileVersion> readVersion(SandboxPtr sandbox, QString path, std::stop_token stop)
{
    FileVersion version;
    auto bytes = co_await sandbox->readBytes(path, maxHashedFileBytes, stop);
    if (bytes) {
        version.exists = true;
        version.isKnown = true;
        version.content = std::move(*bytes);
    } else {
        version.isKnown = bytes.error().code == ErrorCode::NotFound;
        version.exists = !version.isKnown;
    }
    co_return version;
}

void tellFileChanged(const SandboxToolOptions &options, const RuntimePtr &runtime, const ToolCall &call, const QString &path,
                     const FileWritten &written, const FileVersion &before, const FileVersion &after)
{
    const QString asked = normalizeVirtualPath(path);
    const QString virtualPath = written.realPath.isEmpty() ? asked : written.realPath;
    if (!isUnder(virtualPath, virtualRoot) && !isUnder(asked, virtualRoot))
        return;
    if (before.exists && before.isKnown && after.isKnown && before.content == after.content)
        return;
    FileChanged change;
    change.path = virtualPath;
    if (virtualPath != asked)
        change.via = asked;
    change.owner = runtime->events.agent().value();
    change.certainty = QStringLiteral("tool");
    change.op = before.isKnown && !before.exists ? QStringLiteral("created") : QStringLiteral("modified");
    change.call = call.id;
    if (after.isKnown) {
        change.size = after.content.size();
        if (!isSensitivePath(virtualPath) && !isSensitivePath(asked)) {
            change.sha256 = sha256Hex(after.content);
            if (before.isKnown && before.exists)
                change.beforeSha256 = sha256Hex(before.content);
            if (before.isKnown && !isBinaryContent(virtualPath, after.content) && !isBinaryContent(virtualPath, before.content)) {
                const LineChange lines = countLineChanges(before.content, after.content);
                change.addedLines = lines.added;
                change.removedLines = lines.removed;
            }
        }
    }
    if (options.keepVersion) {
        for (const auto &[hash, version] : {std::pair{change.beforeSha256, &before}, {change.sha256, &after}}) {
            if (!hash.isEmpty() && version->content.size() <= maxVersionBytes && !isBinaryContent(virtualPath, version->content))
                options.keepVersion(hash, version->content);
        }
    }
    runtime->events.emitEvent(change);
}

} // namespace paddock::tools
