// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/text/markdown_view.h"

#include <QScrollBar>
#include <QTextDocument>

namespace paddock {

MarkdownView::MarkdownView(QWidget *parent) : QTextBrowser(parent)
{
    setOpenLinks(false);
    setFrameShape(QFrame::NoFrame);
    setAccessibleName(tr("Formatted text"));
    document()->setDocumentMargin(fontMetrics().height() * 0.75);
    connect(this, &QTextBrowser::anchorClicked, this, &MarkdownView::linkActivated);
}

void MarkdownView::setText(const QString &markdown)
{
    const int at = verticalScrollBar()->value();
    if (markdown.size() > formatLimit)
        setPlainText(markdown);
    else
        document()->setMarkdown(markdown, QTextDocument::MarkdownFeatures(QTextDocument::MarkdownDialectGitHub) | QTextDocument::MarkdownNoHTML);
    verticalScrollBar()->setValue(at);
}

QVariant MarkdownView::loadResource(int, const QUrl &)
{
    return {}; // nothing of a foreign document is fetched
}

} // namespace paddock
