// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/loop.h"

#include <QPointer>

#include <functional>
#include <utility>

namespace paddock {

/// A function for other threads: it has `call` run on the calling thread's loop, unless `context` is gone by then. `context`
/// lives on the calling thread.
template<typename Call>
std::function<void()> postedFor(QObject *context, Call call)
{
    return [alive = QPointer<QObject>(context), loop = LoopRef::current(), call = std::move(call)] {
        loop.post([alive, call] {
            if (alive)
                call();
        });
    };
}

/// Runs `work` on a thread of the global pool. Callable from any thread; `work` is called and destroyed on the pool's thread.
void runInPool(std::function<void()> work);

/// Runs `work` on the pool and gives its result to `done` on the calling thread's loop, unless `context` is gone by then.
/// `context` lives on the calling thread. For widgets and models; coroutines use runOnPool.
template<typename Work, typename Done>
void computeThen(QObject *context, Work work, Done done)
{
    runInPool([alive = QPointer<QObject>(context), loop = LoopRef::current(), work = std::move(work), done = std::move(done)]() mutable {
        loop.post([alive = std::move(alive), done = std::move(done), result = work()] {
            if (alive)
                done(result);
        });
    });
}

} // namespace paddock
