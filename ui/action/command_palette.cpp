// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/action/command_palette.h"

#include "ui/action/action_registry.h"
#include "ui/paint/theme.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QListView>
#include <QPainter>
#include <QStyledItemDelegate>
#include <QTimer>
#include <QVBoxLayout>

namespace paddock {

namespace {

class PaletteDelegate : public QStyledItemDelegate
{
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &) const override
    {
        return {100, option.fontMetrics.height() * 8 / 5};
    }

    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override
    {
        const QPalette &palette = option.palette;
        const QFontMetrics metrics = option.fontMetrics;
        if (option.state & QStyle::State_Selected)
            painter->fillRect(option.rect, themeColor(palette, Tint::Selection));
        const bool enabled = index.flags() & Qt::ItemIsEnabled;
        const int pad = metrics.averageCharWidth();
        QRect area = option.rect.adjusted(pad, 0, -pad, 0);
        const QString shortcut = index.data(PaletteModel::ShortcutRole).toString();
        const QString context = index.data(PaletteModel::ContextRole).toString();
        painter->setPen(themeColor(palette, Tint::Dim));
        painter->drawText(area, Qt::AlignRight | Qt::AlignVCenter, shortcut);
        if (!shortcut.isEmpty())
            area.setRight(area.right() - metrics.horizontalAdvance(shortcut) - 2 * pad);
        painter->drawText(area, Qt::AlignLeft | Qt::AlignVCenter, metrics.elidedText(context, Qt::ElideRight, pad * 12));
        area.setLeft(area.left() + pad * 13);
        painter->setPen(themeColor(palette, enabled ? Tint::Text : Tint::Dim));
        painter->drawText(area, Qt::AlignLeft | Qt::AlignVCenter,
                          metrics.elidedText(index.data().toString(), Qt::ElideRight, area.width()));
    }
};

} // namespace

CommandPalette::CommandPalette(const ActionRegistry *actions, QWidget *window)
    : QFrame(window, Qt::Popup), m_actions(actions), m_model(new PaletteModel(this)), m_edit(new QLineEdit(this)),
      m_list(new QListView(this))
{
    setObjectName(QStringLiteral("commandPalette"));
    setAccessibleName(tr("Command palette"));
    setFrameShape(QFrame::StyledPanel);
    m_edit->setPlaceholderText(tr("Search actions, agents and files"));
    m_edit->setAccessibleName(m_edit->placeholderText());
    m_edit->setClearButtonEnabled(true);
    m_edit->installEventFilter(this);
    m_list->setModel(m_model);
    m_list->setItemDelegate(new PaletteDelegate(this));
    m_list->setUniformItemSizes(true);
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setAccessibleName(tr("Matches"));
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(6, 6, 6, 6);
    layout->setSpacing(4);
    layout->addWidget(m_edit);
    layout->addWidget(m_list);
    connect(m_edit, &QLineEdit::textChanged, this, [this](const QString &text) {
        m_model->setQuery(text);
        chooseFirst();
    });
    connect(m_list, &QListView::clicked, this, [this](const QModelIndex &index) { runRow(index.row()); });
    hide();
}

void CommandPalette::addProvider(std::function<std::vector<PaletteEntry>()> provider)
{
    m_providers.push_back(std::move(provider));
}

void CommandPalette::popUp(const QString &query)
{
    std::vector<PaletteEntry> entries;
    for (QAction *action : m_actions->all()) {
        PaletteEntry entry;
        entry.text = ActionRegistry::plainText(action);
        entry.context = ActionRegistry::contextOf(action);
        entry.shortcut = action->shortcut().toString(QKeySequence::NativeText);
        entry.enabled = action->isEnabled();
        entry.run = [action] { action->trigger(); };
        entries.push_back(std::move(entry));
    }
    for (const auto &provider : m_providers) {
        for (PaletteEntry &entry : provider())
            entries.push_back(std::move(entry));
    }
    m_model->setEntries(std::move(entries));
    m_edit->setText(query);
    m_model->setQuery(query);
    const QWidget *window = parentWidget();
    const QSize size(std::min(window->width() - 20, fontMetrics().averageCharWidth() * 80),
                     std::min(window->height() - 80, fontMetrics().height() * 22));
    resize(size);
    move(window->mapToGlobal(QPoint((window->width() - size.width()) / 2, fontMetrics().height() * 4)));
    show();
    m_edit->setFocus();
    chooseFirst();
}

void CommandPalette::chooseFirst()
{
    m_list->setCurrentIndex(m_model->index(0));
    m_list->scrollToTop();
}

void CommandPalette::runRow(int row)
{
    const PaletteEntry *entry = m_model->entry(row);
    if (!entry || !entry->enabled || !entry->run)
        return;
    // The action may open a dialog or another palette: be gone first.
    const auto run = entry->run;
    close();
    QTimer::singleShot(0, parentWidget(), run);
}

bool CommandPalette::eventFilter(QObject *watched, QEvent *event)
{
    if (watched != m_edit || event->type() != QEvent::KeyPress)
        return QFrame::eventFilter(watched, event);
    auto *key = static_cast<QKeyEvent *>(event);
    const int row = m_list->currentIndex().row();
    const int page = std::max(1, m_list->height() / std::max(1, m_list->sizeHintForRow(0)));
    const int last = m_model->rowCount() - 1;
    int next = row;
    switch (key->key()) {
    case Qt::Key_Down: next = row >= last ? 0 : row + 1; break;
    case Qt::Key_Up: next = row <= 0 ? last : row - 1; break;
    case Qt::Key_PageDown: next = std::min(last, row + page); break;
    case Qt::Key_PageUp: next = std::max(0, row - page); break;
    case Qt::Key_Return: case Qt::Key_Enter: runRow(row); return true;
    case Qt::Key_Escape: close(); return true;
    default: return QFrame::eventFilter(watched, event);
    }
    m_list->setCurrentIndex(m_model->index(next));
    return true;
}

} // namespace paddock
