// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/store/store_hub.h"

#include <algorithm>

namespace paddock {

StoreHub::StoreHub(QObject *parent) : QObject(parent) {}

StoreHub::~StoreHub() = default;

int StoreHub::rowOf(const RunId &run) const
{
    const auto place = std::find_if(m_entries.begin(), m_entries.end(),
                                    [&](const auto &entry) { return entry->shown().id == run; });
    return place == m_entries.end() ? -1 : int(place - m_entries.begin());
}

RunStore *StoreHub::find(const RunId &run) const
{
    Entry *entry = m_index.value(run);
    return entry ? entry->store.get() : nullptr;
}

void StoreHub::watch(RunStore *store)
{
    const auto note = [this, id = store->id()] {
        if (!m_changed.contains(id))
            m_changed.append(id);
    };
    connect(store, &RunStore::factsChanged, this, note);
    connect(store, &RunStore::agentsChanged, this, note);
}

StoreHub::Entry &StoreHub::insertAtTop(const RunId &run)
{
    auto entry = std::make_unique<Entry>();
    entry->facts.id = run;
    entry->facts.status = QStringLiteral("running");
    entry->thisSession = true;
    Entry &result = *entry;
    m_entries.insert(m_entries.begin(), std::move(entry));
    m_index.insert(run, &result);
    return result;
}

RunStore *StoreHub::addRun(const RunId &run, bool live)
{
    if (Entry *known = m_index.value(run); known && known->store)
        return known->store.get();
    if (m_index.contains(run))
        return ensureStore(run);
    Entry &entry = insertAtTop(run);
    entry.store = std::make_unique<RunStore>(run);
    entry.store->setLive(live);
    watch(entry.store.get());
    Q_EMIT runAdded(run);
    return entry.store.get();
}

RunStore *StoreHub::ensureStore(const RunId &run)
{
    Entry *entry = m_index.value(run);
    if (!entry)
        return nullptr;
    if (!entry->store) {
        entry->store = std::make_unique<RunStore>(run);
        entry->store->seed(entry->facts);
        watch(entry->store.get());
    }
    return entry->store.get();
}

void StoreHub::apply(const std::vector<EventPtr> &events)
{
    m_eventsSeen += qint64(events.size());
    // Batches are mostly of one run: hand over slices of equal neighbours.
    for (size_t from = 0; from < events.size();) {
        size_t to = from + 1;
        while (to < events.size() && events[to]->run == events[from]->run)
            ++to;
        const RunId run = events[from]->run;
        if (!run.isEmpty()) {
            RunStore *store = addRun(run, true);
            store->apply(std::span(events).subspan(from, to - from));
            if (store->facts().isOver())
                store->setLive(false);
        }
        from = to;
    }
    announce(qsizetype(events.size()));
}

void StoreHub::announce(qsizetype events)
{
    if (!m_changed.isEmpty())
        Q_EMIT runsChanged(std::exchange(m_changed, {}));
    Q_EMIT drained(events);
}

void StoreHub::applyStored(const RunId &run, const std::vector<EventPtr> &events, bool last)
{
    RunStore *store = ensureStore(run);
    if (!store)
        return;
    m_eventsSeen += qint64(events.size());
    store->setLoading(true);
    store->apply(events);
    if (last)
        store->setLoading(false);
    announce(qsizetype(events.size()));
}

void StoreHub::setPast(std::vector<RunFacts> past)
{
    Q_EMIT aboutToReset();
    std::vector<std::unique_ptr<Entry>> kept;
    QHash<RunId, Entry *> index;
    for (auto &entry : m_entries) {
        if (!entry->thisSession && !entry->store)
            continue;
        index.insert(entry->shown().id, entry.get());
        kept.push_back(std::move(entry));
    }
    std::stable_sort(past.begin(), past.end(), [](const RunFacts &a, const RunFacts &b) { return a.started > b.started; });
    for (RunFacts &facts : past) {
        if (index.contains(facts.id))
            continue;
        auto entry = std::make_unique<Entry>();
        entry->facts = std::move(facts);
        index.insert(entry->facts.id, entry.get());
        kept.push_back(std::move(entry));
    }
    std::stable_sort(kept.begin(), kept.end(), [](const auto &a, const auto &b) {
        if (a->thisSession != b->thisSession)
            return a->thisSession;
        return !a->thisSession && a->shown().started > b->shown().started;
    });
    m_entries = std::move(kept);
    m_index = std::move(index);
    Q_EMIT reset();
}

int StoreHub::runningAgents() const
{
    int sum = 0;
    for (const auto &entry : m_entries)
        sum += entry->store && entry->store->facts().live ? entry->store->agents().running() : 0;
    return sum;
}

int StoreHub::queuedAgents() const
{
    int sum = 0;
    for (const auto &entry : m_entries)
        sum += entry->store && entry->store->facts().live ? entry->store->agents().queued() : 0;
    return sum;
}

int StoreHub::liveRuns() const
{
    return int(std::count_if(m_entries.begin(), m_entries.end(),
                             [](const auto &entry) { return entry->store && entry->store->facts().live; }));
}

int StoreHub::waitingApprovals() const
{
    int sum = 0;
    for (const auto &entry : m_entries)
        sum += entry->store && entry->store->facts().live ? entry->store->approvals().waiting() : 0;
    return sum;
}

} // namespace paddock
