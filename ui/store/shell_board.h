// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/store/names.h"

#include <QHash>

#include <optional>
#include <vector>

namespace paddock {

struct ShellCommand {
    QString id;
    QString session;
    QString command;
    Micros from = 0;
    Micros until = openEnd;
    std::optional<int> exitCode;
    QString status; ///< empty while it runs
    qint64 bytes = 0;
    bool retried = false;
};

/// Something that happened to a scope's session.
struct ShellMark {
    enum class Kind { Created, Lost, Closed, TakenOver, GivenBack } kind;
    QString session;
    QString reason;
    Micros at = 0;
};

/// One scope's shell as its header shows it.
struct ShellEntry {
    QString scope;   ///< equal to the lease owner
    AgentId agent;
    QString session; ///< of now; empty when none is open
    QString lastSession; ///< the newest one, also after it closed
    QString cwd;
    bool takenOver = false;
    int recoveries = 0;
    std::vector<ShellCommand> commands;
    std::vector<ShellMark> marks;

    /// The command that runs now; null when idle.
    const ShellCommand *running() const;
    /// The newest finished command; null when none did.
    const ShellCommand *lastFinished() const;
};

/// The shells of one run, in order of first use. Part of RunStore; GUI thread.
class ShellBoard
{
public:
    bool apply(const Event &event);
    const std::vector<ShellEntry> &shells() const { return m_shells; }
    const ShellEntry *find(const QString &scope) const;

private:
    ShellEntry &entry(const QString &scope);
    std::vector<ShellEntry> m_shells;
    QHash<QString, int> m_index;
};

} // namespace paddock
