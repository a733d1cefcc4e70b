// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/text/markdown_view.h"

#include <QScrollBar>
#include <QTextDocument>

namespace paddock {

namespace {

bool hasLongWord(QStringView text)
{
    qsizetype from = 0;
    for (qsizetype at = 0; at < text.size(); ++at) {
        if (text[at].isSpace())
            from = at + 1;
        else if (at - from >= MarkdownView::longestWord)
            return true;
    }
    return false;
}

} // namespace

MarkdownView::MarkdownView(QWidget *parent) : QTextBrowser(parent)
{
    setOpenLinks(false);
    setFrameShape(QFrame::NoFrame);
    setAccessibleName(tr("Formatted text"));
    document()->setDocumentMargin(fontMetrics().height() * 0.75);
    connect(this, &QTextBrowser::anchorClicked, this, &MarkdownView::linkActivated);
}

void MarkdownView::setText(const QString &markdown, bool keepPlace)
{
    const int at = keepPlace ? verticalScrollBar()->value() : 0;
    const bool unbroken = hasLongWord(markdown);
    clear(); // what stands there must not be wrapped in the new way first
    setLineWrapMode(unbroken ? NoWrap : WidgetWidth);
    if (unbroken || markdown.size() > formatLimit)
        setPlainText(markdown);
    else
        document()->setMarkdown(markdown, QTextDocument::MarkdownFeatures(QTextDocument::MarkdownDialectGitHub) | QTextDocument::MarkdownNoHTML);
    moveCursor(QTextCursor::Start); // formatting leaves it at the end, and the view goes where it is
    verticalScrollBar()->setValue(at);
}

QVariant MarkdownView::loadResource(int, const QUrl &)
{
    return {}; // nothing of a foreign document is fetched
}

} // namespace paddock
