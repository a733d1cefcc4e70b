// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/store/store_hub.h"

#include <QAbstractItemModel>
#include <QSortFilterProxyModel>

#include <memory>
#include <vector>

namespace paddock {

/// Runs with their agents as a tree of one column. Runs of this session come first; those of the journal stand under
/// headings by day. GUI thread; the hub must outlive it.
class RunTreeModel : public QAbstractItemModel
{
    Q_OBJECT
public:
    enum Kind { RunNode, AgentNode, HeadingNode };
    enum {
        KindRole = Qt::UserRole, ///< Kind
        RunIdRole,               ///< QString
        AgentIdRole,             ///< QString, empty for runs
        MarkRole,                ///< paddock::Mark as int
        RemarkRole,              ///< dim text behind the title
        FigureRole,              ///< at the right: elapsed time or tokens
        StrongRole,              ///< bool: runs now
        UrgentRole,              ///< bool: waits for a person or failed
        IndentRole,              ///< int
        FilterTextRole,
    };

    explicit RunTreeModel(StoreHub *hub, QObject *parent = nullptr);
    ~RunTreeModel() override;

    QModelIndex index(int row, int column, const QModelIndex &parent = {}) const override;
    QModelIndex parent(const QModelIndex &child) const override;
    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    Qt::ItemFlags flags(const QModelIndex &index) const override;

    QModelIndex indexOf(const RunId &run, const AgentId &agent = {}) const;
    /// Times moved on: live rows are repainted.
    void tick();
    bool hasLiveRuns() const { return m_hub->liveRuns() > 0; }

private:
    struct Node {
        Kind kind = RunNode;
        RunId run;
        QString heading;
        int agents = 0; ///< rows announced so far
    };
    const StoreHub::Entry *entryOf(const Node &node) const;
    QVariant runData(const Node &node, int role) const;
    QVariant agentData(const Node &node, int row, int role) const;
    void build();
    void addRun(const RunId &run);
    void refresh(const QList<RunId> &runs);
    int rowOfRun(const RunId &run) const;

    StoreHub *m_hub;
    std::vector<std::unique_ptr<Node>> m_nodes;
};

/// Keeps runs of which the title, task, folder, state or an agent matches every word; headings only without a filter.
class RunFilterModel : public QSortFilterProxyModel
{
    Q_OBJECT
public:
    explicit RunFilterModel(QObject *parent = nullptr);
    void setWords(const QString &text);

protected:
    bool filterAcceptsRow(int row, const QModelIndex &parent) const override;

private:
    QStringList m_words;
};

} // namespace paddock
