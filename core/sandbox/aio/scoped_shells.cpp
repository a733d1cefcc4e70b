// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/aio/scoped_shells.h"

#include "core/base/async.h"
#include "core/sandbox/aio/shell_exec.h"
#include "core/sandbox/aio/shell_text.h"
#include "core/sandbox/secrets.h"

#include <QElapsedTimer>
#include <QLoggingCategory>

#include <map>
#include <utility>

Q_LOGGING_CATEGORY(lcShells, "paddock.sandbox.shell")

namespace paddock::aio {

std::chrono::milliseconds ShellOptions::scaled(std::chrono::milliseconds limit) const
{
    constexpr std::chrono::milliseconds least{300}; // still enough for a local reply
    return waitScale == 1 ? limit : std::max(least, std::chrono::milliseconds(qint64(double(limit.count()) * waitScale)));
}

void FaultSlot::set(std::shared_ptr<FaultPlan> plan)
{
    const std::lock_guard lock(m_mutex);
    m_plan = std::move(plan);
}

std::optional<FaultPlan::Rule> FaultSlot::next(FaultPlan::Point point, const QString &scope) const
{
    std::shared_ptr<FaultPlan> plan;
    {
        const std::lock_guard lock(m_mutex);
        plan = m_plan;
    }
    return plan ? plan->next(point, scope) : std::nullopt;
}

namespace {

/// One scope's shell. The session is changed only by whoever holds `turn`.
struct Entry {
    explicit Entry(bool isDefault) : implicitAllowed(isDefault) {}

    AsyncMutex turn;

    mutable std::mutex mutex; // guards all below
    SessionId session;
    bool implicitAllowed;     ///< the default shell may still use the image's implicit session
    QString lossReason;       ///< why the last session went; empty: there was none or its state is not missed
    QString note;             ///< for the next result
    EventSink sink;           ///< who used it last; speaks when it is closed

    SessionId current() const
    {
        const std::lock_guard lock(mutex);
        return session;
    }
    void keep(const SessionId &id)
    {
        const std::lock_guard lock(mutex);
        session = id;
        lossReason.clear();
    }
    void lose(const QString &reason)
    {
        const std::lock_guard lock(mutex);
        session = {};
        lossReason = reason;
        implicitAllowed = false; // fenced: never addressed again while this container lives (§5.5)
    }
    QString reasonForNext() const
    {
        const std::lock_guard lock(mutex);
        return lossReason;
    }
    bool mayUseImplicit() const
    {
        const std::lock_guard lock(mutex);
        return implicitAllowed && session.isEmpty();
    }
    EventSink speaker() const
    {
        const std::lock_guard lock(mutex);
        return sink;
    }
};

} // namespace

struct ScopedShells::State {
    State(AioClient c, ShellOptions o, std::shared_ptr<FaultSlot> f) : client(std::move(c)), options(o), faults(std::move(f)) {}

    const AioClient client;
    const ShellOptions options;
    const std::shared_ptr<FaultSlot> faults;

    mutable std::mutex mutex; // guards all below
    std::map<ScopeId, std::shared_ptr<Entry>> entries;
    std::shared_ptr<Entry> defaultEntry = std::make_shared<Entry>(true);
    ScopeNotes inherited; ///< notes for scopes that have no entry yet
    bool closed = false;
    bool quarantined = false;

    Result<std::shared_ptr<Entry>> find(const ScopeId &scope)
    {
        const std::lock_guard lock(mutex);
        if (closed)
            return fail(ErrorCode::FailedPrecondition, QStringLiteral("sandbox client is closed"));
        if (scope.isEmpty())
            return defaultEntry;
        auto &slot = entries[scope];
        if (!slot) {
            slot = std::make_shared<Entry>(false);
            if (const auto waiting = inherited.extract(scope))
                slot->note = waiting.mapped(); // nobody else has it yet
        }
        return slot;
    }
    /// False when the scope was released while the command waited: a queued command must not revive it.
    bool stillRegistered(const ScopeId &scope, const std::shared_ptr<Entry> &entry) const
    {
        const std::lock_guard lock(mutex);
        if (scope.isEmpty())
            return entry == defaultEntry && !closed;
        const auto it = entries.find(scope);
        return it != entries.end() && it->second == entry;
    }
    std::shared_ptr<Entry> lookUp(const ScopeId &scope) const
    {
        const std::lock_guard lock(mutex);
        if (scope.isEmpty())
            return defaultEntry;
        const auto it = entries.find(scope);
        return it == entries.end() ? nullptr : it->second;
    }
    QString takeNote(const ScopeId &scope)
    {
        if (const auto entry = lookUp(scope)) {
            const std::lock_guard lock(entry->mutex);
            return std::exchange(entry->note, QString());
        }
        const std::lock_guard lock(mutex);
        const auto waiting = inherited.extract(scope);
        return waiting ? waiting.mapped() : QString();
    }
    /// A note that its result never brought to the agent.
    void putBack(const ScopeId &scope, const QString &note)
    {
        if (note.isEmpty())
            return;
        if (const auto entry = lookUp(scope)) {
            const std::lock_guard lock(entry->mutex);
            entry->note = entry->note.isEmpty() ? note : note + QLatin1Char('\n') + entry->note;
            return;
        }
        const std::lock_guard lock(mutex);
        inherited[scope] = note;
    }
    /// A scope that had a shell must hear that it is gone; one that has not read its note keeps it.
    ScopeNotes notesForSuccessor() const
    {
        const std::lock_guard lock(mutex);
        ScopeNotes notes = inherited;
        const auto add = [&notes](const ScopeId &scope, Entry &entry) {
            const std::lock_guard entryLock(entry.mutex);
            const QString restarted = restartedNotice();
            if (entry.note.contains(restarted) || (entry.session.isEmpty() && entry.lossReason.isEmpty()))
                notes[scope] = entry.note;
            else
                notes[scope] = entry.note.isEmpty() ? restarted : entry.note + QLatin1Char('\n') + restarted;
        };
        for (const auto &[scope, entry] : entries)
            add(scope, *entry);
        add({}, *defaultEntry);
        std::erase_if(notes, [](const auto &item) { return item.second.isEmpty(); });
        return notes;
    }
    bool isQuarantined() const
    {
        const std::lock_guard lock(mutex);
        return quarantined;
    }
    void quarantine()
    {
        const std::lock_guard lock(mutex);
        quarantined = true;
    }
};

namespace {

/// Best effort: failures are logged only.
Task<> clean(AioClient client, SessionId session)
{
    if (session.isEmpty())
        co_return;
    const auto reply = co_await client.deleteShellSession(session, {});
    if (!reply && !reply.error().isLostSession())
        qCInfo(lcShells, "Cleaning shell session %ls failed: %ls", qUtf16Printable(session.value()),
               qUtf16Printable(reply.error().toError().message));
}

void tellClosed(const Entry &entry, const ScopeId &scope, const SessionId &session, const QString &reason)
{
    if (!session.isEmpty())
        entry.speaker().emitEvent(ShellSessionClosed{scope.value(), session.value(), reason});
}

/// The session is not to be used again: forgotten, told and, when the server may still have it, cleaned.
Task<> abandon(AioClient client, std::shared_ptr<Entry> entry, ScopeId scope, QString reason, bool serverMayHaveIt)
{
    const SessionId session = entry->current();
    entry->lose(reason);
    if (session.isEmpty())
        co_return; // the implicit session has no id to clean
    entry->speaker().emitEvent(ShellSessionLost{scope.value(), session.value(), reason});
    if (serverMayHaveIt) {
        co_await clean(client, session);
        tellClosed(*entry, scope, session, QStringLiteral("abandoned"));
    }
}

/// Creates the scope's session; nothing when the default shell may use the implicit one.
template<typename S>
Task<Result<void>> ensureSession(std::shared_ptr<S> state, std::shared_ptr<Entry> entry, ScopeId scope, std::stop_token stop)
{
    if (!entry->current().isEmpty() || entry->mayUseImplicit())
        co_return Result<void>();
    if (state->isQuarantined())
        co_return fail(ErrorCode::FailedPrecondition,
                       QStringLiteral("AIO shell session creation is quarantined after an earlier ambiguous create outcome; recycle the sandbox before creating another session"));
    const QString reason = entry->reasonForNext();
    const SessionId wanted(newUuid());
    const CreateOutcome outcome = co_await createSession(state->client, wanted, scope, state->options, state->faults, stop);
    if (outcome.session) {
        entry->keep(*outcome.session);
        entry->speaker().emitEvent(ShellSessionCreated{scope.value(), outcome.session->value(),
                                                       reason.isEmpty() ? QStringLiteral("first_use") : reason});
        co_return Result<void>();
    }
    if (!outcome.ambiguous)
        co_return fail(outcome.error);
    state->quarantine();
    co_await clean(state->client, wanted);
    co_return fail(ErrorCode::FailedPrecondition,
                   QStringLiteral("AIO shell session creation outcome is unknown; the sandbox is quarantined for recycle"),
                   outcome.error.details);
}

/// The events of one attempt at a command.
class CommandTeller
{
public:
    CommandTeller(const CommandRequest &request, QString commandId)
        : m_sink(request.events), m_scope(request.scope.value()), m_command(maskSecrets(request.command, request.env)),
          m_id(std::move(commandId))
    {
    }
    void started(const SessionId &session)
    {
        m_session = session.value();
        m_timer.start();
        m_sink.emitEvent(ShellCommandStarted{m_scope, m_session, m_id, m_command});
    }
    void finished(const QString &status, std::optional<int> exitCode, const QString &text, bool retried, const QString &directory = {}) const
    {
        m_sink.emitEvent(ShellCommandFinished{m_scope, m_session, m_id, exitCode, status, m_timer.elapsed(), text.toUtf8().size(), directory, retried});
    }

private:
    EventSink m_sink;
    QString m_scope;
    QString m_command;
    QString m_id;
    QString m_session;
    QElapsedTimer m_timer;
};

struct CommandRun {
    CommandRequest request;
    CommandTimes times;
    CommandTeller teller;
    bool hadSession = false; ///< the scope has lost a shell that an earlier command used
    bool retried = false;
};

CommandResult resultOf(const CommandRun &run, const Entry &entry, RenderedCommand rendered, bool recreated, const ShellOptions &options)
{
    Q_UNUSED(entry)
    CommandResult result;
    result.status = rendered.status;
    result.exitCode = rendered.exitCode;
    result.sessionRecreated = recreated;
    result.text = rendered.text;
    if (recreated && options.recreationNotice)
        result.text = recreatedNotice() + QLatin1Char('\n') + result.text;
    run.teller.finished(rendered.status, rendered.exitCode, rendered.text, run.retried, rendered.directory);
    return result;
}

/// What one attempt means (the table of §5.4).
enum class Verdict { Return, Retry };

struct Judged {
    Verdict verdict = Verdict::Return;
    Result<CommandResult> result = CommandResult();
};

template<typename S>
Task<Judged> judgeFailure(std::shared_ptr<S> state, std::shared_ptr<Entry> entry, std::shared_ptr<CommandRun> run, wire::Failure failure)
{
    const ScopeId scope = run->request.scope;
    const auto answer = [&](Error error) {
        run->teller.finished(QStringLiteral("failed"), std::nullopt, error.message, run->retried);
        return Judged{Verdict::Return, fail(std::move(error))};
    };
    if (failure.isLostSession()) {
        if (!run->retried) {
            run->teller.finished(QStringLiteral("failed"), std::nullopt, {}, false);
            co_await abandon(state->client, entry, scope, QStringLiteral("not_found"), false);
            co_return Judged{Verdict::Retry, {}};
        }
        co_await abandon(state->client, entry, scope, QStringLiteral("not_found"), true);
        co_return answer(failure.toError());
    }
    // Nobody took it, and nobody took an attempt before: it has not run, and can be given to another sandbox.
    const bool undelivered = failure.definitelyNotExecuted() && !run->retried;
    const bool refused = failure.kind == wire::FailureKind::Operation || failure.definitelyNotExecuted()
        || (failure.kind == wire::FailureKind::Api && failure.status >= 300 && failure.status < 500);
    if (refused) { // it did not run: the session is as good as before, but a replacement that starts so is not kept
        if (run->retried)
            co_await abandon(state->client, entry, scope, QStringLiteral("transport"), true);
        Error error = failure.toError();
        if (undelivered)
            error.details[notDeliveredKey] = true;
        co_return answer(std::move(error));
    }
    co_await abandon(state->client, entry, scope, QStringLiteral("transport"), true);
    Error error = failure.toError();
    if (failure.kind == wire::FailureKind::Transport)
        error.message = transportNotice(failure.transport, run->times);
    else
        error.message += QStringLiteral(" The command may have run; it was not repeated.");
    error.details["outcome"] = "unknown";
    co_return answer(std::move(error));
}

template<typename S>
Task<Judged> judgeReply(std::shared_ptr<S> state, std::shared_ptr<Entry> entry, std::shared_ptr<CommandRun> run, wire::ShellExecResult reply,
                        std::stop_token stop)
{
    const ScopeId scope = run->request.scope;
    const bool recreated = run->hadSession;
    if (reply.status == wire::shell_status::completed && hasErrorObservation(reply.output)) {
        run->teller.finished(QStringLiteral("failed"), std::nullopt, {}, run->retried);
        co_await abandon(state->client, entry, scope, QStringLiteral("error_observation"), true);
        if (run->retried) {
            CommandResult asItIs;
            asItIs.text = reply.output;
            asItIs.status = QStringLiteral("failed");
            asItIs.sessionRecreated = recreated;
            co_return Judged{Verdict::Return, asItIs};
        }
        if (stop.stop_requested())
            co_return Judged{Verdict::Return, cancelled()}; // an aborted command is never run again
        co_return Judged{Verdict::Retry, {}};
    }
    RenderedCommand rendered = renderShell(reply, run->times);
    rendered.directory = reply.workingDir.value_or(QString());
    const bool usable = rendered.sessionUsable;
    const QString reason = rendered.status == QLatin1String("failed") ? QStringLiteral("transport") : rendered.status;
    const CommandResult result = resultOf(*run, *entry, std::move(rendered), recreated, state->options);
    if (!usable)
        co_await abandon(state->client, entry, scope, reason, true);
    co_return Judged{Verdict::Return, result};
}

/// Runs one command of a scope; the caller holds the scope's turn.
template<typename S>
Task<Result<CommandResult>> runCommand(std::shared_ptr<S> state, std::shared_ptr<Entry> entry, CommandRequest request, std::stop_token stop)
{
    const double timeout = request.timeout.count() > 0 ? double(request.timeout.count()) : state->options.defaultTimeout;
    auto run = std::make_shared<CommandRun>(CommandRun{request, CommandTimes::of(timeout), CommandTeller(request, newShortId())});
    for (;;) {
        run->hadSession = run->hadSession || !entry->reasonForNext().isEmpty();
        const Result<void> session = co_await ensureSession(state, entry, request.scope, stop);
        if (!session) {
            Error error = session.error();
            if (run->retried)
                error.details[notDeliveredKey] = false;
            co_return fail(std::move(error));
        }
        if (stop.stop_requested())
            co_return cancelled();
        const SessionId id = entry->current();
        run->teller.started(id);
        ExecOutcome outcome = co_await execInSession(state->client, id, request, run->times, state->options, state->faults, stop);
        if (outcome.stopped) {
            run->teller.finished(QStringLiteral("terminated"), std::nullopt, {}, run->retried);
            co_await abandon(state->client, entry, request.scope, QStringLiteral("terminated"), true);
            co_return cancelled();
        }
        Judged judged = outcome.reply ? co_await judgeReply(state, entry, run, std::move(*outcome.reply), stop)
                                      : co_await judgeFailure(state, entry, run, std::move(outcome.reply.error()));
        if (judged.verdict == Verdict::Return)
            co_return std::move(judged.result);
        if (stop.stop_requested())
            co_return cancelled();
        run->retried = true;
    }
}

template<typename S>
Task<Result<CommandResult>> executeOn(std::shared_ptr<S> state, CommandRequest request, std::stop_token stop)
{
    const auto found = state->find(request.scope);
    if (!found)
        co_return fail(found.error());
    const std::shared_ptr<Entry> entry = *found;
    const AsyncMutex::Guard turn = co_await entry->turn.lock(stop);
    if (!turn || stop.stop_requested())
        co_return cancelled();
    if (!state->stillRegistered(request.scope, entry))
        co_return fail(ErrorCode::FailedPrecondition, QStringLiteral("sandbox command scope is no longer active"));
    QString note;
    {
        const std::lock_guard lock(entry->mutex);
        entry->sink = request.events;
        note = std::exchange(entry->note, QString());
    }
    const ScopeId scope = request.scope;
    Result<CommandResult> result = co_await runCommand(state, entry, std::move(request), stop);
    if (!result)
        state->putBack(scope, note);
    else if (!note.isEmpty())
        result->text = note + QLatin1Char('\n') + result->text;
    co_return result;
}

template<typename S>
Task<Result<CommandResult>> noted(std::shared_ptr<S> state, ScopeId scope, Task<Result<CommandResult>> command)
{
    const QString note = state->takeNote(scope);
    Result<CommandResult> result = co_await command;
    if (!result)
        state->putBack(scope, note);
    else if (!note.isEmpty())
        result->text = note + QLatin1Char('\n') + result->text;
    co_return result;
}

/// The entry is out of the registry already.
Task<> endEntry(AioClient client, std::shared_ptr<Entry> entry, ScopeId scope, QString reason)
{
    const AsyncMutex::Guard turn = co_await entry->turn.lock();
    const SessionId session = entry->current();
    if (session.isEmpty())
        co_return;
    entry->lose({});
    co_await clean(client, session);
    tellClosed(*entry, scope, session, reason);
}

template<typename S>
Task<> releaseOn(std::shared_ptr<S> state, ScopeId scope)
{
    std::shared_ptr<Entry> entry;
    {
        const std::lock_guard lock(state->mutex);
        state->inherited.erase(scope);
        const auto it = state->entries.find(scope);
        if (it == state->entries.end())
            co_return;
        entry = it->second;
        state->entries.erase(it);
    }
    co_await endEntry(state->client, entry, scope, QStringLiteral("lease_released"));
}

template<typename S>
Task<> closeOn(std::shared_ptr<S> state)
{
    std::map<ScopeId, std::shared_ptr<Entry>> entries;
    {
        const std::lock_guard lock(state->mutex);
        if (std::exchange(state->closed, true))
            co_return;
        entries.swap(state->entries);
    }
    std::vector<Task<>> endings;
    for (const auto &[scope, entry] : entries)
        endings.push_back(endEntry(state->client, entry, scope, QStringLiteral("lease_released")));
    endings.push_back(endEntry(state->client, state->defaultEntry, {}, QStringLiteral("lease_released")));
    co_await whenAll(std::move(endings));
}

} // namespace

ScopedShells::ScopedShells(AioClient client, ShellOptions options, std::shared_ptr<FaultSlot> faults)
    : m_state(std::make_shared<State>(std::move(client), options, std::move(faults)))
{
}

ScopedShells::~ScopedShells() = default;

Task<Result<CommandResult>> ScopedShells::execute(CommandRequest request, std::stop_token stop)
{
    return executeOn(m_state, std::move(request), std::move(stop));
}

Task<> ScopedShells::releaseScope(ScopeId scope)
{
    return releaseOn(m_state, std::move(scope));
}

Task<> ScopedShells::close()
{
    return closeOn(m_state);
}

SessionId ScopedShells::sessionOf(const ScopeId &scope) const
{
    const auto entry = m_state->lookUp(scope);
    return entry ? entry->current() : SessionId();
}

void ScopedShells::noteForNextResult(const ScopeId &scope, const QString &line)
{
    if (const auto entry = m_state->lookUp(scope)) {
        const std::lock_guard lock(entry->mutex);
        entry->note = line;
    }
}

Task<Result<CommandResult>> ScopedShells::withNote(ScopeId scope, Task<Result<CommandResult>> command)
{
    return noted(m_state, std::move(scope), std::move(command));
}

ScopeNotes ScopedShells::notesForSuccessor() const
{
    return m_state->notesForSuccessor();
}

void ScopedShells::inherit(ScopeNotes notes)
{
    const std::lock_guard lock(m_state->mutex);
    if (const auto own = notes.extract(ScopeId())) {
        const std::lock_guard entryLock(m_state->defaultEntry->mutex);
        m_state->defaultEntry->note = own.mapped();
    }
    m_state->inherited = std::move(notes);
}

bool ScopedShells::quarantined() const
{
    return m_state->isQuarantined();
}

bool ScopedShells::isClosed() const
{
    const std::lock_guard lock(m_state->mutex);
    return m_state->closed;
}

} // namespace paddock::aio
