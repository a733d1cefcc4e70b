// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/bash_table.h"

#include "core/base/ids.h"

#include <sys/stat.h>

#include <algorithm>
#include <csignal>

namespace paddock::sandboxd {

using namespace std::chrono_literals;

namespace {

constexpr size_t keptCommands = 8; // finished ones, per session

bool isDirectory(const QString &path)
{
    struct stat facts;
    return ::stat(path.toUtf8().constData(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

std::unexpected<Refusal> lost()
{
    return std::unexpected(Refusal{404, QStringLiteral("Session not found")});
}

wire::Timestamp wallNow()
{
    return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

} // namespace

BashTable::BashTable(Reactor &reactor, ChildReaper &reaper, Options options)
    : m_reactor(reactor), m_reaper(reaper), m_options(std::move(options))
{
}

bool BashTable::Session::busy() const
{
    return std::any_of(commands.begin(), commands.end(), [](const CommandPtr &command) { return command->running(); });
}

BashTable::Session *BashTable::find(const QString &id)
{
    const auto found = m_sessions.find(id);
    return found == m_sessions.end() ? nullptr : &found->second;
}

void BashTable::touch(Session &session)
{
    session.lastUsedAt = wallNow();
    session.useOrder = ++m_useCounter;
}

bool BashTable::makeRoom()
{
    if (int(m_sessions.size()) < m_options.maxSessions)
        return true;
    const Session *victim = nullptr;
    for (const auto &[id, session] : m_sessions) {
        if (session.busy())
            continue;
        const bool better = !victim || (session.implicit != victim->implicit ? session.implicit : session.useOrder < victim->useOrder);
        if (better)
            victim = &session;
    }
    if (!victim)
        return false;
    // Sessions made for a single command come and go by the hundred: only losing a named one is worth a line.
    if (!victim->implicit)
        m_options.log(QStringLiteral("evicted idle bash session %1: limit of %2 reached").arg(victim->id).arg(m_options.maxSessions));
    m_sessions.erase(m_sessions.find(QString(victim->id)));
    return true;
}

Outcome<BashTable::Session *> BashTable::open(const std::optional<QString> &wanted, bool implicit)
{
    const QString id = wanted && !wanted->isEmpty() ? *wanted : newUuid();
    if (Session *known = find(id))
        return known;
    if (!makeRoom()) {
        return std::unexpected(Refusal{400, QStringLiteral("Cannot create bash session: session limit reached and all %1 existing "
                                                           "sessions have active commands")
                                                .arg(m_sessions.size())});
    }
    Session session;
    session.id = id;
    session.directory = QString::fromUtf8(m_options.directory);
    session.implicit = implicit;
    session.createdAt = wallNow();
    touch(session);
    return &m_sessions.emplace(id, std::move(session)).first->second;
}

void BashTable::exec(const wire::BashExecRequest &request, std::function<void(Outcome<wire::BashExecResult>)> done)
{
    const bool named = request.sessionId && !request.sessionId->isEmpty();
    if (named && !find(*request.sessionId)) {
        done(lost());
        return;
    }
    if (request.execDir && !isDirectory(*request.execDir)) {
        done(std::unexpected(Refusal{400, QStringLiteral("Working directory does not exist: %1").arg(*request.execDir)}));
        return;
    }
    const Outcome<Session *> opened = open(request.sessionId, !named);
    if (!opened) {
        done(std::unexpected(opened.error()));
        return;
    }
    Session &session = **opened;
    touch(session);
    if (request.execDir)
        session.directory = *request.execDir;
    const QString directory = isDirectory(session.directory) ? session.directory : QStringLiteral("/");
    const auto command = std::make_shared<BashCommand>(m_reactor, m_reaper, session.id, request);
    if (const auto started = command->start(m_options.environment, directory.toUtf8(), session.snapshot); !started) {
        done(std::unexpected(Refusal{400, started.error().message}));
        return;
    }
    ++session.commandCount;
    session.commands.push_back(command);
    // The oldest finished ones go; running ones always stay.
    while (session.commands.size() > keptCommands) {
        const auto old = std::find_if(session.commands.begin(), session.commands.end(), [](const CommandPtr &c) { return !c->running(); });
        if (old == session.commands.end())
            break;
        session.commands.erase(old);
    }
    command->onEnded = [this, id = session.id] {
        if (Session *still = find(id))
            touch(*still);
    };
    command->answerWhenDone([done = std::move(done)](wire::BashExecResult result) { done(std::move(result)); });
}

void BashTable::output(const wire::BashOutputRequest &request, std::function<void(Outcome<wire::BashOutputResult>)> done)
{
    Session *session = find(request.sessionId);
    if (!session) {
        done(lost());
        return;
    }
    touch(*session);
    CommandPtr command = session->current();
    if (request.commandId) {
        const auto found = std::find_if(session->commands.begin(), session->commands.end(),
                                        [&](const CommandPtr &c) { return c->id() == *request.commandId; });
        if (found == session->commands.end()) {
            done(std::unexpected(Refusal{404, QStringLiteral("Command not found")}));
            return;
        }
        command = *found;
    }
    if (!command) {
        wire::BashOutputResult empty;
        empty.sessionId = request.sessionId;
        empty.offset = request.offset;
        empty.stderrOffset = request.stderrOffset;
        done(std::move(empty));
        return;
    }
    command->output(request, [done = std::move(done)](wire::BashOutputResult result) { done(std::move(result)); });
}

Outcome<void> BashTable::write(const wire::BashWriteRequest &request)
{
    Session *session = find(request.sessionId);
    if (!session)
        return lost();
    touch(*session);
    CommandPtr command = session->current();
    if (request.commandId) {
        const auto found = std::find_if(session->commands.begin(), session->commands.end(),
                                        [&](const CommandPtr &c) { return c->id() == *request.commandId; });
        if (found == session->commands.end())
            return std::unexpected(Refusal{404, QStringLiteral("Command not found")});
        command = *found;
    }
    if (!command)
        return std::unexpected(Refusal{400, QStringLiteral("No running command")});
    if (const auto written = command->write(request.input.toUtf8()); !written)
        return std::unexpected(Refusal{400, written.error().message});
    return {};
}

Outcome<QString> BashTable::kill(const wire::BashKillRequest &request)
{
    Session *session = find(request.sessionId);
    if (!session)
        return lost();
    touch(*session);
    const CommandPtr command = session->current();
    if (!command || !command->running())
        return QStringLiteral("No running command");
    const int number = request.signal == u"SIGKILL" ? SIGKILL : request.signal == u"SIGINT" ? SIGINT : SIGTERM;
    command->signal(number);
    return QStringLiteral("Signal %1 sent").arg(request.signal);
}

wire::BashSession BashTable::shown(const Session &session) const
{
    wire::BashSession out;
    out.sessionId = session.id;
    out.status = QStringLiteral("ready");
    out.workingDir = session.directory;
    out.createdAt = session.createdAt;
    out.lastUsedAt = session.lastUsedAt;
    if (const CommandPtr command = session.current(); command && command->running())
        out.currentCommand = command->text();
    out.commandCount = session.commandCount;
    return out;
}

Outcome<wire::BashSession> BashTable::create(const wire::BashCreateRequest &request)
{
    if (request.sessionId && !request.sessionId->isEmpty()) {
        if (const Session *known = find(*request.sessionId))
            return shown(*known);
    }
    if (request.execDir && !isDirectory(*request.execDir))
        return std::unexpected(Refusal{400, QStringLiteral("Working directory does not exist: %1").arg(*request.execDir)});
    const Outcome<Session *> opened = open(request.sessionId, false);
    if (!opened)
        return std::unexpected(opened.error());
    Session &session = **opened;
    if (request.execDir)
        session.directory = *request.execDir;
    session.snapshot = request.snapshotPath.value_or(QString());
    return shown(session);
}

void BashTable::keepUntilEnded(const CommandPtr &command)
{
    m_leaving.push_back(command);
    command->onEnded = [this, weak = std::weak_ptr(command)] {
        m_reactor.post([this, weak] { std::erase(m_leaving, weak.lock()); });
    };
}

Outcome<void> BashTable::close(const QString &id)
{
    const auto found = m_sessions.find(id);
    if (found == m_sessions.end())
        return lost();
    const auto commands = std::move(found->second.commands);
    m_sessions.erase(found);
    for (const CommandPtr &command : commands) {
        if (command->running()) {
            keepUntilEnded(command);
            command->terminate();
        }
    }
    return {};
}

QList<wire::BashSession> BashTable::sessions() const
{
    QList<wire::BashSession> out;
    for (const auto &[id, session] : m_sessions)
        out.append(shown(session));
    return out;
}

void BashTable::closeAll(std::function<void()> done)
{
    QStringList ids;
    for (const auto &[id, session] : m_sessions)
        ids << id;
    for (const QString &id : ids)
        (void)close(id);
    auto tries = std::make_shared<int>(0);
    auto look = std::make_shared<std::function<void()>>();
    *look = [this, tries, weak = std::weak_ptr(look), done = std::move(done)] {
        if (m_leaving.empty() || ++*tries > 150) {
            done();
            return;
        }
        m_reactor.after(20ms, [again = weak.lock()] { (*again)(); });
    };
    m_reactor.post([look] { (*look)(); });
}

void BashTable::runDetached(const QString &command, double seconds, std::function<void(wire::BashExecResult)> done)
{
    wire::BashExecRequest request;
    request.command = command;
    request.hardTimeout = seconds;
    request.maxOutputLength = 0;
    const auto process = std::make_shared<BashCommand>(m_reactor, m_reaper, QString(), request);
    if (!process->start(m_options.environment, m_options.directory, {})) {
        done({});
        return;
    }
    keepUntilEnded(process);
    process->answerWhenDone([done = std::move(done)](wire::BashExecResult result) { done(std::move(result)); });
}

} // namespace paddock::sandboxd
