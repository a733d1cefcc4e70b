// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/paint/marks.h"

#include <QPainter>

namespace paddock {

Tint markRole(Mark mark)
{
    switch (mark) {
    case Mark::Running: return Tint::Ok;
    case Mark::Waiting: return Tint::Warn;
    case Mark::Queued: case Mark::Done: case Mark::Stopped: return Tint::Dim;
    case Mark::Failed: return Tint::Error;
    }
    return Tint::Dim;
}

void paintMark(QPainter &painter, const QRectF &area, Mark mark, const QPalette &palette)
{
    const double size = std::min(area.width(), area.height());
    const QRectF box(area.center().x() - size / 2, area.center().y() - size / 2, size, size);
    const QColor color = themeColor(palette, markRole(mark));
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing, true);
    QPen pen(color, std::max(1.4, size * 0.18), Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin);
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    switch (mark) {
    case Mark::Running:
        painter.drawEllipse(box);
        break;
    case Mark::Waiting:
        painter.drawEllipse(box);
        painter.setBrush(themeColor(palette, Tint::Panel));
        painter.drawRect(QRectF(box.center().x() - size * 0.09, box.top() + size * 0.2, size * 0.18, size * 0.38));
        painter.drawEllipse(QPointF(box.center().x(), box.bottom() - size * 0.2), size * 0.1, size * 0.1);
        break;
    case Mark::Queued:
        painter.setPen(pen);
        painter.setBrush(Qt::NoBrush);
        painter.drawEllipse(box.adjusted(1, 1, -1, -1));
        break;
    case Mark::Done:
        painter.setPen(pen);
        painter.setBrush(Qt::NoBrush);
        painter.drawPolyline(QPolygonF{{box.left(), box.center().y()}, {box.left() + size * 0.36, box.bottom() - size * 0.12},
                                       {box.right(), box.top() + size * 0.1}});
        break;
    case Mark::Failed:
        painter.setPen(pen);
        painter.drawLine(box.topLeft() + QPointF(1, 1), box.bottomRight() - QPointF(1, 1));
        painter.drawLine(box.topRight() + QPointF(-1, 1), box.bottomLeft() + QPointF(1, -1));
        break;
    case Mark::Stopped:
        painter.drawRect(box.adjusted(size * 0.08, size * 0.08, -size * 0.08, -size * 0.08));
        break;
    }
    painter.restore();
}

} // namespace paddock
