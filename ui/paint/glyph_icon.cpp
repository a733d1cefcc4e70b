// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/paint/glyph_icon.h"

#include <QApplication>
#include <QIconEngine>
#include <QPainter>
#include <QPalette>

namespace paddock {

namespace {

class GlyphEngine : public QIconEngine
{
public:
    explicit GlyphEngine(Glyph glyph) : m_glyph(glyph) {}

    QIconEngine *clone() const override { return new GlyphEngine(m_glyph); }

    QPixmap pixmap(const QSize &size, QIcon::Mode mode, QIcon::State state) override
    {
        QPixmap picture(size);
        picture.fill(Qt::transparent);
        QPainter painter(&picture);
        paint(&painter, QRect(QPoint(0, 0), size), mode, state);
        return picture;
    }

    void paint(QPainter *painter, const QRect &rect, QIcon::Mode mode, QIcon::State) override
    {
        const QPalette palette = QApplication::palette();
        const QColor color = palette.color(mode == QIcon::Disabled ? QPalette::Disabled : QPalette::Active, QPalette::ButtonText);
        const double side = std::min(rect.width(), rect.height());
        const QRectF box(rect.center().x() + 0.5 - side * 0.3, rect.center().y() + 0.5 - side * 0.3, side * 0.6, side * 0.6);
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing, true);
        painter->setPen(Qt::NoPen);
        painter->setBrush(color);
        switch (m_glyph) {
        case Glyph::Play:
            painter->drawPolygon(QPolygonF{{box.left(), box.top()}, {box.right(), box.center().y()}, {box.left(), box.bottom()}});
            break;
        case Glyph::Stop:
            painter->drawRect(box);
            break;
        case Glyph::StopOne:
            painter->setPen(QPen(color, side * 0.1));
            painter->setBrush(Qt::NoBrush);
            painter->drawRect(box);
            break;
        case Glyph::Follow:
            painter->setPen(QPen(color, side * 0.1, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
            painter->setBrush(Qt::NoBrush);
            painter->drawPolyline(QPolygonF{{box.left(), box.top()}, {box.center().x(), box.center().y()}, {box.right(), box.top()}});
            painter->drawPolyline(QPolygonF{{box.left(), box.center().y()}, {box.center().x(), box.bottom()}, {box.right(), box.center().y()}});
            break;
        }
        painter->restore();
    }

private:
    Glyph m_glyph;
};

} // namespace

QIcon glyphIcon(Glyph glyph)
{
    return QIcon(new GlyphEngine(glyph));
}

} // namespace paddock
