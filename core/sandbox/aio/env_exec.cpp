// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/aio/env_exec.h"

#include "core/base/async.h"
#include "core/sandbox/aio/shell_exec.h"
#include "core/sandbox/aio/shell_text.h"
#include "core/sandbox/env_policy.h"
#include "core/sandbox/secrets.h"

#include <QElapsedTimer>
#include <QLoggingCategory>

#include <atomic>

Q_LOGGING_CATEGORY(lcEnvExec, "paddock.sandbox.envexec")

namespace paddock::aio {

struct EnvExec::State {
    State(AioClient c, ShellOptions o, std::shared_ptr<FaultSlot> f) : client(std::move(c)), options(o), faults(std::move(f)) {}
    const AioClient client;
    const ShellOptions options;
    const std::shared_ptr<FaultSlot> faults;
    std::atomic<bool> unsupported = false; ///< the image has no bash group; remembered for the life of the client
};

namespace {

using Reply = wire::Decoded<wire::BashExecResult>;

std::unexpected<Error> unsupported()
{
    return fail(ErrorCode::Unsupported, bashUnsupportedText(), Json{{"bash_exec", "unsupported"}});
}

bool lacksApi(const wire::Failure &failure)
{
    return failure.kind == wire::FailureKind::Api && failure.status == 404 && !failure.isLostSession();
}

Task<> closeSession(AioClient client, QString session)
{
    const auto reply = co_await client.closeBashSession(session, {});
    if (!reply && !reply.error().isLostSession())
        qCInfo(lcEnvExec, "Closing bash session %ls failed: %ls", qUtf16Printable(session), qUtf16Printable(reply.error().toError().message));
}

Task<> execInto(Completion<Reply> done, AioClient client, Json body, std::chrono::milliseconds limit, std::stop_token hardStop)
{
    done.complete(co_await client.post<wire::BashExecResult>("/v1/bash/exec", std::move(body), limit, std::move(hardStop)));
}

struct Attempt {
    Reply reply = wire::BashExecResult();
    QString session;
    bool created = false;
    bool stopped = false;
};

/// One exec in a new session, closed before this returns. Closing a session ends its command, which is how stop works.
Task<Attempt> attempt(AioClient client, CommandRequest request, CommandTimes times, bool closedStdin, bool loseSession, std::stop_token stop)
{
    Attempt result;
    result.session = newUuid();
    wire::BashCreateRequest create;
    create.sessionId = result.session;
    const auto made = co_await client.postForEnvelope("/v1/bash/sessions/create", create.write(), limits::createTimeout, {});
    if (!made) {
        result.reply = std::unexpected(made.error());
        co_return result;
    }
    result.created = true;
    if (const QString given = stringOf(made->data, "session_id"); !given.isEmpty())
        result.session = given;
    if (loseSession)
        co_await closeSession(client, result.session);

    wire::BashExecRequest body;
    body.command = closedStdin ? QStringLiteral("exec < /dev/null\n") + request.command : request.command;
    body.sessionId = result.session;
    for (auto it = request.env.cbegin(); it != request.env.cend(); ++it)
        body.env[it.key()] = it.value();
    body.hardTimeout = times.hard;
    const Completion<Reply> done;
    std::stop_source hardStop;
    Task<> sending = execInto(done, client, body.write(), times.httpLimit(), hardStop.get_token());
    if (auto reply = co_await waitFor(done, stop)) {
        result.reply = std::move(*reply);
        co_await sending;
        co_await closeSession(client, result.session);
        co_return result;
    }
    result.stopped = true;
    co_await closeSession(client, result.session);
    (void)co_await waitFor(done, {}, stopGrace);
    hardStop.request_stop();
    co_await sending;
    co_return result;
}

Result<CommandResult> finish(const wire::BashExecResult &reply, const CommandTimes &times)
{
    const RenderedCommand rendered = renderBash(reply, times);
    return CommandResult{rendered.text, rendered.exitCode, rendered.status, false};
}

Error errorOf(const wire::Failure &failure, const CommandTimes &times, bool created, bool tried)
{
    Error error = failure.toError();
    if (failure.kind == wire::FailureKind::Transport && created && !failure.definitelyNotExecuted()) {
        error.message = transportNotice(failure.transport, times);
        error.details["outcome"] = "unknown";
    }
    if (failure.definitelyNotExecuted() && !tried)
        error.details[notDeliveredKey] = true;
    return error;
}

template<typename S>
Task<Result<CommandResult>> attempts(std::shared_ptr<S> state, CommandRequest request, CommandTimes times, std::stop_token stop)
{
    std::optional<wire::BashExecResult> corrupt; ///< the first, bad answer
    bool lost = false;
    for (int n = 0; n < 2; ++n) {
        const auto rule = state->faults->next(FaultPlan::Point::BashExec, request.scope.value());
        if (const Result<void> go = co_await actOutFault(rule, stop); !go)
            co_return fail(go.error());
        const bool lose = rule && rule->action == FaultPlan::Action::SessionNotFound;
        Attempt got = co_await attempt(state->client, request, times, state->options.closedStdin, lose, stop);
        if (got.stopped)
            co_return cancelled();
        if (!got.reply) {
            const wire::Failure &failure = got.reply.error();
            if (lacksApi(failure)) {
                state->unsupported = true;
                co_return unsupported();
            }
            if (corrupt)
                co_return finish(*corrupt, times);
            if (failure.isLostSession() && got.created) {
                lost = true;
                if (stop.stop_requested())
                    co_return cancelled();
                continue;
            }
            co_return fail(errorOf(failure, times, got.created, lost));
        }
        if (rule && rule->action == FaultPlan::Action::ErrorObservation)
            got.reply->standardOutput = QStringLiteral("'ErrorObservation' object has no attribute 'exit_code'");
        if (got.reply->status != wire::bash_status::completed || !hasErrorObservation(got.reply->standardOutput))
            co_return finish(*got.reply, times);
        if (corrupt || lost) // at most one more run per command, whatever the mix of causes
            co_return finish(corrupt ? *corrupt : *got.reply, times);
        if (stop.stop_requested())
            co_return cancelled();
        corrupt = std::move(*got.reply);
    }
    co_return fail(ErrorCode::NotFound, QStringLiteral("bash.exec session disappeared after retry"));
}

template<typename S>
Task<Result<CommandResult>> executeOn(std::shared_ptr<S> state, CommandRequest request, std::stop_token stop)
{
    if (const Result<void> names = checkEnvNames(request.env); !names) {
        Error error = names.error();
        error.details["field"] = "env";
        co_return fail(std::move(error));
    }
    if (state->unsupported)
        co_return unsupported();
    if (stop.stop_requested())
        co_return cancelled();
    const double timeout = request.timeout.count() > 0 ? double(request.timeout.count()) : state->options.defaultTimeout;
    const CommandTimes times = CommandTimes::of(timeout);
    const QString command = newShortId();
    const EventSink sink = request.events;
    const QString scope = request.scope.value();
    sink.emitEvent(ShellCommandStarted{scope, {}, command, maskSecrets(request.command, request.env)});
    QElapsedTimer timer;
    timer.start();
    const Result<CommandResult> result = co_await attempts(state, std::move(request), times, stop);
    // No session in the events: a one-off process is no shell that a panel could show.
    ShellCommandFinished finished{scope, {}, command, {}, QStringLiteral("failed"), timer.elapsed(), 0, {}, false};
    if (result) {
        finished.exitCode = result->exitCode;
        finished.status = result->status;
        finished.bytes = result->text.toUtf8().size();
    } else if (result.error().isCancelled()) {
        finished.status = QStringLiteral("terminated");
    }
    sink.emitEvent(finished);
    co_return result;
}

} // namespace

EnvExec::EnvExec(AioClient client, ShellOptions options, std::shared_ptr<FaultSlot> faults)
    : m_state(std::make_shared<State>(std::move(client), options, std::move(faults)))
{
}

Task<Result<CommandResult>> EnvExec::execute(CommandRequest request, std::stop_token stop)
{
    return executeOn(m_state, std::move(request), std::move(stop));
}

} // namespace paddock::aio
