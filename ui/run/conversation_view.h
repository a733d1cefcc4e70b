// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/paint/rows_accessible.h"
#include "ui/run/conversation_block.h"
#include "ui/store/run_store.h"

#include <QAbstractScrollArea>
#include <QPointer>
#include <QTimer>

class QToolButton;

namespace paddock {

/// The conversation of one agent. Items are laid out when they come near the visible part, so a long run costs no more
/// than a short one; streaming text is appended without touching what stands above. Stays at the end while the reader is
/// there, else shows a mark that there is more below. Keys: up and down walk the items, Enter unfolds, Ctrl+C copies,
/// T shows a call in the trace. Owner: the centre page; GUI thread.
class ConversationView : public QAbstractScrollArea, public AccessibleRows
{
    Q_OBJECT
public:
    explicit ConversationView(QWidget *parent = nullptr);
    ~ConversationView() override;

    void showAgent(RunStore *run, const AgentId &agent);
    /// Follows at most while somebody looks.
    void setVisibleToUser(bool visible);
    void setAllExpanded(bool expanded);
    void setFollowing(bool following);
    bool isFollowing() const { return m_follow; }
    int currentItem() const { return m_current; }
    void setCurrentItem(int item);
    void copy();
    /// Scrolls to the tool call and unfolds it.
    void revealCall(const QString &call);

    int accessibleRowCount() const override;
    QString accessibleRowText(int row) const override;
    QRect accessibleRowRect(int row) const override;
    int accessibleRowAt(int y) const override { return blockAt(y); }
    int accessibleCurrentRow() const override { return m_current; }
    QString accessibleValue() const override;

Q_SIGNALS:
    /// A person wants to see this call in the trace.
    void callActivated(const QString &call);
    void followingChanged(bool following);

protected:
    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void scrollContentsBy(int dx, int dy) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void contextMenuEvent(QContextMenuEvent *event) override;
    void changeEvent(QEvent *event) override;
    void focusInEvent(QFocusEvent *event) override;
    void focusOutEvent(QFocusEvent *event) override;
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    const Conversation *conversation() const;
    BlockStyle style() const;
    void refresh();
    void relayout();
    void ensureMeasured();
    void placeFrom(size_t first);
    void updateScrollBar();
    void scrollToEnd();
    void alignEnd();
    void placeNewBelow();
    void updateTick();
    int blockAt(int y) const;
    int topOf(int block) const;
    void toggle(int item);
    void clearSelections();
    void paintEmpty(QPainter &painter);

    QPointer<RunStore> m_run;
    AgentId m_agent;
    std::vector<ConversationBlock> m_blocks;
    int m_slack = 0; ///< empty room after the last item
    std::vector<int> m_tops; ///< one more than blocks
    quint64 m_revision = 0;
    int m_current = -1;
    bool m_follow = true;
    bool m_scrolling = false; ///< we move the bar, not the reader
    bool m_expandNew = false;
    QToolButton *m_newBelow;
    QTimer m_tick; ///< running calls show their seconds
    int m_pressBlock = -1;
    int m_pressPosition = -1;
    QPoint m_pressAt;
};

} // namespace paddock
