// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/workspace/workspace_panel.h"

#include "core/run/run_service.h"
#include "ui/store/run_store.h"
#include "ui/workspace/file_viewer.h"
#include "ui/workspace/workspace_model.h"

#include <QDesktopServices>
#include <QHeaderView>
#include <QSplitter>
#include <QTreeView>
#include <QUrl>
#include <QVBoxLayout>

namespace paddock {

WorkspacePanel::WorkspacePanel(RunService *service, QWidget *parent)
    : QWidget(parent), m_service(service), m_model(new WorkspaceModel(this)), m_tree(new QTreeView(this)),
      m_viewer(new FileViewer(this)), m_splitter(new QSplitter(Qt::Horizontal, this))
{
    m_tree->setModel(m_model);
    m_tree->setUniformRowHeights(true);
    m_tree->setFrameShape(QFrame::NoFrame);
    m_tree->setAccessibleName(tr("Files of the thread"));
    m_tree->header()->setStretchLastSection(false);
    m_tree->header()->setSectionResizeMode(WorkspaceModel::Name, QHeaderView::Stretch);
    // The names get what the two short columns do not need; who it was is cut short rather than the name of the file.
    constexpr int whoLetters = 20;
    m_tree->header()->setSectionResizeMode(WorkspaceModel::Change, QHeaderView::ResizeToContents);
    m_tree->header()->setSectionResizeMode(WorkspaceModel::Who, QHeaderView::Interactive);
    m_tree->header()->resizeSection(WorkspaceModel::Who, fontMetrics().averageCharWidth() * whoLetters);
    m_tree->setMinimumWidth(fontMetrics().averageCharWidth() * 40);
    m_viewer->setMinimumWidth(fontMetrics().averageCharWidth() * 24);
    m_splitter->addWidget(m_tree);
    m_splitter->addWidget(m_viewer);
    m_splitter->setStretchFactor(1, 1);
    m_splitter->setChildrenCollapsible(false);
    m_viewer->setVisible(false); // the tree has the room until a file is opened
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_splitter);
    connect(m_tree->selectionModel(), &QItemSelectionModel::currentChanged, this, &WorkspacePanel::openCurrent);
    connect(m_model, &QAbstractItemModel::rowsInserted, this, [this] {
        if (!m_wanted.isEmpty())
            reveal(m_wanted);
    });
    setAccessibleName(tr("Workspace"));
}

WorkspacePanel::~WorkspacePanel() = default;

void WorkspacePanel::setRun(RunStore *store)
{
    if (m_store == store)
        return;
    if (m_store)
        disconnect(m_store, nullptr, this, nullptr);
    m_store = store;
    m_viewer->clear();
    m_viewer->setVisible(false);
    m_wanted.clear();
    if (store) {
        connect(store, &RunStore::filesChanged, this, &WorkspacePanel::refresh);
        connect(store, &RunStore::agentsChanged, this, &WorkspacePanel::findFolders);
    }
    m_folders.reset();
    findFolders();
    refresh();
}

/// A run that just began has no folders yet: asked again until all are there.
void WorkspacePanel::findFolders()
{
    if (m_folders && (!m_store || !m_folders->contains(QString())))
        return;
    std::vector<WorkspaceModel::Root> roots;
    QStringList folders;
    if (m_store) {
        for (const char *name : {"workspace", "outputs", "uploads"}) {
            const QString path = QStringLiteral("/mnt/user-data/") + QLatin1String(name);
            folders.append(m_service ? m_service->hostPath(m_store->id(), path) : QString());
            roots.push_back({path, folders.last()});
        }
    }
    if (m_folders == folders)
        return;
    m_folders = folders;
    m_model->setRoots(std::move(roots));
    if (m_store) {
        m_tree->expandToDepth(0);
        m_model->applyChanges(m_store->files(), m_store->lastTime(), &m_store->agents());
    }
}

void WorkspacePanel::setVisibleToUser(bool visible)
{
    m_visible = visible;
    if (visible)
        refresh();
}

void WorkspacePanel::setChangedOnly(bool on)
{
    m_model->setChangedOnly(on);
    m_tree->expandAll();
}

void WorkspacePanel::refresh()
{
    if (!m_store || !m_visible) {
        if (!m_store)
            Q_EMIT remarkChanged({});
        return;
    }
    findFolders();
    const FileLog &files = m_store->files();
    m_model->applyChanges(files, m_store->lastTime(), &m_store->agents());
    if (!m_viewer->path().isEmpty() && files.find(m_viewer->path()))
        m_viewer->reload();
    const int count = int(files.files().size());
    Q_EMIT remarkChanged(count == 0 ? QString() : tr("%n file(s) changed", nullptr, count));
}

void WorkspacePanel::openCurrent()
{
    const QModelIndex index = m_tree->currentIndex().siblingAtColumn(0);
    if (!index.isValid() || index.data(WorkspaceModel::IsFolderRole).toBool())
        return;
    m_viewer->setVisible(true);
    m_viewer->showFile(index.data(WorkspaceModel::PathRole).toString(), index.data(WorkspaceModel::HostPathRole).toString());
}

void WorkspacePanel::reveal(const QString &virtualPath)
{
    m_wanted = virtualPath;
    QModelIndex index = m_model->indexOf(virtualPath);
    if (index.isValid()) {
        m_wanted.clear();
        m_tree->setCurrentIndex(index);
        m_tree->scrollTo(index);
        return;
    }
    // Open the deepest folder that is known; its rows come later and continue from there.
    QString path = virtualPath;
    while (path.contains(QLatin1Char('/'))) {
        path = path.section(QLatin1Char('/'), 0, -2);
        index = m_model->indexOf(path);
        if (index.isValid()) {
            m_tree->expand(index);
            if (m_model->canFetchMore(index))
                m_model->fetchMore(index);
            return;
        }
    }
}

void WorkspacePanel::openInEditor()
{
    const QModelIndex index = m_tree->currentIndex().siblingAtColumn(0);
    const QString path = index.data(WorkspaceModel::HostPathRole).toString();
    if (!path.isEmpty())
        QDesktopServices::openUrl(QUrl::fromLocalFile(path));
}

} // namespace paddock
