// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/paint/lane_view.h"

#include "ui/paint/figures.h"

#include <QPainter>
#include <QScrollBar>

#include <algorithm>
#include <cmath>

namespace paddock {

namespace {

constexpr int ticksPerSecond = 10;
constexpr int fewestLetters = 6; ///< of a shortened label

} // namespace

BarLook LaneSource::foldedLook(int, quint32 firstId, quint32 count) const
{
    BarLook look = this->look(firstId);
    look.label = count > 1 ? QString::number(count) : look.label;
    return look;
}

QString barLabel(const QFontMetrics &metrics, const QString &label, int room)
{
    if (label.isEmpty() || room <= 0)
        return {};
    const QString shown = metrics.elidedText(label, Qt::ElideRight, room);
    return shown == label || shown.size() > fewestLetters ? shown : QString(); // "w…" tells nothing
}

LaneView::LaneView(TimeRange *range, QWidget *parent) : QAbstractScrollArea(parent), m_range(range)
{
    installRowsAccessibility();
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setMouseTracking(true);
    connect(range, &TimeRange::changed, this, [this] { viewport()->update(); });
}

LaneView::~LaneView() = default;

void LaneView::setSource(const LaneSource *source)
{
    m_source = source;
    m_selected = nothing;
    m_row = 0;
    sourceChanged();
}

void LaneView::sourceChanged()
{
    placeRows();
    updateScrollBar();
    viewport()->update();
}

void LaneView::setTicking(bool ticking)
{
    m_ticking = ticking;
    updateTimer();
}

void LaneView::updateTimer()
{
    const bool wanted = m_ticking && isVisible();
    if (wanted && !m_timer.isActive())
        m_timer.start(1000 / ticksPerSecond, this);
    else if (!wanted)
        m_timer.stop();
}

void LaneView::timerEvent(QTimerEvent *event)
{
    if (event->timerId() != m_timer.timerId())
        return QAbstractScrollArea::timerEvent(event);
    if (m_source && m_range && m_range->isFollowing())
        m_range->setBounds(m_range->first(), m_source->now());
    viewport()->update();
}

void LaneView::showEvent(QShowEvent *event)
{
    QAbstractScrollArea::showEvent(event);
    updateTimer();
}

void LaneView::hideEvent(QHideEvent *event)
{
    QAbstractScrollArea::hideEvent(event);
    updateTimer();
}

void LaneView::setAxisVisible(bool visible)
{
    m_axis = visible;
    sourceChanged();
}

void LaneView::setEmptyText(const QString &text)
{
    m_emptyText = text;
    viewport()->update();
}

void LaneView::setHeadingWidth(int width)
{
    if (width == m_headingWidth)
        return;
    m_headingWidth = width;
    viewport()->update();
}

int LaneView::preferredHeadingWidth() const
{
    const int letter = fontMetrics().averageCharWidth();
    return std::min(letter * 32, std::max(letter * 12, width() * 3 / 10));
}

int LaneView::headingWidth() const
{
    return m_headingWidth > 0 ? m_headingWidth : preferredHeadingWidth();
}

int LaneView::rowHeight() const
{
    return fontMetrics().height() + fontMetrics().height() / 2;
}

int LaneView::axisHeight() const
{
    return m_axis ? fontMetrics().height() + fontMetrics().height() / 4 : 0;
}

int LaneView::laneWidth() const
{
    // The place of the scroll bar stays free also where there is none: views above each other keep one time axis.
    return std::max(1, width() - verticalScrollBar()->sizeHint().width() - laneLeft());
}

double LaneView::scale() const
{
    return double(laneWidth()) / double(std::max<qint64>(1, m_range->length()));
}

qint64 LaneView::timeAt(int x) const
{
    return m_range->begin() + qint64(double(x - laneLeft()) / scale());
}

double LaneView::xOf(qint64 time) const
{
    return laneLeft() + double(time - m_range->begin()) * scale();
}

QSize LaneView::sizeHint() const
{
    return {fontMetrics().averageCharWidth() * 90, axisHeight() + rowHeight() * 8};
}

QSize LaneView::minimumSizeHint() const
{
    return {fontMetrics().averageCharWidth() * 30, axisHeight() + rowHeight() * 2};
}

QRect LaneView::rowRect(int row) const
{
    if (row < 0 || row + 1 >= int(m_tops.size()))
        return {};
    const int top = m_tops[size_t(row)];
    return {0, axisHeight() + top - verticalScrollBar()->value(), viewport()->width(), m_tops[size_t(row) + 1] - top};
}

void LaneView::placeRows()
{
    const int rows = m_source ? m_source->rowCount() : 0;
    m_tops.resize(size_t(rows) + 1);
    m_tops[0] = 0;
    for (int row = 0; row < rows; ++row)
        m_tops[size_t(row) + 1] = m_tops[size_t(row)] + (m_source->isThin(row) ? rowHeight() / 3 : rowHeight());
}

int LaneView::rowAt(int contentY) const
{
    const auto after = std::upper_bound(m_tops.begin(), m_tops.end(), contentY);
    return int(after - m_tops.begin()) - 1;
}

int LaneView::visibleRowAt(int y) const
{
    if (!m_source || y < axisHeight())
        return -1;
    const int row = rowAt(y - axisHeight() + verticalScrollBar()->value());
    return row < int(m_tops.size()) - 1 ? row : -1;
}

quint32 LaneView::hit(QPoint at) const
{
    const int row = visibleRowAt(at.y());
    if (row < 0 || at.x() < laneLeft())
        return nothing;
    const LaneRow lane = m_source->row(row);
    const auto slack = qint64(foldWidth / scale());
    const qsizetype position = spanAt(lane.starts, lane.ends, timeAt(at.x()), slack);
    return position < 0 ? nothing : lane.ids[size_t(position)];
}

QString LaneView::accessibleRowText(int row) const
{
    return tr("%1, %n span(s)", nullptr, int(m_source->row(row).ids.size())).arg(accessibleHeading(row));
}

QString LaneView::accessibleHeading(int row) const
{
    const LaneHeading heading = m_source->heading(row);
    const QString title = heading.fullTitle.isEmpty() ? heading.title : heading.fullTitle;
    return heading.detail.isEmpty() ? title : title + u' ' + heading.detail;
}

QString LaneView::accessibleValue() const
{
    return m_source && m_selected != nothing ? m_source->describe(m_selected) : QString();
}

void LaneView::updateScrollBar()
{
    const int content = m_tops.back();
    const int page = std::max(1, viewport()->height() - axisHeight());
    verticalScrollBar()->setRange(0, std::max(0, content - page));
    verticalScrollBar()->setPageStep(page);
    verticalScrollBar()->setSingleStep(rowHeight());
}

void LaneView::resizeEvent(QResizeEvent *event)
{
    QAbstractScrollArea::resizeEvent(event);
    updateScrollBar();
}

void LaneView::scrollContentsBy(int, int)
{
    viewport()->update();
}

void LaneView::changeEvent(QEvent *event)
{
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange)
        sourceChanged();
    if (event->type() == QEvent::PaletteChange)
        viewport()->update();
}

void LaneView::focusInEvent(QFocusEvent *event)
{
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}

void LaneView::focusOutEvent(QFocusEvent *event)
{
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

// ---- painting

void LaneView::paintEvent(QPaintEvent *)
{
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), themeColor(palette(), Tint::Panel));
    const int rows = int(m_tops.size()) - 1;
    if (rows == 0) {
        painter.setPen(themeColor(palette(), Tint::Dim));
        const int margin = fontMetrics().height();
        painter.drawText(viewport()->rect().adjusted(margin, margin, -margin, -margin),
                         int(Qt::AlignCenter) | int(Qt::TextWordWrap), m_emptyText);
    } else {
        const int first = std::max(0, rowAt(verticalScrollBar()->value()));
        const int last = std::min(rows - 1, rowAt(verticalScrollBar()->value() + viewport()->height()));
        if (m_axis)
            paintGrid(painter);
        painter.setClipRect(QRect(0, axisHeight(), viewport()->width(), viewport()->height()));
        for (int row = first; row <= last; ++row)
            paintRow(painter, row);
        painter.setClipping(false);
        if (m_axis)
            paintAxis(painter);
        painter.setPen(themeColor(palette(), Tint::Line));
        painter.drawLine(laneLeft() - 1, 0, laneLeft() - 1, std::min(viewport()->height(), rowRect(rows - 1).bottom() + 1));
    }
    if (hasFocus()) {
        QColor ring = themeColor(palette(), Tint::Accent);
        ring.setAlpha(150);
        painter.setPen(ring);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(viewport()->rect().adjusted(0, 0, -1, -1));
    }
}

double LaneView::axisStep() const
{
    // The smallest round step whose labels do not touch.
    static constexpr double small[] = {1, 2, 5};
    static constexpr double seconds[] = {15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400};
    const double wanted = fontMetrics().horizontalAdvance(QStringLiteral("0:00.000")) * 1.8 / scale();
    for (double decade = 1; decade <= 1e6; decade *= 10) {
        for (const double part : small) {
            if (part * decade >= wanted)
                return part * decade;
        }
    }
    if (wanted <= 1e7)
        return 1e7;
    for (const double step : seconds) {
        if (step * 1e6 >= wanted)
            return step * 1e6;
    }
    return std::ceil(wanted / 86400e6) * 86400e6;
}

void LaneView::paintGrid(QPainter &painter)
{
    const double step = axisStep();
    const qint64 origin = m_range->first();
    painter.setPen(themeColor(palette(), Tint::Line));
    for (auto i = qint64(std::ceil(double(std::max<qint64>(0, m_range->begin() - origin)) / step));; ++i) {
        const double x = xOf(origin + qint64(double(i) * step));
        if (x > viewport()->width())
            return;
        painter.drawLine(QPointF(x, axisHeight()), QPointF(x, viewport()->height()));
    }
}

void LaneView::paintAxis(QPainter &painter)
{
    const QRect area(0, 0, viewport()->width(), axisHeight());
    painter.fillRect(area, themeColor(palette(), Tint::Panel));
    painter.setPen(themeColor(palette(), Tint::Line));
    painter.drawLine(0, area.bottom(), area.width(), area.bottom());
    const double step = axisStep();
    const qint64 origin = m_range->first();
    painter.setPen(themeColor(palette(), Tint::Dim));
    for (auto i = qint64(std::ceil(double(std::max<qint64>(0, m_range->begin() - origin)) / step));; ++i) {
        const auto offset = qint64(double(i) * step);
        const double x = xOf(origin + offset);
        if (x > area.right())
            return;
        QString text;
        if (step >= 1e6)
            text = offset < 60'000'000 && step < 60e6 ? tr("%1 s").arg(offset / 1'000'000) : formatElapsed(offset);
        else if (step >= 1e3)
            text = tr("%1 s").arg(double(offset) / 1e6, 0, 'f', step >= 1e5 ? 1 : step >= 1e4 ? 2 : 3);
        else
            text = tr("%1 ms").arg(double(offset) / 1e3, 0, 'f', 2);
        painter.drawText(QRectF(x + 3, 0, step * scale(), axisHeight() - 1), Qt::AlignLeft | Qt::AlignVCenter, text);
    }
}

void LaneView::paintHeading(QPainter &painter, int row, const QRect &area)
{
    const LaneHeading heading = m_source->heading(row);
    const int pad = fontMetrics().averageCharWidth();
    if (heading.firstOfGroup) {
        painter.setPen(themeColor(palette(), Tint::Line));
        painter.drawLine(0, area.top(), viewport()->width(), area.top());
    }
    int x = pad + heading.indent * pad * 2;
    if (heading.expandable) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(themeColor(palette(), Tint::Dim));
        const double size = pad * 0.55;
        const QPointF middle(x + size, area.center().y() + 0.5);
        QPolygonF arrow;
        if (heading.expanded)
            arrow << middle + QPointF(-size, -size / 2) << middle + QPointF(size, -size / 2) << middle + QPointF(0, size);
        else
            arrow << middle + QPointF(-size / 2, -size) << middle + QPointF(size, 0) << middle + QPointF(-size / 2, size);
        painter.setRenderHint(QPainter::Antialiasing, true);
        painter.drawPolygon(arrow);
        painter.setRenderHint(QPainter::Antialiasing, false);
    }
    x += heading.indent ? 0 : pad * 2;
    QFont font = this->font();
    font.setBold(heading.strong);
    painter.setFont(font);
    const QFontMetrics metrics(font);
    const int right = area.right() - pad;
    const QString title = metrics.elidedText(heading.title, Qt::ElideRight, std::max(0, right - x));
    painter.setPen(themeColor(palette(), heading.strong ? Tint::Text : Tint::Dim));
    painter.drawText(QRect(x, area.top(), right - x, area.height()), Qt::AlignLeft | Qt::AlignVCenter, title);
    x += metrics.horizontalAdvance(title) + pad / 2 + 1;
    painter.setFont(this->font());
    if (!heading.detail.isEmpty() && right - x > pad * 2) {
        painter.setPen(themeColor(palette(), heading.detailTint));
        painter.drawText(QRect(x, area.top(), right - x, area.height()), Qt::AlignLeft | Qt::AlignVCenter,
                         fontMetrics().elidedText(heading.detail, Qt::ElideRight, right - x));
    }
}

void LaneView::paintRow(QPainter &painter, int row)
{
    const QRect area = rowRect(row);
    if (row == m_row && hasFocus()) {
        QColor tint = themeColor(palette(), Tint::Selection);
        tint.setAlpha(90);
        painter.fillRect(area, tint);
    }
    if (!m_source->isThin(row))
        paintHeading(painter, row, QRect(area.left(), area.top(), laneLeft(), area.height()));
    const QRect lanes(laneLeft(), area.top(), laneWidth(), area.height());
    painter.save();
    painter.setClipRect(lanes.intersected(QRect(0, axisHeight(), viewport()->width(), viewport()->height())));
    if (const auto backdrop = m_source->backdrop(row)) {
        QColor fill = themeColor(palette(), backdrop->fill);
        fill.setAlpha(45);
        const double x0 = xOf(backdrop->from);
        painter.fillRect(QRectF(x0, area.top() + 1, std::max(1.0, xOf(std::min(backdrop->to, m_source->now())) - x0),
                                area.height() - 1), fill);
    }
    const LaneRow lane = m_source->row(row);
    m_items.clear();
    foldTrack(lane.starts, lane.ends, m_range->begin(), m_range->end(), scale(), m_source->now(), m_items);
    const bool thin = m_source->isThin(row);
    const double top = thin ? area.top() : area.top() + area.height() * 0.14;
    const double height = thin ? area.height() - 1 : area.height() * 0.72;
    QRectF selectedBar;
    BarLook selectedLook;
    for (const LaneItem &item : m_items) {
        const quint32 id = lane.ids[item.first];
        BarLook look = item.count == 1 ? m_source->look(id) : m_source->foldedLook(row, id, item.count);
        if (thin)
            look.label.clear();
        const QRectF bar(laneLeft() + item.x0, top, std::max(1.5, item.x1 - item.x0 - (look.open ? 0 : 1)), height);
        bool selected = false;
        for (quint32 i = 0; m_selected != nothing && row == m_row && i < item.count && !selected; ++i)
            selected = lane.ids[item.first + i] == m_selected;
        if (selected) {
            selectedBar = bar;
            selectedLook = look;
        } else {
            paintBar(painter, bar, look, false);
        }
    }
    if (!selectedBar.isNull())
        paintBar(painter, selectedBar, selectedLook, true);
    painter.restore();
}

void LaneView::paintBar(QPainter &painter, const QRectF &bar, const BarLook &look, bool selected)
{
    QColor fill = themeColor(palette(), look.fill);
    if (look.dim)
        fill.setAlpha(60);
    const bool wide = bar.width() >= 4;
    painter.setPen(Qt::NoPen);
    if (wide) {
        painter.setRenderHint(QPainter::Antialiasing, true);
        painter.setBrush(fill);
        painter.drawRoundedRect(bar, 2, 2);
        if (look.striped) {
            painter.setBrush(QBrush(QColor(0, 0, 0, isDark(palette()) ? 70 : 45), Qt::BDiagPattern));
            painter.drawRoundedRect(bar, 2, 2);
        }
        painter.setRenderHint(QPainter::Antialiasing, false);
    } else {
        painter.fillRect(bar, fill);
    }
    const int pad = fontMetrics().averageCharWidth() / 2 + 1;
    // A label follows the view: the visible part of a bar that began long ago still says what it is.
    const double left = std::max(bar.left(), double(laneLeft()));
    const double room = std::min(bar.right(), double(viewport()->width())) - left - 2 * pad;
    const QString label = look.dim ? QString() : barLabel(fontMetrics(), look.label, int(room));
    if (!label.isEmpty()) {
        painter.setPen(themeColor(palette(), Tint::OnBar));
        painter.drawText(QRectF(left + pad, bar.top(), room, bar.height()), Qt::AlignLeft | Qt::AlignVCenter, label);
    }
    if (selected) {
        painter.setRenderHint(QPainter::Antialiasing, true);
        painter.setPen(QPen(themeColor(palette(), Tint::Text), 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(bar.adjusted(-1, -1, 1, 1), 3, 3);
        painter.setRenderHint(QPainter::Antialiasing, false);
    }
}

} // namespace paddock
