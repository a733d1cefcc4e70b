// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/completion.h"

#include <QLoggingCategory>

#include <functional>
#include <memory>
#include <stop_token>

namespace paddock {

/// Owns tasks that nobody awaits: counts them, stops them, drains them, logs what they throw. Lives on one thread, which
/// must be the one where the tasks run. Destroying a scope that still has tasks is a programming error (logged); the
/// tasks keep the shared state, so nothing dangles.
class TaskScope
{
public:
    explicit TaskScope(QString name);
    ~TaskScope();
    TaskScope(const TaskScope &) = delete;
    TaskScope &operator=(const TaskScope &) = delete;

    /// Starts `fn(stopToken)`. After requestStop() new tasks are refused (false).
    bool spawn(std::function<Task<>(std::stop_token)> fn);
    std::stop_token stopToken() const;
    void requestStop();
    int running() const;
    /// Waits until no task is left. Not cancellable: what it waits for is (style.md E10).
    Task<> drain();

private:
    struct State;
    static Task<> run(std::shared_ptr<State> state, std::function<Task<>(std::stop_token)> fn);
    std::shared_ptr<State> m_state;
};

} // namespace paddock
