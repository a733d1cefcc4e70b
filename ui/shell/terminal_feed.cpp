// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/shell/terminal_feed.h"

#include <QPointer>

namespace paddock {

namespace {

std::unique_ptr<EventLoop> &parserLoop()
{
    static std::unique_ptr<EventLoop> loop;
    return loop;
}

LoopRef parser()
{
    auto &loop = parserLoop();
    if (!loop)
        loop = std::make_unique<EventLoop>(QStringLiteral("terminal-parser"));
    return loop->ref();
}

} // namespace

QByteArray PromptFilter::filter(const QByteArray &data)
{
    static const QByteArray added("cd /mnt/user-data/workspace; ");
    static const QByteArray prompt("$ ");
    const QByteArray bytes = std::exchange(m_kept, {}) + data;
    const QByteArray whole = m_last + bytes;
    const qsizetype known = m_last.size();
    QByteArray out;
    out.reserve(bytes.size());
    qsizetype from = known;
    for (qsizetype at = whole.indexOf(prompt); at >= 0; at = whole.indexOf(prompt, at + prompt.size())) {
        const qsizetype begin = at + prompt.size();
        if (begin < from)
            continue;
        const QByteArrayView next = QByteArrayView(whole).sliced(begin, std::min(added.size(), whole.size() - begin));
        if (!added.startsWith(next) || next.isEmpty())
            continue;
        out += whole.sliced(from, begin - from);
        from = begin + next.size();
        if (next.size() < added.size()) {
            m_kept = next.toByteArray(); // the rest is still to come
            break;
        }
    }
    out += whole.sliced(from);
    m_last = m_kept.isEmpty() ? whole.last(std::min(prompt.size(), whole.size())) : prompt;
    return out;
}

struct TerminalFeed::Shared {
    std::atomic<qint64> waiting{0};
    std::atomic<qint64> skipped{0};
    std::atomic<bool> told{false};
};

TerminalFeed::TerminalFeed(std::shared_ptr<Terminal> terminal, std::unique_ptr<ShellStream> stream, QObject *parent)
    : QObject(parent), m_terminal(std::move(terminal)), m_stream(std::move(stream)), m_shared(std::make_shared<Shared>())
{
    connect(m_stream.get(), &ShellStream::bytes, this, &TerminalFeed::take);
    connect(m_stream.get(), &ShellStream::ended, this, [this](const QString &reason) {
        feed(m_filter.rest());
        Q_EMIT ended(reason);
    });
}

TerminalFeed::~TerminalFeed() = default;

void TerminalFeed::take(const QByteArray &data)
{
    if (m_shared->waiting.load() > mostWaiting) {
        m_shared->skipped += data.size();
        return;
    }
    feed(m_verbatim ? data : m_filter.filter(data));
}

void TerminalFeed::setVerbatim(bool on)
{
    if (on && !m_verbatim)
        feed(m_filter.rest());
    m_verbatim = on;
}

void TerminalFeed::feed(QByteArray bytes)
{
    if (bytes.isEmpty())
        return;
    m_shared->waiting += bytes.size();
    const qint64 counted = bytes.size();
    if (const qint64 skipped = m_shared->skipped.exchange(0); skipped > 0)
        bytes.prepend("\r\n\x1b[2m[" + QByteArray::number(skipped) + " bytes skipped]\x1b[0m\r\n");
    const LoopRef gui = LoopRef::current();
    QPointer<TerminalFeed> self(this);
    parser().post([terminal = m_terminal, shared = m_shared, bytes, counted, gui, self] {
        terminal->feed(bytes);
        shared->waiting -= counted;
        if (!shared->told.exchange(true)) {
            gui.post([shared, self] {
                shared->told = false;
                if (self)
                    Q_EMIT self->changed();
            });
        }
    });
}

void stopTerminalParser()
{
    parserLoop().reset();
}

} // namespace paddock
