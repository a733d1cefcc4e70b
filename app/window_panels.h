// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/run/messages_page.h"

#include <QHash>
#include <QString>

class QMainWindow;
class QStackedWidget;
class QWidget;

namespace paddock {

class ApprovalsPanel;
class ConversationView;
class InspectorPanel;
class LeasePanel;
class PanelDock;
class RunService;
class RunsPanel;
class Selection;
class ShellPanel;
class StoreHub;
class TabbedPanel;
class TimeRange;
class TracePanel;
class WorkspacePanel;

/// All panels of a window and their docks, made and connected to each other's signals in one place. A value of pointers;
/// Qt's parents own everything.
struct WindowPanels {
    RunsPanel *runs = nullptr;
    ApprovalsPanel *approvals = nullptr;
    QStackedWidget *centreStack = nullptr; ///< welcome page or the centre
    TabbedPanel *centre = nullptr;
    ConversationView *conversation = nullptr;
    TracePanel *trace = nullptr;
    MessagesPage *messages = nullptr;
    LeasePanel *leases = nullptr;
    InspectorPanel *inspector = nullptr;
    ShellPanel *shells = nullptr;
    WorkspacePanel *workspace = nullptr;
    /// By id: runs, approvals, centre, leases, inspector, shells, workspace.
    QHash<QString, PanelDock *> docks;

    static WindowPanels make(QMainWindow *window, RunService *service, StoreHub *hub, Selection *selection, TimeRange *range);
    /// The arrangement of the first start; also what "Reset layout" goes back to.
    void arrange(QMainWindow *window) const;
    PanelDock *dock(const QString &id) const { return docks.value(id); }
};

} // namespace paddock
