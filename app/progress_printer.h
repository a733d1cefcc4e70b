// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/event/event.h"

#include <QHash>

#include <functional>

namespace paddock {

/// Words the events of a run for a terminal: one line each, what a person needs and no more. Main thread.
class ProgressPrinter
{
public:
    using Out = std::function<void(const QString &line)>;
    ProgressPrinter(bool quiet, Out out) : m_quiet(quiet), m_out(std::move(out)) {}
    void show(const Event &event);
    /// A line that belongs to no event.
    void note(const QString &text);

private:
    void line(const Event &event, const QString &text);
    QString agentLabel(const AgentId &agent) const;
    void agents(const Event &event);
    void sandboxes(const Event &event);
    void work(const Event &event);

    bool m_quiet;
    Out m_out;
    std::chrono::microseconds m_start{-1};
    QHash<QString, QString> m_labels; ///< agent id -> description
};

} // namespace paddock
