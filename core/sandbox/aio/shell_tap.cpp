// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/aio/shell_tap.h"

#include "core/base/loop.h"

#include <QPointer>

#include <mutex>
#include <utility>

namespace paddock::aio {

/// Between the client's loop and the owner's thread.
struct ShellTap::Mailbox {
    std::mutex mutex; // guards all below; `tap` is only dereferenced on its own thread
    ShellTap *tap = nullptr;
    LoopRef loop; ///< of `tap`
    QByteArray waiting;
    qint64 dropped = 0;
    std::optional<QString> end;
    bool wakePosted = false;

    void wakeLocked(const std::shared_ptr<Mailbox> &self)
    {
        if (!tap || std::exchange(wakePosted, true))
            return;
        // The destructor clears `tap` under the same lock.
        loop.post([self] {
            ShellTap *target = nullptr;
            {
                const std::lock_guard lock(self->mutex);
                target = self->tap;
            }
            if (target)
                target->drain();
        });
    }
};

namespace {

QString endReason(int status, const QString &reason)
{
    if (status == 404)
        return QStringLiteral("The shell session does not exist any more.");
    if (status != 200 && status != 0)
        return QStringLiteral("The sandbox refused the shell stream with HTTP %1.").arg(status);
    return reason.isEmpty() ? QStringLiteral("The shell session ended.") : reason;
}

} // namespace

ShellTap::ShellTap(const AioClient &client, const SessionId &session, QObject *parent)
    : ShellObserver(parent), m_mailbox(std::make_shared<Mailbox>())
{
    m_mailbox->tap = this;
    m_mailbox->loop = LoopRef::current();
    auto status = std::make_shared<int>(0); // used on the client's loop only
    HttpStreamHandler handler;
    handler.onHead = [status](int code) { *status = code; };
    handler.onBytes = [box = m_mailbox, status](const QByteArray &data) {
        if (*status != 200)
            return; // an error body
        const std::lock_guard lock(box->mutex);
        box->waiting.append(data);
        if (box->waiting.size() > maxWaitingBytes) {
            const qsizetype excess = box->waiting.size() - maxWaitingBytes / 2;
            box->waiting.remove(0, excess);
            box->dropped += excess;
        }
        box->wakeLocked(box);
    };
    handler.onEnd = [box = m_mailbox, status](const QString &reason) {
        const std::lock_guard lock(box->mutex);
        box->end = endReason(*status, reason);
        box->wakeLocked(box);
    };
    m_stream = client.shellStream(session, std::move(handler));
}

ShellTap::~ShellTap()
{
    const std::lock_guard lock(m_mailbox->mutex);
    m_mailbox->tap = nullptr;
}

void ShellTap::drain()
{
    QByteArray data;
    std::optional<QString> end;
    qint64 dropped = 0;
    {
        const std::lock_guard lock(m_mailbox->mutex);
        m_mailbox->wakePosted = false;
        data = std::exchange(m_mailbox->waiting, QByteArray());
        dropped = std::exchange(m_mailbox->dropped, 0);
        end = std::exchange(m_mailbox->end, std::nullopt);
    }
    if (dropped > 0)
        data.prepend("\x1b[0m\r\n[" + QByteArray::number(dropped) + " bytes skipped]\r\n");
    const QPointer<ShellTap> alive(this); // a receiver may delete it
    if (!data.isEmpty())
        Q_EMIT bytes(data);
    if (end && alive)
        Q_EMIT ended(*end);
}

} // namespace paddock::aio
