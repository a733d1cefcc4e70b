// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Starting, commands in order of arrival, what the shell reports, views. Timers, kills and the end: shell_session_end.cpp.
#include "core/sandboxd/shell_session.h"

#include <sys/stat.h>

#include <algorithm>

namespace paddock::sandboxd {

using namespace std::chrono_literals;
using wire::shell_status::completed;
using wire::shell_status::running;

namespace {

constexpr auto startLimit = 4s;                       // §2.7
constexpr auto editorLimit = 100ms;                   // when the line editor shows no prompt of its own
constexpr size_t maxQueued = 16;                      // §2.13
constexpr qint64 ringBytes = 1024 * 1024;             // §2.3
constexpr qint64 shownChars = 30000;                  // §2.2
constexpr qint64 shortKeep = 192 * 1024;              // each end of an output that is cut to shownChars anyway
constexpr qint64 longKeep = 8 * 1024 * 1024;          // each end of an output asked for whole
constexpr size_t maxConsoleRecords = 200;             // §2.3
constexpr qint64 maxConsoleChars = 256 * 1024;
constexpr qint64 maxConsoleBytes = 8 * 1024 * 1024;   // of all records of a session
constexpr qint64 maxPromptBytes = 512;

std::uint64_t nextUse()
{
    static std::uint64_t counter = 0;
    return ++counter;
}

wire::Timestamp wallNow()
{
    return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

bool isDirectory(const QString &path)
{
    struct stat facts;
    return ::stat(path.toUtf8().constData(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

} // namespace

ShellSession::ShellSession(Reactor &reactor, ChildReaper &reaper, Options options)
    : m_reactor(reactor), m_options(std::move(options)), m_ring(ringBytes), m_directory(QString::fromUtf8(m_options.directory)),
      m_createdAt(wallNow()), m_timer(reactor), m_ladder(reactor), m_abortWatch(reactor), m_editorTimer(reactor)
{
    m_shell = std::make_unique<PtyShell>(
        reactor, reaper,
        PtyShell::Events{[this](QByteArrayView bytes) { onOutput(bytes); },
                         [this](const ShellRecord &record) { onRecord(record); }, [this](int status) { onEnded(status); }});
    touch();
}

ShellSession::~ShellSession() = default;

void ShellSession::touch()
{
    m_lastUsedAt = wallNow();
    m_lastUse = m_reactor.now();
    m_useOrder = nextUse();
}

void ShellSession::start(StartDone done)
{
    m_startDone = std::move(done);
    if (const auto started = m_shell->start(m_options.environment, m_options.directory); !started) {
        startFailed(started.error().message);
        return;
    }
    m_timer.start(startLimit, [this] { startFailed(QStringLiteral("start timed out")); });
}

void ShellSession::startFailed(const QString &why)
{
    const auto self = shared_from_this();
    if (auto done = std::exchange(m_startDone, nullptr))
        done(fail(ErrorCode::Timeout, QStringLiteral("Cannot create shell session: %1").arg(why)));
    close([] {});
}

bool ShellSession::busy() const
{
    return m_state == State::Starting || commandActive() || !m_queue.empty();
}

std::optional<QString> ShellSession::currentCommand() const
{
    return commandActive() ? std::optional(m_command->request.command) : std::nullopt;
}

// ---- commands ------------------------------------------------------------------------------------------------------

void ShellSession::exec(const wire::ShellExecRequest &original, ExecDone done)
{
    wire::ShellExecRequest request = original;
    if (over()) {
        done({ExecOutcome::Kind::Lost, {}, {}});
        return;
    }
    touch();
    m_usedByRest = true;
    if (request.execDir && !isDirectory(*request.execDir)) {
        if (request.strict.value_or(false)) {
            done({ExecOutcome::Kind::Refused, {}, QStringLiteral("Working directory does not exist: %1").arg(*request.execDir)});
            return;
        }
        request.execDir.reset();
    }
    if (m_state == State::Idle && m_queue.empty()) {
        dispatch(std::move(request), std::move(done));
        return;
    }
    if (m_queue.size() >= maxQueued) {
        done({ExecOutcome::Kind::Busy, {}, {}});
        return;
    }
    const double seconds = request.timeout.value_or(double(request.noChangeTimeout.value_or(m_options.idleLimit)));
    m_queue.push_back({std::move(request), std::move(done), std::make_unique<Timer>(m_reactor)});
    Timer *patience = m_queue.back().patience.get();
    patience->start(std::chrono::milliseconds(qint64(seconds * 1000)), [this, patience] {
        const auto found = std::find_if(m_queue.begin(), m_queue.end(), [&](const Queued &q) { return q.patience.get() == patience; });
        if (found == m_queue.end())
            return;
        Queued late = std::move(*found);
        m_queue.erase(found);
        late.done({ExecOutcome::Kind::Busy, {}, {}});
        // `late` owns the timer whose callback this is: it must outlive the call.
        m_reactor.post([kept = std::make_shared<Queued>(std::move(late))] {});
    });
    if (m_state == State::Editing)
        leaveEditor();
}

void ShellSession::dispatchNext()
{
    if (m_state != State::Idle)
        return;
    if (!m_queue.empty()) {
        Queued next = std::move(m_queue.front());
        m_queue.pop_front();
        next.patience->stop();
        dispatch(std::move(next.request), std::move(next.done));
    } else if (!m_typedAhead.isEmpty() || m_inputWaits) {
        beginTyping();
    }
}

void ShellSession::dispatch(wire::ShellExecRequest request, ExecDone done)
{
    touch();
    const qint64 keep = request.truncate ? shortKeep : longKeep;
    m_command = std::make_shared<ShellCommand>(keep, keep);
    m_command->idleLimit = request.noChangeTimeout.value_or(m_options.idleLimit);
    m_command->request = std::move(request);
    m_command->reply = std::move(done);
    m_state = State::Dispatching;
    sendCommand();
}

void ShellSession::sendCommand()
{
    const wire::ShellExecRequest &request = m_command->request;
    m_command->sequence = m_nextSequence++;
    ShellLine line;
    line.sequence = m_command->sequence;
    line.command = request.command.toUtf8();
    line.directory = request.execDir.value_or(QString()).toUtf8();
    line.keepSymlinks = request.preserveSymlinks.value_or(m_options.keepSymlinks);
    line.state = m_userState;
    m_shell->sendLine(commandLine(line, m_shell->terminal()));
    watchForAbort(m_interrupted ? 30ms : 250ms);
}

// ---- what the shell says -------------------------------------------------------------------------------------------

void ShellSession::appendToRing(QByteArrayView bytes)
{
    m_ring.append(bytes);
    if (m_observers.empty())
        return;
    const auto observers = m_observers;
    for (const auto &[id, observer] : observers)
        observer.grown();
}

void ShellSession::onOutput(QByteArrayView bytes)
{
    appendToRing(bytes);
    if (m_state == State::Editing && !m_editorListens) {
        m_editorTimer.start(0ms, [this] { releaseTyped(); });
        return;
    }
    if (m_state != State::Running)
        return;
    m_command->filter.feed(bytes, m_command->output);
    m_command->lastOutputAt = m_reactor.now();
    if (m_command->idleVerdict) {
        m_command->idleVerdict = false;
        armTimers();
    }
}

void ShellSession::onRecord(const ShellRecord &record)
{
    const auto self = shared_from_this();
    switch (record.kind) {
    case ShellRecord::Kind::Ready:
        m_shell->drain();
        m_directory = QString::fromUtf8(record.directory);
        m_promptFrom = m_ring.end();
        m_shell->go();
        if (m_state != State::Starting)
            return;
        m_state = State::Idle;
        m_timer.stop();
        if (auto done = std::exchange(m_startDone, nullptr))
            done({});
        dispatchNext();
        return;
    case ShellRecord::Kind::Started: onStarted(record); return;
    case ShellRecord::Kind::Typed: onTyped(record); return;
    case ShellRecord::Kind::Finished: onFinished(record); return;
    }
}

void ShellSession::onStarted(const ShellRecord &record)
{
    m_interrupted = false;
    if (m_state == State::Editing && record.sequence == m_editSequence) {
        m_shell->drain();
        appendToRing("\r\x1b[K"); // the editor prints the prompt again
        m_shell->setEcho(true);
        m_editorListens = false;
        m_editorTimer.start(editorLimit, [this] { releaseTyped(); });
        m_shell->go();
        return;
    }
    if (m_state != State::Dispatching || record.sequence != m_command->sequence) {
        m_shell->go();
        return;
    }
    m_shell->drain();
    const QByteArray between = m_ring.mid(std::max(m_promptFrom, m_ring.end() - maxPromptBytes), maxPromptBytes);
    m_command->ps1 = between.sliced(between.lastIndexOf('\n') + 1);
    m_shell->setEcho(false);
    QByteArray shown = m_command->request.command.toUtf8();
    shown.replace("\n", "\r\n");
    appendToRing(shown + "\r\n");
    m_command->started = true;
    m_command->startedAt = m_command->lastOutputAt = m_reactor.now();
    m_state = State::Running;
    m_shell->markCommand();
    m_shell->go();
    armTimers();
    if (m_command->request.asyncMode)
        answerExec(running, std::nullopt);
}

void ShellSession::stripPrompt()
{
    // After an interrupt the shell shows its prompt before it can say that it is back.
    if (!m_command->ps1.isEmpty())
        m_command->output.chopTail(m_command->ps1);
}

void ShellSession::tidyAfterInterrupt()
{
    // An interrupt in the middle of starting a job makes bash forget the job, and wait for it, in front, in the next
    // simple command of all: in the function of this record or behind it.
    m_interrupted = true;
    if (m_command->started)
        m_shell->killLeftovers();
    else
        m_shell->killForeground();
    appendToRing("\r\x1b[K"); // the prompt that the interrupt has brought is followed by another
}

void ShellSession::onFinished(const ShellRecord &record)
{
    if (record.sequence == m_probe)
        m_probe = 0;
    m_directory = QString::fromUtf8(record.directory);
    const bool editorLeft = m_state == State::Editing && record.sequence >= m_editSequence;
    const bool mine = commandActive() && record.sequence >= m_command->sequence;
    if (!editorLeft && !mine) {
        if (m_state == State::Idle || m_state == State::Dispatching) {
            // A probe that was not needed: the prompt that follows takes the place of the one before.
            m_shell->drain();
            appendToRing("\r\x1b[K");
            m_promptFrom = m_ring.end();
        }
        m_shell->go();
        return;
    }
    m_shell->drain();
    m_probe = 0; // answered, or dropped by the shell, or answered later and then of no interest
    m_abortWatch.stop();
    m_editorTimer.stop();
    if (editorLeft || m_command->typed)
        m_shell->setEcho(false);
    if (mine && (record.sequence > m_command->sequence || m_command->killed || m_command->hardLimitHit))
        tidyAfterInterrupt();
    if (mine && (m_command->killed || m_command->hardLimitHit))
        m_shell->discardInput(); // as the terminal does for an interrupt
    else if (mine && m_command->fed)
        m_inputWaits = m_shell->inputWaits(); // typed ahead: the line editor gets it
    m_promptFrom = m_ring.end();
    m_shell->go();
    if (editorLeft) {
        m_state = State::Idle;
        dispatchNext();
        return;
    }
    m_userState = record.state();
    if (!m_command->started && !m_command->killed) {
        // An interrupt meant for the command before threw this one's line away before it began: it goes again.
        m_state = State::Dispatching;
        sendCommand();
        return;
    }
    if (record.sequence > m_command->sequence)
        stripPrompt();
    m_state = State::Idle;
    if (m_command->killed)
        finishCommand(wire::shell_status::terminated, std::nullopt);
    else if (m_command->hardLimitHit)
        finishCommand(wire::shell_status::hardTimeout, std::nullopt);
    else
        finishCommand(completed, record.exitCode());
    dispatchNext();
}

void ShellSession::finishCommand(const QString &status, std::optional<qint64> exitCode)
{
    const auto command = m_command;
    m_timer.stop();
    m_ladder.stop();
    m_abortWatch.stop();
    command->filter.finish(command->output);
    command->ended = true;
    command->idleVerdict = false;
    command->status = status;
    command->exitCode = exitCode;
    touch();
    recordCommand();
    answerExec(status, exitCode);
    wakeWaiters();
    killsDone(status);
}

void ShellSession::recordCommand()
{
    if (m_command->typed && m_command->request.command.isEmpty())
        return;
    wire::ConsoleRecord record{QString::fromUtf8(m_command->ps1), m_command->request.command,
                               m_command->output.text(maxConsoleChars, true)};
    m_consoleBytes += record.output.size() * 2;
    m_console.push_back(std::move(record));
    while (m_console.size() > maxConsoleRecords || (m_consoleBytes > maxConsoleBytes && m_console.size() > 1)) {
        m_consoleBytes -= m_console.front().output.size() * 2;
        m_console.pop_front();
    }
}

wire::ShellExecResult ShellSession::resultOf(const QString &status, std::optional<qint64> exitCode) const
{
    wire::ShellExecResult result;
    result.sessionId = m_options.id;
    result.command = m_command->request.command;
    result.status = status;
    result.exitCode = exitCode;
    if (m_command->ended && !over())
        result.workingDir = m_directory;
    if (m_command->started)
        result.output = m_command->output.text(m_command->request.truncate ? shownChars : 0, m_command->ended);
    if (m_command->ended && result.output.size() <= shownChars) {
        result.hasConsole = true;
        result.console.append({QString::fromUtf8(m_command->ps1), result.command, result.output});
    }
    return result;
}

void ShellSession::answerExec(const QString &status, std::optional<qint64> exitCode)
{
    if (auto reply = std::exchange(m_command->reply, nullptr))
        reply({ExecOutcome::Kind::Answered, resultOf(status, exitCode), {}});
}

void ShellSession::wakeWaiters()
{
    const auto waiters = std::exchange(m_waiters, {});
    const QString now = status();
    for (const auto &waiter : waiters) {
        waiter->limit->stop();
        waiter->done(now);
    }
}

QString ShellSession::status() const
{
    if (commandActive())
        return m_command->visibleStatus();
    return m_command ? m_command->status : QString(completed);
}

wire::ShellView ShellSession::view() const
{
    wire::ShellView view;
    view.output = QString::fromUtf8(m_ring.all());
    view.sessionId = m_options.id;
    view.status = status();
    view.console = QList<wire::ConsoleRecord>(m_console.begin(), m_console.end());
    if (!m_command)
        return view;
    view.command = m_command->request.command;
    view.exitCode = m_command->exitCode;
    if (commandActive()) {
        view.console.append({QString::fromUtf8(m_command->ps1), m_command->request.command,
                             m_command->output.text(maxConsoleChars, false)});
    }
    return view;
}

void ShellSession::wait(double seconds, WaitDone done)
{
    touch();
    if (!commandActive() || m_command->idleVerdict || seconds <= 0) {
        done(status());
        return;
    }
    auto waiter = std::make_shared<Waiter>(Waiter{std::move(done), std::make_unique<Timer>(m_reactor)});
    m_waiters.push_back(waiter);
    waiter->limit->start(std::chrono::milliseconds(qint64(seconds * 1000)), [this, weak = std::weak_ptr(waiter)] {
        const auto late = weak.lock();
        m_waiters.remove(late);
        late->done(status());
        m_reactor.post([late] {}); // it owns the timer that is calling
    });
}

// ---- typing --------------------------------------------------------------------------------------------------------

Result<QString> ShellSession::write(const QByteArray &bytes)
{
    touch();
    const bool active = commandActive();
    if (bytes.contains('\x03') || bytes.contains('\x1c'))
        watchForAbort(30ms);
    bool taken = true;
    if (active || (m_state == State::Editing && m_editorListens)) {
        taken = m_shell->type(bytes);
        if (active)
            m_command->fed = true;
    } else {
        m_typedAhead += bytes;
        if (m_state == State::Idle)
            beginTyping();
    }
    if (!taken)
        return fail(ErrorCode::ResourceExhausted, QStringLiteral("The terminal takes no more input: the command does not read it"));
    return QString(active ? running : completed);
}

void ShellSession::beginTyping()
{
    m_state = State::Editing;
    m_editorListens = false;
    m_inputWaits = false;
    m_editSequence = m_nextSequence++;
    m_shell->sendLine(typedLine(m_editSequence, m_shell->terminal()));
    watchForAbort(m_interrupted ? 30ms : 250ms);
}

void ShellSession::releaseTyped()
{
    if (m_state != State::Editing)
        return;
    m_editorListens = true;
    m_shell->type(std::exchange(m_typedAhead, {}));
    if (!m_queue.empty())
        leaveEditor();
}

void ShellSession::leaveEditor()
{
    // End of line, erase the line, end of input: the editor gives up and the waiting command gets the shell.
    if (m_editorListens)
        m_shell->type("\x05\x15\x04");
}

void ShellSession::onTyped(const ShellRecord &record)
{
    m_shell->drain();
    if (m_state != State::Editing) {
        m_shell->go();
        return;
    }
    if (completeness(record.text) == Completeness::Incomplete) {
        m_editorListens = false;
        m_editorTimer.start(editorLimit, [this] { releaseTyped(); });
        m_shell->go(channelMore);
        return;
    }
    m_editorTimer.stop();
    m_command = std::make_shared<ShellCommand>(shortKeep, shortKeep);
    m_command->request.command = QString::fromUtf8(record.text);
    m_command->sequence = m_editSequence;
    m_command->idleLimit = m_options.idleLimit;
    m_command->typed = true;
    m_command->started = true;
    m_command->startedAt = m_command->lastOutputAt = m_reactor.now();
    m_state = State::Running;
    m_shell->markCommand();
    m_shell->go();
    armTimers();
    watchForAbort(250ms);
}

} // namespace paddock::sandboxd
