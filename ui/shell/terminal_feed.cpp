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

struct TerminalFeed::Shared {
    std::atomic<qint64> waiting{0};
    std::atomic<qint64> skipped{0};
    std::atomic<bool> told{false};
};

TerminalFeed::TerminalFeed(std::shared_ptr<Terminal> terminal, std::unique_ptr<ShellStream> stream, QObject *parent)
    : QObject(parent), m_terminal(std::move(terminal)), m_stream(std::move(stream)), m_shared(std::make_shared<Shared>())
{
    connect(m_stream.get(), &ShellStream::bytes, this, &TerminalFeed::take);
    connect(m_stream.get(), &ShellStream::ended, this, &TerminalFeed::ended);
}

TerminalFeed::~TerminalFeed() = default;

void TerminalFeed::take(const QByteArray &data)
{
    if (m_shared->waiting.load() > mostWaiting) {
        m_shared->skipped += data.size();
        return;
    }
    m_shared->waiting += data.size();
    QByteArray bytes = data;
    if (const qint64 skipped = m_shared->skipped.exchange(0); skipped > 0)
        bytes.prepend("\r\n\x1b[2m[" + QByteArray::number(skipped) + " bytes skipped]\x1b[0m\r\n");
    const LoopRef gui = LoopRef::current();
    QPointer<TerminalFeed> self(this);
    parser().post([terminal = m_terminal, shared = m_shared, bytes, gui, self] {
        terminal->feed(bytes);
        shared->waiting -= bytes.size();
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
