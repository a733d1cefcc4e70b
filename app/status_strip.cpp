// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "app/status_strip.h"

#include "ui/lease/lease_source.h"
#include "ui/paint/figures.h"
#include "ui/paint/theme.h"

#include <QLabel>
#include <QStatusBar>

namespace paddock {

StatusStrip::StatusStrip(QStatusBar *bar, StoreHub *hub, Selection *selection, std::function<QString()> journalProblem)
    : QObject(bar), m_hub(hub), m_selection(selection), m_journalProblem(std::move(journalProblem))
{
    const auto label = [bar](bool right) {
        auto *made = new QLabel(bar);
        made->setForegroundRole(QPalette::PlaceholderText);
        made->setContentsMargins(6, 0, 6, 0);
        right ? bar->addPermanentWidget(made) : bar->addWidget(made);
        return made;
    };
    m_agents = label(false);
    m_sessions = label(false);
    m_tokens = label(false);
    m_journal = label(false);
    m_frame = label(true);
    m_sandbox = label(true);
    // A figure for those who work on the program.
    m_frame->setVisible(qEnvironmentVariableIsSet("PADDOCK_SHOW_FRAME_TIME"));
    m_frame->setToolTip(tr("How long the last batch of events took to show."));
    m_sessions->setToolTip(tr("Shell sessions open in the sandbox, and how many it allows."));
    bar->setSizeGripEnabled(false);
    connect(hub, &StoreHub::drained, this, &StatusStrip::refresh);
    connect(hub, &StoreHub::reset, this, &StatusStrip::refresh);
    connect(selection, &Selection::runChanged, this, &StatusStrip::refresh);
    refresh();
}

void StatusStrip::setFrameTime(std::chrono::microseconds time)
{
    m_frame->setText(tr("UI %1").arg(formatSpan(time.count())));
}

void StatusStrip::refresh()
{
    const int running = m_hub->runningAgents();
    const int queued = m_hub->queuedAgents();
    QString agents = running > 0 ? tr("● %n agent(s) running", nullptr, running) : tr("○ No agent is running");
    if (queued > 0)
        agents = tr("%1, %2 queued").arg(agents).arg(queued);
    m_agents->setText(agents);
    RunStore *run = m_selection->run();
    const bool limited = run && run->leases().sessionLimit() > 0;
    m_sessions->setVisible(limited);
    if (limited)
        m_sessions->setText(tr("sessions %1 / %2").arg(run->leases().sessionsUsed()).arg(run->leases().sessionLimit()));
    m_tokens->setVisible(run);
    if (run)
        m_tokens->setText(tr("%1 tokens").arg(formatTokens(run->agents().tokens())));
    const QString problem = m_journalProblem ? m_journalProblem() : QString();
    m_journal->setText(problem.isEmpty() ? tr("journal %1 events · saved").arg(formatCount(m_hub->eventsSeen()))
                                         : tr("journal: %1").arg(problem));
    QPalette colours = m_agents->palette();
    if (!problem.isEmpty())
        colours.setColor(QPalette::PlaceholderText, themeColor(colours, Tint::Error));
    m_journal->setPalette(colours);
    const bool sandboxed = run && !run->leases().sandboxes().empty();
    m_sandbox->setVisible(sandboxed);
    if (sandboxed) {
        const SandboxLane &sandbox = run->leases().sandboxes().back();
        m_sandbox->setText(tr("sandbox %1").arg(shortSandbox(sandbox)));
        m_sandbox->setToolTip(leaseSentence(sandbox, run->agents()));
    }
}

} // namespace paddock
