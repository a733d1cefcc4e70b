// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/async.h"
#include "core/base/task.h"

#include <QEventLoop>
#include <QTest>
#include <QTimer>

#include <optional>

namespace paddock::test {

/// Runs a task on the test's thread until it ends. Tests only (style.md E12). The limit only turns a hang into a failure.
template<typename T>
std::optional<T> runTask(Task<T> task)
{
    static constexpr std::chrono::seconds limit{20};
    QEventLoop loop;
    std::optional<T> value;
    task.then([&](T result) {
        value.emplace(std::move(result));
        loop.quit();
    });
    if (value)
        return value;
    QTimer::singleShot(limit, &loop, [&loop] { loop.quit(); });
    loop.exec();
    return value;
}

/// The same for tasks without a value; false when it did not end or threw.
inline bool runTask(Task<> task)
{
    return runTask([](Task<> inner) -> Task<bool> {
               co_await inner;
               co_return true;
           }(std::move(task))).value_or(false);
}

/// Lets the loop handle what is queued until `done` holds; false when it never did.
template<typename Condition>
bool spinUntil(Condition done)
{
    return QTest::qWaitFor([&done] { return done(); }, 20000);
}

} // namespace paddock::test
