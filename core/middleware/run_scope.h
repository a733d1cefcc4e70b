// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"

#include <deque>

namespace paddock {

// What the guards that remember something per run have in common. Each object belongs to one build's chain and its loop.

/// The thread of a run; "default" when it has none.
QString threadKeyOf(const RuntimeContext &runtime);
/// Thread and run. A present run id, a present null and an absent one are three different runs [K-9].
QString scopeKeyOf(const RuntimeContext &runtime);

/// `stop_reason` of the run's values (runtime §7.1), which the run's record shows at its end.
void setStopReason(RuntimeContext &runtime, const QString &reason);
QString stopReasonOf(const RuntimeContext &runtime);

/// Runs that a guard ended and nobody asked for yet; bounded, survives after_agent (runtime §1.6).
class StoppedRuns
{
public:
    void record(const RuntimeContext &runtime);
    /// True once for a recorded run; a null string asks for the run without an id.
    bool consume(const QString &runId);

private:
    std::deque<QString> m_runs;
};

/// Notes for the model that wait for its next call, per run: the newest few, each once.
class PendingNotes
{
public:
    /// `name` of the message that carries them.
    explicit PendingNotes(QString name) : m_name(std::move(name)) {}

    void queue(const RuntimeContext &runtime, const QString &text);
    void drop(const RuntimeContext &runtime);
    /// Forgets what waits for other runs of the same thread.
    void dropOtherRuns(const RuntimeContext &runtime);
    /// Calls `next` with the waiting notes behind all messages, as one hidden human message of this request only. A call
    /// that fails leaves them waiting: a retry must say the same.
    Task<Result<ModelResponse>> inject(ModelCall call, ModelNext next);

private:
    struct Waiting {
        QString thread;
        QString scope;
        QStringList texts;
    };
    QStringList take(const QString &scope);
    void queue(const QString &thread, const QString &scope, const QString &text);

    const QString m_name;
    std::deque<Waiting> m_waiting;
};

/// Tells the trace and the person what a member did (runtime §4): names and numbers, never arguments of calls.
void recordAct(const RuntimeContext &runtime, const QString &tag, const Middleware &member, Hook hook, const QString &action,
               Json changes);

} // namespace paddock
