// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/run/conversation_view.h"

#include "ui/paint/theme.h"
#include "ui/run/run_words.h"

#include <QClipboard>
#include <QContextMenuEvent>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QTextDocumentFragment>
#include <QToolButton>

#include <algorithm>

namespace paddock {

namespace {

constexpr int widestText = 130;       ///< letters; longer lines are hard to read
constexpr size_t keptLayouts = 200;   ///< laid-out items beside the visible ones

} // namespace

ConversationView::ConversationView(QWidget *parent) : QAbstractScrollArea(parent), m_newBelow(new QToolButton(this))
{
    installRowsAccessibility();
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setAccessibleName(tr("Conversation"));
    viewport()->setCursor(Qt::IBeamCursor);
    m_newBelow->setText(tr("New below ↓"));
    m_newBelow->setFocusPolicy(Qt::TabFocus);
    m_newBelow->hide();
    connect(m_newBelow, &QToolButton::clicked, this, [this] { setFollowing(true); });
    connect(verticalScrollBar(), &QScrollBar::valueChanged, this, [this](int value) {
        if (!m_scrolling)
            setFollowing(value >= verticalScrollBar()->maximum());
    });
    m_tick.setInterval(1000);
    connect(&m_tick, &QTimer::timeout, viewport(), qOverload<>(&QWidget::update));
}

ConversationView::~ConversationView() = default;

const Conversation *ConversationView::conversation() const
{
    return m_run ? m_run->conversations().find(m_agent) : nullptr;
}

BlockStyle ConversationView::style() const
{
    BlockStyle style;
    style.font = font();
    style.fixed = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    style.fixed.setPointSizeF(font().pointSizeF() > 0 ? font().pointSizeF() * 0.95 : 9);
    style.palette = palette();
    style.width = std::min(viewport()->width(), fontMetrics().averageCharWidth() * widestText);
    style.now = !m_run ? 0 : m_run->facts().live ? Clock::system()->mono().count() : m_run->lastTime();
    return style;
}

void ConversationView::showAgent(RunStore *run, const AgentId &agent)
{
    if (run == m_run && agent == m_agent)
        return;
    if (m_run)
        disconnect(m_run, nullptr, this, nullptr);
    m_run = run;
    m_agent = agent;
    m_blocks.clear();
    m_revision = 0;
    m_current = -1;
    m_slack = 0;
    m_follow = true;
    if (run)
        connect(run, &RunStore::conversationsChanged, this, &ConversationView::refresh);
    refresh();
    // A run of yesterday is read from its beginning.
    if (run && run->facts().isOver()) {
        m_scrolling = true;
        verticalScrollBar()->setValue(0);
        m_scrolling = false;
        m_follow = false;
        m_newBelow->hide();
        Q_EMIT followingChanged(false);
    }
    viewport()->update();
}

void ConversationView::refresh()
{
    const Conversation *talk = conversation();
    const size_t count = talk ? talk->items.size() : 0;
    const BlockStyle style = this->style();
    const bool more = count > m_blocks.size();
    size_t firstChanged = m_blocks.size();
    for (size_t i = 0; talk && i < m_blocks.size(); ++i) {
        if (talk->items[i].revision > m_revision) {
            m_blocks[i].measured = false;
            firstChanged = std::min(firstChanged, i);
        }
    }
    m_blocks.resize(count);
    for (size_t i = firstChanged; talk && i < count; ++i) {
        if (m_blocks[i].height == 0)
            m_blocks[i].height = ConversationBlock::estimate(talk->items[i], style);
        if (m_expandNew && talk->items[i].kind == ItemKind::ToolCall && !m_blocks[i].measured)
            m_blocks[i].setExpanded(true);
    }
    m_revision = talk ? talk->revision : 0;
    placeFrom(firstChanged);
    if (m_follow)
        scrollToEnd();
    else if (more && m_run->facts().live && !m_newBelow->isVisible() && isVisible() && verticalScrollBar()->maximum() > 0) {
        m_newBelow->show();
        placeNewBelow();
    }
    updateTick();
    viewport()->update();
}

void ConversationView::placeFrom(size_t first)
{
    m_tops.resize(m_blocks.size() + 1);
    if (first == 0 || m_tops.size() <= 1) {
        m_tops[0] = fontMetrics().height() / 2;
        first = 0;
    }
    for (size_t i = first; i < m_blocks.size(); ++i)
        m_tops[i + 1] = m_tops[i] + m_blocks[i].height;
    updateScrollBar();
}

void ConversationView::relayout()
{
    const Conversation *talk = conversation();
    if (!talk)
        return;
    // Keep what stands on top where it is.
    const int anchor = blockAt(0);
    const int offset = anchor >= 0 ? topOf(anchor) : 0;
    const BlockStyle style = this->style();
    for (size_t i = 0; i < m_blocks.size(); ++i) {
        if (m_blocks[i].measured)
            m_blocks[i].measured = false;
        else
            m_blocks[i].height = ConversationBlock::estimate(talk->items[i], style);
    }
    placeFrom(0);
    if (m_follow) {
        scrollToEnd();
    } else if (anchor >= 0) {
        m_scrolling = true;
        verticalScrollBar()->setValue(m_tops[size_t(anchor)] - offset);
        m_scrolling = false;
    }
    viewport()->update();
}

void ConversationView::updateScrollBar()
{
    const int content = m_tops.empty() ? 0 : m_tops.back() + fontMetrics().height() + m_slack;
    m_scrolling = true;
    verticalScrollBar()->setRange(0, std::max(0, content - viewport()->height()));
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(fontMetrics().height() * 2);
    m_scrolling = false;
}

void ConversationView::scrollToEnd()
{
    const Conversation *talk = conversation();
    if (!talk || m_blocks.empty())
        return;
    // Measure upwards from the end until the view is full; what is above keeps its guess.
    const BlockStyle style = this->style();
    int filled = 0;
    size_t first = m_blocks.size();
    while (first > 0 && filled < viewport()->height()) {
        --first;
        filled += m_blocks[first].measure(talk->items[first], style);
    }
    m_slack = 0;
    placeFrom(first);
    alignEnd();
    m_scrolling = true;
    verticalScrollBar()->setValue(verticalScrollBar()->maximum());
    m_scrolling = false;
}

/// What is over opens with a whole item on top; the room that this takes stands empty at the end. While an agent
/// speaks, its newest words stay at the foot instead, where they move least.
void ConversationView::alignEnd()
{
    const AgentEntry *agent = m_run ? m_run->agents().find(m_agent) : nullptr;
    if (!agent || !agent->isOver() || verticalScrollBar()->maximum() == 0)
        return;
    const int value = verticalScrollBar()->maximum();
    const auto next = std::lower_bound(m_tops.begin(), m_tops.end(), value);
    // A text longer than the view is cut whatever is done.
    if (next == m_tops.end() || *next - value > viewport()->height() / 2)
        return;
    m_slack = *next - value;
    updateScrollBar();
}

void ConversationView::ensureMeasured()
{
    const Conversation *talk = conversation();
    if (!talk || m_blocks.empty())
        return;
    const BlockStyle style = this->style();
    int block = std::max(0, blockAt(0));
    const int firstVisible = block;
    for (; block < int(m_blocks.size()) && topOf(block) < viewport()->height(); ++block) {
        ConversationBlock &item = m_blocks[size_t(block)];
        const int before = item.height;
        const int top = topOf(block);
        const int after = item.measure(talk->items[size_t(block)], style);
        if (after == before)
            continue;
        placeFrom(size_t(block));
        // An item that began above the view grows upwards, or the text under the reader's eyes would jump.
        if (top < 0 && block == firstVisible) {
            m_scrolling = true;
            verticalScrollBar()->setValue(verticalScrollBar()->value() + after - before);
            m_scrolling = false;
        }
    }
    size_t laidOut = 0;
    for (const ConversationBlock &item : m_blocks)
        laidOut += item.isLaidOut();
    for (int i = 0; laidOut > keptLayouts && i < int(m_blocks.size()); ++i) {
        if ((i < firstVisible || i >= block) && m_blocks[size_t(i)].isLaidOut()) {
            m_blocks[size_t(i)].release();
            --laidOut;
        }
    }
}

int ConversationView::topOf(int block) const
{
    return m_tops[size_t(block)] - verticalScrollBar()->value();
}

int ConversationView::blockAt(int y) const
{
    if (m_blocks.empty())
        return -1;
    const int at = y + verticalScrollBar()->value();
    const auto after = std::upper_bound(m_tops.begin(), m_tops.end(), at);
    return std::clamp(int(after - m_tops.begin()) - 1, 0, int(m_blocks.size()) - 1);
}

void ConversationView::paintEmpty(QPainter &painter)
{
    painter.setPen(themeColor(palette(), Tint::Dim));
    QString text = tr("This agent has said nothing yet.");
    if (!m_run)
        text = tr("Choose a run on the left, or start one with Ctrl+N.");
    else if (m_run->isLoading())
        text = tr("The run is being read.");
    painter.drawText(viewport()->rect(), Qt::AlignCenter, text);
}

void ConversationView::paintEvent(QPaintEvent *)
{
    ensureMeasured();
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), themeColor(palette(), Tint::Panel));
    const Conversation *talk = conversation();
    if (!talk || m_blocks.empty())
        return paintEmpty(painter);
    const BlockStyle style = this->style();
    for (int i = std::max(0, blockAt(0)); i < int(m_blocks.size()) && topOf(i) < viewport()->height(); ++i)
        m_blocks[size_t(i)].paint(painter, topOf(i), talk->items[size_t(i)], style, i == m_current && hasFocus());
}

void ConversationView::resizeEvent(QResizeEvent *event)
{
    QAbstractScrollArea::resizeEvent(event);
    relayout();
    placeNewBelow();
}

void ConversationView::placeNewBelow()
{
    m_newBelow->adjustSize();
    m_newBelow->move(viewport()->width() - m_newBelow->width() - fontMetrics().height(),
                     viewport()->height() - m_newBelow->height() - fontMetrics().height() / 2);
}

void ConversationView::scrollContentsBy(int, int)
{
    viewport()->update();
}

void ConversationView::changeEvent(QEvent *event)
{
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::PaletteChange) {
        for (ConversationBlock &block : m_blocks) {
            block.release();
            block.measured = false;
        }
        relayout();
    }
}

void ConversationView::focusInEvent(QFocusEvent *event)
{
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}

void ConversationView::focusOutEvent(QFocusEvent *event)
{
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

void ConversationView::showEvent(QShowEvent *event)
{
    QAbstractScrollArea::showEvent(event);
    updateTick();
}

void ConversationView::hideEvent(QHideEvent *event)
{
    QAbstractScrollArea::hideEvent(event);
    updateTick();
}

void ConversationView::updateTick()
{
    const AgentEntry *agent = m_run && m_run->facts().live ? m_run->agents().find(m_agent) : nullptr;
    const bool wanted = isVisible() && agent && !agent->isOver();
    if (wanted && !m_tick.isActive())
        m_tick.start();
    else if (!wanted)
        m_tick.stop();
}

void ConversationView::setVisibleToUser(bool)
{
    updateTick();
}

void ConversationView::setFollowing(bool following)
{
    if (following) {
        m_newBelow->hide();
        scrollToEnd();
    }
    if (following == m_follow)
        return;
    m_follow = following;
    Q_EMIT followingChanged(following);
}

void ConversationView::toggle(int item)
{
    const Conversation *talk = conversation();
    if (!talk || item < 0 || item >= int(m_blocks.size()) || !ConversationBlock::canExpand(talk->items[size_t(item)]))
        return;
    ConversationBlock &block = m_blocks[size_t(item)];
    block.setExpanded(!block.isExpanded());
    block.measure(talk->items[size_t(item)], style());
    const bool follow = m_follow;
    placeFrom(size_t(item));
    m_follow = follow && !block.isExpanded();
    viewport()->update();
}

void ConversationView::setAllExpanded(bool expanded)
{
    m_expandNew = expanded;
    for (ConversationBlock &block : m_blocks)
        block.setExpanded(expanded);
    relayout();
}

void ConversationView::setCurrentItem(int item)
{
    if (m_blocks.empty())
        return;
    m_current = std::clamp(item, 0, int(m_blocks.size()) - 1);
    const Conversation *talk = conversation();
    m_blocks[size_t(m_current)].measure(talk->items[size_t(m_current)], style());
    placeFrom(size_t(m_current));
    const int top = topOf(m_current);
    const int bottom = top + m_blocks[size_t(m_current)].height;
    if (top < 0)
        verticalScrollBar()->setValue(verticalScrollBar()->value() + top);
    else if (bottom > viewport()->height())
        verticalScrollBar()->setValue(verticalScrollBar()->value() + std::min(top, bottom - viewport()->height()));
    viewport()->update();
}

void ConversationView::revealCall(const QString &call)
{
    const Conversation *talk = conversation();
    for (int i = 0; talk && i < int(talk->items.size()); ++i) {
        if (talk->items[size_t(i)].call != call || call.isEmpty())
            continue;
        m_follow = false;
        m_blocks[size_t(i)].setExpanded(true);
        setCurrentItem(i);
        return;
    }
}

void ConversationView::clearSelections()
{
    for (ConversationBlock &block : m_blocks)
        block.clearSelection();
}

void ConversationView::copy()
{
    QString text;
    for (const ConversationBlock &block : m_blocks)
        text += block.selectedText();
    const Conversation *talk = conversation();
    if (text.isEmpty() && talk && m_current >= 0)
        text = ConversationBlock::plainText(talk->items[size_t(m_current)]);
    if (!text.isEmpty())
        QGuiApplication::clipboard()->setText(text);
}

void ConversationView::mousePressEvent(QMouseEvent *event)
{
    if (event->button() != Qt::LeftButton)
        return;
    clearSelections();
    m_pressAt = event->position().toPoint();
    m_pressBlock = blockAt(m_pressAt.y());
    m_pressPosition = -1;
    if (m_pressBlock >= 0) {
        m_current = m_pressBlock;
        m_pressPosition = m_blocks[size_t(m_pressBlock)].positionAt(m_pressAt - QPoint(0, topOf(m_pressBlock)));
    }
    viewport()->update();
}

void ConversationView::mouseMoveEvent(QMouseEvent *event)
{
    if (!(event->buttons() & Qt::LeftButton) || m_pressBlock < 0 || m_pressPosition < 0)
        return;
    ConversationBlock &block = m_blocks[size_t(m_pressBlock)];
    block.setSelection(m_pressPosition, block.positionAt(event->position().toPoint() - QPoint(0, topOf(m_pressBlock))));
    viewport()->update();
}

void ConversationView::mouseReleaseEvent(QMouseEvent *event)
{
    if (event->button() != Qt::LeftButton || m_pressBlock < 0 || m_pressBlock >= int(m_blocks.size()))
        return;
    const QPoint at = event->position().toPoint();
    ConversationBlock &block = m_blocks[size_t(m_pressBlock)];
    const QString selected = block.selectedText();
    if (!selected.isEmpty()) {
        if (QGuiApplication::clipboard()->supportsSelection())
            QGuiApplication::clipboard()->setText(selected, QClipboard::Selection);
        return;
    }
    const bool still = (at - m_pressAt).manhattanLength() < 5;
    const auto part = block.partAt(at - QPoint(0, topOf(m_pressBlock)), style());
    if (still && (part == ConversationBlock::Part::Head || !block.isExpanded()))
        toggle(m_pressBlock);
}

void ConversationView::mouseDoubleClickEvent(QMouseEvent *event)
{
    const Conversation *talk = conversation();
    const int item = blockAt(int(event->position().y()));
    if (talk && item >= 0 && talk->items[size_t(item)].kind == ItemKind::ToolCall)
        Q_EMIT callActivated(talk->items[size_t(item)].call);
}

void ConversationView::keyPressEvent(QKeyEvent *event)
{
    const Conversation *talk = conversation();
    if (event->matches(QKeySequence::Copy)) {
        copy();
        return;
    }
    switch (event->key()) {
    case Qt::Key_Down: setCurrentItem(m_current + 1); break;
    case Qt::Key_Up: setCurrentItem(m_current < 0 ? int(m_blocks.size()) - 1 : m_current - 1); break;
    case Qt::Key_Home: setCurrentItem(0); break;
    case Qt::Key_End: setFollowing(true); m_current = int(m_blocks.size()) - 1; break;
    case Qt::Key_Return: case Qt::Key_Enter: case Qt::Key_Space: toggle(m_current); break;
    case Qt::Key_T:
        if (talk && m_current >= 0 && !talk->items[size_t(m_current)].call.isEmpty())
            Q_EMIT callActivated(talk->items[size_t(m_current)].call);
        break;
    default: QAbstractScrollArea::keyPressEvent(event);
    }
}

void ConversationView::contextMenuEvent(QContextMenuEvent *event)
{
    const Conversation *talk = conversation();
    const int item = blockAt(event->pos().y());
    if (!talk || item < 0)
        return;
    m_current = item;
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(tr("Copy"), this, &ConversationView::copy);
    if (ConversationBlock::canExpand(talk->items[size_t(item)]))
        menu->addAction(m_blocks[size_t(item)].isExpanded() ? tr("Fold") : tr("Unfold"), this, [this, item] { toggle(item); });
    if (const QString call = talk->items[size_t(item)].call; !call.isEmpty())
        menu->addAction(tr("Show in trace"), this, [this, call] { Q_EMIT callActivated(call); });
    menu->popup(event->globalPos());
}

int ConversationView::accessibleRowCount() const
{
    return int(m_blocks.size());
}

QString ConversationView::accessibleRowText(int row) const
{
    const Conversation *talk = conversation();
    if (!talk || row >= int(talk->items.size()))
        return {};
    const ConversationItem &item = talk->items[size_t(row)];
    if (item.kind == ItemKind::ToolCall)
        return tr("Tool call %1 %2, %3").arg(item.tool, item.summary, toolRemark(item, item.at));
    return ConversationBlock::plainText(item);
}

QRect ConversationView::accessibleRowRect(int row) const
{
    return {0, topOf(row), viewport()->width(), m_blocks[size_t(row)].height};
}

QString ConversationView::accessibleValue() const
{
    return m_current >= 0 ? accessibleRowText(m_current) : QString();
}

} // namespace paddock
