// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "app/screenshot.h"

#include "app/cli.h"
#include "app/main_window.h"
#include "app/window_panels.h"
#include "ui/paint/lane_view.h"
#include "ui/store/selection.h"
#include "ui/trace/trace_panel.h"

#include <QApplication>

#include <cstdlib>

namespace paddock {

namespace {

constexpr int settleMs = 700;
constexpr int emptyMs = 1500; ///< nobody asked for a run: what stands there after this is the picture

/// The span that shows best what the inspector is for.
SpanIndex mostTelling(const TraceLanes &trace)
{
    SpanIndex best = noSpan;
    qint64 most = -1;
    for (SpanIndex span = 0; span < trace.size(); ++span) {
        const bool changedHook = trace.kind(span) == SpanKind::Hook && (trace.flags(span) & SpanChanged) && trace.opened(span);
        const auto *hook = changedHook ? std::get_if<MiddlewareSpan>(&trace.opened(span)->body) : nullptr;
        const qint64 weight = hook ? (hook->changes.empty() ? 0 : 1 + std::abs(hook->tokens)) : -1;
        if (best == noSpan || weight > most) {
            best = span;
            most = weight;
        }
    }
    return best;
}

} // namespace

Screenshot::Screenshot(MainWindow *window, QString path, QString panel, int momentMs, bool expectRun)
    : m_window(window), m_path(std::move(path)), m_panel(std::move(panel)), m_momentMs(momentMs)
{
    m_settle.setSingleShot(true);
    connect(&m_settle, &QTimer::timeout, this, &Screenshot::grab);
    connect(window->hub(), &StoreHub::drained, this, &Screenshot::watch);
    connect(window->selection(), &Selection::runChanged, this, &Screenshot::watch);
    connect(window, &MainWindow::failed, this, [this](const QString &sentence) {
        cli::say(QStringLiteral("paddock: %1").arg(sentence));
        m_window->quit(1);
    });
    if (!expectRun)
        m_settle.start(emptyMs);
}

void Screenshot::watch()
{
    RunStore *run = m_window->selection()->run();
    if (!run || m_done)
        return;
    m_settle.stop();
    if (m_momentMs >= 0 && run->facts().live) {
        if (run->facts().startedAt < 0)
            return;
        disconnect(m_window->hub(), nullptr, this, nullptr);
        disconnect(m_window->selection(), nullptr, this, nullptr);
        QTimer::singleShot(m_momentMs, this, &Screenshot::prepare);
    } else if (run->facts().isOver() && !run->isLoading()) {
        prepare();
    }
}

void Screenshot::prepare()
{
    if (m_done)
        return;
    m_done = true;
    RunStore *run = m_window->selection()->run();
    m_window->showPanel(m_panel.isEmpty() ? QStringLiteral("trace") : m_panel);
    const SpanIndex span = run ? mostTelling(run->trace()) : noSpan;
    if (span != noSpan)
        m_window->panels().trace->lanes()->select(span, false);
    m_settle.start(settleMs);
}

void Screenshot::grab()
{
    QWidget *target = m_panel.isEmpty() ? m_window : m_window->panelWidget(m_panel);
    if (target->grab().save(m_path, "PNG")) {
        cli::say(QStringLiteral("paddock: wrote %1").arg(m_path));
        m_window->quit(0);
    } else {
        cli::say(QStringLiteral("paddock: %1 cannot be written.").arg(m_path));
        m_window->quit(1);
    }
}

} // namespace paddock
