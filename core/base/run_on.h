// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/completion.h"

#include <QThreadPool>

namespace paddock {

namespace detail {

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
    const bool posted = loop.post([fn, done]() mutable { detail::completeWith<T>(std::move(fn), done); });
    if (!posted)
        throw std::runtime_error("the event loop has ended");
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
    QThreadPool::globalInstance()->start([fn = std::move(fn), done]() mutable {
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
