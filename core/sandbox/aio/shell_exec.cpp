// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/aio/shell_exec.h"

#include "core/base/async.h"

#include <QElapsedTimer>
#include <QLoggingCategory>

Q_LOGGING_CATEGORY(lcExec, "paddock.sandbox.exec")

namespace paddock::aio {

namespace {

QString errorObservation()
{
    return QStringLiteral("'ErrorObservation' object has no attribute 'exit_code'");
}

/// The reply of exec, tolerant where old images are: missing echoes are filled in, an absent status means completed, and
/// the second form of the corrupt-session text becomes the first (aio-api.md §2.15).
wire::Decoded<wire::ShellExecResult> decodeExec(const wire::RawReply &reply, const SessionId &session, const QString &command)
{
    auto envelope = wire::decodeEnvelope(reply);
    if (!envelope) {
        const wire::Failure &failure = envelope.error();
        if (failure.kind != wire::FailureKind::Operation || !hasErrorObservation(failure.message))
            return std::unexpected(std::move(envelope.error()));
        wire::ShellExecResult corrupt;
        corrupt.sessionId = session.value();
        corrupt.command = command;
        corrupt.status = wire::shell_status::completed;
        corrupt.output = failure.message;
        return corrupt;
    }
    Json data = envelope->data;
    if (data.is_object() && memberOf(data, "output").is_string()) {
        if (memberOf(data, "session_id").is_null())
            data["session_id"] = toJson(session.value());
        if (memberOf(data, "command").is_null())
            data["command"] = toJson(command);
        if (memberOf(data, "status").is_null())
            data["status"] = toJson(QString(wire::shell_status::completed));
    }
    wire::FieldReader reader(data, Json::array({"data"}));
    auto value = wire::ShellExecResult::read(reader);
    if (!reader.ok())
        return std::unexpected(wire::decodeFailure(reply, reader.issues().first()));
    return value;
}

/// Sends again when the connection was refused, because then nothing was delivered.
Task<HttpOutcome> postPatiently(AioClient client, QByteArray target, Json body, std::chrono::milliseconds timeout, std::stop_token stop)
{
    for (int attempt = 1;; ++attempt) {
        HttpOutcome reply = co_await client.call("POST", target, body, timeout, stop);
        if (reply || !reply.error().definitelyNotExecuted() || attempt == connectTries || !co_await sleepFor(connectPause * attempt, stop))
            co_return reply;
    }
}

/// After a "running" reply: waits and views until the command has ended or the time is over.
Task<wire::Decoded<wire::ShellExecResult>> poll(AioClient client, wire::ShellExecResult result, QElapsedTimer since,
                                                std::chrono::milliseconds limit,
                                                std::stop_token stop)
{
    const auto unknown = [](wire::Failure failure) {
        if (failure.kind != wire::FailureKind::Transport) // accepted before: whatever this says, it is no reason to run it again
            failure = wire::transportFailure(wire::TransportKind::Protocol, failure.toError().message);
        return std::unexpected(std::move(failure));
    };
    const SessionId session(result.sessionId);
    while (result.status == wire::shell_status::running) {
        if (since.hasExpired(limit.count()))
            co_return std::unexpected(wire::transportFailure(wire::TransportKind::Timeout, QStringLiteral("the command did not end in time")));
        wire::ShellWaitRequest wait;
        wait.id = session.value();
        wait.maxWaitSeconds = limits::pollSeconds;
        auto waited = co_await client.post<wire::ShellStatusResult>("/v1/shell/wait", wait.write(), limits::pollTimeout, stop);
        if (!waited)
            co_return unknown(std::move(waited.error()));
        if (waited->status == wire::shell_status::running)
            continue;
        auto view = co_await client.post<wire::ShellView>("/v1/shell/view", wire::ShellIdRequest{session.value()}.write(), limits::pollTimeout, stop);
        if (!view)
            co_return unknown(std::move(view.error()));
        result.status = view->status;
        result.exitCode = view->exitCode;
        result.output = view->lastOutput().value_or(result.output);
        result.console = view->console;
    }
    co_return result;
}

Task<wire::Decoded<wire::ShellExecResult>> sendExec(AioClient client, SessionId session, CommandRequest request, CommandTimes times,
                                                    ShellOptions options, std::stop_token stop)
{
    wire::ShellExecRequest body;
    body.command = request.command;
    if (!session.isEmpty())
        body.id = session.value();
    body.asyncMode = options.asyncExec;
    body.noChangeTimeout = times.noChange;
    body.hardTimeout = times.hard;
    QElapsedTimer since;
    since.start();
    HttpOutcome reply = co_await postPatiently(client, "/v1/shell/exec", body.write(), options.scaled(times.httpLimit()), stop);
    if (!reply)
        co_return std::unexpected(std::move(reply.error()));
    auto result = decodeExec(*reply, session, request.command);
    if (!result || result->status != wire::shell_status::running)
        co_return result;
    co_return co_await poll(client, std::move(*result), since, options.scaled(times.httpLimit()), stop);
}

Task<> sendExecInto(Completion<wire::Decoded<wire::ShellExecResult>> done, AioClient client, SessionId session, CommandRequest request,
                    CommandTimes times, ShellOptions options, std::stop_token hardStop)
{
    done.complete(co_await sendExec(std::move(client), std::move(session), std::move(request), times, options, std::move(hardStop)));
}

/// The scenario's server loses the session or answers like a corrupt one. The first is done to the real server.
Task<std::optional<wire::Decoded<wire::ShellExecResult>>> actOutExecFault(AioClient client, SessionId session, CommandRequest request,
                                                                          std::shared_ptr<FaultSlot> faults, std::stop_token stop)
{
    const auto rule = faults->next(FaultPlan::Point::ShellExec, request.scope.value());
    if (!rule)
        co_return std::nullopt;
    if (rule->action == FaultPlan::Action::SessionNotFound) {
        if (!session.isEmpty())
            (void)co_await client.deleteShellSession(session, {});
        co_return std::nullopt;
    }
    if (rule->action == FaultPlan::Action::ErrorObservation) {
        wire::ShellExecResult corrupt;
        corrupt.sessionId = session.value();
        corrupt.command = request.command;
        corrupt.status = wire::shell_status::completed;
        corrupt.output = errorObservation();
        co_return corrupt;
    }
    const Result<void> go = co_await actOutFault(rule, stop);
    if (go || go.error().isCancelled())
        co_return std::nullopt;
    wire::Failure failure;
    failure.kind = wire::FailureKind::Operation;
    failure.status = 200;
    failure.message = go.error().message;
    co_return std::unexpected(std::move(failure));
}

} // namespace

Task<Result<void>> actOutFault(std::optional<FaultPlan::Rule> rule, std::stop_token stop)
{
    if (!rule)
        co_return Result<void>();
    if (rule->action == FaultPlan::Action::Latency && !co_await sleepFor(rule->delay, stop))
        co_return cancelled();
    if (rule->action == FaultPlan::Action::Fail)
        co_return fail(ErrorCode::Unavailable, rule->message);
    co_return Result<void>();
}

Task<CreateOutcome> createSession(AioClient client, SessionId wanted, ScopeId scope, ShellOptions options,
                                  std::shared_ptr<FaultSlot> faults, std::stop_token stop)
{
    CreateOutcome outcome;
    const Result<void> go = co_await actOutFault(faults->next(FaultPlan::Point::ShellCreate, scope.value()), stop);
    if (!go) {
        outcome.error = go.error();
        co_return outcome;
    }
    wire::ShellCreateRequest body;
    body.id = wanted.value();
    const HttpOutcome reply = co_await postPatiently(client, "/v1/shell/sessions/create", body.write(), options.scaled(limits::createTimeout), {});
    const auto refuse = [&outcome](const wire::Failure &failure, bool ambiguous) {
        outcome.error = failure.toError();
        outcome.ambiguous = ambiguous;
        if (const auto limit = sessionLimitOf(outcome.error.message)) {
            outcome.error.code = ErrorCode::ResourceExhausted;
            outcome.error.details["limit"] = *limit;
        }
    };
    if (!reply) {
        refuse(reply.error(), !reply.error().definitelyNotExecuted() && reply.error().transport != wire::TransportKind::Cancelled);
        if (reply.error().definitelyNotExecuted())
            outcome.error.details[notDeliveredKey] = true;
        co_return outcome;
    }
    const auto envelope = wire::decodeEnvelope(*reply);
    if (!envelope) {
        const wire::Failure &failure = envelope.error();
        const bool definite = failure.kind == wire::FailureKind::Operation || (failure.status >= 300 && failure.status < 500);
        refuse(failure, !definite);
        co_return outcome;
    }
    const QString given = stringOf(envelope->data, "session_id"); // a server may insist on its own name
    outcome.session = given.isEmpty() ? wanted : SessionId(given);
    co_return outcome;
}

Task<ExecOutcome> execInSession(AioClient client, SessionId session, CommandRequest request, CommandTimes times, ShellOptions options,
                                std::shared_ptr<FaultSlot> faults, std::stop_token stop)
{
    if (auto acted = co_await actOutExecFault(client, session, request, faults, stop))
        co_return ExecOutcome{std::move(*acted), false};
    if (stop.stop_requested())
        co_return ExecOutcome{{}, true};

    using Reply = wire::Decoded<wire::ShellExecResult>;
    const Completion<Reply> done;
    std::stop_source hardStop;
    Task<> sending = sendExecInto(done, client, session, request, times, options, hardStop.get_token());
    if (auto reply = co_await waitFor(done, stop))
        co_return ExecOutcome{std::move(*reply), false};

    // Stopped: end the command where it runs, so that nothing of it is left when this returns (style.md C1, F7).
    if (!session.isEmpty()) {
        const auto killed = co_await client.post<wire::ShellKillResult>("/v1/shell/kill", wire::ShellIdRequest{session.value()}.write(),
                                                                        stopGrace, {});
        if (!killed)
            qCInfo(lcExec, "Interrupting the command in session %ls failed: %ls", qUtf16Printable(session.value()),
                   qUtf16Printable(killed.error().toError().message));
        (void)co_await waitFor(done, {}, stopGrace);
    }
    hardStop.request_stop(); // closes the socket if the reply still has not come
    co_await sending;
    co_return ExecOutcome{{}, true};
}

} // namespace paddock::aio
