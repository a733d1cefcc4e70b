// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/term/terminal.h"
#include "ui/paint/rows_accessible.h"

#include <QAbstractScrollArea>
#include <QBasicTimer>

#include <memory>
#include <optional>

namespace paddock {

/// Paints one Terminal: the visible rows, at most once a frame. Selection and copy as plain text, search, keyboard.
/// Typing is possible only while taken over. Owner: a shell pane; GUI thread; the terminal is fed elsewhere.
class TerminalView : public QAbstractScrollArea, public AccessibleRows
{
    Q_OBJECT
public:
    explicit TerminalView(std::shared_ptr<Terminal> terminal, QWidget *parent = nullptr);

    /// The terminal changed (from any of its feeders, on the GUI thread): repaint at the next frame.
    void noteChanged();
    void setTyping(bool on);
    bool isTyping() const { return m_typing; }
    /// Stay at the newest output. Scrolling up ends it, scrolling to the end starts it again.
    void setFollowing(bool on);
    bool isFollowing() const { return m_following; }
    bool hasSelection() const { return m_anchor.has_value() && m_anchor != m_head; }
    QString selectedText() const;
    void copy() const;
    void selectAll();
    /// Finds and selects the next row that holds the text; false when there is none.
    bool find(const QString &text, bool up);
    QSize sizeHint() const override;
    /// All text that is visible.
    QString visibleText() const;
    // What assistive technology reads: the visible rows, the one with the cursor being the current one.
    int accessibleRowCount() const override;
    QString accessibleRowText(int row) const override;
    QRect accessibleRowRect(int row) const override;
    int accessibleRowAt(int y) const override { return y / m_cellHeight; }
    int accessibleCurrentRow() const override;

Q_SIGNALS:
    void typed(const QByteArray &bytes);
    void gridChanged(int columns, int rows);
    void followingChanged(bool on);
    void takeOverWanted();

protected:
    bool event(QEvent *event) override;
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void timerEvent(QTimerEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void inputMethodEvent(QInputMethodEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void focusOutEvent(QFocusEvent *event) override;
    void changeEvent(QEvent *event) override;
    bool focusNextPrevChild(bool next) override;
    void scrollContentsBy(int dx, int dy) override;

private:
    struct Place {
        qint64 row = 0;
        int column = 0;
        friend auto operator<=>(const Place &, const Place &) = default;
    };
    Place placeAt(const QPoint &point) const;
    qint64 topRow() const;
    int visibleRows() const;
    void updateMetrics();
    void updateScrollBar();
    void paintRow(QPainter &painter, const TermSnapshot &snapshot, std::size_t index, int y) const;
    void paintSelection(QPainter &painter, const TermSnapshot &snapshot, qint64 row, int y) const;
    bool handleShortcut(QKeyEvent *event);

    std::shared_ptr<Terminal> m_terminal;
    QBasicTimer m_frame;
    qreal m_cellWidth = 8;
    int m_cellHeight = 16;
    int m_ascent = 12;
    qint64 m_oldestRow = 0;
    qint64 m_endRow = 0;
    bool m_following = true;
    bool m_typing = false;
    bool m_selecting = false;
    bool m_settingScroll = false;
    std::optional<Place> m_anchor;
    std::optional<Place> m_head;
};

} // namespace paddock
