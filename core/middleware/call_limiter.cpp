// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/call_limiter.h"

namespace paddock {

CallLimiter::CallLimiter(int limit) : m_state(std::make_shared<State>(limit)) {}

CallLimiter::Permit::~Permit()
{
    if (m_state)
        giveBack(*m_state);
}

Task<CallLimiter::Permit> CallLimiter::take(std::stop_token stop)
{
    return takeFrom(m_state, std::move(stop));
}

Task<CallLimiter::Permit> CallLimiter::takeFrom(std::shared_ptr<State> state, std::stop_token stop)
{
    Completion<bool> turn;
    quint64 number = 0;
    {
        const std::lock_guard lock(state->mutex);
        if (state->limit <= 0 || state->open < state->limit) {
            ++state->open;
            co_return Permit(state);
        }
        number = state->nextNumber++;
        state->waiters.emplace_back(number, turn);
    }
    bool ours = false;
    {
        const std::stop_callback onStop(stop, [turn] { turn.complete(false); });
        ours = co_await turn;
    }
    if (ours)
        co_return Permit(state); // a stop that came later finds the place in the permit, which hands it on
    const std::lock_guard lock(state->mutex);
    std::erase_if(state->waiters, [number](const auto &waiter) { return waiter.first == number; });
    co_return Permit();
}

void CallLimiter::giveBack(State &state)
{
    const std::lock_guard lock(state.mutex);
    while (!state.waiters.empty()) {
        const Completion<bool> next = state.waiters.front().second;
        state.waiters.pop_front();
        if (next.complete(true)) // resumes by a queued call, never inside this one
            return;              // handed over: as many are open as before
    }
    --state.open;
}

int CallLimiter::open() const
{
    const std::lock_guard lock(m_state->mutex);
    return m_state->open;
}

int CallLimiter::waiting() const
{
    const std::lock_guard lock(m_state->mutex);
    return int(m_state->waiters.size());
}

std::shared_ptr<CallLimiter> CallLimiter::process(int limit)
{
    static const auto limiter = std::make_shared<CallLimiter>(limit);
    return limiter;
}

} // namespace paddock
