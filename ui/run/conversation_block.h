// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/store/conversation.h"

#include <QFont>
#include <QPalette>
#include <QTextCursor>
#include <QTextDocument>

#include <memory>

class QPainter;

namespace paddock {

/// What painting a block needs to know of its view.
struct BlockStyle {
    QFont font;
    QFont fixed;
    QPalette palette;
    int width = 0;
    Micros now = 0;
    int lineHeight() const;
    int pad() const;
};

/// One item of a conversation on the screen: a head line where it has one, and a text document for what can be read and
/// selected. The document exists only while the item is near the visible part. Owner: ConversationView; GUI thread.
class ConversationBlock
{
public:
    enum class Part { None, Head, Body };

    /// A guess without laying anything out.
    static int estimate(const ConversationItem &item, const BlockStyle &style);
    /// Lays out and returns the height; cheap when neither item nor width changed.
    int measure(const ConversationItem &item, const BlockStyle &style);
    void paint(QPainter &painter, int top, const ConversationItem &item, const BlockStyle &style, bool current);
    /// Forgets the layout; the height stays.
    void release();
    bool isLaidOut() const { return m_document != nullptr; }

    bool isExpanded() const { return m_expanded; }
    void setExpanded(bool expanded);
    static bool canExpand(const ConversationItem &item);

    /// `at` is relative to the block's top left.
    Part partAt(QPoint at, const BlockStyle &style) const;
    int positionAt(QPoint at) const;
    QString linkAt(QPoint at) const;
    void setSelection(int from, int to);
    void clearSelection() { m_selection = QTextCursor(); }
    QString selectedText() const;
    /// All there is, as plain text.
    static QString plainText(const ConversationItem &item);

    int height = 0;
    bool measured = false;

private:
    void fill(const ConversationItem &item, const BlockStyle &style);
    QString toolBody(const ConversationItem &item) const;
    int headHeight(const ConversationItem &item, const BlockStyle &style) const;
    QPoint bodyOrigin() const { return {m_indent, m_bodyTop}; }
    void paintHead(QPainter &painter, int top, const ConversationItem &item, const BlockStyle &style) const;

    std::unique_ptr<QTextDocument> m_document;
    QTextCursor m_selection;
    quint64 m_revision = 0;
    int m_width = 0;
    int m_head = 0;
    int m_indent = 0;
    int m_bodyTop = 0;
    bool m_expanded = false;
    bool m_plain = false;   ///< streaming text, appended to
    qsizetype m_shown = 0;  ///< characters of it that the document has
};

} // namespace paddock
