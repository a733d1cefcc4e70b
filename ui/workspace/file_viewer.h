// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/workspace/folder_listing.h"

#include <QWidget>

class QLabel;
class QStackedWidget;

namespace paddock {

class CodeView;
class MarkdownView;

/// One file as text with highlighting, as Markdown, as a picture, or as bytes. Reads on a pool thread; a newer request
/// makes the older answer void. Owner: the panel; GUI thread.
class FileViewer : public QWidget
{
    Q_OBJECT
public:
    explicit FileViewer(QWidget *parent = nullptr);
    /// `virtualPath` is what people see; `hostPath` is read.
    void showFile(const QString &virtualPath, const QString &hostPath);
    void clear();
    void reload();
    const QString &path() const { return m_virtualPath; }

Q_SIGNALS:
    void shown(const QString &virtualPath);

private:
    void display(const FileContent &content);
    void displayImage(const FileContent &content);

    QString m_virtualPath;
    QString m_hostPath;
    QString m_shownPath; ///< whose content stands there
    quint64 m_request = 0;
    QLabel *m_notice;
    QStackedWidget *m_stack;
    QLabel *m_message;
    CodeView *m_code;
    MarkdownView *m_markdown;
    QLabel *m_image;
};

} // namespace paddock
