// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/loop.h"
#include "core/base/task.h"

#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>

namespace paddock {

/// A value that arrives once, from any thread; the first completion wins. One coroutine may await it, on a thread that
/// runs an event loop; it resumes there through a queued call, never inline inside the completer (style.md F3, F6).
/// Copies share the state. The awaiting frame keeps the state alive, so the completer may die before or after it.
template<typename T>
class Completion
{
    using Stored = std::conditional_t<std::is_void_v<T>, std::monostate, T>;
    struct State {
        std::mutex mutex; // guards all below
        std::optional<std::variant<Stored, std::exception_ptr>> value;
        std::coroutine_handle<> waiter;
        LoopRef waiterLoop;
    };

public:
    Completion() : m_state(std::make_shared<State>()) {}

    /// True for the call that set the value.
    template<typename... Args>
    bool complete(Args &&...args) const
    {
        return set(std::variant<Stored, std::exception_ptr>(std::in_place_index<0>, std::forward<Args>(args)...));
    }
    bool fail(std::exception_ptr error) const
    {
        return set(std::variant<Stored, std::exception_ptr>(std::in_place_index<1>, std::move(error)));
    }
    bool isComplete() const
    {
        const std::lock_guard lock(m_state->mutex);
        return m_state->value.has_value();
    }

    class Awaiter
    {
    public:
        explicit Awaiter(std::shared_ptr<State> state) : m_state(std::move(state)) {}
        bool await_ready() const
        {
            const std::lock_guard lock(m_state->mutex);
            return m_state->value.has_value();
        }
        bool await_suspend(std::coroutine_handle<> handle)
        {
            const LoopRef here = LoopRef::current();
            const std::lock_guard lock(m_state->mutex);
            if (m_state->value)
                return false;
            m_state->waiter = handle;
            m_state->waiterLoop = here;
            return true;
        }
        T await_resume()
        {
            std::variant<Stored, std::exception_ptr> value = [this] {
                const std::lock_guard lock(m_state->mutex);
                return std::move(*m_state->value);
            }();
            if (value.index() == 1)
                std::rethrow_exception(std::get<1>(value));
            if constexpr (!std::is_void_v<T>)
                return std::move(std::get<0>(value));
        }

    private:
        std::shared_ptr<State> m_state;
    };

    Awaiter operator co_await() const { return Awaiter(m_state); }

private:
    bool set(std::variant<Stored, std::exception_ptr> value) const
    {
        std::coroutine_handle<> waiter;
        LoopRef loop;
        {
            const std::lock_guard lock(m_state->mutex);
            if (m_state->value)
                return false;
            m_state->value.emplace(std::move(value));
            waiter = std::exchange(m_state->waiter, {});
            loop = m_state->waiterLoop;
        }
        if (waiter)
            loop.post([waiter] { waiter.resume(); });
        return true;
    }

    std::shared_ptr<State> m_state;
};

} // namespace paddock
