// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/paint/lane_fold.h"
#include "ui/paint/lane_source.h"
#include "ui/paint/rows_accessible.h"
#include "ui/paint/time_range.h"

#include <QAbstractScrollArea>
#include <QBasicTimer>
#include <QPointer>

#include <vector>

namespace paddock {

/// What a bar with so much room says: the label, shortened while enough of it is left to be read, or nothing.
QString barLabel(const QFontMetrics &metrics, const QString &label, int room);

/// One widget that paints all lanes of a LaneSource against a TimeRange: headings left, time axis on top, bars folded so
/// that the cost follows pixels (style.md A10). Mouse: click selects, drag pans, Ctrl+wheel zooms at the pointer,
/// Shift+wheel pans, double click zooms to a span. Keys: arrows walk spans and rows, + and - zoom, Ctrl+Left/Right pan,
/// 0 shows everything, F follows, Enter opens, Space folds a group. A screen reader sees the rows and the selected span.
/// Owner: a panel; GUI thread; the source and the range must outlive it.
class LaneView : public QAbstractScrollArea, public AccessibleRows
{
    Q_OBJECT
public:
    explicit LaneView(TimeRange *range, QWidget *parent = nullptr);
    ~LaneView() override;

    void setSource(const LaneSource *source);
    const LaneSource *source() const { return m_source; }
    TimeRange *range() const { return m_range; }
    /// Rows or spans changed.
    void sourceChanged();
    /// While on, the picture moves with time (ten frames a second, only when visible).
    void setTicking(bool ticking);
    void setAxisVisible(bool visible);
    /// Text in the middle while there are no rows.
    void setEmptyText(const QString &text);
    /// Shared by views that stand one above the other, so that their time axes agree; 0 lets the view choose.
    void setHeadingWidth(int width);
    int headingWidth() const;
    int preferredHeadingWidth() const;

    static constexpr quint32 nothing = 0xffffffffu;
    quint32 selected() const { return m_selected; }
    int selectedRow() const { return m_row; }
    /// Selects and scrolls to it when it lies on a visible row; `nothing` clears.
    void select(quint32 id, bool reveal = true);
    /// Where the bars are, in viewport coordinates.
    QRect laneArea() const { return {laneLeft(), axisHeight(), laneWidth(), viewport()->height() - axisHeight()}; }
    QRect rowRect(int row) const;
    int visibleRowAt(int y) const;
    /// The span under a point of the viewport; `nothing` when there is none.
    quint32 hit(QPoint at) const;
    int accessibleRowCount() const override { return m_source ? m_source->rowCount() : 0; }
    QString accessibleRowText(int row) const override;
    QRect accessibleRowRect(int row) const override { return rowRect(row); }
    int accessibleRowAt(int y) const override { return visibleRowAt(y); }
    int accessibleCurrentRow() const override { return m_row; }
    QString accessibleValue() const override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

Q_SIGNALS:
    void selectionChanged(quint32 id);
    void activated(quint32 id);
    void rowClicked(int row);
    void rowToggled(int row);

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void scrollContentsBy(int dx, int dy) override;
    void wheelEvent(QWheelEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    bool viewportEvent(QEvent *event) override;
    void changeEvent(QEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void focusOutEvent(QFocusEvent *event) override;
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;
    void timerEvent(QTimerEvent *event) override;

private:
    int rowHeight() const;
    int axisHeight() const;
    int laneLeft() const { return headingWidth(); }
    int laneWidth() const;
    double scale() const;
    qint64 timeAt(int x) const;
    double xOf(qint64 time) const;
    void updateScrollBar();
    void updateTimer();
    double axisStep() const;
    void placeRows();
    int rowAt(int contentY) const;
    void paintGrid(QPainter &painter);
    void paintAxis(QPainter &painter);
    void paintRow(QPainter &painter, int row);
    void paintHeading(QPainter &painter, int row, const QRect &area);
    void paintBar(QPainter &painter, const QRectF &bar, const BarLook &look, bool selected);
    QString accessibleHeading(int row) const;
    void choose(int row, qsizetype position);
    void step(int by);
    void stepRow(int by);
    void revealTime(qint64 from, qint64 to);
    bool handleKey(int key, Qt::KeyboardModifiers modifiers);

    const LaneSource *m_source = nullptr;
    QPointer<TimeRange> m_range;
    std::vector<LaneItem> m_items; ///< scratch of paintRow
    std::vector<int> m_tops{0};    ///< of the rows, and where the last one ends
    QString m_emptyText;
    quint32 m_selected = nothing;
    int m_row = 0;
    int m_headingWidth = 0;
    bool m_axis = true;
    bool m_ticking = false;
    QBasicTimer m_timer;
    QPoint m_pressAt;
    qint64 m_pressBegin = 0;
    int m_pressScroll = 0;
    bool m_dragging = false;
};

} // namespace paddock
