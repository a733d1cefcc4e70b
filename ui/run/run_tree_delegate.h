// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QStyledItemDelegate>

namespace paddock {

/// How much of the `room` of a row its remark may take beside a title of that width.
int rowRemarkRoom(const QModelIndex &index, int room, int titleWidth, int pad);

/// Paints a row of RunTreeModel: mark, title, dim remark, figure at the right. GUI thread.
class RunTreeDelegate : public QStyledItemDelegate
{
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;
    QSize sizeHint(const QStyleOptionViewItem &option, const QModelIndex &index) const override;
    void paint(QPainter *painter, const QStyleOptionViewItem &option, const QModelIndex &index) const override;
};

} // namespace paddock
