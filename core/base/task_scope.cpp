// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/task_scope.h"

Q_LOGGING_CATEGORY(lcScope, "paddock.base.scope")

namespace paddock {

struct TaskScope::State {
    QString name;
    std::stop_source stop;
    int running = 0;
    std::vector<Completion<void>> drainers;
};

TaskScope::TaskScope(QString name) : m_state(std::make_shared<State>())
{
    m_state->name = std::move(name);
}

TaskScope::~TaskScope()
{
    if (m_state->running > 0) {
        qCCritical(lcScope, "scope %ls destroyed with %d tasks running", qUtf16Printable(m_state->name),
                   m_state->running);
        m_state->stop.request_stop();
    }
}

Task<> TaskScope::run(std::shared_ptr<State> state, std::function<Task<>(std::stop_token)> fn)
{
    try {
        co_await fn(state->stop.get_token());
    } catch (const std::exception &e) {
        qCCritical(lcScope, "task in scope %ls threw: %s", qUtf16Printable(state->name), e.what());
    } catch (...) {
        qCCritical(lcScope, "task in scope %ls threw an unknown exception", qUtf16Printable(state->name));
    }
    if (--state->running == 0) {
        for (const Completion<void> &drainer : std::exchange(state->drainers, {}))
            drainer.complete();
    }
}

bool TaskScope::spawn(std::function<Task<>(std::stop_token)> fn)
{
    if (m_state->stop.stop_requested())
        return false;
    ++m_state->running;
    run(m_state, std::move(fn)); // detached on purpose: the state counts it
    return true;
}

std::stop_token TaskScope::stopToken() const
{
    return m_state->stop.get_token();
}

void TaskScope::requestStop()
{
    m_state->stop.request_stop();
}

int TaskScope::running() const
{
    return m_state->running;
}

Task<> TaskScope::drain()
{
    const auto state = m_state;
    while (state->running > 0) {
        const Completion<void> done;
        state->drainers.push_back(done);
        co_await done;
    }
}

} // namespace paddock
