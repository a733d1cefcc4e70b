// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/loop.h"
#include "core/base/task.h"

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace paddock {

/// A value that arrives once, from any thread; the first completion wins. One coroutine may await it, on a thread that
/// runs an event loop; it resumes there through a queued call, never inline inside the completer (style.md F3, F6).
/// Awaiting takes the value: await once. Copies share the state. The awaiting frame keeps the state alive, so the completer may die before or after it.
template<typename T>
class Completion
{
    using Stored = std::conditional_t<std::is_void_v<T>, std::monostate, T>;
    struct State {
        std::mutex mutex; // guards all below
        std::optional<std::variant<Stored, std::exception_ptr>> value;
        std::coroutine_handle<> waiter;
        LoopRef waiterLoop;
        quint64 nextObserver = 1;
        std::vector<std::pair<quint64, std::function<void()>>> observers;
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

    class Awaiter;
    /// Calls `observer` once when the value arrives, on the completer's thread without locks held, or at once when it
    /// is there. Several may watch, beside the one that awaits. Returns the id for unobserve.
    quint64 observe(std::function<void()> observer) const
    {
        {
            const std::lock_guard lock(m_state->mutex);
            if (!m_state->value) {
                m_state->observers.emplace_back(m_state->nextObserver, std::move(observer));
                return m_state->nextObserver++;
            }
        }
        observer();
        return 0;
    }
    void unobserve(quint64 id) const
    {
        const std::lock_guard lock(m_state->mutex);
        std::erase_if(m_state->observers, [id](const auto &entry) { return entry.first == id; });
    }

    /// The value for those who watch instead of await; rethrows a failure. Takes it: call once, when it is complete.
    T take() const { return Awaiter(m_state).await_resume(); }

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
        std::vector<std::pair<quint64, std::function<void()>>> observers;
        {
            const std::lock_guard lock(m_state->mutex);
            if (m_state->value)
                return false;
            m_state->value.emplace(std::move(value));
            waiter = std::exchange(m_state->waiter, {});
            loop = m_state->waiterLoop;
            observers.swap(m_state->observers);
        }
        for (const auto &[id, observer] : observers)
            observer();
        if (waiter)
            loop.post([waiter] { waiter.resume(); });
        return true;
    }

    std::shared_ptr<State> m_state;
};

} // namespace paddock
