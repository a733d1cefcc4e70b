// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

// The only room that includes QCoro. style.md A7 and part F list what its tasks do and do not do.
#include <QCoroTask>

#include <QLoggingCategory>

#include <exception>
#include <stop_token>
#include <type_traits>
#include <vector>

namespace paddock {

/// A coroutine. It starts at the call, on the caller's thread; dropping the handle detaches it and does not stop it.
/// A task that nobody awaits belongs in a TaskScope. Arguments are taken by value; lambda coroutines capture nothing.
/// Cancellation is a std::stop_token, by convention the last parameter.
/// Trap: `co_return x` with an lvalue x of a type that converts to T moves out of x (QCoro 0.12, return_value(U &&)). Return a
/// member, a map entry or anything else that must keep its value as a copy: `co_return T(x)`.
template<typename T = void>
using Task = QCoro::Task<T>;

/// Waits for all, in order; the tasks run concurrently because each started when it was made. All are waited for even
/// when one throws; then the first exception is thrown.
template<typename T>
Task<std::vector<T>> whenAll(std::vector<Task<T>> tasks)
{
    std::vector<T> results;
    results.reserve(tasks.size());
    std::exception_ptr error;
    for (auto &task : tasks) {
        try {
            results.push_back(co_await task);
        } catch (...) {
            if (!error)
                error = std::current_exception();
        }
    }
    if (error)
        std::rethrow_exception(error);
    co_return results;
}

inline Task<> whenAll(std::vector<Task<>> tasks)
{
    std::exception_ptr error;
    for (auto &task : tasks) {
        try {
            co_await task;
        } catch (...) {
            if (!error)
                error = std::current_exception();
        }
    }
    if (error)
        std::rethrow_exception(error);
}

namespace detail {
template<typename T>
struct TaskValue;
template<typename T>
struct TaskValue<QCoro::Task<T>> {
    using Type = T;
};
} // namespace detail

/// The value type of a task: TaskValue<Task<int>> is int.
template<typename T>
using TaskValue = typename detail::TaskValue<std::remove_cvref_t<T>>::Type;

} // namespace paddock
