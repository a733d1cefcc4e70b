// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandbox/virtual_paths.h"
#include "core/tool/tool.h"

namespace paddock {

inline constexpr qint64 maxImageBytes = 20LL * 1024 * 1024;
inline constexpr QStringView viewImageName = u"view_image";

/// An image of the thread's folders: what it is, and the file it was read from.
struct ViewedImage {
    QString mimeType;
    qint64 size = 0;
    QString hostPath; ///< links resolved; for the record in the state, never for a model
    QByteArray bytes;
};

/// Reads a jpg, png, webp or gif under /mnt/user-data/workspace, uploads or outputs whose first bytes agree with its name,
/// of at most maxImageBytes. Untrusted path and content; the error's text is fit for the model. Blocking: on a pool thread.
Result<ViewedImage> readImage(const QString &path, const ThreadDirs &dirs);
/// The folders of `thread_data`.
ThreadDirs threadDirsOf(const AgentState &state);

/// The `view_image` tool, for models that see: records the image in the channel viewed_images; the ViewImage member of
/// the chain shows it to the model.
ToolPtr makeViewImageTool();

} // namespace paddock
