// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "app/window_panels.h"

#include "core/run/run_service.h"
#include "ui/approval/approvals_panel.h"
#include "ui/dock/panel_dock.h"
#include "ui/dock/panel_header.h"
#include "ui/dock/tabbed_panel.h"
#include "ui/lease/lease_legend.h"
#include "ui/lease/lease_panel.h"
#include "ui/paint/lane_view.h"
#include "ui/run/conversation_view.h"
#include "ui/run/run_words.h"
#include "ui/run/runs_panel.h"
#include "ui/shell/shell_panel.h"
#include "ui/store/agent_names.h"
#include "ui/trace/inspector_panel.h"
#include "ui/trace/trace_panel.h"
#include "ui/workspace/workspace_panel.h"

#include <QCoreApplication>
#include <QMainWindow>
#include <QPointer>
#include <QStackedWidget>

namespace paddock {

namespace {

class PanelWords
{
    Q_DECLARE_TR_FUNCTIONS(WindowPanels)
};

/// A panel's remark goes to the header of its dock.
template<typename Panel>
void showRemark(Panel *panel, PanelDock *dock)
{
    QObject::connect(panel, &Panel::remarkChanged, dock, [dock](const QString &remark) { dock->header()->setRemark(remark); });
}

QString conversationRemark(const Selection &selection)
{
    const AgentEntry *agent = selection.run() ? selection.run()->agents().find(selection.agent()) : nullptr;
    if (!agent)
        return {};
    const QString name = agentNameAndId(selection.run()->agents(), agent->id.value());
    const Micros now = selection.run()->facts().live ? Clock::system()->mono().count() : selection.run()->lastTime();
    return PanelWords::tr("%1 · %2").arg(name, agentRemark(*agent, now));
}

void connectCentre(const WindowPanels &panels, Selection *selection)
{
    QObject::connect(panels.trace, &TracePanel::remarkChanged, panels.centre,
                     [centre = panels.centre](const QString &text) { centre->setRemark(QStringLiteral("trace"), text); });
    QObject::connect(panels.trace, &TracePanel::spanSelected, panels.inspector, &InspectorPanel::showSpan);
    QObject::connect(panels.trace, &TracePanel::spanActivated, panels.dock(QStringLiteral("inspector")), &PanelDock::reveal);
    const auto showAgent = [panels, selection] {
        panels.conversation->showAgent(selection->run(), selection->agent());
        panels.centre->setRemark(QStringLiteral("conversation"), conversationRemark(*selection));
    };
    QObject::connect(selection, &Selection::runChanged, panels.conversation, showAgent);
    QObject::connect(selection, &Selection::agentChanged, panels.conversation, showAgent);
    QObject::connect(panels.conversation, &ConversationView::callActivated, panels.trace, [panels, selection](const QString &call) {
        panels.centre->showPage(QStringLiteral("trace"));
        panels.trace->showCall(selection->agent(), call);
    });
    QObject::connect(selection, &Selection::agentChanged, panels.shells, [panels, selection](const AgentId &agent) {
        if (!selection->run())
            return;
        for (const ShellEntry &shell : selection->run()->shells().shells()) {
            if (shell.agent == agent)
                panels.shells->revealScope(shell.scope, false); // the keyboard stays where the person is
        }
    });
}

} // namespace

WindowPanels WindowPanels::make(QMainWindow *window, RunService *service, StoreHub *hub, Selection *selection, TimeRange *range)
{
    WindowPanels panels;
    const auto fetch = [service](const QString &hash, std::function<void(MessagePtr)> done) { service->message(hash, std::move(done)); };
    panels.runs = new RunsPanel(hub, selection);
    panels.approvals = new ApprovalsPanel(hub);
    panels.conversation = new ConversationView;
    panels.trace = new TracePanel(selection, range);
    panels.messages = new MessagesPage(fetch, selection);
    panels.leases = new LeasePanel(selection, range);
    panels.inspector = new InspectorPanel(fetch);
    panels.shells = new ShellPanel(service);
    panels.workspace = new WorkspacePanel(service);
    panels.centre = new TabbedPanel;
    panels.centre->addPage(QStringLiteral("conversation"), PanelWords::tr("Conversation"), panels.conversation);
    panels.centre->addPage(QStringLiteral("trace"), PanelWords::tr("Trace"), panels.trace, panels.trace->trailing());
    panels.centre->addPage(QStringLiteral("messages"), PanelWords::tr("Messages"), panels.messages, panels.messages->trailing());
    panels.centreStack = new QStackedWidget;
    panels.centreStack->addWidget(panels.centre);

    const auto dock = [&](const char *id, const QString &title, QWidget *content) {
        const QString name = QString::fromLatin1(id);
        auto *made = new PanelDock(name, title, content, window);
        panels.docks.insert(name, made);
        return made;
    };
    showRemark(panels.runs, dock("runs", PanelWords::tr("Runs"), panels.runs));
    showRemark(panels.approvals, dock("approvals", PanelWords::tr("Approvals"), panels.approvals));
    PanelDock *centre = dock("centre", PanelWords::tr("Activity"), panels.centreStack);
    centre->setTitleBarWidget(new QWidget(centre)); // its pages have a header of their own
    centre->setFeatures(QDockWidget::NoDockWidgetFeatures);
    PanelDock *leases = dock("leases", PanelWords::tr("Leases"), panels.leases);
    leases->header()->addTrailing(panels.leases->legend());
    showRemark(panels.leases, leases);
    showRemark(panels.inspector, dock("inspector", PanelWords::tr("Inspector"), panels.inspector));
    showRemark(panels.shells, dock("shells", PanelWords::tr("Shells"), panels.shells));
    showRemark(panels.workspace, dock("workspace", PanelWords::tr("Workspace"), panels.workspace));

    connectCentre(panels, selection);
    const auto visible = [&](const char *id, auto *panel) {
        using Panel = std::remove_pointer_t<decltype(panel)>;
        QObject::connect(panels.dock(QString::fromLatin1(id)), &PanelDock::visibleToUserChanged, panel, &Panel::setVisibleToUser);
    };
    visible("runs", panels.runs);
    visible("shells", panels.shells);
    visible("workspace", panels.workspace);
    visible("centre", panels.conversation);
    QObject::connect(selection, &Selection::runChanged, panels.shells, &ShellPanel::setRun);
    QObject::connect(selection, &Selection::runChanged, panels.workspace, &WorkspacePanel::setRun);
    QObject::connect(hub, &StoreHub::drained, panels.centre, [panels, selection] {
        panels.centre->setRemark(QStringLiteral("conversation"), conversationRemark(*selection));
    });
    QObject::connect(panels.approvals, &ApprovalsPanel::agentChosen, selection, [hub, selection](const RunId &run, const AgentId &agent) {
        if (RunStore *store = hub->find(run))
            selection->set(store, agent);
    });
    return panels;
}

void WindowPanels::arrange(QMainWindow *window) const
{
    const auto at = [this](const char *id) -> QDockWidget * { return dock(QString::fromLatin1(id)); };
    for (PanelDock *panel : docks) {
        panel->setFloating(false);
        panel->show();
    }
    window->addDockWidget(Qt::LeftDockWidgetArea, at("runs"));
    window->splitDockWidget(at("runs"), at("shells"), Qt::Vertical);
    window->splitDockWidget(at("runs"), at("centre"), Qt::Horizontal);
    window->splitDockWidget(at("centre"), at("inspector"), Qt::Horizontal);
    window->splitDockWidget(at("centre"), at("leases"), Qt::Vertical);
    window->splitDockWidget(at("runs"), at("approvals"), Qt::Vertical);
    window->splitDockWidget(at("shells"), at("workspace"), Qt::Horizontal);
    const int width = window->width();
    const int height = window->height();
    window->resizeDocks({at("runs"), at("centre"), at("inspector")}, {width * 18 / 100, width * 54 / 100, width * 27 / 100}, Qt::Horizontal);
    window->resizeDocks({at("shells"), at("workspace")}, {width * 62 / 100, width * 38 / 100}, Qt::Horizontal);
    window->resizeDocks({at("centre"), at("shells")}, {height * 60 / 100, height * 30 / 100}, Qt::Vertical);
    window->resizeDocks({at("centre"), at("leases")}, {height * 46 / 100, height * 15 / 100}, Qt::Vertical);
    window->resizeDocks({at("runs"), at("approvals")}, {height * 46 / 100, height * 14 / 100}, Qt::Vertical);
}

} // namespace paddock
