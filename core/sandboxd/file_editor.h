// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandboxd/file_ops.h"

#include <QHash>

#include <mutex>

namespace paddock::sandboxd {

/// str_replace_editor (aio-api.md §4.13) with its undo history. Owner: FileRoutes; any thread, one edit at a time.
class FileEditor
{
public:
    wire::EditorResult run(const wire::EditorRequest &request);

private:
    wire::EditorResult view(const wire::EditorRequest &request);
    wire::EditorResult create(const wire::EditorRequest &request);
    wire::EditorResult replace(const wire::EditorRequest &request);
    wire::EditorResult insert(const wire::EditorRequest &request);
    wire::EditorResult undo(const wire::EditorRequest &request);
    void remember(const QString &path, const QString &before);
    wire::EditorResult store(wire::EditorResult result, const QString &before, const QString &after, const QString &what);

    std::mutex m_mutex;                         ///< guards the history and keeps edits apart
    QHash<QString, QStringList> m_history;      ///< earlier contents by path, newest last
};

} // namespace paddock::sandboxd
