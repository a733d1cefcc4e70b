// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/shell/terminal_view.h"

#include "ui/shell/terminal_colors.h"

#include <QApplication>
#include <QClipboard>
#include <QFontDatabase>
#include <QKeyEvent>
#include <QPainter>
#include <QScrollBar>

#include <cmath>

namespace paddock {

namespace {
constexpr int frameMs = 16;
constexpr int leftMargin = 6;
} // namespace

TerminalView::TerminalView(std::shared_ptr<Terminal> terminal, QWidget *parent)
    : QAbstractScrollArea(parent), m_terminal(std::move(terminal))
{
    setFrameShape(QFrame::NoFrame);
    setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOn); // one that comes and goes would change the width of the text
    setFocusPolicy(Qt::StrongFocus);
    viewport()->setCursor(Qt::IBeamCursor);
    viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName(tr("Terminal"));
    installRowsAccessibility();
    updateMetrics();
    connect(verticalScrollBar(), &QScrollBar::valueChanged, this, [this](int value) {
        if (!m_settingScroll)
            setFollowing(value >= verticalScrollBar()->maximum());
    });
}

void TerminalView::updateMetrics()
{
    const QFontMetricsF metrics(font());
    m_cellWidth = metrics.horizontalAdvance(QLatin1Char('M'));
    m_cellHeight = int(std::ceil(metrics.height()));
    m_ascent = int(std::ceil(metrics.ascent()));
    verticalScrollBar()->setSingleStep(3);
}

QSize TerminalView::sizeHint() const
{
    return {int(m_cellWidth * 60), m_cellHeight * 12};
}

void TerminalView::noteChanged()
{
    if (!m_frame.isActive())
        m_frame.start(frameMs, this);
}

void TerminalView::timerEvent(QTimerEvent *event)
{
    if (event->timerId() != m_frame.timerId()) {
        QAbstractScrollArea::timerEvent(event);
        return;
    }
    m_frame.stop(); // one frame per change: an idle terminal wakes nobody
    updateScrollBar();
    viewport()->update();
}

void TerminalView::updateScrollBar()
{
    const qint64 reading = topRow();
    const TermSnapshot bounds = m_terminal->snapshot(0, 0);
    m_oldestRow = bounds.oldestRow;
    // Blank rows below the cursor are not worth scrolling to.
    m_endRow = std::max(bounds.cursorRow + 1, bounds.endRow - bounds.screenRows + 1);
    m_settingScroll = true;
    const int rows = int(m_endRow - m_oldestRow);
    verticalScrollBar()->setRange(0, std::max(0, rows - visibleRows()));
    verticalScrollBar()->setPageStep(std::max(1, visibleRows()));
    if (m_following)
        verticalScrollBar()->setValue(verticalScrollBar()->maximum());
    else // the oldest rows go, what a person reads stays where it is
        verticalScrollBar()->setValue(int(std::max<qint64>(0, reading - m_oldestRow)));
    m_settingScroll = false;
}

void TerminalView::setFollowing(bool on)
{
    if (m_following == on)
        return;
    m_following = on;
    if (on)
        noteChanged();
    Q_EMIT followingChanged(on);
}

void TerminalView::setTyping(bool on)
{
    m_typing = on;
    setAttribute(Qt::WA_InputMethodEnabled, on);
    if (on)
        setFollowing(true);
    viewport()->update();
}

qint64 TerminalView::topRow() const
{
    return m_oldestRow + verticalScrollBar()->value();
}

int TerminalView::visibleRows() const
{
    return std::max(1, viewport()->height() / m_cellHeight);
}

TerminalView::Place TerminalView::placeAt(const QPoint &point) const
{
    const qint64 row = topRow() + std::max(0, point.y()) / m_cellHeight;
    const int column = int(std::max(0.0, (point.x() - leftMargin) / m_cellWidth + 0.5));
    return {std::min(row, m_endRow), column};
}

void TerminalView::paintEvent(QPaintEvent *)
{
    QPainter painter(viewport());
    painter.setFont(font());
    painter.fillRect(viewport()->rect(), consoleBackground(palette()));
    const TermSnapshot snapshot = m_terminal->snapshot(topRow(), visibleRows() + 1);
    for (std::size_t i = 0; i < snapshot.rows.size(); ++i)
        paintRow(painter, snapshot, i, int(i) * m_cellHeight);
    const qint64 cursorLine = snapshot.cursorRow - snapshot.firstRow;
    if (snapshot.cursorVisible && cursorLine >= 0 && cursorLine < qint64(snapshot.rows.size())) {
        const QRectF box(leftMargin + snapshot.cursorColumn * m_cellWidth, qreal(cursorLine) * m_cellHeight, m_cellWidth, m_cellHeight);
        QColor cursor = consoleText(palette());
        if (m_typing && hasFocus()) {
            cursor.setAlpha(200);
            painter.fillRect(box, cursor);
        } else {
            cursor.setAlpha(140);
            painter.setPen(cursor);
            painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5));
        }
    }
    if (hasFocus()) {
        painter.setPen(palette().color(QPalette::Highlight));
        painter.drawRect(viewport()->rect().adjusted(0, 0, -1, -1));
    }
}

namespace {

/// Cells of one style that are drawn by one call, and their text.
struct Stretch {
    int end = 0;
    QString text;
};

/// Wide characters stand alone so that the grid holds.
Stretch stretchFrom(const TermRow &row, int start)
{
    const int count = int(row.cells.size());
    const auto style = row.cells[std::size_t(start)].style;
    Stretch out{start, {}};
    while (out.end < count && row.cells[std::size_t(out.end)].style == style) {
        const Cell &cell = row.cells[std::size_t(out.end)];
        if (cell.width != 1 && out.end > start)
            break;
        if (cell.width != 0)
            out.text += cell.combining > 0 ? row.combined[std::size_t(cell.combining - 1)]
                : cell.ch == 0             ? QStringLiteral(" ")
                                           : QString::fromUcs4(&cell.ch, 1);
        ++out.end;
        if (cell.width == 2) {
            if (out.end < count && row.cells[std::size_t(out.end)].width == 0)
                ++out.end;
            break;
        }
    }
    out.end = std::max(out.end, start + 1);
    return out;
}

void drawStyled(QPainter &painter, const CellStyle &style, const QFont &plain, QPointF at, const QString &text)
{
    const bool special = style.bold || style.italic || style.underline || style.strike;
    if (special) {
        QFont styled = plain;
        styled.setBold(style.bold);
        styled.setItalic(style.italic);
        styled.setUnderline(style.underline);
        styled.setStrikeOut(style.strike);
        painter.setFont(styled);
    }
    painter.drawText(at, text);
    if (special)
        painter.setFont(plain);
}

} // namespace

void TerminalView::paintRow(QPainter &painter, const TermSnapshot &snapshot, std::size_t index, int y) const
{
    const TermRow &row = snapshot.rows[index];
    const auto xOf = [this](int column) { return leftMargin + column * m_cellWidth; };
    const int count = int(row.cells.size());
    for (int start = 0; start < count;) {
        const Stretch stretch = stretchFrom(row, start);
        const std::size_t styleIndex = row.cells[std::size_t(start)].style;
        const CellStyle &style = snapshot.styles[std::min(styleIndex, snapshot.styles.size() - 1)];
        const CellColors colors = cellColors(style, palette(), snapshot.reverseVideo);
        if (colors.background.isValid())
            painter.fillRect(QRectF(xOf(start), y, (stretch.end - start) * m_cellWidth, m_cellHeight), colors.background);
        if (!stretch.text.trimmed().isEmpty()) {
            painter.setPen(colors.foreground);
            drawStyled(painter, style, font(), QPointF(xOf(start), y + m_ascent), stretch.text);
        }
        start = stretch.end;
    }
    paintSelection(painter, snapshot, snapshot.firstRow + qint64(index), y);
}

void TerminalView::paintSelection(QPainter &painter, const TermSnapshot &snapshot, qint64 row, int y) const
{
    if (!hasSelection())
        return;
    const auto [from, to] = std::minmax(*m_anchor, *m_head);
    if (row < from.row || row > to.row)
        return;
    const int begin = row == from.row ? from.column : 0;
    const int end = row == to.row ? to.column : snapshot.columns;
    if (end <= begin)
        return;
    QColor selection = palette().color(QPalette::Highlight);
    selection.setAlpha(90);
    painter.fillRect(QRectF(leftMargin + begin * m_cellWidth, y, (end - begin) * m_cellWidth, m_cellHeight), selection);
}

void TerminalView::resizeEvent(QResizeEvent *event)
{
    QAbstractScrollArea::resizeEvent(event);
    const int columns = std::max(20, int((viewport()->width() - 2 * leftMargin) / m_cellWidth));
    if (columns != m_terminal->columns()) {
        m_anchor.reset(); // the rows are wrapped anew
        m_head.reset();
    }
    Q_EMIT gridChanged(columns, std::max(2, visibleRows()));
    noteChanged();
}

void TerminalView::scrollContentsBy(int, int)
{
    viewport()->update();
}

bool TerminalView::event(QEvent *event)
{
    // While a person types, Ctrl+D and the like belong to the shell and not to the window's actions; those with
    // Ctrl+Shift, Alt or a function key still do, so that there is a way out.
    if (m_typing && event->type() == QEvent::ShortcutOverride) {
        const auto *key = static_cast<QKeyEvent *>(event);
        const auto modifiers = key->modifiers() & ~Qt::KeypadModifier;
        const bool isFunction = key->key() >= Qt::Key_F1 && key->key() <= Qt::Key_F35;
        if (!isFunction && (modifiers == Qt::NoModifier || modifiers == Qt::ShiftModifier || modifiers == Qt::ControlModifier)) {
            event->accept();
            return true;
        }
    }
    return QAbstractScrollArea::event(event);
}

bool TerminalView::focusNextPrevChild(bool next)
{
    return m_typing ? false : QAbstractScrollArea::focusNextPrevChild(next); // Tab belongs to the shell then
}

bool TerminalView::handleShortcut(QKeyEvent *event)
{
    if (event->matches(QKeySequence::Copy) && hasSelection() && !(m_typing && event->modifiers() == Qt::ControlModifier)) {
        copy();
        return true;
    }
    const auto controlShift = Qt::ControlModifier | Qt::ShiftModifier;
    if (event->modifiers() == controlShift && event->key() == Qt::Key_C) {
        copy();
        return true;
    }
    if (event->modifiers() == controlShift && event->key() == Qt::Key_V && m_typing) {
        Q_EMIT typed(m_terminal->encodePaste(QApplication::clipboard()->text()));
        return true;
    }
    if (event->modifiers() == Qt::ShiftModifier && (event->key() == Qt::Key_PageUp || event->key() == Qt::Key_PageDown)) {
        verticalScrollBar()->triggerAction(event->key() == Qt::Key_PageUp ? QScrollBar::SliderPageStepSub : QScrollBar::SliderPageStepAdd);
        return true;
    }
    return false;
}

void TerminalView::keyPressEvent(QKeyEvent *event)
{
    if (handleShortcut(event))
        return;
    if (!m_typing) {
        switch (event->key()) {
        case Qt::Key_PageUp: verticalScrollBar()->triggerAction(QScrollBar::SliderPageStepSub); return;
        case Qt::Key_PageDown: verticalScrollBar()->triggerAction(QScrollBar::SliderPageStepAdd); return;
        case Qt::Key_Up: verticalScrollBar()->triggerAction(QScrollBar::SliderSingleStepSub); return;
        case Qt::Key_Down: verticalScrollBar()->triggerAction(QScrollBar::SliderSingleStepAdd); return;
        case Qt::Key_Home: verticalScrollBar()->triggerAction(QScrollBar::SliderToMinimum); return;
        case Qt::Key_End: setFollowing(true); noteChanged(); return;
        case Qt::Key_Return: Q_EMIT takeOverWanted(); return;
        default: break;
        }
        if (event->matches(QKeySequence::SelectAll)) {
            selectAll();
            return;
        }
        QAbstractScrollArea::keyPressEvent(event);
        return;
    }
    QByteArray bytes = m_terminal->encodeKey(event->key(), event->modifiers());
    if (bytes.isEmpty()) {
        if (event->modifiers().testFlag(Qt::ControlModifier) && event->key() >= Qt::Key_A && event->key() <= Qt::Key_Underscore)
            bytes = m_terminal->encodeText(QString(QChar(char16_t(event->key() | 0x20))), event->modifiers());
        else if (!event->text().isEmpty())
            bytes = m_terminal->encodeText(event->text(), event->modifiers() & ~Qt::ControlModifier);
    }
    if (bytes.isEmpty()) {
        QAbstractScrollArea::keyPressEvent(event);
        return;
    }
    setFollowing(true);
    Q_EMIT typed(bytes);
}

void TerminalView::inputMethodEvent(QInputMethodEvent *event)
{
    if (m_typing && !event->commitString().isEmpty())
        Q_EMIT typed(m_terminal->encodeText(event->commitString(), Qt::NoModifier));
    event->accept();
}

void TerminalView::mousePressEvent(QMouseEvent *event)
{
    if (event->button() != Qt::LeftButton)
        return;
    m_selecting = true;
    m_anchor = m_head = placeAt(event->position().toPoint());
    viewport()->update();
}

void TerminalView::mouseMoveEvent(QMouseEvent *event)
{
    if (!m_selecting)
        return;
    const QPoint at = event->position().toPoint();
    if (at.y() < 0)
        verticalScrollBar()->triggerAction(QScrollBar::SliderSingleStepSub);
    else if (at.y() > viewport()->height())
        verticalScrollBar()->triggerAction(QScrollBar::SliderSingleStepAdd);
    m_head = placeAt(at);
    viewport()->update();
}

void TerminalView::mouseReleaseEvent(QMouseEvent *event)
{
    m_selecting = false;
    if (hasSelection() && QApplication::clipboard()->supportsSelection())
        QApplication::clipboard()->setText(selectedText(), QClipboard::Selection);
    QAbstractScrollArea::mouseReleaseEvent(event);
}

void TerminalView::mouseDoubleClickEvent(QMouseEvent *event)
{
    const Place place = placeAt(event->position().toPoint());
    const TermSnapshot snapshot = m_terminal->snapshot(place.row, 1);
    if (snapshot.rows.empty() || snapshot.firstRow != place.row)
        return;
    const auto isWord = [&](int c) {
        if (c < 0 || c >= int(snapshot.rows[0].cells.size()))
            return false;
        const char32_t ch = snapshot.rows[0].cells[std::size_t(c)].ch;
        return ch != 0 && (QChar::isLetterOrNumber(ch) || (ch < 128 && QStringView(u"_-./~:+@").contains(QChar(char16_t(ch)))));
    };
    int from = int((event->position().x() - leftMargin) / m_cellWidth);
    int to = from;
    while (isWord(from - 1))
        --from;
    while (isWord(to))
        ++to;
    m_anchor = Place{place.row, from};
    m_head = Place{place.row, to};
    viewport()->update();
}

QString TerminalView::selectedText() const
{
    return hasSelection() ? m_terminal->textBetween(m_anchor->row, m_anchor->column, m_head->row, m_head->column) : QString();
}

void TerminalView::copy() const
{
    if (hasSelection())
        QApplication::clipboard()->setText(selectedText());
}

void TerminalView::selectAll()
{
    m_anchor = Place{m_oldestRow, 0};
    m_head = Place{m_endRow, m_terminal->columns()};
    viewport()->update();
}

bool TerminalView::find(const QString &text, bool up)
{
    const qint64 from = m_anchor ? std::min(*m_anchor, *m_head).row + (up ? -1 : 1) : up ? m_endRow : m_oldestRow;
    const auto match = m_terminal->find(text, from, up, false);
    if (!match)
        return false;
    m_anchor = Place{match->row, match->column};
    m_head = Place{match->row, match->column + match->length};
    setFollowing(false);
    verticalScrollBar()->setValue(int(match->row - m_oldestRow) - visibleRows() / 2);
    viewport()->update();
    return true;
}

QString TerminalView::visibleText() const
{
    QStringList lines;
    for (const TermRow &row : m_terminal->snapshot(topRow(), visibleRows()).rows)
        lines.append(row.text());
    return lines.join(QLatin1Char('\n'));
}

int TerminalView::accessibleRowCount() const
{
    return int(std::min<qint64>(visibleRows(), m_endRow - topRow()));
}

QString TerminalView::accessibleRowText(int row) const
{
    const TermSnapshot snapshot = m_terminal->snapshot(topRow() + row, 1);
    return snapshot.rows.empty() ? QString() : snapshot.rows.front().text();
}

QRect TerminalView::accessibleRowRect(int row) const
{
    return {0, row * m_cellHeight, viewport()->width(), m_cellHeight};
}

int TerminalView::accessibleCurrentRow() const
{
    return int(m_terminal->snapshot(0, 0).cursorRow - topRow());
}

void TerminalView::focusInEvent(QFocusEvent *event)
{
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}

void TerminalView::focusOutEvent(QFocusEvent *event)
{
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

void TerminalView::changeEvent(QEvent *event)
{
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange)
        updateMetrics();
    viewport()->update();
}

} // namespace paddock
