// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/ids.h"

#include <QPointer>
#include <QWidget>

#include <vector>

class QLabel;
class QGridLayout;
class QStackedWidget;
class QTabWidget;

namespace paddock {

class RunService;
class RunStore;
class ShellPane;

/// All shells of the shown run, side by side or in tabs. Reads terminals only while a person can see it. Owner: its dock.
class ShellPanel : public QWidget
{
    Q_OBJECT
public:
    enum class Arrangement { Grid, Tabs };
    explicit ShellPanel(RunService *service, QWidget *parent = nullptr);
    ~ShellPanel() override;

    /// The run to show; null for none. The store must outlive its being shown.
    void setRun(RunStore *store);
    void setVisibleToUser(bool visible);
    void setArrangement(Arrangement arrangement);
    Arrangement arrangement() const { return m_arrangement; }
    /// Shows an agent's shell and, unless told not to, gives it the keyboard.
    void revealScope(const QString &scope, bool takeFocus = true);
    void findInShell();
    void interruptCurrent();
    void takeOverCurrent();
    void setFollowing(bool on);
    const std::vector<ShellPane *> &panes() const { return m_panes; }

Q_SIGNALS:
    /// "3 shells · 1 running"
    void remarkChanged(const QString &remark);

private:
    void refresh();
    void arrange();
    ShellPane *current() const;

    RunService *m_service;
    QPointer<RunStore> m_store;
    std::vector<ShellPane *> m_panes;
    QStackedWidget *m_stack;
    QLabel *m_empty;
    QWidget *m_grid;
    QGridLayout *m_gridLayout;
    QTabWidget *m_tabs;
    Arrangement m_arrangement = Arrangement::Grid;
    bool m_visible = true;
};

} // namespace paddock
