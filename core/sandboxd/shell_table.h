// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandboxd/shell_session.h"

#include <map>
#include <memory>

namespace paddock::sandboxd {

/// A refusal with its HTTP status.
struct Refusal {
    int status = 400;
    QString message;
};
template<typename T>
using Outcome = std::expected<T, Refusal>;

/// All shell sessions of the sandbox: capacity and eviction (aio-api.md §2.12), creation, removal, expiry.
/// Owner: SandboxServer; reactor's thread.
class ShellTable
{
public:
    struct Options {
        int maxSessions = 64;
        qint64 idleExpirySeconds = 3600;
        qint64 implicitExpirySeconds = 300;
        QByteArray directory; ///< where sessions start
        QList<QByteArray> environment;
        /// A line for the log: evictions and the like. Never holds commands.
        std::function<void(const QString &)> log;
    };
    using SessionPtr = std::shared_ptr<ShellSession>;
    using CreateDone = std::function<void(Outcome<SessionPtr>)>;

    ShellTable(Reactor &reactor, ChildReaper &reaper, Options options);

    void create(const wire::ShellCreateRequest &request, CreateDone done) { create(request, false, std::move(done)); }
    /// Without an id on a session made for this call. The outcome's kind Lost means an unknown id.
    void exec(const wire::ShellExecRequest &request, ExecDone done);
    /// Null when unknown or on its way out.
    SessionPtr find(const QString &id) const;
    /// False when unknown; `done` when its processes are gone.
    bool remove(const QString &id, std::function<void()> done);
    void removeAll(std::function<void(int)> done);

    wire::ShellSessions sessions() const;
    wire::ShellStats stats() const;
    bool idle() const { return m_sessions.empty() && m_closing.empty(); }

private:
    struct Entry {
        SessionPtr session;
        std::vector<CreateDone> waiting; ///< creates that share a start under way
    };
    void create(const wire::ShellCreateRequest &request, bool implicit, CreateDone done);
    void insert(const wire::ShellCreateRequest &request, const QString &id, bool implicit, CreateDone done);
    bool makeRoom();
    void detach(const SessionPtr &session);
    void expire();

    Reactor &m_reactor;
    ChildReaper &m_reaper;
    Options m_options;
    std::map<QString, Entry> m_sessions;
    std::map<QString, SessionPtr> m_closing;
    std::vector<std::pair<QString, std::function<void()>>> m_afterClosing; ///< creates that wait for an id to be free
    Timer m_expiry;
};

} // namespace paddock::sandboxd
