// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/store/run_store.h"

#include <QHash>
#include <QObject>

#include <memory>
#include <vector>

namespace paddock {

/// All runs the window knows: those of this session, newest first, then those of the journal, newest first. Owns the
/// stores. Owner: the main window; GUI thread.
class StoreHub : public QObject
{
    Q_OBJECT
public:
    explicit StoreHub(QObject *parent = nullptr);
    ~StoreHub() override;

    /// A row of the runs list. `store` is null until the run was opened or is live.
    struct Entry {
        RunFacts facts;
        std::unique_ptr<RunStore> store;
        bool thisSession = false;

        const RunFacts &shown() const { return store ? store->facts() : facts; }
    };

    /// Events of any runs in order, as drained from the bus. Runs that are new here are live ones.
    void apply(const std::vector<EventPtr> &events);
    /// A page of a run from the journal. With `last` the run is complete.
    void applyStored(const RunId &run, const std::vector<EventPtr> &events, bool last);
    /// What the journal knows; entries of this session keep their place and their store.
    void setPast(std::vector<RunFacts> past);
    /// The store of a run, made when needed (for loading from the journal); null when the run is unknown.
    RunStore *ensureStore(const RunId &run);
    /// Adds a run by id, e.g. one that was just started or is opened by name.
    RunStore *addRun(const RunId &run, bool live);

    int count() const { return int(m_entries.size()); }
    const Entry &entry(int row) const { return *m_entries[size_t(row)]; }
    int rowOf(const RunId &run) const;
    /// Null when unknown.
    const Entry *entryOf(const RunId &run) const { return m_index.value(run); }
    RunStore *find(const RunId &run) const;
    int runningAgents() const;
    int queuedAgents() const;
    int liveRuns() const;
    int waitingApprovals() const;
    qint64 eventsSeen() const { return m_eventsSeen; }

Q_SIGNALS:
    /// One run was put at the top.
    void runAdded(const paddock::RunId &run);
    /// The list was replaced (setPast).
    void aboutToReset();
    void reset();
    /// Facts or agents of these runs changed; sent once a batch.
    void runsChanged(const QList<paddock::RunId> &runs);
    /// After each batch, when all stores are up to date.
    void drained(qsizetype events);

private:
    Entry &insertAtTop(const RunId &run);
    void watch(RunStore *store);
    void announce(qsizetype events);

    std::vector<std::unique_ptr<Entry>> m_entries;
    QHash<RunId, Entry *> m_index;
    QList<RunId> m_changed;
    qint64 m_eventsSeen = 0;
};

} // namespace paddock
