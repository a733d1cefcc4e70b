// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/text/code_view.h"

#include <KSyntaxHighlighting/Definition>
#include <KSyntaxHighlighting/Repository>
#include <KSyntaxHighlighting/SyntaxHighlighter>
#include <KSyntaxHighlighting/Theme>

#include <QEvent>
#include <QFontDatabase>
#include <QPainter>
#include <QScrollBar>
#include <QTextBlock>

namespace paddock {

namespace {

KSyntaxHighlighting::Repository &repository()
{
    static KSyntaxHighlighting::Repository repository; // opens in some milliseconds, at the first file shown
    return repository;
}

class Gutter : public QWidget
{
public:
    explicit Gutter(CodeView *view) : QWidget(view), m_view(view) {}
    QSize sizeHint() const override { return {m_view->gutterWidth(), 0}; }

protected:
    void paintEvent(QPaintEvent *event) override { m_view->paintGutter(event); }

private:
    CodeView *m_view;
};

} // namespace

CodeView::CodeView(QWidget *parent) : QPlainTextEdit(parent), m_gutter(new Gutter(this))
{
    setReadOnly(true);
    setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    setLineWrapMode(QPlainTextEdit::NoWrap);
    setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    setFrameShape(QFrame::NoFrame);
    setAccessibleName(tr("File text"));
    connect(this, &QPlainTextEdit::blockCountChanged, this, [this] { setViewportMargins(gutterWidth(), 0, 0, 0); });
    connect(this, &QPlainTextEdit::updateRequest, this, [this](const QRect &rect, int dy) {
        if (dy != 0)
            m_gutter->scroll(0, dy);
        else
            m_gutter->update(0, rect.y(), m_gutter->width(), rect.height());
    });
    setViewportMargins(gutterWidth(), 0, 0, 0);
}

CodeView::~CodeView() = default;

void CodeView::setText(const QString &text, const QString &fileName)
{
    const bool sameFile = fileName == m_fileName;
    const int line = verticalScrollBar()->value();
    const bool atEnd = line == verticalScrollBar()->maximum() && line > 0;
    m_fileName = fileName;
    m_highlighter.reset(); // not while the text changes: every line would be done twice
    setPlainText(text);
    if (text.size() <= highlightLimit)
        applyHighlighting();
    if (sameFile)
        verticalScrollBar()->setValue(atEnd ? verticalScrollBar()->maximum() : line);
}

void CodeView::setAddedLines(const QList<int> &lines)
{
    QList<QTextEdit::ExtraSelection> selections;
    QColor tint(46, 160, 67, 50);
    for (const int line : lines) {
        QTextEdit::ExtraSelection selection;
        selection.format.setBackground(tint);
        selection.format.setProperty(QTextFormat::FullWidthSelection, true);
        selection.cursor = QTextCursor(document()->findBlockByNumber(line));
        selections.append(selection);
    }
    setExtraSelections(selections);
}

void CodeView::goToLine(int line)
{
    QTextCursor cursor(document()->findBlockByNumber(line));
    setTextCursor(cursor);
    centerCursor();
}

void CodeView::applyHighlighting()
{
    const auto definition = repository().definitionForFileName(m_fileName);
    m_highlighter.reset();
    if (!definition.isValid())
        return;
    const bool dark = palette().color(QPalette::Base).lightness() < 128;
    m_highlighter = std::make_unique<KSyntaxHighlighting::SyntaxHighlighter>(document());
    m_highlighter->setTheme(repository().defaultTheme(dark ? KSyntaxHighlighting::Repository::DarkTheme
                                                           : KSyntaxHighlighting::Repository::LightTheme));
    m_highlighter->setDefinition(definition);
}

int CodeView::gutterWidth() const
{
    int digits = 3;
    for (int most = blockCount(); most >= 1000; most /= 10)
        ++digits;
    return fontMetrics().horizontalAdvance(u'9') * (digits + 2);
}

void CodeView::paintGutter(QPaintEvent *event)
{
    QPainter painter(m_gutter);
    painter.fillRect(event->rect(), palette().color(QPalette::Base));
    painter.setPen(palette().color(QPalette::PlaceholderText));
    painter.setFont(font());
    QTextBlock block = firstVisibleBlock();
    qreal top = blockBoundingGeometry(block).translated(contentOffset()).top();
    const int width = m_gutter->width() - fontMetrics().horizontalAdvance(u'9');
    while (block.isValid() && top <= event->rect().bottom()) {
        const qreal height = blockBoundingRect(block).height();
        if (top + height >= event->rect().top())
            painter.drawText(QRectF(0, top, width, height), Qt::AlignRight | Qt::AlignTop, QString::number(block.blockNumber() + 1));
        top += height;
        block = block.next();
    }
}

void CodeView::resizeEvent(QResizeEvent *event)
{
    QPlainTextEdit::resizeEvent(event);
    const QRect area = contentsRect();
    m_gutter->setGeometry(area.left(), area.top(), gutterWidth(), area.height());
}

void CodeView::changeEvent(QEvent *event)
{
    QPlainTextEdit::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && m_highlighter)
        applyHighlighting();
    if (event->type() == QEvent::FontChange)
        setViewportMargins(gutterWidth(), 0, 0, 0);
}

} // namespace paddock
