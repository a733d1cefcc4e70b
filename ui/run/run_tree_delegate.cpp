// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/run/run_tree_delegate.h"

#include "ui/paint/marks.h"
#include "ui/run/run_tree_model.h"

#include <QPainter>

namespace paddock {

int rowRemarkRoom(const QModelIndex &index, int room, int titleWidth, int pad)
{
    if (index.data(RunTreeModel::KindRole).toInt() != RunTreeModel::AgentNode)
        return room / 2; // a run's title is long and shares the room
    const auto mark = Mark(index.data(RunTreeModel::MarkRole).toInt());
    // How an agent ended otherwise than well, or what it waits for, is said in words; a mark alone is a riddle.
    if (mark == Mark::Stopped || mark == Mark::Failed || mark == Mark::Waiting)
        return std::max(room / 2, room - pad - 2 - titleWidth);
    // An agent's name tells it from the others, so it goes last.
    const int few = pad * 4; // less than this says nothing
    const int rest = room - pad - 2 - titleWidth;
    return rest < few ? 0 : rest;
}

QSize RunTreeDelegate::sizeHint(const QStyleOptionViewItem &option, const QModelIndex &) const
{
    return {option.fontMetrics.averageCharWidth() * 20, option.fontMetrics.height() * 3 / 2};
}

void RunTreeDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const
{
    const QPalette &palette = option.palette;
    const int pad = option.fontMetrics.averageCharWidth();
    const auto kind = RunTreeModel::Kind(index.data(RunTreeModel::KindRole).toInt());
    painter->save();
    painter->setFont(option.font);
    if (kind == RunTreeModel::HeadingNode) {
        painter->setPen(themeColor(palette, Tint::Dim));
        painter->drawText(option.rect.adjusted(pad, 0, -pad, 0), Qt::AlignLeft | Qt::AlignBottom, index.data().toString());
        painter->restore();
        return;
    }
    if (option.state & QStyle::State_Selected)
        painter->fillRect(option.rect, themeColor(palette, Tint::Selection));
    if ((option.state & QStyle::State_HasFocus) && (option.state & QStyle::State_Selected))
        painter->fillRect(QRect(option.rect.left(), option.rect.top(), 2, option.rect.height()), themeColor(palette, Tint::Accent));
    int x = option.rect.left() + pad;
    if (kind == RunTreeModel::AgentNode)
        x += pad * 2 * (1 + index.data(RunTreeModel::IndentRole).toInt());
    paintMark(*painter, QRectF(x, option.rect.top(), pad * 1.15, option.rect.height()),
              Mark(index.data(RunTreeModel::MarkRole).toInt()), palette);
    x += pad * 2;
    int right = option.rect.right() - pad;
    const QString figure = index.data(RunTreeModel::FigureRole).toString();
    painter->setPen(themeColor(palette, Tint::Dim));
    painter->drawText(QRect(x, option.rect.top(), right - x, option.rect.height()), Qt::AlignRight | Qt::AlignVCenter, figure);
    right -= figure.isEmpty() ? 0 : option.fontMetrics.horizontalAdvance(figure) + pad;
    QFont font = option.font;
    font.setBold(index.data(RunTreeModel::StrongRole).toBool());
    const QFontMetrics metrics(font);
    const QString remark = index.data(RunTreeModel::RemarkRole).toString();
    const int share = rowRemarkRoom(index, right - x, metrics.horizontalAdvance(index.data().toString()), pad);
    const int remarkRoom = std::min(option.fontMetrics.horizontalAdvance(remark), share);
    const QString title = metrics.elidedText(index.data().toString(), Qt::ElideRight,
                                             std::max(0, right - x - (remarkRoom == 0 ? 0 : remarkRoom + pad)));
    painter->setFont(font);
    painter->setPen(themeColor(palette, Tint::Text));
    painter->drawText(QRect(x, option.rect.top(), right - x, option.rect.height()), Qt::AlignLeft | Qt::AlignVCenter, title);
    x += metrics.horizontalAdvance(title) + pad;
    painter->setFont(option.font);
    Tint role = Tint::Dim;
    if (index.data(RunTreeModel::UrgentRole).toBool())
        role = Mark(index.data(RunTreeModel::MarkRole).toInt()) == Mark::Failed ? Tint::Error : Tint::Warn;
    painter->setPen(themeColor(palette, role));
    if (remarkRoom > 0)
        painter->drawText(QRect(x, option.rect.top(), std::max(0, right - x), option.rect.height()),
                          Qt::AlignLeft | Qt::AlignVCenter,
                          option.fontMetrics.elidedText(remark, Qt::ElideRight, std::max(0, right - x)));
    painter->restore();
}

} // namespace paddock
