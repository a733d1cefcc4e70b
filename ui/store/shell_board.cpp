// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/store/shell_board.h"

namespace paddock {

const ShellCommand *ShellEntry::running() const
{
    return commands.empty() || commands.back().until != openEnd ? nullptr : &commands.back();
}

const ShellCommand *ShellEntry::lastFinished() const
{
    for (auto it = commands.rbegin(); it != commands.rend(); ++it) {
        if (it->until != openEnd)
            return &*it;
    }
    return nullptr;
}

const ShellEntry *ShellBoard::find(const QString &scope) const
{
    const int index = m_index.value(scope, -1);
    return index < 0 ? nullptr : &m_shells[size_t(index)];
}

ShellEntry &ShellBoard::entry(const QString &scope)
{
    const auto found = m_index.constFind(scope);
    if (found != m_index.constEnd())
        return m_shells[size_t(*found)];
    m_index.insert(scope, int(m_shells.size()));
    ShellEntry fresh;
    fresh.scope = scope;
    fresh.agent = agentOfOwner(scope);
    m_shells.push_back(std::move(fresh));
    return m_shells.back();
}

bool ShellBoard::apply(const Event &event)
{
    const Micros now = event.mono.count();
    const auto visitor = [&](const auto &body) {
        using T = std::decay_t<decltype(body)>;
        if constexpr (std::is_same_v<T, ShellSessionCreated>) {
            ShellEntry &shell = entry(body.scope);
            shell.session = shell.lastSession = body.session;
            shell.cwd.clear(); // a new shell stands where it begins, not where the old one was
            if (body.reason != u"first_use")
                ++shell.recoveries;
            shell.marks.push_back({ShellMark::Kind::Created, body.session, body.reason, now});
        } else if constexpr (std::is_same_v<T, ShellSessionLost>) {
            ShellEntry &shell = entry(body.scope);
            if (shell.session == body.session)
                shell.session.clear();
            shell.marks.push_back({ShellMark::Kind::Lost, body.session, body.reason, now});
        } else if constexpr (std::is_same_v<T, ShellSessionClosed>) {
            ShellEntry &shell = entry(body.scope);
            if (shell.session == body.session)
                shell.session.clear();
            shell.takenOver = false;
            shell.marks.push_back({ShellMark::Kind::Closed, body.session, body.reason, now});
        } else if constexpr (std::is_same_v<T, ShellCommandStarted>) {
            ShellCommand command;
            command.id = body.commandId;
            command.session = body.session;
            command.command = body.command;
            command.from = now;
            entry(body.scope).commands.push_back(std::move(command));
        } else if constexpr (std::is_same_v<T, ShellCommandFinished>) {
            ShellEntry &shell = entry(body.scope);
            if (!body.cwd.isEmpty())
                shell.cwd = body.cwd;
            for (auto it = shell.commands.rbegin(); it != shell.commands.rend(); ++it) {
                if (it->id != body.commandId)
                    continue;
                it->until = now;
                it->exitCode = body.exitCode;
                it->status = body.status;
                it->bytes = body.bytes;
                it->retried = body.retried;
                break;
            }
        } else if constexpr (std::is_same_v<T, ShellTakeoverStarted>) {
            entry(body.scope).takenOver = true;
            entry(body.scope).marks.push_back({ShellMark::Kind::TakenOver, body.session, {}, now});
        } else if constexpr (std::is_same_v<T, ShellTakeoverEnded>) {
            entry(body.scope).takenOver = false;
            entry(body.scope).marks.push_back({ShellMark::Kind::GivenBack, body.session, {}, now});
        } else {
            return false;
        }
        return true;
    };
    return std::visit(visitor, event.body);
}

} // namespace paddock
