// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QWidget>

class QStackedWidget;

namespace paddock {

class FlatTabBar;
class PanelHeader;

/// Pages under one header: tabs at its left, at its right what belongs to the current page. Owner: a dock; GUI thread.
class TabbedPanel : public QWidget
{
    Q_OBJECT
public:
    explicit TabbedPanel(QWidget *parent = nullptr);

    /// `trailing` may be null; it is shown in the header while the page is current. Both are taken over.
    int addPage(const QString &id, const QString &title, QWidget *page, QWidget *trailing = nullptr);
    void setRemark(const QString &page, const QString &remark);
    void showPage(const QString &id);
    QString currentPage() const;
    QWidget *page(const QString &id) const;
    PanelHeader *header() const { return m_header; }
    FlatTabBar *tabs() const { return m_tabs; }

Q_SIGNALS:
    void currentChanged(const QString &id);

private:
    void switchTo(int index);
    FlatTabBar *m_tabs;
    PanelHeader *m_header;
    QStackedWidget *m_pages;
    QList<QWidget *> m_trailing;
    QStringList m_ids;
    QStringList m_remarks;
};

} // namespace paddock
