// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandbox/aio/aio_client.h"
#include "core/sandbox/shell_observer.h"

namespace paddock::aio {

/// Streams the pty of one session from the server to its owner's thread. The socket lives on the client's loop, the object
/// and its signals on the thread that made it; when that thread does not keep up, the middle of what waits is dropped and
/// said so in the bytes, so that a flood never fills the memory.
class ShellTap final : public ShellObserver
{
    Q_OBJECT
public:
    static constexpr qsizetype maxWaitingBytes = 4 * 1024 * 1024;

    ShellTap(const AioClient &client, const SessionId &session, QObject *parent = nullptr);
    ~ShellTap() override;

private:
    struct Mailbox;
    void drain();

    std::shared_ptr<Mailbox> m_mailbox;
    std::unique_ptr<HttpStream> m_stream;
};

} // namespace paddock::aio
