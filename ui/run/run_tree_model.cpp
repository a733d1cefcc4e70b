// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/run/run_tree_model.h"

#include "ui/paint/figures.h"
#include "ui/run/run_words.h"
#include "ui/store/agent_names.h"

#include <QDateTime>
#include <QLocale>

namespace paddock {

namespace {

Micros nowOf(const RunStore &store)
{
    return store.facts().live ? Clock::system()->mono().count() : store.lastTime();
}

QString dayHeading(Clock::Wall time)
{
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
    const QDate day = QDateTime::fromMSecsSinceEpoch(ms).date();
    const qint64 ago = day.daysTo(QDate::currentDate());
    if (ago <= 0)
        return RunTreeModel::tr("Earlier today");
    if (ago == 1)
        return RunTreeModel::tr("Yesterday");
    return QLocale().toString(day, QLocale::LongFormat);
}

} // namespace

RunTreeModel::RunTreeModel(StoreHub *hub, QObject *parent) : QAbstractItemModel(parent), m_hub(hub)
{
    build();
    connect(hub, &StoreHub::runAdded, this, &RunTreeModel::addRun);
    connect(hub, &StoreHub::aboutToReset, this, [this] { beginResetModel(); });
    connect(hub, &StoreHub::reset, this, [this] {
        build();
        endResetModel();
    });
    connect(hub, &StoreHub::runsChanged, this, &RunTreeModel::refresh);
}

RunTreeModel::~RunTreeModel() = default;

void RunTreeModel::build()
{
    m_nodes.clear();
    QString heading;
    for (int i = 0; i < m_hub->count(); ++i) {
        const StoreHub::Entry &entry = m_hub->entry(i);
        if (!entry.thisSession) {
            const QString day = dayHeading(entry.shown().started);
            if (day != heading) {
                heading = day;
                m_nodes.push_back(std::make_unique<Node>(Node{HeadingNode, {}, day, 0}));
            }
        }
        auto node = std::make_unique<Node>();
        node->run = entry.shown().id;
        node->agents = entry.store ? int(entry.store->agents().agents().size()) : 0;
        m_nodes.push_back(std::move(node));
    }
}

void RunTreeModel::addRun(const RunId &run)
{
    beginInsertRows({}, 0, 0);
    auto node = std::make_unique<Node>();
    node->run = run;
    m_nodes.insert(m_nodes.begin(), std::move(node));
    endInsertRows();
}

int RunTreeModel::rowOfRun(const RunId &run) const
{
    for (size_t i = 0; i < m_nodes.size(); ++i) {
        if (m_nodes[i]->kind == RunNode && m_nodes[i]->run == run)
            return int(i);
    }
    return -1;
}

void RunTreeModel::refresh(const QList<RunId> &runs)
{
    for (const RunId &run : runs) {
        const int row = rowOfRun(run);
        const RunStore *store = m_hub->find(run);
        if (row < 0 || !store)
            continue;
        Node &node = *m_nodes[size_t(row)];
        const QModelIndex at = index(row, 0);
        const int agents = int(store->agents().agents().size());
        if (agents > node.agents) {
            beginInsertRows(at, node.agents, agents - 1);
            node.agents = agents;
            endInsertRows();
        }
        Q_EMIT dataChanged(at, at);
        if (node.agents > 0)
            Q_EMIT dataChanged(index(0, 0, at), index(node.agents - 1, 0, at));
    }
}

void RunTreeModel::tick()
{
    for (size_t i = 0; i < m_nodes.size(); ++i) {
        const RunStore *store = m_nodes[i]->kind == RunNode ? m_hub->find(m_nodes[i]->run) : nullptr;
        if (!store || !store->facts().live)
            continue;
        const QModelIndex at = index(int(i), 0);
        Q_EMIT dataChanged(at, at);
        if (m_nodes[i]->agents > 0)
            Q_EMIT dataChanged(index(0, 0, at), index(m_nodes[i]->agents - 1, 0, at));
    }
}

QModelIndex RunTreeModel::index(int row, int column, const QModelIndex &parent) const
{
    if (column != 0 || row < 0 || row >= rowCount(parent))
        return {};
    return createIndex(row, column, parent.isValid() ? m_nodes[size_t(parent.row())].get() : nullptr);
}

QModelIndex RunTreeModel::parent(const QModelIndex &child) const
{
    const auto *node = child.isValid() ? static_cast<const Node *>(child.internalPointer()) : nullptr;
    if (!node)
        return {};
    const int row = rowOfRun(node->run);
    return row < 0 ? QModelIndex() : createIndex(row, 0, nullptr);
}

int RunTreeModel::rowCount(const QModelIndex &parent) const
{
    if (!parent.isValid())
        return int(m_nodes.size());
    return parent.internalPointer() ? 0 : m_nodes[size_t(parent.row())]->agents;
}

int RunTreeModel::columnCount(const QModelIndex &) const
{
    return 1;
}

Qt::ItemFlags RunTreeModel::flags(const QModelIndex &index) const
{
    if (!index.isValid())
        return Qt::NoItemFlags;
    if (!index.internalPointer() && m_nodes[size_t(index.row())]->kind == HeadingNode)
        return Qt::NoItemFlags;
    return Qt::ItemIsEnabled | Qt::ItemIsSelectable;
}

const StoreHub::Entry *RunTreeModel::entryOf(const Node &node) const
{
    return m_hub->entryOf(node.run);
}

QVariant RunTreeModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    if (const auto *parent = static_cast<const Node *>(index.internalPointer()))
        return agentData(*parent, index.row(), role);
    const Node &node = *m_nodes[size_t(index.row())];
    if (node.kind == HeadingNode) {
        if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole)
            return node.heading;
        return role == KindRole ? QVariant(HeadingNode) : QVariant();
    }
    return runData(node, role);
}

QVariant RunTreeModel::runData(const Node &node, int role) const
{
    const StoreHub::Entry *entry = entryOf(node);
    if (!entry)
        return {};
    const RunFacts &facts = entry->shown();
    const int files = entry->store ? int(entry->store->files().files().size()) : 0;
    switch (role) {
    case Qt::DisplayRole: return runTitle(facts);
    case Qt::ToolTipRole: return facts.workspace.isEmpty() ? facts.task : tr("%1\nFolder: %2").arg(facts.task, facts.workspace);
    case Qt::AccessibleTextRole: return tr("Run %1, %2").arg(runTitle(facts), runStatusWord(facts.status));
    case KindRole: return RunNode;
    case RunIdRole: return facts.id.value();
    case MarkRole: return int(runMark(facts.status));
    case RemarkRole: return runRemark(facts, files);
    case StrongRole: return facts.live;
    case UrgentRole: return facts.status == u"failed";
    case FilterTextRole: return QStringList{facts.title, facts.task, facts.workspace, facts.model, facts.status, facts.id.value()}.join(u'\n');
    case FigureRole:
        if (entry->store && facts.startedAt >= 0)
            return formatElapsed((facts.finishedAt >= 0 ? facts.finishedAt : nowOf(*entry->store)) - facts.startedAt);
        return facts.finished ? formatElapsed((*facts.finished - facts.started).count()) : QString();
    default: return {};
    }
}

QVariant RunTreeModel::agentData(const Node &node, int row, int role) const
{
    const RunStore *store = m_hub->find(node.run);
    if (!store || row >= int(store->agents().agents().size()))
        return {};
    const AgentEntry &agent = store->agents().agents()[size_t(row)];
    switch (role) {
    case Qt::DisplayRole: return agentName(store->agents(), agent.id.value());
    case Qt::ToolTipRole:
        return plainToolTip(tr("%1\n%2").arg(agentToolTip(store->agents(), agent.id.value()), agentRemark(agent, nowOf(*store))));
    case Qt::AccessibleTextRole:
        return tr("Agent %1, %2").arg(agentNameAndId(store->agents(), agent.id.value()), agentRemark(agent, nowOf(*store)));
    case KindRole: return AgentNode;
    case RunIdRole: return node.run.value();
    case AgentIdRole: return agent.id.value();
    case MarkRole: return int(agentMark(agent.state));
    case RemarkRole: return agentRemark(agent, nowOf(*store));
    case FigureRole: return agent.tokens() ? formatTokens(agent.tokens()) : QString();
    case UrgentRole: return agent.state == AgentState::WaitingForPerson || agent.state == AgentState::Failed;
    case IndentRole: return std::max(0, store->agents().depthOf(row) - 1);
    case FilterTextRole: return QStringList{agent.id.value(), agent.description, agent.type}.join(u'\n');
    default: return {};
    }
}

QModelIndex RunTreeModel::indexOf(const RunId &run, const AgentId &agent) const
{
    const int row = rowOfRun(run);
    if (row < 0)
        return {};
    const QModelIndex at = index(row, 0);
    const RunStore *store = m_hub->find(run);
    const int child = agent.isEmpty() || !store ? -1 : store->agents().indexOf(agent);
    return child >= 0 && child < m_nodes[size_t(row)]->agents ? index(child, 0, at) : at;
}

RunFilterModel::RunFilterModel(QObject *parent) : QSortFilterProxyModel(parent)
{
    setRecursiveFilteringEnabled(true);
    setAutoAcceptChildRows(true);
    setDynamicSortFilter(true);
}

void RunFilterModel::setWords(const QString &text)
{
    m_words = text.split(u' ', Qt::SkipEmptyParts);
    invalidateFilter();
}

bool RunFilterModel::filterAcceptsRow(int row, const QModelIndex &parent) const
{
    if (m_words.isEmpty())
        return true;
    const QModelIndex index = sourceModel()->index(row, 0, parent);
    if (index.data(RunTreeModel::KindRole).toInt() == RunTreeModel::HeadingNode)
        return false;
    const QString text = index.data(RunTreeModel::FilterTextRole).toString();
    return std::all_of(m_words.begin(), m_words.end(),
                       [&](const QString &word) { return text.contains(word, Qt::CaseInsensitive); });
}

} // namespace paddock
