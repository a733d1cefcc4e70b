// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandboxd/bash_command.h"
#include "core/sandboxd/shell_table.h"

#include <deque>
#include <map>

namespace paddock::sandboxd {

/// The bash group's sessions (aio-api.md §3): a default directory and the commands started in it.
/// Owner: SandboxServer; reactor's thread.
class BashTable
{
public:
    struct Options {
        int maxSessions = 128;
        QByteArray directory;
        QList<QByteArray> environment;
        std::function<void(const QString &)> log;
    };
    BashTable(Reactor &reactor, ChildReaper &reaper, Options options);

    void exec(const wire::BashExecRequest &request, std::function<void(Outcome<wire::BashExecResult>)> done);
    void output(const wire::BashOutputRequest &request, std::function<void(Outcome<wire::BashOutputResult>)> done);
    Outcome<void> write(const wire::BashWriteRequest &request);
    /// The message of the reply.
    Outcome<QString> kill(const wire::BashKillRequest &request);
    Outcome<wire::BashSession> create(const wire::BashCreateRequest &request);
    Outcome<void> close(const QString &id);
    QList<wire::BashSession> sessions() const;

    /// Ends every command; `done` when they are gone or after 3 s.
    void closeAll(std::function<void()> done);
    /// Runs a helper of the server itself, outside every session.
    void runDetached(const QString &command, double seconds, std::function<void(wire::BashExecResult)> done);

private:
    using CommandPtr = std::shared_ptr<BashCommand>;
    struct Session {
        QString id;
        QString directory;
        QString snapshot;
        bool implicit = false;
        wire::Timestamp createdAt;
        wire::Timestamp lastUsedAt;
        std::uint64_t useOrder = 0;
        qint64 commandCount = 0;
        std::deque<CommandPtr> commands; ///< newest last
        bool busy() const;
        CommandPtr current() const { return commands.empty() ? nullptr : commands.back(); }
    };
    Outcome<Session *> open(const std::optional<QString> &id, bool implicit);
    Session *find(const QString &id);
    bool makeRoom();
    void touch(Session &session);
    wire::BashSession shown(const Session &session) const;
    void keepUntilEnded(const CommandPtr &command);

    Reactor &m_reactor;
    ChildReaper &m_reaper;
    Options m_options;
    std::map<QString, Session> m_sessions;
    std::vector<CommandPtr> m_leaving; ///< of closed sessions, until their processes are gone
    std::uint64_t m_useCounter = 0;
};

} // namespace paddock::sandboxd
