// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/completion.h"
#include "core/base/error.h"
#include "core/event/event_bus.h"

#include <QString>

#include <chrono>
#include <functional>
#include <memory>

namespace paddock {

class Database;

struct JournalOptions {
    QString folder; ///< the data folder; the file is journal.db in it
    std::shared_ptr<const Clock> clock = Clock::system();
    /// Events kept in memory while they cannot be saved; beyond it the newest are counted and lost.
    qsizetype mostHeld = 200000;
    /// How long a group waits for company. Flushing does not wait.
    std::chrono::milliseconds gather{10};
    /// Pause after a failed commit before the next attempt; doubles up to retryMax. New events do not shorten it.
    std::chrono::milliseconds retry{500};
    std::chrono::milliseconds retryMax{10000};
    /// For tests: called before each commit; an SQLite result code other than 0 fails it.
    std::function<int()> fault;
};

/// What a person should know about saving.
struct JournalState {
    QString problem;     ///< empty: all is saved. Else one sentence that says what is wrong and what to do
    qint64 held = 0;     ///< events waiting in memory because of it
    qint64 lost = 0;     ///< events dropped because too many waited
    bool isSaving() const { return problem.isEmpty(); }
    friend bool operator==(const JournalState &, const JournalState &) = default;
};

/// Saves what the bus carries. The thread "journal" is its own and the only writer of this process; every public
/// function may be called from any thread and returns at once unless it says otherwise. What is acknowledged
/// (committedSeq, flush) survives the end of the process and of the machine.
class Journal
{
public:
    /// Opens or makes the journal, brings it to the current format and marks runs of dead processes as interrupted.
    /// Blocks for a moment. Errors: FailedPrecondition (newer format), DataLoss (damaged), PermissionDenied,
    /// ResourceExhausted (disk full), Unavailable (locked); each with a sentence for the person.
    static Result<std::unique_ptr<Journal>> open(JournalOptions options);
    /// Saves what is queued (a last attempt when saving is broken), then ends the thread. Blocks.
    ~Journal();
    Journal(const Journal &) = delete;
    Journal &operator=(const Journal &) = delete;

    static QString fileIn(const QString &folder);
    const QString &folder() const;
    /// The first number for a bus, above everything stored so far.
    Seq nextSeq() const;
    /// Starts saving everything the bus carries from now on. Once.
    void attach(std::shared_ptr<EventBus> bus);
    /// Takes a message that a following event names by hash; it is committed before or together with that event.
    QString keep(const MessagePtr &message);
    /// A kept message that is not committed yet, else null (then ask a reader).
    MessagePtr recent(const QString &hash) const;

    /// Everything up to this number is stored.
    Seq committedSeq() const;
    /// Ends when everything the bus had given out until `upTo` is stored; or with the reason why it cannot be now, or
    /// Cancelled.
    Task<Result<void>> flush(Seq upTo, std::stop_token stop = {});
    /// The same for those without an event loop; blocks. Timeout when the limit passes first.
    Result<void> flushBlocking(Seq upTo, std::chrono::milliseconds limit);

    JournalState state() const;
    /// Called on the journal thread after each change of state; it must not block. Set before attach.
    void onStateChanged(std::function<void(const JournalState &)> changed);
    /// Runs `work` on the journal thread inside a transaction, committed when it succeeds (imports). Only for this room.
    Task<Result<void>> perform(std::function<Result<void>(Database &)> work);
    Result<void> performBlocking(std::function<Result<void>(Database &)> work);

private:
    class Writer;
    explicit Journal(std::unique_ptr<Writer> writer);
    std::unique_ptr<Writer> m_writer;
};

} // namespace paddock
