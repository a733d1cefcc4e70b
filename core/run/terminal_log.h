// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/loop.h"
#include "core/run/run_service.h"

#include <QFile>

#include <memory>
#include <mutex>
#include <vector>

namespace paddock {

/// What one scope's terminal printed, over all its sessions: the newest part in memory for panels that open later, and a
/// log file for the runs of yesterday. Both bounded: the file keeps its head, the memory its tail, and a mark says what was cut.
/// Thread-safe; fed on the gateway loop, read by panels on theirs.
class TerminalLog : public std::enable_shared_from_this<TerminalLog>
{
public:
    static constexpr qsizetype keptBytes = 1024 * 1024;
    static constexpr qint64 fileBytes = 16 * 1024 * 1024;
    static constexpr qsizetype mostWaiting = 8 * 1024 * 1024;

    /// An empty path keeps no file.
    explicit TerminalLog(const QString &path);
    ~TerminalLog();

    void append(const QByteArray &bytes);
    /// A dim line of our own, e.g. that a session was lost.
    void mark(const QString &text);
    /// No more will come; observers are told.
    void end(const QString &reason);
    /// A stream on the calling thread: what is kept, then what comes.
    std::unique_ptr<ShellStream> observe();
    /// A stream over a finished log file: its bytes, or that there is none, then the end.
    static std::unique_ptr<ShellStream> observeFile(const QString &path);

    struct Reader; ///< the shared end of one stream

private:
    void deliver(const QByteArray &bytes);

    std::mutex m_mutex; // guards all below
    QFile m_file;
    qint64 m_fileSize = 0;
    bool m_fileCut = false;
    QByteArray m_kept;
    bool m_ended = false;
    QString m_reason;
    std::vector<std::weak_ptr<Reader>> m_readers;
};

/// "subagent:ab12" as a file name.
QString scopeFileName(const QString &scope);

} // namespace paddock
