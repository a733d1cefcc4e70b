// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/store/agent_tree.h"
#include "ui/store/file_log.h"
#include "ui/workspace/folder_listing.h"

#include <QAbstractItemModel>
#include <QHash>
#include <QSet>

#include <memory>
#include <vector>

namespace paddock {

/// The thread's three folders as a tree, with who changed what and when. Folders are read when opened, on a pool thread;
/// changed files also appear while their folder was never opened, or is gone (a run of last month). Owner: the panel;
/// GUI thread.
class WorkspaceModel : public QAbstractItemModel
{
    Q_OBJECT
public:
    enum Column { Name, Who, Change, ColumnCount };
    enum Roles { PathRole = Qt::UserRole + 1, HostPathRole, IsFolderRole, ChangedRole };

    explicit WorkspaceModel(QObject *parent = nullptr);
    ~WorkspaceModel() override;

    struct Root {
        QString virtualPath; ///< "/mnt/user-data/workspace"
        QString hostPath;    ///< empty when there is none any more
    };
    void setRoots(std::vector<Root> roots);
    /// Takes over what changed since the last call.
    void applyChanges(const FileLog &files, Micros now, const AgentTree *agents = nullptr);
    void setChangedOnly(bool on);
    bool changedOnly() const { return m_changedOnly; }
    QModelIndex indexOf(const QString &virtualPath) const;

    QModelIndex index(int row, int column, const QModelIndex &parent = {}) const override;
    QModelIndex parent(const QModelIndex &child) const override;
    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
    bool hasChildren(const QModelIndex &parent = {}) const override;
    bool canFetchMore(const QModelIndex &parent) const override;
    void fetchMore(const QModelIndex &parent) override;

private:
    struct Node;
    Node *node(const QModelIndex &index) const;
    QModelIndex indexOfNode(const Node *node, int column = 0) const;
    void listed(const QString &virtualPath, quint64 generation, const FolderListing &listing);
    void relist(Node *node);
    Node *ensurePath(const QString &virtualPath, bool isFolder);
    void dropRenamed(const FileLog &files);
    static bool before(const Node &a, const Node &b);
    void mergeChildren(Node *parent, std::vector<std::unique_ptr<Node>> fresh);
    void insertChild(Node *parent, std::unique_ptr<Node> child);
    void rebuild();
    QString changeText(const Node &node) const;
    static bool isGuess(const FileVersion &change);
    QString whoText(const FileVersion &change, bool full) const;
    QString changeTip(const Node &node, const FileVersion &change) const;

    std::vector<Root> m_roots;
    std::unique_ptr<Node> m_top;
    QHash<QString, FileVersion> m_lastChange; ///< by virtual path
    QHash<QString, std::pair<int, int>> m_lines;
    QSet<QString> m_made; ///< created in this run, whatever changed them afterwards
    QHash<QString, std::pair<QString, QString>> m_names; ///< by owner: the name, and the name with the id
    QSet<QString> m_deleted;
    QHash<QString, quint64> m_seen; ///< revision of each file that was taken over
    Micros m_now = 0;
    quint64 m_generation = 0;
    bool m_changedOnly = false;
};

} // namespace paddock
