// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/aio/aio_sandbox.h"

#include "core/base/async.h"
#include "core/sandbox/aio/aio_files.h"
#include "core/sandbox/aio/shell_exec.h"
#include "core/sandbox/aio/shell_tap.h"

#include <map>

namespace paddock::aio {

/// Keystrokes of one session must arrive in order, and each call has a connection of its own.
struct AioSandbox::Typing {
    std::mutex mutex; // guards turns
    std::map<SessionId, std::shared_ptr<AsyncMutex>> turns;

    std::shared_ptr<AsyncMutex> turnOf(const SessionId &session)
    {
        const std::lock_guard lock(mutex);
        auto &slot = turns[session];
        if (!slot)
            slot = std::make_shared<AsyncMutex>();
        return slot;
    }
};

namespace {

Result<void> plain(const wire::Decoded<wire::Envelope> &reply)
{
    return reply ? Result<void>() : fail(reply.error().toError());
}

Task<Result<void>> sendKeys(AioClient client, std::shared_ptr<AsyncMutex> turn, SessionId session, QByteArray bytes, std::stop_token stop)
{
    const AsyncMutex::Guard guard = co_await turn->lock(stop);
    if (!guard)
        co_return cancelled();
    const wire::ShellWriteRequest request{session.value(), QString::fromUtf8(bytes), false};
    co_return plain(co_await client.postForEnvelope("/v1/shell/write", request.write(), limits::createTimeout, stop));
}

Task<Result<void>> postPlain(AioClient client, QByteArray target, Json body, std::chrono::milliseconds timeout, std::stop_token stop)
{
    co_return plain(co_await client.postForEnvelope(std::move(target), std::move(body), timeout, stop));
}

/// A file operation behind its faults. `start` must not run before the faults let it.
template<typename T, typename Start>
Task<Result<T>> withFaults(std::shared_ptr<FaultSlot> faults, std::stop_token stop, Start start)
{
    if (const Result<void> go = co_await actOutFault(faults->next(FaultPlan::Point::FileOp, {}), stop); !go)
        co_return fail(go.error());
    co_return co_await start();
}

Task<bool> askOrLose(AioClient client, std::shared_ptr<std::atomic<bool>> lost, std::stop_token stop)
{
    if (!*lost && !co_await client.isThere(stop))
        *lost = true;
    co_return !*lost;
}

Task<> closeAll(AioClient client, Task<> shells)
{
    co_await shells;
    co_await client.close();
}

} // namespace

AioSandbox::AioSandbox(SandboxId id, AioClient client, ShellOptions options)
    : m_id(std::move(id)), m_client(client), m_faults(std::make_shared<FaultSlot>()), m_shells(client, options, m_faults),
      m_envExec(client, options, m_faults), m_typing(std::make_shared<Typing>())
{
}

AioSandbox::~AioSandbox() = default;

Task<Result<CommandResult>> AioSandbox::execute(CommandRequest request, std::stop_token stop)
{
    if (m_shells.isClosed() || request.env.isEmpty())
        return m_shells.execute(std::move(request), std::move(stop));
    const ScopeId scope = request.scope;
    return m_shells.withNote(scope, m_envExec.execute(std::move(request), std::move(stop)));
}

Task<Result<QString>> AioSandbox::readFile(QString path, std::stop_token stop)
{
    return withFaults<QString>(m_faults, stop, [client = m_client, path, stop] { return aio::readFile(client, path, stop); });
}

Task<Result<QByteArray>> AioSandbox::readBytes(QString path, qint64 maxBytes, std::stop_token stop)
{
    return withFaults<QByteArray>(m_faults, stop, [client = m_client, path, maxBytes, stop] { return aio::readBytes(client, path, maxBytes, stop); });
}

Task<Result<FileWritten>> AioSandbox::writeFile(QString path, QString content, bool append, std::stop_token stop)
{
    return withFaults<FileWritten>(
        m_faults, stop, [client = m_client, path, content, append, stop] { return aio::writeFile(client, path, content, append, stop); });
}

Task<Result<FileWritten>> AioSandbox::writeBytes(QString path, QByteArray content, std::stop_token stop)
{
    return withFaults<FileWritten>(m_faults, stop,
                                   [client = m_client, path, content, stop] { return aio::writeBytes(client, path, content, stop); });
}

Task<Result<QStringList>> AioSandbox::listDir(QString path, int depth, std::stop_token stop)
{
    return withFaults<QStringList>(m_faults, stop, [client = m_client, path, depth, stop] { return aio::listDir(client, path, depth, stop); });
}

Task<Result<GlobResult>> AioSandbox::glob(QString path, QString pattern, bool includeDirs, int maxResults, std::stop_token stop)
{
    return withFaults<GlobResult>(m_faults, stop, [client = m_client, path, pattern, includeDirs, maxResults, stop] {
        return aio::glob(client, path, pattern, includeDirs, maxResults, stop);
    });
}

Task<Result<GrepResult>> AioSandbox::grep(GrepQuery query, std::stop_token stop)
{
    return withFaults<GrepResult>(m_faults, stop, [client = m_client, query, stop] { return aio::grep(client, query, stop); });
}

Task<> AioSandbox::releaseCommandScope(ScopeId scope)
{
    return m_shells.releaseScope(std::move(scope));
}

Task<bool> AioSandbox::isThere(std::stop_token stop)
{
    return askOrLose(m_client, m_lost, std::move(stop));
}

SessionId AioSandbox::sessionOf(const ScopeId &scope) const
{
    return m_shells.sessionOf(scope);
}

std::unique_ptr<ShellObserver> AioSandbox::observeShell(const SessionId &session)
{
    return std::make_unique<ShellTap>(m_client, session);
}

Task<Result<void>> AioSandbox::typeIntoShell(SessionId session, QByteArray bytes, std::stop_token stop)
{
    return sendKeys(m_client, m_typing->turnOf(session), session, std::move(bytes), std::move(stop));
}

Task<Result<void>> AioSandbox::resizeShell(SessionId session, int columns, int rows, std::stop_token stop)
{
    const wire::ShellResizeRequest request{session.value(), columns, rows};
    return postPlain(m_client, "/v1/paddock/shell/resize", request.write(), limits::createTimeout, std::move(stop));
}

Task<Result<void>> AioSandbox::interruptShell(SessionId session, std::stop_token stop)
{
    return postPlain(m_client, "/v1/shell/kill", wire::ShellIdRequest{session.value()}.write(), limits::abortTimeout, std::move(stop));
}

void AioSandbox::noteForNextResult(const ScopeId &scope, const QString &line)
{
    m_shells.noteForNextResult(scope, line);
}

Task<> AioSandbox::close()
{
    return closeAll(m_client, m_shells.close());
}

} // namespace paddock::aio
