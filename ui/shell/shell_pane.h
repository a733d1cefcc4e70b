// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/shell/terminal_view.h"
#include "ui/store/shell_board.h"

#include <QTimer>
#include <QWidget>

class QLabel;
class QLineEdit;
class QToolButton;

namespace paddock {

class RunService;
class TerminalFeed;

/// One scope's shell: a header (who, where, what runs, how the last command ended, recoveries) over its terminal.
/// Owner: the shell panel; GUI thread.
class ShellPane : public QWidget
{
    Q_OBJECT
public:
    ShellPane(RunService *service, RunId run, const QString &scope, QWidget *parent = nullptr);
    ~ShellPane() override;

    const QString &scope() const { return m_scope; }
    TerminalView *view() const { return m_view; }
    /// New facts from the store. `now` is the run's newest time, `live` whether commands can still be given.
    void update(const ShellEntry &entry, Micros now, bool live);
    /// Who the shell belongs to, in short and with its id.
    void setOwner(const QString &name, const QString &nameAndId);
    const QString &ownerName() const { return m_owner; }
    /// A pane that nobody sees reads nothing.
    void setAttached(bool attached);
    void setTakenOver(bool on);
    bool isTakenOver() const { return m_takenOver; }
    void interrupt();
    void showSearch();

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void changeEvent(QEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;

private:
    void showHeader();
    void showTitle();

    RunService *m_service;
    RunId m_run;
    QString m_scope;
    QString m_owner;
    std::shared_ptr<Terminal> m_terminal;
    TerminalView *m_view;
    std::unique_ptr<TerminalFeed> m_feed;
    QLabel *m_title;
    QLabel *m_state;
    QToolButton *m_takeOver;
    QLineEdit *m_search;
    QTimer m_seconds; ///< runs only while a command does and the pane is seen
    ShellEntry m_entry;
    Micros m_now = 0;
    std::chrono::steady_clock::time_point m_nowAt;
    bool m_live = false;
    bool m_takenOver = false;
    bool m_gotBytes = false;
};

} // namespace paddock
