// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/journal/journal.h"

#include "core/base/async.h"
#include "core/event/event_codec.h"
#include "core/journal/database.h"
#include "core/journal/journal_reader.h"
#include "core/journal/journal_tables.h"
#include "core/journal/owner_lock.h"
#include "core/journal/recovery.h"
#include "core/journal/schema.h"

#include <QLoggingCategory>
#include <QSemaphore>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <pthread.h>
#include <thread>

Q_LOGGING_CATEGORY(lcJournal, "paddock.journal")

namespace paddock {

namespace {

/// Events per transaction: groups of thousands are what makes full synchronisation fast (libraries.md).
constexpr qsizetype mostPerCommit = 5000;
/// So much waiting makes a group worth committing before the gathering time is over.
constexpr qsizetype enoughForAGroup = 2000;

using Done = Completion<Result<void>>;

} // namespace

/// The thread and what it works on. The mutex guards what other threads touch; the database, the tables and the held
/// events belong to the thread alone.
class Journal::Writer
{
public:
    Writer(JournalOptions options, Database database, OwnerLock owner, Seq nextSeq)
        : m_options(std::move(options)), m_owner(std::move(owner)), m_nextSeq(nextSeq), m_shared(std::make_shared<Shared>())
        , m_database(std::move(database))
    {
    }
    ~Writer() { end(); }

    Result<void> start();
    void end();
    void attach(std::shared_ptr<EventBus> bus);
    QString keep(const MessagePtr &message);
    MessagePtr recent(const QString &hash) const;
    Done flush(Seq upTo);
    Done perform(std::function<Result<void>(Database &)> work);
    JournalState state() const;
    Seq committed() const;
    void onStateChanged(std::function<void(const JournalState &)> changed);

    const JournalOptions &options() const { return m_options; }
    Seq nextSeq() const { return m_nextSeq; }

private:
    struct Waiter {
        Seq upTo;
        Done done;
    };
    struct Job {
        std::function<Result<void>(Database &)> work;
        Done done;
    };
    /// Outlives the writer in a wake-up that is under way on another thread.
    struct Shared {
        mutable std::mutex mutex; // guards all below
        std::condition_variable changed;
        bool stop = false;
        bool wake = false;
        std::shared_ptr<EventBus> bus;
        std::shared_ptr<EventQueue> queue;
        QHash<QString, MessagePtr> kept; ///< by content hash, until committed
        std::vector<Waiter> waiters;
        std::deque<Job> jobs;
        JournalState state;
        Seq committed = 0;
        std::function<void(const JournalState &)> onChanged;
    };
    /// What was dropped of one run while nothing could be saved.
    struct Lost {
        Seq first = 0;
        qint64 count = 0;
    };

    void run();
    bool waitForWork();
    void round(bool urgent);
    void abandonWaiters();
    void takeNewEvents();
    Result<void> commitHeld();
    using KeptMessages = std::vector<std::pair<QString, MessagePtr>>; ///< by content hash
    Result<void> commitGroup(qsizetype count, const KeptMessages &messages);
    Result<void> noteLosses();
    void runJobs();
    void settle(const Result<void> &result);
    void noteEnds(bool failing);

    const JournalOptions m_options;
    OwnerLock m_owner;
    const Seq m_nextSeq;
    const std::shared_ptr<Shared> m_shared;
    std::thread m_thread;
    // of the thread:
    Database m_database;
    std::optional<JournalTables> m_tables;
    std::deque<std::shared_ptr<const Event>> m_held;
    std::map<RunId, Lost> m_losses;
    qint64 m_lost = 0;
    Seq m_drainedUpTo = 0;   ///< everything up to here is held or stored
    bool m_failing = false;
    bool m_noted = false; ///< ends of runs stand in the owner's file
    bool m_urgent = false; ///< somebody waits: try at once even if the last attempt just failed
    std::chrono::milliseconds m_pause{0};
    std::chrono::steady_clock::time_point m_retryAt;
};

Result<void> Journal::Writer::start()
{
    auto tables = JournalTables::prepare(m_database, m_owner.name());
    if (!tables)
        return fail(tables.error());
    m_tables.emplace(std::move(*tables));
    m_thread = std::thread([this] { run(); });
    return {};
}

void Journal::Writer::end()
{
    {
        const std::lock_guard lock(m_shared->mutex);
        m_shared->stop = true;
    }
    m_shared->changed.notify_all();
    if (m_thread.joinable())
        m_thread.join();
}

void Journal::Writer::attach(std::shared_ptr<EventBus> bus)
{
    const auto queue = bus->subscribe(m_options.mostHeld);
    {
        const std::lock_guard lock(m_shared->mutex);
        m_shared->bus = std::move(bus);
        m_shared->queue = queue;
    }
    queue->setWakeup([shared = std::weak_ptr(m_shared)] {
        if (const auto alive = shared.lock()) {
            {
                const std::lock_guard lock(alive->mutex);
                alive->wake = true;
            }
            alive->changed.notify_all();
        }
    });
}

QString Journal::Writer::keep(const MessagePtr &message)
{
    const QString hash = contentHash(message);
    const std::lock_guard lock(m_shared->mutex);
    if (m_shared->kept.size() < m_options.mostHeld)
        m_shared->kept.insert(hash, message);
    return hash;
}

MessagePtr Journal::Writer::recent(const QString &hash) const
{
    const std::lock_guard lock(m_shared->mutex);
    return m_shared->kept.value(hash);
}

Done Journal::Writer::flush(Seq upTo)
{
    Done done;
    {
        const std::lock_guard lock(m_shared->mutex);
        if (m_shared->stop)
            done.complete(cancelled());
        else if (!m_shared->bus || (m_shared->committed >= upTo && m_shared->state.isSaving()))
            done.complete(Result<void>());
        else
            m_shared->waiters.push_back({upTo, done});
    }
    m_shared->changed.notify_all();
    return done;
}

Done Journal::Writer::perform(std::function<Result<void>(Database &)> work)
{
    Done done;
    {
        const std::lock_guard lock(m_shared->mutex);
        if (m_shared->stop)
            done.complete(cancelled());
        else
            m_shared->jobs.push_back({std::move(work), done});
    }
    m_shared->changed.notify_all();
    return done;
}

JournalState Journal::Writer::state() const
{
    const std::lock_guard lock(m_shared->mutex);
    return m_shared->state;
}

Seq Journal::Writer::committed() const
{
    const std::lock_guard lock(m_shared->mutex);
    return m_shared->committed;
}

void Journal::Writer::onStateChanged(std::function<void(const JournalState &)> changed)
{
    const std::lock_guard lock(m_shared->mutex);
    m_shared->onChanged = std::move(changed);
}

void Journal::Writer::run()
{
    pthread_setname_np(pthread_self(), "journal");
    while (waitForWork())
        round(m_urgent);
    round(true); // what arrived before the end
    abandonWaiters();
    if (!m_held.empty()) {
        qCCritical(lcJournal, "%lld events could not be saved: %ls", static_cast<long long>(m_held.size()),
                   qUtf16Printable(state().problem));
    }
    (void)m_database.exec("PRAGMA wal_checkpoint(TRUNCATE)"); // another process may still read: then it stays
}

/// False when the journal ends. While saving fails, only a flush, a job or the end shortens the pause.
bool Journal::Writer::waitForWork()
{
    Shared &s = *m_shared;
    std::unique_lock lock(s.mutex);
    const auto urgent = [&s] { return s.stop || !s.waiters.empty() || !s.jobs.empty(); };
    if (m_failing) {
        // Looked at now and then even before the next attempt, so that the bounded store here is where it queues up.
        static constexpr std::chrono::seconds housekeeping{1};
        s.changed.wait_until(lock, std::min(m_retryAt, std::chrono::steady_clock::now() + housekeeping), urgent);
    } else {
        const bool more = s.queue && s.queue->pending() > 0;
        s.changed.wait(lock, [&] { return more || s.wake || urgent(); });
        s.changed.wait_for(lock, m_options.gather,
                           [&] { return urgent() || (s.queue && s.queue->pending() >= enoughForAGroup); });
    }
    s.wake = false;
    m_urgent = urgent();
    return !s.stop;
}

void Journal::Writer::round(bool urgent)
{
    for (;;) {
        takeNewEvents();
        if (m_failing && !urgent && std::chrono::steady_clock::now() < m_retryAt)
            return;
        const Result<void> result = commitHeld();
        settle(result);
        runJobs();
        const std::lock_guard lock(m_shared->mutex);
        if (!result || !m_shared->queue || m_shared->queue->pending() == 0)
            return;
    }
}

/// Nobody may wait for a thread that has ended.
void Journal::Writer::abandonWaiters()
{
    std::vector<Waiter> waiters;
    std::deque<Job> jobs;
    {
        const std::lock_guard lock(m_shared->mutex);
        waiters.swap(m_shared->waiters);
        jobs.swap(m_shared->jobs);
    }
    for (const Waiter &waiter : waiters)
        waiter.done.complete(cancelled());
    for (const Job &job : jobs)
        job.done.complete(cancelled());
}

void Journal::Writer::takeNewEvents()
{
    std::shared_ptr<EventBus> bus;
    std::shared_ptr<EventQueue> queue;
    {
        const std::lock_guard lock(m_shared->mutex);
        bus = m_shared->bus;
        queue = m_shared->queue;
    }
    if (!queue)
        return;
    // Asked before draining: whatever was numbered by then is in the queue.
    const Seq numbered = bus->lastSeq();
    const qsizetype limit = std::max(mostPerCommit, m_options.mostHeld);
    const auto events = queue->drain(limit);
    for (const auto &event : events) {
        if (qsizetype(m_held.size()) < m_options.mostHeld) {
            m_held.push_back(event);
            continue;
        }
        Lost &lost = m_losses[event->run];
        if (lost.count++ == 0)
            lost.first = event->seq;
        ++m_lost;
    }
    if (qsizetype(events.size()) < limit)
        m_drainedUpTo = std::max(m_drainedUpTo, numbered);
    else
        m_drainedUpTo = std::max(m_drainedUpTo, events.back()->seq);
}

Result<void> Journal::Writer::commitHeld()
{
    KeptMessages messages;
    {
        // After draining: a message is kept before the event that names it, so it is here by now. No implicit copy: the next
        // keep() would copy all of it, and Qt does not order its write after our last read.
        const std::lock_guard lock(m_shared->mutex);
        messages.assign(m_shared->kept.keyValueBegin(), m_shared->kept.keyValueEnd());
    }
    if (m_held.empty() && messages.empty() && m_losses.empty())
        return {};
    do {
        const qsizetype count = std::min<qsizetype>(mostPerCommit, qsizetype(m_held.size()));
        if (auto committed = commitGroup(count, messages); !committed) {
            m_tables->forget();
            return committed;
        }
        m_held.erase(m_held.begin(), m_held.begin() + count);
        if (!messages.empty()) {
            const std::lock_guard lock(m_shared->mutex);
            for (const auto &[hash, message] : messages)
                m_shared->kept.remove(hash);
        }
        messages.clear();
    } while (!m_held.empty());
    return {};
}

Result<void> Journal::Writer::commitGroup(qsizetype count, const KeptMessages &messages)
{
    if (m_options.fault) {
        if (const int code = m_options.fault())
            return fail(m_database.error(code));
    }
    auto transaction = Transaction::begin(m_database);
    if (!transaction)
        return fail(transaction.error());
    for (const auto &[hash, message] : messages) {
        if (auto added = m_tables->addMessage(hash, *message); !added)
            return added;
    }
    for (qsizetype i = 0; i < count; ++i) {
        const Event &event = *m_held[std::size_t(i)];
        if (auto added = m_tables->addEvent(event, eventFields(event.body)); !added) {
            if (added.error().code != ErrorCode::InvalidArgument)
                return added;
            qCWarning(lcJournal, "%ls", qUtf16Printable(added.error().message)); // one bad event must not block all others
        }
    }
    if (count == qsizetype(m_held.size())) {
        if (auto noted = noteLosses(); !noted)
            return noted;
    }
    if (auto updated = m_tables->updateRuns(); !updated)
        return updated;
    if (auto committed = transaction->commit(); !committed)
        return committed;
    if (count == qsizetype(m_held.size()))
        m_losses.clear();
    return {};
}

/// Says in each run how much of it is missing, under the number of the first event that was dropped.
Result<void> Journal::Writer::noteLosses()
{
    for (const auto &[run, lost] : m_losses) {
        Event event;
        event.seq = lost.first;
        event.time = m_options.clock->wall();
        event.mono = m_options.clock->mono();
        event.run = run;
        event.agent = leadAgent();
        event.body = LogRecorded{QStringLiteral("error"),
                                 QStringLiteral("%1 events are missing here: the journal could not be written and too many waited.").arg(lost.count),
                                 false};
        if (auto added = m_tables->addEvent(event, eventFields(event.body)); !added)
            return added;
    }
    return {};
}

void Journal::Writer::runJobs()
{
    for (;;) {
        Job job;
        {
            const std::lock_guard lock(m_shared->mutex);
            if (m_shared->jobs.empty())
                return;
            job = std::move(m_shared->jobs.front());
            m_shared->jobs.pop_front();
        }
        Result<void> result;
        auto transaction = Transaction::begin(m_database);
        if (!transaction)
            result = fail(transaction.error());
        else if (result = job.work(m_database); result)
            result = transaction->commit();
        job.done.complete(std::move(result));
    }
}

/// A run that ended while nothing could be saved must not look cut off later.
void Journal::Writer::noteEnds(bool failing)
{
    if (!failing && !m_noted)
        return;
    std::vector<std::shared_ptr<const Event>> ends;
    if (failing)
        std::ranges::copy_if(m_held, std::back_inserter(ends),
                             [](const auto &event) { return std::holds_alternative<RunFinished>(event->body); });
    m_noted = m_owner.note(noteOfEnds(ends)) && !ends.empty();
}

/// Publishes the outcome of a commit: state, acknowledgements, the next attempt.
void Journal::Writer::settle(const Result<void> &result)
{
    m_failing = !result;
    noteEnds(m_failing);
    m_pause = result ? std::chrono::milliseconds(0) : std::clamp(m_pause * 2, m_options.retry, m_options.retryMax);
    m_retryAt = std::chrono::steady_clock::now() + m_pause;
    std::vector<Waiter> ready;
    std::function<void(const JournalState &)> onChanged;
    JournalState now;
    {
        const std::lock_guard lock(m_shared->mutex);
        if (result)
            m_shared->committed = std::max(m_shared->committed, m_drainedUpTo);
        now = JournalState{result ? QString() : result.error().fullMessage(), qint64(m_held.size()), m_lost};
        if (now != m_shared->state)
            onChanged = m_shared->onChanged;
        m_shared->state = now;
        const Seq numbered = m_shared->bus ? m_shared->bus->lastSeq() : 0;
        const auto isReady = [&](const Waiter &w) {
            return !result || m_drainedUpTo >= std::min(w.upTo, numbered);
        };
        const auto firstReady = std::stable_partition(m_shared->waiters.begin(), m_shared->waiters.end(),
                                                      [&](const Waiter &w) { return !isReady(w); });
        ready.assign(std::make_move_iterator(firstReady), std::make_move_iterator(m_shared->waiters.end()));
        m_shared->waiters.erase(firstReady, m_shared->waiters.end());
    }
    for (const Waiter &waiter : ready)
        waiter.done.complete(result);
    if (onChanged)
        onChanged(now);
}

Journal::Journal(std::unique_ptr<Writer> writer) : m_writer(std::move(writer)) {}

Journal::~Journal() = default;

Result<std::unique_ptr<Journal>> Journal::open(JournalOptions options)
{
    const QString path = fileIn(options.folder);
    // First, so that a folder that cannot be used is named as such; its lock also marks our runs as alive.
    auto owner = OwnerLock::create(ownersFolder(options.folder));
    if (!owner)
        return fail(owner.error());
    if (auto known = checkHeader(path); !known)
        return fail(known.error());
    auto database = Database::open(path, Database::Mode::ReadWrite);
    if (!database)
        return fail(database.error());
    if (auto migrated = migrate(*database); !migrated)
        return fail(migrated.error());
    static constexpr const char *settings = "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                                            "PRAGMA wal_autocheckpoint=4000; PRAGMA journal_size_limit=67108864";
    if (auto set = database->exec(settings); !set)
        return fail(set.error());
    if (auto recovered = markInterrupted(*database, options.folder, owner->name()); !recovered)
        return fail(recovered.error());
    const auto last = database->queryInt("SELECT max(last_seq) FROM runs WHERE owner <> 'import'");
    if (!last)
        return fail(last.error());
    const Seq next = Seq(last->value_or(0)) + 1;
    auto writer = std::make_unique<Writer>(std::move(options), std::move(*database), std::move(*owner), next);
    if (auto started = writer->start(); !started)
        return fail(started.error());
    return std::unique_ptr<Journal>(new Journal(std::move(writer)));
}

QString Journal::fileIn(const QString &folder)
{
    return folder + QStringLiteral("/journal.db");
}

const QString &Journal::folder() const
{
    return m_writer->options().folder;
}

Seq Journal::nextSeq() const
{
    return m_writer->nextSeq();
}

void Journal::attach(std::shared_ptr<EventBus> bus)
{
    m_writer->attach(std::move(bus));
}

QString Journal::keep(const MessagePtr &message)
{
    return m_writer->keep(message);
}

MessagePtr Journal::recent(const QString &hash) const
{
    return m_writer->recent(hash);
}

Seq Journal::committedSeq() const
{
    return m_writer->committed();
}

JournalState Journal::state() const
{
    return m_writer->state();
}

void Journal::onStateChanged(std::function<void(const JournalState &)> changed)
{
    m_writer->onStateChanged(std::move(changed));
}

namespace {

/// Free functions: the journal may end while one waits.
Task<Result<void>> awaitDone(Done done, std::stop_token stop)
{
    const std::optional<Result<void>> result = co_await waitFor(done, stop);
    co_return result ? *result : Result<void>(cancelled());
}

Result<void> blockOn(const Done &done, std::chrono::milliseconds limit)
{
    const auto ready = std::make_shared<QSemaphore>();
    done.observe([ready] { ready->release(); });
    if (!ready->tryAcquire(1, int(limit.count())))
        return fail(ErrorCode::Timeout, QStringLiteral("The journal did not finish within %1 ms").arg(limit.count()));
    return done.take();
}

} // namespace

Task<Result<void>> Journal::flush(Seq upTo, std::stop_token stop)
{
    return awaitDone(m_writer->flush(upTo), std::move(stop));
}

Result<void> Journal::flushBlocking(Seq upTo, std::chrono::milliseconds limit)
{
    return blockOn(m_writer->flush(upTo), limit);
}

Task<Result<void>> Journal::perform(std::function<Result<void>(Database &)> work)
{
    return awaitDone(m_writer->perform(std::move(work)), {});
}

Result<void> Journal::performBlocking(std::function<Result<void>(Database &)> work)
{
    // Without a limit: the work may refer to the caller's frame, and the ending thread answers those who still wait.
    return blockOn(m_writer->perform(std::move(work)), std::chrono::milliseconds(-1));
}

} // namespace paddock
