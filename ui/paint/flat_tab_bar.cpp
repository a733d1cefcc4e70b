// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/paint/flat_tab_bar.h"

#include "ui/paint/theme.h"

#include <QPainter>
#include <QStyle>

namespace paddock {

FlatTabBar::FlatTabBar(QWidget *parent) : QTabBar(parent)
{
    setDrawBase(false);
    setExpanding(false);
    setFocusPolicy(Qt::TabFocus);
    setElideMode(Qt::ElideNone);
    setUsesScrollButtons(true);
}

QSize FlatTabBar::tabSizeHint(int index) const
{
    const QFontMetrics metrics = fontMetrics();
    return {metrics.horizontalAdvance(tabText(index)) + 3 * metrics.averageCharWidth(), metrics.height() * 8 / 5};
}

QSize FlatTabBar::minimumTabSizeHint(int index) const
{
    return tabSizeHint(index);
}

void FlatTabBar::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    for (int i = 0; i < count(); ++i) {
        const QRect area = tabRect(i);
        const bool current = i == currentIndex();
        const bool hovered = area.contains(mapFromGlobal(QCursor::pos())) && underMouse();
        painter.setPen(themeColor(palette(), current || hovered ? Tint::Text : Tint::Dim));
        painter.drawText(area, Qt::AlignCenter, tabText(i));
        if (current) {
            painter.fillRect(QRect(area.left(), area.bottom() - 1, area.width(), 2), themeColor(palette(), Tint::Accent));
            if (hasFocus()) {
                painter.setPen(themeColor(palette(), Tint::Accent));
                painter.drawRect(area.adjusted(2, 2, -3, -4));
            }
        }
    }
}

} // namespace paddock
