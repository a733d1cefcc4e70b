// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/completion.h"

#include <deque>
#include <memory>
#include <mutex>
#include <stop_token>

namespace paddock {

/// How many model calls may be open at once, over all agents and threads (middleware-base §10.6). First come, first served;
/// waiting listens to the stop token. Thread-safe; permits keep it alive.
class CallLimiter
{
    struct State;

public:
    /// Gives its place back when it goes, whatever happened to the call.
    class Permit
    {
    public:
        Permit() = default;
        Permit(Permit &&other) noexcept = default;
        Permit &operator=(Permit &&other) noexcept
        {
            std::swap(m_state, other.m_state); // the old place goes with `other`
            return *this;
        }
        ~Permit();
        /// False when the wait was stopped before a place was ours.
        explicit operator bool() const { return m_state != nullptr; }

    private:
        friend class CallLimiter;
        explicit Permit(std::shared_ptr<State> state) : m_state(std::move(state)) {}
        std::shared_ptr<State> m_state;
    };

    /// 0: no limit.
    explicit CallLimiter(int limit);

    Task<Permit> take(std::stop_token stop);
    int open() const;
    int waiting() const;

    /// The one of the process. `limit` counts at the first call only; later ones find it frozen.
    static std::shared_ptr<CallLimiter> process(int limit);

private:
    struct State {
        explicit State(int limit_) : limit(limit_) {}
        const int limit;
        std::mutex mutex; // guards all below
        int open = 0;
        quint64 nextNumber = 1;
        std::deque<std::pair<quint64, Completion<bool>>> waiters; ///< completed with true: the place was handed over
    };
    static void giveBack(State &state);
    static Task<Permit> takeFrom(std::shared_ptr<State> state, std::stop_token stop);

    std::shared_ptr<State> m_state;
};

} // namespace paddock
