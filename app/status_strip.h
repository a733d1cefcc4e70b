// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/store/selection.h"
#include "ui/store/store_hub.h"

#include <QObject>

#include <functional>

class QLabel;
class QStatusBar;

namespace paddock {

/// The words of the status bar: running agents, sessions used, tokens, journal, frame time, sandbox. GUI thread; owned by
/// the main window.
class StatusStrip : public QObject
{
    Q_OBJECT
public:
    /// `journalProblem` is asked after each batch: empty when all is saved.
    StatusStrip(QStatusBar *bar, StoreHub *hub, Selection *selection, std::function<QString()> journalProblem);
    void setFrameTime(std::chrono::microseconds time);
    void refresh();

private:
    StoreHub *m_hub;
    Selection *m_selection;
    std::function<QString()> m_journalProblem;
    QLabel *m_agents;
    QLabel *m_sessions;
    QLabel *m_tokens;
    QLabel *m_journal;
    QLabel *m_frame;
    QLabel *m_sandbox;
};

} // namespace paddock
