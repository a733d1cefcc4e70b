// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QPlainTextEdit>

#include <memory>

namespace KSyntaxHighlighting {
class SyntaxHighlighter;
}

namespace paddock {

/// Read-only text with line numbers and highlighting by file name. For texts up to some megabytes; the caller cuts
/// larger ones and says so. Follows the palette between dark and light. GUI thread.
class CodeView : public QPlainTextEdit
{
    Q_OBJECT
public:
    explicit CodeView(QWidget *parent = nullptr);
    ~CodeView() override;

    /// Above this many characters the text is shown without highlighting.
    static constexpr qsizetype highlightLimit = 1024 * 1024;

    /// Replaces the text; the scroll position stays at the same line when it is the same file.
    void setText(const QString &text, const QString &fileName);
    /// Marks lines (0-based) as added in the background colour of additions.
    void setAddedLines(const QList<int> &lines);
    void goToLine(int line);

    int gutterWidth() const;
    void paintGutter(QPaintEvent *event);

protected:
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    void applyHighlighting();

    QString m_fileName;
    QWidget *m_gutter;
    std::unique_ptr<KSyntaxHighlighting::SyntaxHighlighter> m_highlighter;
};

} // namespace paddock
