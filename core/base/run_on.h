// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/completion.h"
#include "core/base/pool.h"

#include <stdexcept>

namespace paddock {

namespace detail {

/// Fails the completion when the call that should have set it is dropped unrun, e.g. because its loop ended first.
template<typename T>
struct FailIfDropped {
    Completion<T> done;
    ~FailIfDropped()
    {
        if (!done.isComplete() && !started)
            done.fail(std::make_exception_ptr(std::runtime_error("the event loop has ended")));
    }
    bool started = false;
};

template<typename T, typename Fn>
Task<> completeWith(Fn fn, Completion<T> done)
{
    std::exception_ptr error;
    try {
        if constexpr (std::is_void_v<T>) {
            co_await fn();
            done.complete();
        } else {
            done.complete(co_await fn());
        }
    } catch (...) {
        error = std::current_exception();
    }
    if (error)
        done.fail(error);
}

} // namespace detail

/// The one way to cross loops (design.md §2): runs the task made by `fn` on `loop` and resumes the caller on the loop
/// where it awaits. What `fn` captures must be values or outlive the task; nothing bound to the caller's loop.
/// When the loop has ended the task fails with std::runtime_error.
template<typename Fn>
Task<TaskValue<std::invoke_result_t<Fn>>> runOn(LoopRef loop, Fn fn)
{
    using T = TaskValue<std::invoke_result_t<Fn>>;
    Completion<T> done;
    {
        auto guard = std::make_shared<detail::FailIfDropped<T>>(done);
        loop.post([fn = std::move(fn), done, guard]() mutable {
            guard->started = true;
            detail::completeWith<T>(std::move(fn), done);
        });
    }
    if constexpr (std::is_void_v<T>)
        co_await done;
    else
        co_return co_await done;
}

/// Runs a blocking function on the global pool (files, hashing, big regexes) and resumes on the caller's loop.
/// It cannot be interrupted: give `fn` a stop token when it loops.
template<typename Fn>
Task<std::invoke_result_t<Fn>> runOnPool(Fn fn)
{
    using T = std::invoke_result_t<Fn>;
    Completion<T> done;
    runInPool([fn = std::move(fn), done]() mutable {
        try {
            if constexpr (std::is_void_v<T>) {
                fn();
                done.complete();
            } else {
                done.complete(fn());
            }
        } catch (...) {
            done.fail(std::current_exception());
        }
    });
    if constexpr (std::is_void_v<T>)
        co_await done;
    else
        co_return co_await done;
}

} // namespace paddock
