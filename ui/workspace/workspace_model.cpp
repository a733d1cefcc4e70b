// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/workspace/workspace_model.h"

#include "core/base/pool.h"
#include "ui/paint/figures.h"
#include "ui/paint/theme.h"
#include "ui/store/agent_names.h"

#include <QDir>
#include <QBrush>
#include <QFont>
#include <QGuiApplication>
#include <QIcon>

namespace paddock {

struct WorkspaceModel::Node {
    Node *parent = nullptr;
    QString name;
    QString path;     ///< virtual
    QString hostPath; ///< empty when unknown
    bool isFolder = false;
    bool isLink = false;
    bool isNote = false; ///< says that there is more than is shown; no file
    QString linkTarget;
    qint64 size = 0;
    enum class State { Unread, Reading, Read, Unreadable } state = State::Unread;
    QString problem;
    std::vector<std::unique_ptr<Node>> children;

    int row() const
    {
        if (!parent)
            return 0;
        for (std::size_t i = 0; i < parent->children.size(); ++i) {
            if (parent->children[i].get() == this)
                return int(i);
        }
        return 0;
    }
    Node *child(const QString &childName) const
    {
        for (const auto &c : children) {
            if (c->name == childName)
                return c.get();
        }
        return nullptr;
    }
};

WorkspaceModel::WorkspaceModel(QObject *parent) : QAbstractItemModel(parent), m_top(std::make_unique<Node>()) {}
WorkspaceModel::~WorkspaceModel() = default;

void WorkspaceModel::setRoots(std::vector<Root> roots)
{
    m_roots = std::move(roots);
    m_lastChange.clear();
    m_lines.clear();
    m_made.clear();
    m_names.clear();
    m_deleted.clear();
    m_seen.clear();
    rebuild();
}

void WorkspaceModel::setChangedOnly(bool on)
{
    if (m_changedOnly == on)
        return;
    m_changedOnly = on;
    rebuild();
}

void WorkspaceModel::rebuild()
{
    beginResetModel();
    ++m_generation;
    m_top = std::make_unique<Node>();
    for (const Root &root : m_roots) {
        auto child = std::make_unique<Node>();
        child->parent = m_top.get();
        child->name = root.virtualPath.section(QLatin1Char('/'), -1);
        child->path = root.virtualPath;
        child->hostPath = root.hostPath;
        child->isFolder = true;
        if (m_changedOnly || root.hostPath.isEmpty())
            child->state = Node::State::Read; // only what the run changed
        m_top->children.push_back(std::move(child));
    }
    endResetModel();
    for (auto it = m_lastChange.cbegin(); it != m_lastChange.cend(); ++it)
        ensurePath(it.key(), false);
}

WorkspaceModel::Node *WorkspaceModel::node(const QModelIndex &index) const
{
    return index.isValid() ? static_cast<Node *>(index.internalPointer()) : m_top.get();
}

QModelIndex WorkspaceModel::indexOfNode(const Node *n, int column) const
{
    return n == m_top.get() ? QModelIndex() : createIndex(n->row(), column, n);
}

QModelIndex WorkspaceModel::indexOf(const QString &virtualPath) const
{
    for (const auto &root : m_top->children) {
        if (virtualPath == root->path)
            return indexOfNode(root.get());
        if (!virtualPath.startsWith(root->path + QLatin1Char('/')))
            continue;
        Node *at = root.get();
        const QStringList parts = virtualPath.mid(root->path.size() + 1).split(QLatin1Char('/'));
        for (const QString &part : parts) {
            at = at->child(part);
            if (!at)
                return {};
        }
        return indexOfNode(at);
    }
    return {};
}

bool WorkspaceModel::before(const Node &a, const Node &b)
{
    if (a.isNote != b.isNote)
        return b.isNote; // at the very end
    if (a.isFolder != b.isFolder)
        return a.isFolder;
    return a.name.localeAwareCompare(b.name) < 0;
}

/// What was found goes between what events had named already, in as few steps as there are gaps.
void WorkspaceModel::mergeChildren(Node *parent, std::vector<std::unique_ptr<Node>> fresh)
{
    auto &siblings = parent->children;
    std::size_t row = 0;
    for (std::size_t from = 0; from < fresh.size();) {
        while (row < siblings.size() && before(*siblings[row], *fresh[from]))
            ++row;
        std::size_t to = from + 1;
        while (to < fresh.size() && (row == siblings.size() || before(*fresh[to], *siblings[row])))
            ++to;
        beginInsertRows(indexOfNode(parent), int(row), int(row + to - from) - 1);
        siblings.insert(siblings.begin() + ptrdiff_t(row), std::make_move_iterator(fresh.begin() + ptrdiff_t(from)),
                        std::make_move_iterator(fresh.begin() + ptrdiff_t(to)));
        endInsertRows();
        row += to - from;
        from = to;
    }
}

void WorkspaceModel::insertChild(Node *parent, std::unique_ptr<Node> child)
{
    auto &siblings = parent->children;
    const auto place = std::find_if(siblings.begin(), siblings.end(), [&](const auto &s) { return before(*child, *s); });
    const int row = int(place - siblings.begin());
    child->parent = parent;
    beginInsertRows(indexOfNode(parent), row, row);
    siblings.insert(place, std::move(child));
    endInsertRows();
}

WorkspaceModel::Node *WorkspaceModel::ensurePath(const QString &virtualPath, bool isFolder)
{
    for (const auto &root : m_top->children) {
        if (!virtualPath.startsWith(root->path + QLatin1Char('/')))
            continue;
        Node *at = root.get();
        const QStringList parts = virtualPath.mid(root->path.size() + 1).split(QLatin1Char('/'));
        for (qsizetype i = 0; i < parts.size(); ++i) {
            const bool last = i + 1 == parts.size();
            Node *next = at->child(parts[i]);
            if (!next) {
                if (at->state == Node::State::Unread && !m_changedOnly)
                    return nullptr; // will be read when opened
                auto child = std::make_unique<Node>();
                child->name = parts[i];
                child->path = at->path + QLatin1Char('/') + parts[i];
                child->hostPath = at->hostPath.isEmpty() ? QString() : at->hostPath + QLatin1Char('/') + parts[i];
                child->isFolder = !last || isFolder;
                if (m_changedOnly || at->hostPath.isEmpty())
                    child->state = Node::State::Read;
                next = child.get();
                insertChild(at, std::move(child));
            }
            at = next;
        }
        return at;
    }
    return nullptr;
}

void WorkspaceModel::applyChanges(const FileLog &files, Micros now, const AgentTree *agents)
{
    m_now = now;
    for (const FileEntry &file : files.files()) {
        quint64 &seen = m_seen[file.path];
        if (seen == file.revision + 1)
            continue;
        seen = file.revision + 1;
        m_lastChange.insert(file.path, file.last());
        m_lines.insert(file.path, {file.added, file.removed});
        if (file.createdInRun)
            m_made.insert(file.path);
        if (const QString &who = file.last().who; agents)
            m_names.insert(who, {agentName(*agents, who), agentNameAndId(*agents, who)});
        if (file.exists)
            m_deleted.remove(file.path);
        else
            m_deleted.insert(file.path);
        if (Node *n = ensurePath(file.path, false)) {
            n->size = file.last().size;
            const QModelIndex at = indexOfNode(n);
            Q_EMIT dataChanged(at, at.siblingAtColumn(ColumnCount - 1));
        }
    }
    if (m_lastChange.size() > qsizetype(files.files().size()))
        dropRenamed(files);
}

/// The log keeps a renamed file under its newest name only.
void WorkspaceModel::dropRenamed(const FileLog &files)
{
    QStringList gone;
    for (auto it = m_lastChange.cbegin(); it != m_lastChange.cend(); ++it) {
        if (!files.find(it.key()))
            gone.append(it.key());
    }
    for (const QString &path : std::as_const(gone)) {
        m_lastChange.remove(path);
        m_lines.remove(path);
        m_made.remove(path);
        m_deleted.remove(path);
        m_seen.remove(path);
        const QModelIndex at = indexOf(path);
        if (!at.isValid())
            continue;
        Node *parent = node(at)->parent;
        beginRemoveRows(at.parent(), at.row(), at.row());
        parent->children.erase(parent->children.begin() + at.row());
        endRemoveRows();
    }
}

void WorkspaceModel::relist(Node *n)
{
    n->state = Node::State::Reading;
    computeThen(this, [folder = n->hostPath] { return listFolder(folder); },
                [this, path = n->path, generation = m_generation](const FolderListing &listing) { listed(path, generation, listing); });
}

void WorkspaceModel::listed(const QString &virtualPath, quint64 generation, const FolderListing &listing)
{
    if (generation != m_generation)
        return; // answers a tree that is gone
    const QModelIndex index = indexOf(virtualPath);
    if (!index.isValid())
        return;
    Node *n = node(index);
    n->state = listing.problem.isEmpty() ? Node::State::Read : Node::State::Unreadable;
    n->problem = listing.problem;
    std::vector<std::unique_ptr<Node>> fresh; // sorted, as the listing is
    for (const FolderItem &item : listing.items) {
        if (n->child(item.name))
            continue;
        auto child = std::make_unique<Node>();
        child->parent = n;
        child->name = item.name;
        child->path = n->path + QLatin1Char('/') + item.name;
        child->hostPath = n->hostPath + QLatin1Char('/') + item.name;
        child->isFolder = item.isFolder;
        child->isLink = item.isLink;
        child->linkTarget = item.linkTarget;
        child->size = item.size;
        fresh.push_back(std::move(child));
    }
    if (listing.left > 0) {
        auto note = std::make_unique<Node>();
        note->parent = n;
        note->isNote = true;
        note->name = tr("%n more are not shown", nullptr, listing.left);
        fresh.push_back(std::move(note));
    }
    mergeChildren(n, std::move(fresh));
    for (auto it = m_lastChange.cbegin(); it != m_lastChange.cend(); ++it) {
        if (it.key().startsWith(virtualPath + QLatin1Char('/')))
            ensurePath(it.key(), false);
    }
    Q_EMIT dataChanged(index, index.siblingAtColumn(ColumnCount - 1));
}

QModelIndex WorkspaceModel::index(int row, int column, const QModelIndex &parent) const
{
    const Node *p = node(parent);
    if (row < 0 || row >= int(p->children.size()) || column < 0 || column >= ColumnCount)
        return {};
    return createIndex(row, column, p->children[std::size_t(row)].get());
}

QModelIndex WorkspaceModel::parent(const QModelIndex &child) const
{
    const Node *n = node(child);
    return n == m_top.get() || !n->parent ? QModelIndex() : indexOfNode(n->parent);
}

int WorkspaceModel::rowCount(const QModelIndex &parent) const
{
    return parent.column() > 0 ? 0 : int(node(parent)->children.size());
}

int WorkspaceModel::columnCount(const QModelIndex &) const
{
    return ColumnCount;
}

bool WorkspaceModel::hasChildren(const QModelIndex &parent) const
{
    const Node *n = node(parent);
    if (n == m_top.get())
        return !n->children.empty();
    return parent.column() <= 0 && n->isFolder && (!n->children.empty() || n->state == Node::State::Unread);
}

bool WorkspaceModel::canFetchMore(const QModelIndex &parent) const
{
    const Node *n = node(parent);
    return n != m_top.get() && n->isFolder && n->state == Node::State::Unread && !n->hostPath.isEmpty();
}

void WorkspaceModel::fetchMore(const QModelIndex &parent)
{
    if (canFetchMore(parent))
        relist(node(parent));
}

QString WorkspaceModel::changeText(const Node &n) const
{
    const auto change = m_lastChange.constFind(n.path);
    if (change == m_lastChange.constEnd()) {
        if (n.state == Node::State::Unreadable)
            return n.problem;
        return n.isFolder || n.isNote ? QString() : formatBytes(n.size);
    }
    const auto [added, removed] = m_lines.value(n.path);
    QString what;
    if (m_deleted.contains(n.path))
        what = tr("deleted");
    else if (m_made.contains(n.path) && removed > 0)
        what = tr("new · +%1 −%2").arg(added).arg(removed);
    else if (m_made.contains(n.path) || change->op == u"created")
        what = added > 0 ? tr("new · +%1").arg(added) : tr("new · %1").arg(formatBytes(change->size));
    else
        what = tr("+%1 −%2").arg(added).arg(removed);
    return what;
}

bool WorkspaceModel::isGuess(const FileVersion &change)
{
    return change.certainty == u"probably";
}

QString WorkspaceModel::whoText(const FileVersion &change, bool full) const
{
    const auto names = m_names.value(change.who, {tinyOwner(change.who), shortOwner(change.who)});
    const QString name = change.who == u"you" ? tr("you") : full ? names.second : names.first;
    return isGuess(change) ? tr("probably %1").arg(name) : name;
}

QString WorkspaceModel::changeTip(const Node &n, const FileVersion &change) const
{
    QStringList lines{visibleName(n.path), tr("last changed by %1 at %2").arg(whoText(change, true), formatTimeOfDay(change.wall))};
    if (isGuess(change))
        lines += tr("Probably: it changed while a command of this agent ran. Nothing else says who did it.");
    if (change.who.contains(u':'))
        lines += change.who;
    return lines.join(u'\n');
}

QVariant WorkspaceModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const Node &n = *node(index);
    const auto change = m_lastChange.constFind(n.path);
    const bool changed = change != m_lastChange.constEnd();
    switch (role) {
    case Qt::DisplayRole:
        switch (index.column()) {
        case Name: return n.isLink ? tr("%1 → %2").arg(visibleName(n.name), n.linkTarget) : visibleName(n.name);
        case Who: return changed ? whoText(*change, false) : QString();
        case Change: return changeText(n);
        default: return {};
        }
    case Qt::ToolTipRole:
        if (changed)
            return plainToolTip(changeTip(n, *change));
        return visibleName(n.path);
    case Qt::ForegroundRole: // what is guessed does not look like what is known
        return index.column() == Who && changed && isGuess(*change) ? QVariant::fromValue(QBrush(themeColor(QGuiApplication::palette(), Tint::Dim))) : QVariant();
    case Qt::AccessibleTextRole:
        if (index.column() == Name && changed)
            return tr("%1, changed by %2, %3").arg(visibleName(n.name), whoText(*change, true), changeText(n));
        return data(index, Qt::DisplayRole);
    case Qt::DecorationRole:
        if (index.column() == Name && !n.isNote)
            return n.isFolder ? QIcon::fromTheme(QStringLiteral("folder")) : QIcon::fromTheme(QStringLiteral("text-x-generic"));
        return {};
    case Qt::FontRole: {
        QFont font;
        font.setBold(!n.parent || n.parent == m_top.get() || (changed && index.column() == Name));
        font.setItalic(index.column() == Who && changed && isGuess(*change));
        font.setStrikeOut(m_deleted.contains(n.path) && index.column() == Name);
        return font;
    }
    case Qt::TextAlignmentRole:
        return index.column() == Change ? QVariant::fromValue(Qt::AlignRight | Qt::AlignVCenter) : QVariant();
    case PathRole: return n.path;
    case HostPathRole: return n.hostPath;
    case IsFolderRole: return n.isFolder || n.isNote; // nothing to view
    case ChangedRole: return changed;
    default: return {};
    }
}

QVariant WorkspaceModel::headerData(int section, Qt::Orientation orientation, int role) const
{
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole)
        return {};
    switch (section) {
    case Name: return tr("name");
    case Who: return tr("who");
    case Change: return tr("change");
    default: return {};
    }
}

} // namespace paddock
