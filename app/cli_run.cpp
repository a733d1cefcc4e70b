// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "app/cli.h"
#include "app/progress_printer.h"
#include "app/unix_signals.h"
#include "core/event/event_codec.h"
#include "core/run/run_service.h"

#include <QCommandLineParser>
#include <QCoreApplication>
#include <QTimer>

#include <unistd.h>

namespace paddock::cli {

namespace {

/// Drives one headless run on the main thread: drains events, prints, cancels on a signal, ends the loop.
class HeadlessRun : public QObject
{
public:
    HeadlessRun(std::unique_ptr<RunService> service, UnixSignals &unixSignals, bool jsonl, bool quiet)
        : m_service(std::move(service)), m_printer(quiet || jsonl), m_jsonl(jsonl), m_events(m_service->bus()->subscribe())
    {
        m_events->setWakeup([this] { QMetaObject::invokeMethod(this, [this] { drain(); }, Qt::QueuedConnection); });
        connect(&unixSignals, &UnixSignals::caught, this, [this] { signalled(); });
    }

    int start(RunRequest request)
    {
        auto run = m_service->start(std::move(request));
        if (!run) {
            say(QStringLiteral("paddock: ") + run.error().fullMessage());
            m_exit = run.error().code == ErrorCode::Internal || run.error().code == ErrorCode::Io ? Failed : Usage;
            m_service->shutdown([] { QCoreApplication::quit(); });
            QCoreApplication::exec();
            return m_exit;
        }
        m_run = *run;
        drain();
        QCoreApplication::exec();
        return m_exit;
    }

private:
    void signalled()
    {
        if (++m_signalCount > 1) {
            say(QStringLiteral("paddock: ending at once"));
            ::_exit(CancelledByPerson); // sandboxes end with their parent
        }
        say(QStringLiteral("paddock: cancelling; once more ends at once"));
        if (!m_run.isEmpty())
            m_service->cancel(m_run);
    }

    void drain()
    {
        for (const auto &event : m_events->drain()) {
            if (event->run != m_run && !m_run.isEmpty())
                continue;
            if (m_jsonl)
                print(QString::fromUtf8(encodeEvent(*event)));
            m_printer.show(*event);
            if (const auto *finished = std::get_if<RunFinished>(&event->body))
                finish(*finished);
        }
    }

    void finish(const RunFinished &finished)
    {
        if (m_finished)
            return;
        m_finished = true;
        if (finished.status == u"completed")
            m_exit = Done;
        else
            m_exit = finished.status == u"cancelled" ? CancelledByPerson : Failed;
        if (m_exit == Failed)
            say(QStringLiteral("paddock: the run failed: ") + finished.error.value_or(QStringLiteral("no reason given")));
        if (!m_jsonl && !finished.answer.isEmpty())
            print(finished.answer);
        m_service->shutdown([this] {
            drain();
            QCoreApplication::quit();
        });
    }

    std::unique_ptr<RunService> m_service;
    ProgressPrinter m_printer;
    bool m_jsonl;
    std::shared_ptr<EventQueue> m_events;
    RunId m_run;
    int m_signalCount = 0;
    bool m_finished = false;
    int m_exit = Failed;
};

} // namespace

int run(const QStringList &arguments)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(QStringLiteral(
        "Runs one task without a window. Progress goes to standard error, the answer to standard output.\n\n"
        "Examples:\n"
        "  paddock run --scenario survey --workspace ~/project\n"
        "  paddock run --scenario recovery --jsonl > events.jsonl\n"
        "Ctrl-C once cancels and waits until everything is released; twice ends at once."));
    const QCommandLineOption help = parser.addHelpOption();
    const QCommandLineOption config({QStringLiteral("c"), QStringLiteral("config")}, QStringLiteral("Configuration file."), QStringLiteral("FILE"));
    const QCommandLineOption workspace({QStringLiteral("w"), QStringLiteral("workspace")},
        QStringLiteral("Folder that agents work on, in place."), QStringLiteral("DIR"));
    const QCommandLineOption copy(QStringLiteral("workspace-copy"), QStringLiteral("Work on a copy of the folder instead."));
    const QCommandLineOption model(QStringLiteral("model"), QStringLiteral("Name of a model from the configuration."), QStringLiteral("NAME"));
    const QCommandLineOption scenario({QStringLiteral("s"), QStringLiteral("scenario")},
        QStringLiteral("Scripted model: a built-in name or a file (see: paddock scenario list)."), QStringLiteral("NAME|FILE"));
    const QCommandLineOption sandboxKind(QStringLiteral("sandbox"), QStringLiteral("embedded (default) or local."), QStringLiteral("KIND"), QStringLiteral("embedded"));
    const QCommandLineOption maxRunning(QStringLiteral("max-running"), QStringLiteral("Subagents at once (subagent_runtime.max_running)."), QStringLiteral("N"));
    const QCommandLineOption jsonl(QStringLiteral("jsonl"), QStringLiteral("Print every event as one JSON line on standard output."));
    const QCommandLineOption quiet({QStringLiteral("q"), QStringLiteral("quiet")}, QStringLiteral("No progress."));
    const QCommandLineOption channel(QStringLiteral("channel-user-id"), QStringLiteral("Sender identity of an IM conversation."), QStringLiteral("ID"));
    const QCommandLineOption dataDir(QStringLiteral("data-dir"), QStringLiteral("Where journal and threads are kept."), QStringLiteral("DIR"));
    parser.addOptions({config, workspace, copy, model, scenario, sandboxKind, maxRunning, jsonl, quiet, channel, dataDir});
    parser.addPositionalArgument(QStringLiteral("task"), QStringLiteral("What to do."), QStringLiteral("[TASK]"));
    if (!parser.parse(QStringList{QStringLiteral("paddock run")} + arguments)) {
        say(QStringLiteral("paddock run: %1. Try: paddock run --help").arg(parser.errorText()));
        return Usage;
    }
    if (parser.isSet(help)) {
        print(parser.helpText());
        return Done;
    }
    RunRequest request;
    request.task = parser.positionalArguments().join(QLatin1Char(' '));
    request.scenario = parser.value(scenario);
    request.workspace = parser.value(workspace);
    request.copyWorkspace = parser.isSet(copy);
    request.sandbox = parser.value(sandboxKind);
    request.model = parser.value(model);
    if (parser.isSet(channel))
        request.channelUserId = parser.value(channel);
    RunService::Options options{parser.value(config), parser.value(dataDir)};
    if (parser.isSet(maxRunning)) {
        bool ok = false;
        options.maxRunning = parser.value(maxRunning).toInt(&ok);
        if (!ok || *options.maxRunning < 1 || *options.maxRunning > 64) {
            say(QStringLiteral("paddock run: --max-running takes a whole number from 1 to 64"));
            return Usage;
        }
    }
    if (request.task.trimmed().isEmpty() && request.scenario.isEmpty()) {
        say(QStringLiteral("paddock run: give a task, or --scenario survey for the sample. Try: paddock run --help"));
        return Usage;
    }
    UnixSignals unixSignals; // before anything is opened: an early Ctrl-C must end in order, too
    auto service = RunService::open(options);
    if (!service) {
        say(QStringLiteral("paddock: ") + service.error().fullMessage());
        return Usage;
    }
    HeadlessRun headless(std::move(*service), unixSignals, parser.isSet(jsonl), parser.isSet(quiet));
    return headless.start(std::move(request));
}

} // namespace paddock::cli
