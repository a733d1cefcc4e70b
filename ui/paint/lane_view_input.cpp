// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Mouse, wheel and keyboard of the lane view.
#include "ui/paint/lane_view.h"

#include <QAccessible>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace paddock {

namespace {
constexpr double zoomStep = 1.25;
} // namespace

void LaneView::choose(int row, qsizetype position)
{
    const LaneRow lane = m_source->row(row);
    m_row = row;
    const QRect area = rowRect(row);
    if (area.top() < axisHeight())
        verticalScrollBar()->setValue(verticalScrollBar()->value() - (axisHeight() - area.top()));
    else if (area.bottom() > viewport()->height())
        verticalScrollBar()->setValue(verticalScrollBar()->value() + area.bottom() - viewport()->height());
    if (position >= 0 && position < qsizetype(lane.ids.size()) && lane.ids[size_t(position)] != m_selected) {
        m_selected = lane.ids[size_t(position)];
        QAccessibleAnnouncementEvent announcement(this, m_source->describe(m_selected));
        QAccessible::updateAccessibility(&announcement);
        Q_EMIT selectionChanged(m_selected);
    }
    viewport()->update();
}

void LaneView::select(quint32 id, bool reveal)
{
    if (id == nothing || !m_source) {
        if (m_selected != nothing) {
            m_selected = nothing;
            viewport()->update();
            Q_EMIT selectionChanged(nothing);
        }
        return;
    }
    for (int row = 0; row < m_source->rowCount(); ++row) {
        const LaneRow lane = m_source->row(row);
        const auto place = std::find(lane.ids.begin(), lane.ids.end(), id);
        if (place == lane.ids.end())
            continue;
        const qsizetype position = place - lane.ids.begin();
        choose(row, position);
        if (reveal)
            revealTime(lane.starts[size_t(position)], std::min(lane.ends[size_t(position)], m_source->now()));
        return;
    }
    m_selected = id;
    viewport()->update();
    Q_EMIT selectionChanged(id);
}

void LaneView::revealTime(qint64 from, qint64 to)
{
    if (from < m_range->end() && to > m_range->begin())
        return;
    const qint64 length = m_range->length();
    m_range->setView(from - length / 3, from - length / 3 + length);
}

void LaneView::step(int by)
{
    if (!m_source || m_source->rowCount() == 0)
        return;
    m_row = std::clamp(m_row, 0, m_source->rowCount() - 1);
    const LaneRow lane = m_source->row(m_row);
    if (lane.ids.empty())
        return;
    const auto place = std::find(lane.ids.begin(), lane.ids.end(), m_selected);
    qsizetype position;
    if (place == lane.ids.end()) {
        const auto after = std::lower_bound(lane.starts.begin(), lane.starts.end(), m_range->begin());
        position = std::min<qsizetype>(after - lane.starts.begin(), qsizetype(lane.ids.size()) - 1);
    } else {
        position = std::clamp<qsizetype>(place - lane.ids.begin() + by, 0, qsizetype(lane.ids.size()) - 1);
    }
    choose(m_row, position);
    revealTime(lane.starts[size_t(position)], std::min(lane.ends[size_t(position)], m_source->now()));
}

void LaneView::stepRow(int by)
{
    if (!m_source || m_source->rowCount() == 0)
        return;
    qint64 anchor = m_range->begin() + m_range->length() / 2;
    if (m_selected != nothing && m_row < m_source->rowCount()) {
        const LaneRow lane = m_source->row(m_row);
        const auto place = std::find(lane.ids.begin(), lane.ids.end(), m_selected);
        if (place != lane.ids.end())
            anchor = std::max(lane.starts[size_t(place - lane.ids.begin())], m_range->begin());
    }
    const int row = std::clamp(m_row + by, 0, m_source->rowCount() - 1);
    const LaneRow lane = m_source->row(row);
    choose(row, spanAt(lane.starts, lane.ends, anchor, m_range->length()));
}

bool LaneView::handleKey(int key, Qt::KeyboardModifiers modifiers)
{
    const bool control = modifiers & Qt::ControlModifier;
    const qint64 middle = m_range->begin() + m_range->length() / 2;
    switch (key) {
    case Qt::Key_Left: control ? m_range->pan(-m_range->length() / 8) : step(-1); return true;
    case Qt::Key_Right: control ? m_range->pan(m_range->length() / 8) : step(1); return true;
    case Qt::Key_Up: stepRow(-1); return true;
    case Qt::Key_Down: stepRow(1); return true;
    case Qt::Key_Plus: case Qt::Key_Equal: m_range->zoom(1 / zoomStep, middle); return true;
    case Qt::Key_Minus: m_range->zoom(zoomStep, middle); return true;
    case Qt::Key_Home: m_range->setView(m_range->first(), m_range->first() + m_range->length()); return true;
    case Qt::Key_End: m_range->setView(m_range->last() - m_range->length(), m_range->last()); return true;
    case Qt::Key_0: m_range->fit(); return true;
    case Qt::Key_F:
        if (modifiers != Qt::NoModifier)
            return false;
        m_range->setFollowing(!m_range->isFollowing());
        return true;
    case Qt::Key_Space: Q_EMIT rowToggled(m_row); return true;
    case Qt::Key_Return: case Qt::Key_Enter:
        if (m_selected != nothing)
            Q_EMIT activated(m_selected);
        return true;
    default: return false;
    }
}

void LaneView::keyPressEvent(QKeyEvent *event)
{
    if (!m_source || !handleKey(event->key(), event->modifiers()))
        QAbstractScrollArea::keyPressEvent(event);
}

void LaneView::wheelEvent(QWheelEvent *event)
{
    const int delta = event->angleDelta().y() ? event->angleDelta().y() : event->angleDelta().x();
    if (event->modifiers() & Qt::ControlModifier) {
        m_range->zoom(std::pow(zoomStep, -delta / 120.0), timeAt(int(event->position().x())));
    } else if ((event->modifiers() & Qt::ShiftModifier) || event->angleDelta().y() == 0) {
        m_range->pan(-qint64(double(m_range->length()) * delta / 1200.0));
    } else {
        QAbstractScrollArea::wheelEvent(event);
        return;
    }
    event->accept();
}

void LaneView::mousePressEvent(QMouseEvent *event)
{
    if (event->button() != Qt::LeftButton || !m_source)
        return;
    m_pressAt = event->position().toPoint();
    m_pressBegin = m_range->begin();
    m_pressScroll = verticalScrollBar()->value();
    m_dragging = false;
}

void LaneView::mouseMoveEvent(QMouseEvent *event)
{
    if (!(event->buttons() & Qt::LeftButton) || m_pressAt.x() < laneLeft())
        return;
    const QPoint by = event->position().toPoint() - m_pressAt;
    if (!m_dragging && by.manhattanLength() < 6)
        return;
    m_dragging = true;
    viewport()->setCursor(Qt::ClosedHandCursor);
    const qint64 begin = m_pressBegin - qint64(by.x() / scale());
    m_range->setView(begin, begin + m_range->length());
    verticalScrollBar()->setValue(m_pressScroll - by.y());
}

void LaneView::mouseReleaseEvent(QMouseEvent *event)
{
    viewport()->unsetCursor();
    if (event->button() != Qt::LeftButton || m_dragging || !m_source)
        return;
    const QPoint at = event->position().toPoint();
    const int row = visibleRowAt(at.y());
    if (row < 0)
        return select(nothing);
    if (at.x() < laneLeft()) {
        m_row = row;
        if (m_source->heading(row).expandable)
            Q_EMIT rowToggled(row);
        Q_EMIT rowClicked(row);
        viewport()->update();
        return;
    }
    const LaneRow lane = m_source->row(row);
    const qsizetype position = spanAt(lane.starts, lane.ends, timeAt(at.x()), qint64(foldWidth / scale()));
    if (position < 0) {
        m_row = row;
        return select(nothing);
    }
    choose(row, position);
}

void LaneView::mouseDoubleClickEvent(QMouseEvent *event)
{
    const quint32 id = hit(event->position().toPoint());
    if (id == nothing)
        return;
    const LaneRow lane = m_source->row(visibleRowAt(int(event->position().y())));
    const auto position = size_t(std::find(lane.ids.begin(), lane.ids.end(), id) - lane.ids.begin());
    const qint64 from = lane.starts[position];
    const qint64 length = std::max<qint64>(TimeRange::shortest, std::min(lane.ends[position], m_source->now()) - from);
    m_range->setView(from - length / 4, from + length + length / 4);
    Q_EMIT activated(id);
}

bool LaneView::viewportEvent(QEvent *event)
{
    if (event->type() == QEvent::ToolTip) {
        auto *help = static_cast<QHelpEvent *>(event);
        const quint32 id = m_source ? hit(help->pos()) : nothing;
        const int row = m_source ? visibleRowAt(help->pos().y()) : -1;
        QString text;
        if (id != nothing)
            text = m_source->describe(id);
        else if (row >= 0 && help->pos().x() < laneLeft())
            text = accessibleHeading(row);
        QToolTip::showText(help->globalPos(), plainToolTip(text.trimmed()), viewport());
        return true;
    }
    return QAbstractScrollArea::viewportEvent(event);
}

} // namespace paddock
