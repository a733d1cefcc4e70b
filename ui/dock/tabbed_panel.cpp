// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/dock/tabbed_panel.h"

#include "ui/dock/panel_header.h"
#include "ui/paint/flat_tab_bar.h"

#include <QStackedWidget>
#include <QVBoxLayout>

namespace paddock {

TabbedPanel::TabbedPanel(QWidget *parent)
    : QWidget(parent), m_tabs(new FlatTabBar), m_header(new PanelHeader({}, this)), m_pages(new QStackedWidget(this))
{
    m_header->addLeading(m_tabs);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_header);
    layout->addWidget(m_pages, 1);
    connect(m_tabs, &QTabBar::currentChanged, this, &TabbedPanel::switchTo);
}

int TabbedPanel::addPage(const QString &id, const QString &title, QWidget *page, QWidget *trailing)
{
    m_ids.append(id);
    m_remarks.append(QString());
    m_trailing.append(trailing);
    m_pages->addWidget(page);
    if (trailing) {
        trailing->setParent(m_header);
        m_header->addTrailing(trailing);
        trailing->hide();
    }
    const int index = m_tabs->addTab(title);
    if (index == 0)
        switchTo(0);
    return index;
}

void TabbedPanel::switchTo(int index)
{
    if (index < 0 || index >= m_ids.size())
        return;
    m_pages->setCurrentIndex(index);
    for (int i = 0; i < m_trailing.size(); ++i) {
        if (m_trailing.at(i))
            m_trailing.at(i)->setVisible(i == index);
    }
    m_header->setRemark(m_remarks.at(index));
    Q_EMIT currentChanged(m_ids.at(index));
}

void TabbedPanel::setRemark(const QString &page, const QString &remark)
{
    const qsizetype index = m_ids.indexOf(page);
    if (index < 0)
        return;
    m_remarks[index] = remark;
    if (m_tabs->currentIndex() == index)
        m_header->setRemark(remark);
}

void TabbedPanel::showPage(const QString &id)
{
    const qsizetype index = m_ids.indexOf(id);
    if (index >= 0)
        m_tabs->setCurrentIndex(int(index));
}

QString TabbedPanel::currentPage() const
{
    return m_ids.value(m_tabs->currentIndex());
}

QWidget *TabbedPanel::page(const QString &id) const
{
    const qsizetype index = m_ids.indexOf(id);
    return index < 0 ? nullptr : m_pages->widget(int(index));
}

} // namespace paddock
