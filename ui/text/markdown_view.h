// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QTextBrowser>

namespace paddock {

/// Markdown shown read-only. Foreign text: no images or links are loaded, a link is only told (linkActivated).
class MarkdownView : public QTextBrowser
{
    Q_OBJECT
public:
    explicit MarkdownView(QWidget *parent = nullptr);
    /// Above this many characters the text is shown as it is.
    static constexpr qsizetype formatLimit = 512 * 1024;
    /// Texts with a longer stretch that nothing breaks are shown as they are and not wrapped: wrapping it takes minutes.
    static constexpr qsizetype longestWord = 20'000;
    /// `keepPlace` when it is the same text, grown: else it begins at its top.
    void setText(const QString &markdown, bool keepPlace = false);

Q_SIGNALS:
    void linkActivated(const QUrl &url);

protected:
    QVariant loadResource(int type, const QUrl &name) override;
};

} // namespace paddock
