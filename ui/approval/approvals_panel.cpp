// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/approval/approvals_panel.h"

#include "ui/paint/theme.h"
#include "ui/store/agent_names.h"

#include <QFontDatabase>
#include <QLabel>
#include <QListView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include <algorithm>

namespace paddock {

namespace {

class ApprovalDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        const int lines = std::min(6, int(index.data(ApprovalsModel::CommandRole).toString().count(u'\n')) + 1);
        return {100, option.fontMetrics.height() * (lines * 2 + 5) / 2};
    }

    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        const int pad = option.fontMetrics.averageCharWidth();
        const int line = option.fontMetrics.height();
        if (option.state & QStyle::State_Selected)
            painter->fillRect(option.rect, themeColor(option.palette, Tint::Selection));
        QRect box = option.rect.adjusted(pad, pad / 2, -pad, -line * 3 / 2);
        painter->fillRect(box, themeColor(option.palette, Tint::Console));
        painter->setPen(themeColor(option.palette, Tint::Line));
        painter->drawRect(box);
        painter->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
        painter->setPen(themeColor(option.palette, Tint::Text));
        painter->drawText(box.adjusted(pad / 2, 0, -pad / 2, 0), int(Qt::AlignLeft) | int(Qt::AlignVCenter) | int(Qt::TextWrapAnywhere),
                          index.data(ApprovalsModel::CommandRole).toString());
        painter->setFont(option.font);
        const QRect below(box.left(), box.bottom() + 2, box.width(), line * 5 / 4);
        painter->setPen(themeColor(option.palette, Tint::Dim));
        painter->drawText(below, Qt::AlignLeft | Qt::AlignVCenter,
                          option.fontMetrics.elidedText(index.data(Qt::AccessibleDescriptionRole).toString(), Qt::ElideRight, below.width()));
    }
};

} // namespace

ApprovalsModel::ApprovalsModel(StoreHub *hub, QObject *parent) : QAbstractListModel(parent), m_hub(hub)
{
    connect(hub, &StoreHub::drained, this, &ApprovalsModel::refresh);
    connect(hub, &StoreHub::reset, this, &ApprovalsModel::refresh);
    refresh();
}

void ApprovalsModel::refresh()
{
    std::vector<ApprovalEntry> now;
    for (int i = 0; i < m_hub->count(); ++i) {
        const StoreHub::Entry &entry = m_hub->entry(i);
        if (!entry.store || !entry.store->facts().live)
            continue;
        for (const ApprovalEntry &approval : entry.store->approvals().entries()) {
            if (approval.decision.isEmpty())
                now.push_back(approval);
        }
    }
    std::stable_sort(now.begin(), now.end(), [](const auto &a, const auto &b) { return a.askedAt < b.askedAt; });
    const auto key = [](const ApprovalEntry &entry) { return std::pair(entry.run.value(), entry.id); };
    for (int row = int(m_entries.size()) - 1; row >= 0; --row) {
        const bool kept = std::any_of(now.begin(), now.end(), [&](const auto &entry) { return key(entry) == key(m_entries[size_t(row)]); });
        if (kept)
            continue;
        beginRemoveRows({}, row, row);
        m_entries.erase(m_entries.begin() + row);
        endRemoveRows();
    }
    for (size_t i = 0; i < now.size(); ++i) {
        if (i < m_entries.size() && key(m_entries[i]) == key(now[i]))
            continue;
        beginInsertRows({}, int(i), int(i));
        m_entries.insert(m_entries.begin() + ptrdiff_t(i), now[i]);
        endInsertRows();
    }
}

int ApprovalsModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_entries.size());
}

QString ApprovalsModel::nameOf(const ApprovalEntry &entry) const
{
    const RunStore *store = m_hub->find(entry.run);
    return store ? agentNameAndId(store->agents(), entry.agent.value()) : shortOwner(entry.agent.value());
}

QVariant ApprovalsModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const ApprovalEntry &entry = m_entries[size_t(index.row())];
    switch (role) {
    case Qt::DisplayRole: case CommandRole: case Qt::ToolTipRole: return entry.command;
    case AgentRole: return nameOf(entry);
    case VerdictRole: return entry.verdict;
    case RuleRole: return entry.rule;
    case RunIdRole: return entry.run.value();
    case AgentIdRole: return entry.agent.value();
    case Qt::AccessibleTextRole: return tr("%1 wants to run: %2").arg(nameOf(entry), entry.command);
    case Qt::AccessibleDescriptionRole:
        return tr("%1 · audit: %2 · %3").arg(nameOf(entry), entry.verdict, entry.rule);
    default: return {};
    }
}

ApprovalsPanel::ApprovalsPanel(StoreHub *hub, QWidget *parent)
    : QWidget(parent), m_model(new ApprovalsModel(hub, this)), m_view(new QListView(this)), m_empty(new QLabel(this))
{
    m_view->setModel(m_model);
    m_view->setItemDelegate(new ApprovalDelegate(m_view));
    m_view->setFrameShape(QFrame::NoFrame);
    m_view->setResizeMode(QListView::Adjust);
    m_view->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_view->setAccessibleName(tr("Commands that wait for your decision"));
    m_empty->setText(tr("Nothing waits for you."));
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->setForegroundRole(QPalette::PlaceholderText);
    m_empty->setBackgroundRole(QPalette::Base);
    m_empty->setAutoFillBackground(true);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_view);
    layout->addWidget(m_empty);
    setFocusProxy(m_view);
    connect(m_view->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex &index) {
        if (index.isValid())
            Q_EMIT agentChosen(RunId(index.data(ApprovalsModel::RunIdRole).toString()),
                               AgentId(index.data(ApprovalsModel::AgentIdRole).toString()));
    });
    connect(m_model, &QAbstractItemModel::rowsInserted, this, &ApprovalsPanel::refresh);
    connect(m_model, &QAbstractItemModel::rowsRemoved, this, &ApprovalsPanel::refresh);
    refresh();
}

void ApprovalsPanel::refresh()
{
    const int waiting = m_model->rowCount();
    m_view->setVisible(waiting > 0);
    m_empty->setVisible(waiting == 0);
    Q_EMIT remarkChanged(waiting > 0 ? tr("%n waiting", nullptr, waiting) : QString());
}

} // namespace paddock
