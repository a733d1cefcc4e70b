// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QPointer>
#include <QStringList>
#include <QWidget>

#include <optional>

class QSplitter;
class QTreeView;

namespace paddock {

class FileViewer;
class RunService;
class RunStore;
class WorkspaceModel;

/// The thread's folders as a tree beside a viewer: who wrote what, and what it says now. Owner: its dock; GUI thread.
class WorkspacePanel : public QWidget
{
    Q_OBJECT
public:
    explicit WorkspacePanel(RunService *service, QWidget *parent = nullptr);
    ~WorkspacePanel() override;

    void setRun(RunStore *store);
    void setVisibleToUser(bool visible);
    void setChangedOnly(bool on);
    /// Selects and shows a file by its virtual path.
    void reveal(const QString &virtualPath);
    WorkspaceModel *model() const { return m_model; }
    FileViewer *viewer() const { return m_viewer; }
    void openInEditor();

Q_SIGNALS:
    /// "7 files changed"
    void remarkChanged(const QString &remark);

private:
    void refresh();
    void findFolders();
    void openCurrent();

    RunService *m_service;
    QPointer<RunStore> m_store;
    WorkspaceModel *m_model;
    QTreeView *m_tree;
    FileViewer *m_viewer;
    QSplitter *m_splitter;
    QString m_wanted; ///< to be shown as soon as its folder is read
    std::optional<QStringList> m_folders; ///< on the host, one a root; an empty one is not there (yet)
    bool m_visible = true;
};

} // namespace paddock
