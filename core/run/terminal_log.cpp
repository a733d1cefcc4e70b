// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/run/terminal_log.h"

#include "core/base/pool.h"
#include "core/base/run_on.h"

#include <QDir>
#include <QFileInfo>
#include <QPointer>

namespace paddock {

/// Bytes on their way to one stream; a stream that does not keep up loses the middle and is told so.
struct TerminalLog::Reader {
    std::mutex mutex; // guards all below
    QByteArray waiting;
    qint64 skipped = 0;
    bool posted = false;
    bool ended = false;
    QString reason;
    LoopRef loop;
    QPointer<ShellStream> stream; ///< touched on `loop` only

    static void wake(const std::shared_ptr<Reader> &self)
    {
        {
            const std::lock_guard lock(self->mutex);
            if (self->posted)
                return;
            self->posted = true;
        }
        self->loop.post([self] { self->drain(); });
    }

    void push(const QByteArray &bytes)
    {
        const std::lock_guard lock(mutex);
        if (waiting.size() + bytes.size() > mostWaiting)
            skipped += bytes.size();
        else
            waiting += bytes;
    }

    void drain()
    {
        QByteArray bytes;
        bool over = false;
        QString why;
        {
            const std::lock_guard lock(mutex);
            posted = false;
            bytes = std::exchange(waiting, {});
            if (skipped > 0)
                bytes += "\r\n\x1b[2m[" + QByteArray::number(std::exchange(skipped, 0)) + " bytes skipped]\x1b[0m\r\n";
            over = std::exchange(ended, false);
            why = reason;
        }
        if (stream && !bytes.isEmpty())
            Q_EMIT stream->bytes(bytes);
        if (stream && over)
            Q_EMIT stream->ended(why);
    }
};

namespace {

/// Keeps its reader alive as long as somebody listens.
class LogStream : public ShellStream
{
public:
    explicit LogStream(std::shared_ptr<TerminalLog::Reader> reader) : m_reader(std::move(reader)) {}

private:
    std::shared_ptr<TerminalLog::Reader> m_reader;
};

std::pair<std::unique_ptr<ShellStream>, std::shared_ptr<TerminalLog::Reader>> makeStream()
{
    auto reader = std::make_shared<TerminalLog::Reader>();
    reader->loop = LoopRef::current();
    auto stream = std::make_unique<LogStream>(reader);
    reader->stream = stream.get();
    return {std::move(stream), reader};
}

} // namespace

TerminalLog::TerminalLog(const QString &path)
{
    if (path.isEmpty())
        return;
    QDir().mkpath(QFileInfo(path).path());
    m_file.setFileName(path);
    if (!m_file.open(QIODevice::WriteOnly | QIODevice::Append, QFileDevice::ReadOwner | QFileDevice::WriteOwner))
        m_fileCut = true; // the panel still works; there is just no log of it
    m_fileSize = m_file.size();
}

TerminalLog::~TerminalLog() = default;

void TerminalLog::deliver(const QByteArray &bytes)
{
    std::vector<std::shared_ptr<Reader>> readers;
    {
        const std::lock_guard lock(m_mutex);
        m_kept += bytes;
        if (m_kept.size() > 2 * keptBytes)
            m_kept = m_kept.last(keptBytes);
        if (m_file.isOpen() && !m_fileCut) {
            m_file.write(bytes);
            m_file.flush();
            m_fileSize += bytes.size();
            if (m_fileSize > fileBytes) {
                m_fileCut = true;
                m_file.write("\r\n\x1b[2m[the log ends here: it reached its limit]\x1b[0m\r\n");
                m_file.flush();
            }
        }
        std::erase_if(m_readers, [](const auto &r) { return r.expired(); });
        for (const auto &weak : m_readers) {
            if (auto reader = weak.lock()) {
                reader->push(bytes);
                readers.push_back(std::move(reader));
            }
        }
    }
    for (const auto &reader : readers)
        Reader::wake(reader);
}

void TerminalLog::append(const QByteArray &bytes)
{
    deliver(bytes);
}

void TerminalLog::mark(const QString &text)
{
    deliver("\r\n\x1b[2m\xe2\x80\x94 " + text.toUtf8() + " \xe2\x80\x94\x1b[0m\r\n");
}

void TerminalLog::end(const QString &reason)
{
    std::vector<std::shared_ptr<Reader>> readers;
    {
        const std::lock_guard lock(m_mutex);
        if (m_ended)
            return;
        m_ended = true;
        m_reason = reason;
        m_file.close();
        for (const auto &weak : m_readers) {
            if (auto reader = weak.lock())
                readers.push_back(std::move(reader));
        }
    }
    for (const auto &reader : readers) {
        {
            const std::lock_guard lock(reader->mutex);
            reader->ended = true;
            reader->reason = reason;
        }
        Reader::wake(reader);
    }
}

std::unique_ptr<ShellStream> TerminalLog::observe()
{
    auto [stream, reader] = makeStream();
    {
        const std::lock_guard lock(m_mutex);
        reader->waiting = m_kept;
        reader->ended = m_ended;
        reader->reason = m_reason;
        m_readers.push_back(reader);
    }
    Reader::wake(reader); // the caller connects first, then its loop turns
    return std::move(stream);
}

std::unique_ptr<ShellStream> TerminalLog::observeFile(const QString &path)
{
    auto [stream, reader] = makeStream();
    runInPool([path, reader = reader] {
        QFile file(path);
        QByteArray bytes;
        QString reason = QStringLiteral("This run is over.");
        if (file.open(QIODevice::ReadOnly)) {
            if (file.size() > mostWaiting)
                file.seek(file.size() - mostWaiting);
            bytes = file.read(mostWaiting);
        } else {
            reason = QStringLiteral("There is no log of this shell.");
            // Shown where the output would stand: an empty terminal would say that nothing was printed.
            bytes = "\x1b[2mThere is no log of this shell. Old logs are removed when all together pass terminal_logs.max_total_bytes;\r\n"
                    "imported runs and commands of a local sandbox have none.\x1b[0m\r\n";
        }
        {
            const std::lock_guard lock(reader->mutex);
            reader->waiting = bytes;
            reader->ended = true;
            reader->reason = reason;
        }
        Reader::wake(reader);
    });
    return std::move(stream);
}

QString scopeFileName(const QString &scope)
{
    QString name = scope;
    for (QChar &c : name) {
        const bool plain = (c >= u'a' && c <= u'z') || (c >= u'A' && c <= u'Z') || (c >= u'0' && c <= u'9') || c == u'-' || c == u'_';
        if (!plain)
            c = u'_';
    }
    return name + QStringLiteral(".log");
}

} // namespace paddock
