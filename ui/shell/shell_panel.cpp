// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/shell/shell_panel.h"

#include "ui/shell/shell_pane.h"
#include "ui/paint/figures.h"
#include "ui/store/agent_names.h"

#include <QApplication>
#include <QGridLayout>
#include <QLabel>
#include <QStackedWidget>
#include <QTabWidget>
#include <QVBoxLayout>

namespace paddock {

namespace {
constexpr int gridColumns = 3;
}

ShellPanel::ShellPanel(RunService *service, QWidget *parent)
    : QWidget(parent), m_service(service), m_stack(new QStackedWidget(this)), m_empty(new QLabel(this)), m_grid(new QWidget(this)),
      m_gridLayout(new QGridLayout(m_grid)), m_tabs(new QTabWidget(this))
{
    m_empty->setText(tr("No shell yet. Each agent gets one of its own with its first command."));
    m_empty->setAlignment(Qt::AlignCenter);
    m_empty->setWordWrap(true);
    m_empty->setForegroundRole(QPalette::PlaceholderText);
    m_gridLayout->setContentsMargins(0, 0, 0, 0);
    m_gridLayout->setSpacing(1);
    m_tabs->setDocumentMode(true);
    m_tabs->setElideMode(Qt::ElideRight);
    m_stack->addWidget(m_empty);
    m_stack->addWidget(m_grid);
    m_stack->addWidget(m_tabs);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(m_stack);
    setAccessibleName(tr("Shells"));
}

ShellPanel::~ShellPanel() = default;

void ShellPanel::setRun(RunStore *store)
{
    if (m_store == store)
        return;
    if (m_store)
        disconnect(m_store, nullptr, this, nullptr);
    m_store = store;
    for (ShellPane *pane : m_panes)
        pane->deleteLater();
    m_panes.clear();
    if (store) {
        connect(store, &RunStore::shellsChanged, this, &ShellPanel::refresh);
        connect(store, &RunStore::factsChanged, this, &ShellPanel::refresh);
    }
    refresh();
}

void ShellPanel::setVisibleToUser(bool visible)
{
    m_visible = visible;
    for (ShellPane *pane : m_panes)
        pane->setAttached(visible);
    if (visible)
        refresh();
}

void ShellPanel::refresh()
{
    if (!m_visible && m_store)
        return;
    bool added = false;
    int running = 0;
    if (m_store) {
        const RunFacts &facts = m_store->facts();
        for (const ShellEntry &entry : m_store->shells().shells()) {
            auto it = std::find_if(m_panes.begin(), m_panes.end(), [&](ShellPane *p) { return p->scope() == entry.scope; });
            if (it == m_panes.end()) {
                m_panes.push_back(new ShellPane(m_service, m_store->id(), entry.scope, this));
                it = m_panes.end() - 1;
                (*it)->setAttached(m_visible);
                added = true;
            }
            (*it)->setOwner(agentName(m_store->agents(), entry.scope), agentNameAndId(m_store->agents(), entry.scope));
            (*it)->update(entry, m_store->lastTime(), facts.live && !facts.isOver());
            running += entry.running() ? 1 : 0;
        }
    }
    if (added || m_panes.empty())
        arrange();
    Q_EMIT remarkChanged(m_panes.empty() ? QString()
                                         : tr("%n shell(s)", nullptr, int(m_panes.size())) + (running ? tr(" · %n running", nullptr, running) : QString()));
}

void ShellPanel::arrange()
{
    if (m_panes.empty()) {
        m_stack->setCurrentWidget(m_empty);
        return;
    }
    while (m_tabs->count() > 0)
        m_tabs->removeTab(0);
    while (m_gridLayout->count() > 0)
        delete m_gridLayout->takeAt(0);
    const int count = int(m_panes.size());
    const int columns = count == 4 ? 2 : std::min(count, gridColumns);
    for (int i = 0; i < count; ++i) {
        ShellPane *pane = m_panes[std::size_t(i)];
        if (m_arrangement == Arrangement::Grid) {
            pane->setParent(m_grid);
            m_gridLayout->addWidget(pane, i / columns, i % columns);
            pane->show();
        } else {
            const int tab = m_tabs->addTab(pane, QString(pane->ownerName()).replace(u'&', QStringLiteral("&&")));
            m_tabs->setTabToolTip(tab, plainToolTip(pane->scope() + u'\n' + pane->ownerName()));
        }
    }
    m_stack->setCurrentWidget(m_arrangement == Arrangement::Grid ? m_grid : static_cast<QWidget *>(m_tabs));
}

void ShellPanel::setArrangement(Arrangement arrangement)
{
    if (m_arrangement == arrangement)
        return;
    m_arrangement = arrangement;
    arrange();
}

ShellPane *ShellPanel::current() const
{
    for (QWidget *w = QApplication::focusWidget(); w; w = w->parentWidget()) {
        for (ShellPane *pane : m_panes) {
            if (pane == w)
                return pane;
        }
    }
    if (m_arrangement == Arrangement::Tabs && m_tabs->currentWidget())
        return static_cast<ShellPane *>(m_tabs->currentWidget());
    return m_panes.empty() ? nullptr : m_panes.front();
}

void ShellPanel::revealScope(const QString &scope, bool takeFocus)
{
    for (ShellPane *pane : m_panes) {
        if (pane->scope() == scope) {
            if (m_arrangement == Arrangement::Tabs)
                m_tabs->setCurrentWidget(pane);
            if (takeFocus)
                pane->view()->setFocus();
        }
    }
}

void ShellPanel::findInShell()
{
    if (ShellPane *pane = current())
        pane->showSearch();
}

void ShellPanel::interruptCurrent()
{
    if (ShellPane *pane = current())
        pane->interrupt();
}

void ShellPanel::takeOverCurrent()
{
    if (ShellPane *pane = current())
        pane->setTakenOver(!pane->isTakenOver());
}

void ShellPanel::setFollowing(bool on)
{
    for (ShellPane *pane : m_panes)
        pane->view()->setFollowing(on);
}

} // namespace paddock
