// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/shell_table.h"

#include "core/base/ids.h"

#include <sys/stat.h>

namespace paddock::sandboxd {

using namespace std::chrono_literals;

namespace {

constexpr auto expiryLook = 60s;
constexpr auto activeWindow = 5min; // §2.9

bool isDirectory(const QByteArray &path)
{
    struct stat facts;
    return ::stat(path.constData(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

} // namespace

ShellTable::ShellTable(Reactor &reactor, ChildReaper &reaper, Options options)
    : m_reactor(reactor), m_reaper(reaper), m_options(std::move(options)), m_expiry(reactor)
{
}

ShellTable::SessionPtr ShellTable::find(const QString &id) const
{
    const auto found = m_sessions.find(id);
    return found == m_sessions.end() || found->second.session->over() ? nullptr : found->second.session;
}

bool ShellTable::makeRoom()
{
    if (int(m_sessions.size()) < m_options.maxSessions)
        return true;
    SessionPtr victim;
    for (const auto &[id, entry] : m_sessions) {
        const SessionPtr &session = entry.session;
        if (session->busy() || session->watched())
            continue;
        const bool better = !victim || (session->implicit() != victim->implicit() ? session->implicit()
                                                                                  : session->useOrder() < victim->useOrder());
        if (better)
            victim = session;
    }
    if (!victim)
        return false;
    m_options.log(QStringLiteral("evicted idle shell session %1: limit of %2 reached").arg(victim->id()).arg(m_options.maxSessions));
    remove(victim->id(), [] {});
    return true;
}

void ShellTable::create(const wire::ShellCreateRequest &request, bool implicit, CreateDone done)
{
    const QString id = request.id.value_or(newUuid());
    if (const auto found = m_sessions.find(id); found != m_sessions.end() && !found->second.session->over()) {
        if (found->second.session->ready())
            done(found->second.session);
        else
            found->second.waiting.push_back(std::move(done));
        return;
    }
    if (m_closing.contains(id)) {
        // The id is free again only when the old processes are gone.
        m_afterClosing.emplace_back(id, [this, request, id, implicit, done = std::move(done)] { insert(request, id, implicit, done); });
        return;
    }
    insert(request, id, implicit, std::move(done));
}

void ShellTable::insert(const wire::ShellCreateRequest &request, const QString &id, bool implicit, CreateDone done)
{
    if (!makeRoom()) {
        done(std::unexpected(Refusal{400, QStringLiteral("Cannot create shell session: session limit reached and all %1 existing "
                                                         "sessions have active commands")
                                              .arg(m_sessions.size())}));
        return;
    }
    ShellSession::Options options;
    options.id = id;
    options.implicit = implicit;
    options.directory = request.execDir.value_or(QString()).toUtf8();
    if (options.directory.isEmpty() || !isDirectory(options.directory))
        options.directory = isDirectory(m_options.directory) ? m_options.directory : QByteArray("/");
    options.environment = m_options.environment;
    options.keepSymlinks = request.preserveSymlinks.value_or(false);
    if (options.keepSymlinks)
        options.environment.append("PWD=" + options.directory);
    options.idleLimit = request.noChangeTimeout.value_or(120);
    const auto session = std::make_shared<ShellSession>(m_reactor, m_reaper, std::move(options));
    Entry &entry = m_sessions[id];
    entry.session = session;
    entry.waiting.push_back(std::move(done));
    session->onGone = [this, weak = std::weak_ptr(session)] {
        if (const auto gone = weak.lock())
            m_reactor.post([this, gone] { detach(gone); });
    };
    session->start([this, id, session](Result<void> started) {
        const auto found = m_sessions.find(id);
        std::vector<CreateDone> waiting;
        if (found != m_sessions.end() && found->second.session == session)
            waiting = std::exchange(found->second.waiting, {});
        for (const CreateDone &waiter : waiting) {
            if (started)
                waiter(session);
            else
                waiter(std::unexpected(Refusal{started.error().code == ErrorCode::FailedPrecondition ? 409 : 400, started.error().message}));
        }
        if (!started)
            m_reactor.post([this, session] { detach(session); });
    });
    if (!m_expiry.active())
        m_expiry.start(expiryLook, [this] { expire(); });
}

void ShellTable::exec(const wire::ShellExecRequest &request, ExecDone done)
{
    if (request.id) {
        const SessionPtr session = find(*request.id);
        if (session)
            session->exec(request, std::move(done));
        else
            done({ExecOutcome::Kind::Lost, {}, {}});
        return;
    }
    wire::ShellCreateRequest create;
    create.preserveSymlinks = request.preserveSymlinks;
    this->create(create, true, [request, done = std::move(done)](Outcome<SessionPtr> session) {
        if (session)
            (*session)->exec(request, done);
        else
            done({ExecOutcome::Kind::Refused, {}, session.error().message});
    });
}

/// The session is over: out of the table, and its id stays taken until its processes are gone.
void ShellTable::detach(const SessionPtr &session)
{
    const QString id = session->id();
    const auto found = m_sessions.find(id);
    if (found == m_sessions.end() || found->second.session != session)
        return;
    m_sessions.erase(found);
    m_closing[id] = session;
    session->close([this, session, id] {
        m_reactor.post([this, session, id] {
            if (const auto closing = m_closing.find(id); closing != m_closing.end() && closing->second == session)
                m_closing.erase(closing);
            auto waiting = std::exchange(m_afterClosing, {});
            for (auto &[wanted, call] : waiting) {
                if (wanted == id)
                    call();
                else
                    m_afterClosing.emplace_back(wanted, std::move(call));
            }
        });
    });
}

bool ShellTable::remove(const QString &id, std::function<void()> done)
{
    const SessionPtr session = find(id);
    if (!session)
        return false;
    session->close(std::move(done)); // answers creates that still wait, too
    detach(session);
    return true;
}

void ShellTable::removeAll(std::function<void(int)> done)
{
    struct Count {
        int left = 1;
        int cleaned = 0;
    };
    auto count = std::make_shared<Count>();
    const auto one = [count, done] {
        if (--count->left == 0)
            done(count->cleaned);
    };
    QStringList ids;
    for (const auto &[id, entry] : m_sessions)
        ids << id;
    for (const QString &id : ids) {
        ++count->left;
        if (remove(id, one))
            ++count->cleaned;
        else
            --count->left;
    }
    for (const auto &[id, session] : m_closing) {
        ++count->left;
        session->close(one);
    }
    one();
}

wire::ShellSessions ShellTable::sessions() const
{
    wire::ShellSessions out;
    const auto now = std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
    for (const auto &[id, entry] : m_sessions) {
        const ShellSession &session = *entry.session;
        if (session.over())
            continue;
        wire::ShellSessionEntry shown;
        shown.workingDir = session.workingDirectory();
        shown.createdAt = session.createdAt();
        shown.lastUsedAt = session.lastUsedAt();
        shown.ageSeconds = std::chrono::duration_cast<std::chrono::seconds>(now - session.createdAt()).count();
        shown.status = session.busy() ? QStringLiteral("running") : QStringLiteral("idle");
        shown.currentCommand = session.currentCommand();
        out.sessions.emplace(id, std::move(shown));
    }
    return out;
}

wire::ShellStats ShellTable::stats() const
{
    wire::ShellStats out;
    for (const auto &[id, entry] : m_sessions) {
        ++out.totalSessions;
        out.activeSessions += m_reactor.now() - entry.session->lastUse() < activeWindow;
        out.idleSessions += !entry.session->busy();
    }
    out.maxSessions = m_options.maxSessions;
    out.sessionTimeout = m_options.idleExpirySeconds;
    out.usageRatio = double(out.totalSessions) / double(m_options.maxSessions);
    return out;
}

void ShellTable::expire()
{
    std::vector<SessionPtr> old;
    for (const auto &[id, entry] : m_sessions) {
        const auto limit = entry.session->implicit() ? m_options.implicitExpirySeconds : m_options.idleExpirySeconds;
        const bool unused = m_reactor.now() - entry.session->lastUse() > std::chrono::seconds(limit);
        if (unused && !entry.session->busy() && !entry.session->watched())
            old.push_back(entry.session);
    }
    for (const SessionPtr &session : old) {
        m_options.log(QStringLiteral("shell session %1 expired").arg(session->id()));
        remove(session->id(), [] {});
    }
    if (!m_sessions.empty())
        m_expiry.start(expiryLook, [this] { expire(); });
}

} // namespace paddock::sandboxd
