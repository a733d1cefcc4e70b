// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/run/conversation_block.h"

#include "ui/paint/figures.h"
#include "ui/run/run_words.h"

#include <QAbstractTextDocumentLayout>
#include <QCoreApplication>
#include <QPainter>
#include <QTextBlock>
#include <QTextDocumentFragment>
#include <QTextTable>

namespace paddock {

namespace {

constexpr int foldedPreviewLines = 2;
constexpr qsizetype mostCharacters = 200'000; ///< of one item on the screen; the rest is a click away in the inspector

class BlockWords
{
    Q_DECLARE_TR_FUNCTIONS(BlockWords)
};

/// Model text is foreign: nothing in it may make us read a file or the network.
class ClosedDocument : public QTextDocument
{
protected:
    QVariant loadResource(int, const QUrl &) override { return {}; }
};

QString cut(const QString &text)
{
    if (text.size() <= mostCharacters)
        return text;
    return text.left(mostCharacters) + u'\n' + BlockWords::tr("(%n more character(s) are not shown here.)", nullptr, int(text.size() - mostCharacters));
}

/// Markdown tables come without lines; hairlines and some air make them readable.
void dressTables(QTextFrame *frame, const QPalette &palette)
{
    for (QTextFrame *child : frame->childFrames()) {
        if (auto *table = qobject_cast<QTextTable *>(child)) {
            QTextTableFormat format = table->format();
            format.setBorder(1);
            format.setBorderCollapse(true);
            format.setBorderBrush(themeColor(palette, Tint::Line));
            format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
            format.setCellPadding(3);
            format.setCellSpacing(0);
            table->setFormat(format);
        }
        dressTables(child, palette);
    }
}

} // namespace

int BlockStyle::lineHeight() const
{
    return QFontMetrics(font).height();
}

int BlockStyle::pad() const
{
    return QFontMetrics(font).averageCharWidth();
}

bool ConversationBlock::canExpand(const ConversationItem &item)
{
    return item.kind == ItemKind::ToolCall || item.kind == ItemKind::Reasoning
        || (item.kind == ItemKind::Task && item.text.count(u'\n') > 3);
}

void ConversationBlock::setExpanded(bool expanded)
{
    if (expanded == m_expanded)
        return;
    m_expanded = expanded;
    measured = false;
    release();
}

void ConversationBlock::release()
{
    m_selection = QTextCursor();
    m_document.reset();
    m_revision = 0;
}

QString ConversationBlock::plainText(const ConversationItem &item)
{
    switch (item.kind) {
    case ItemKind::Note: return noteText(item);
    case ItemKind::ToolCall: {
        QString text = item.tool + u' ' + item.summary;
        if (!item.args.empty())
            text += u'\n' + QString::fromUtf8(dumpJsonPretty(item.args));
        return item.detail.isEmpty() ? text : text + u'\n' + item.detail;
    }
    default: return item.text;
    }
}

int ConversationBlock::headHeight(const ConversationItem &item, const BlockStyle &style) const
{
    switch (item.kind) {
    case ItemKind::ToolCall: case ItemKind::Reasoning: case ItemKind::Note: return style.lineHeight() * 3 / 2;
    case ItemKind::Task: return style.lineHeight() * 5 / 4;
    case ItemKind::Text: return 0;
    }
    return 0;
}

int ConversationBlock::estimate(const ConversationItem &item, const BlockStyle &style)
{
    const int line = style.lineHeight();
    switch (item.kind) {
    case ItemKind::ToolCall: return line * 3 / 2 + line * int(std::min<qsizetype>(foldedPreviewLines, 1 + item.detail.count(u'\n')));
    case ItemKind::Reasoning: case ItemKind::Note: return line * 2;
    default: {
        const int perLine = std::max(20, style.width / std::max(1, style.pad()));
        const qsizetype lines = item.text.count(u'\n') + item.text.size() / perLine + 1;
        return line * int(std::min<qsizetype>(lines + 1, 100'000));
    }
    }
}

QString ConversationBlock::toolBody(const ConversationItem &item) const
{
    QString result = item.detail;
    if (!m_expanded) {
        // Folded: the first lines of the result tell whether to look closer.
        const QStringList lines = result.trimmed().split(u'\n');
        QString text = lines.mid(0, foldedPreviewLines).join(u'\n');
        if (lines.size() > foldedPreviewLines)
            text += QStringLiteral(" …");
        return text;
    }
    QString args;
    for (auto it = item.args.begin(); item.args.is_object() && it != item.args.end(); ++it) {
        const QString value = it.value().is_string() ? textOf(it.value()) : QString::fromUtf8(dumpJsonPretty(it.value()));
        args += value.contains(u'\n') ? QStringLiteral("%1:\n%2\n").arg(QString::fromStdString(it.key()), value)
                                      : QStringLiteral("%1: %2\n").arg(QString::fromStdString(it.key()), value);
    }
    if (!item.args.is_object() && !item.args.is_null())
        args = QString::fromUtf8(dumpJson(item.args)) + u'\n';
    if (item.status.isEmpty())
        return args;
    return args + (result.isEmpty() ? BlockWords::tr("(no output)") : QStringLiteral("\n") + result);
}

void ConversationBlock::fill(const ConversationItem &item, const BlockStyle &style)
{
    const bool streaming = item.streaming && (item.kind == ItemKind::Text || item.kind == ItemKind::Reasoning);
    if (m_document && m_plain && streaming && item.text.size() >= m_shown) {
        // What stands there is not laid out again while more streams in.
        QTextCursor end(m_document.get());
        end.movePosition(QTextCursor::End);
        end.insertText(item.text.mid(m_shown));
        m_shown = item.text.size();
        return;
    }
    m_selection = QTextCursor();
    m_document = std::make_unique<ClosedDocument>();
    m_document->setUndoRedoEnabled(false);
    m_document->setDocumentMargin(0);
    m_plain = streaming;
    m_shown = item.text.size();
    if (item.kind == ItemKind::ToolCall) {
        m_document->setDefaultFont(style.fixed);
        m_document->setPlainText(cut(toolBody(item)));
        return;
    }
    m_document->setDefaultFont(style.font);
    if (item.kind == ItemKind::Reasoning && !m_expanded)
        return;
    if (item.kind == ItemKind::Task && !m_expanded && canExpand(item)) {
        m_document->setPlainText(item.text.trimmed().split(u'\n').mid(0, 3).join(u'\n') + QStringLiteral(" …"));
    } else if (streaming || item.kind != ItemKind::Text) {
        m_document->setPlainText(cut(item.text));
    } else {
        m_document->setMarkdown(cut(item.text), QTextDocument::MarkdownFeatures(QTextDocument::MarkdownDialectGitHub)
                                                    | QTextDocument::MarkdownNoHTML);
        dressTables(m_document->rootFrame(), style.palette);
    }
}

int ConversationBlock::measure(const ConversationItem &item, const BlockStyle &style)
{
    if (measured && m_document && m_revision == item.revision && m_width == style.width)
        return height;
    const bool empty = item.kind == ItemKind::Text && item.text.trimmed().isEmpty();
    m_head = headHeight(item, style);
    m_indent = item.kind == ItemKind::Text ? style.pad() * 2 : style.pad() * 4;
    m_bodyTop = m_head + (m_head > 0 ? 0 : style.lineHeight() / 4);
    if (!m_document || m_revision != item.revision)
        fill(item, style);
    m_revision = item.revision;
    m_width = style.width;
    m_document->setTextWidth(std::max(80, style.width - m_indent - style.pad() * 2));
    const bool hasBody = !m_document->isEmpty() && item.kind != ItemKind::Note;
    const int body = hasBody ? int(m_document->size().height()) + style.lineHeight() / 2 : 0;
    height = empty ? 0 : m_head + body + (item.kind == ItemKind::Text ? style.lineHeight() / 4 : 0);
    measured = true;
    return height;
}

void ConversationBlock::paintHead(QPainter &painter, int top, const ConversationItem &item, const BlockStyle &style) const
{
    const int pad = style.pad();
    const QRect line(pad * 2, top, style.width - pad * 4, m_head);
    const QFontMetrics metrics(style.font);
    QFont bold = style.font;
    bold.setBold(true);
    painter.setFont(style.font);
    const auto dim = themeColor(style.palette, Tint::Dim);
    if (item.kind == ItemKind::Task || item.kind == ItemKind::Reasoning) {
        painter.setPen(dim);
        QString text = item.kind == ItemKind::Task ? (item.summary.isEmpty() ? BlockWords::tr("Task") : BlockWords::tr("Task: %1").arg(item.summary))
            : item.streaming                       ? BlockWords::tr("Thinking…")
                                                   : BlockWords::tr("Thought, %n word(s)", nullptr, int(item.text.count(u' ') + 1));
        painter.drawText(line.adjusted(pad * 2, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, text);
        return;
    }
    if (item.kind == ItemKind::Note) {
        paintMark(painter, QRectF(line.left(), top, pad * 1.1, m_head), noteMark(item.note), style.palette);
        painter.setPen(themeColor(style.palette, markRole(noteMark(item.note))));
        painter.drawText(line.adjusted(pad * 2, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
                         metrics.elidedText(noteText(item), Qt::ElideRight, line.width() - pad * 2));
        return;
    }
    const Mark mark = item.status.isEmpty() ? Mark::Running
        : item.status == u"error"           ? Mark::Failed
        : item.status == u"cancelled"       ? Mark::Stopped
                                            : Mark::Done;
    paintMark(painter, QRectF(line.left(), top, pad * 1.1, m_head), mark, style.palette);
    int x = line.left() + pad * 2;
    const QString remark = toolRemark(item, style.now);
    painter.setPen(mark == Mark::Failed ? themeColor(style.palette, Tint::Error) : dim);
    painter.drawText(line, Qt::AlignRight | Qt::AlignVCenter, remark);
    const int right = line.right() - metrics.horizontalAdvance(remark) - pad * 2;
    painter.setFont(bold);
    painter.setPen(themeColor(style.palette, Tint::Text));
    painter.drawText(QRect(x, top, std::max(0, right - x), m_head), Qt::AlignLeft | Qt::AlignVCenter, item.tool);
    x += QFontMetrics(bold).horizontalAdvance(item.tool) + pad;
    painter.setFont(style.fixed);
    painter.drawText(QRect(x, top, std::max(0, right - x), m_head), Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetrics(style.fixed).elidedText(item.summary, Qt::ElideRight, std::max(0, right - x)));
}

void ConversationBlock::paint(QPainter &painter, int top, const ConversationItem &item, const BlockStyle &style, bool current)
{
    if (height == 0)
        return;
    const int pad = style.pad();
    const QRect area(pad, top, style.width - pad * 2, height - style.lineHeight() / 4);
    painter.setPen(Qt::NoPen);
    if (item.kind == ItemKind::ToolCall && m_expanded) {
        painter.setBrush(themeColor(style.palette, Tint::Console));
        painter.drawRect(area);
    } else if (item.kind == ItemKind::Task) {
        painter.setBrush(themeColor(style.palette, Tint::Raised));
        painter.drawRect(area);
        painter.setBrush(themeColor(style.palette, Tint::Accent));
        painter.drawRect(QRect(area.left(), area.top(), 3, area.height()));
    }
    if (current) {
        QColor ring = themeColor(style.palette, Tint::Accent);
        ring.setAlpha(150);
        painter.setPen(ring);
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(area.adjusted(0, 0, -1, -1));
    }
    if (m_head > 0)
        paintHead(painter, top, item, style);
    if (!m_document || m_document->isEmpty() || item.kind == ItemKind::Note)
        return;
    QAbstractTextDocumentLayout::PaintContext context;
    context.palette = style.palette;
    const bool dim = (item.kind == ItemKind::ToolCall && !m_expanded) || item.kind == ItemKind::Reasoning;
    context.palette.setColor(QPalette::Text, themeColor(style.palette, dim ? Tint::Dim : Tint::Text));
    if (m_selection.hasSelection()) {
        QAbstractTextDocumentLayout::Selection selection;
        selection.cursor = m_selection;
        selection.format.setBackground(style.palette.color(QPalette::Highlight));
        selection.format.setForeground(style.palette.color(QPalette::HighlightedText));
        context.selections.append(selection);
    }
    const QPoint origin = bodyOrigin() + QPoint(0, top);
    painter.save();
    painter.translate(origin);
    context.clip = painter.clipBoundingRect();
    m_document->documentLayout()->draw(&painter, context);
    painter.restore();
}

ConversationBlock::Part ConversationBlock::partAt(QPoint at, const BlockStyle &) const
{
    if (at.y() < 0 || at.y() >= height)
        return Part::None;
    return at.y() < m_head ? Part::Head : Part::Body;
}

int ConversationBlock::positionAt(QPoint at) const
{
    if (!m_document)
        return -1;
    const QPointF inside = QPointF(at - bodyOrigin());
    return m_document->documentLayout()->hitTest(inside, Qt::FuzzyHit);
}

QString ConversationBlock::linkAt(QPoint at) const
{
    return m_document ? m_document->documentLayout()->anchorAt(QPointF(at - bodyOrigin())) : QString();
}

void ConversationBlock::setSelection(int from, int to)
{
    if (!m_document)
        return;
    m_selection = QTextCursor(m_document.get());
    const int last = m_document->characterCount() - 1;
    m_selection.setPosition(std::clamp(from, 0, last));
    m_selection.setPosition(std::clamp(to, 0, last), QTextCursor::KeepAnchor);
}

QString ConversationBlock::selectedText() const
{
    return m_selection.hasSelection() ? m_selection.selection().toPlainText() : QString();
}

} // namespace paddock
