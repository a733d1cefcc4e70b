// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "app/cli.h"
#include "app/progress_printer.h"
#include "app/unix_signals.h"
#include "core/base/pool.h"
#include "core/event/event_codec.h"
#include "core/run/run_service.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QLoggingCategory>

#include <limits>
#include <optional>

#include <unistd.h>

namespace paddock::cli {

namespace {

constexpr qint64 samePressMs = 300;

/// Drives one headless run on the main thread: drains events, prints, cancels on a signal, ends the loop.
class HeadlessRun : public QObject
{
public:
    HeadlessRun(std::unique_ptr<RunService> service, UnixSignals &unixSignals, bool jsonl, bool quiet)
        : m_service(std::move(service)), m_printer(quiet || jsonl, say), m_jsonl(jsonl), m_events(m_service->bus()->subscribe())
    {
        m_events->setWakeup(postedFor(this, [this] { drain(); }));
        connect(&unixSignals, &UnixSignals::caught, this, [this] { signalled(); });
    }

    int start(RunRequest request)
    {
        auto run = m_service->start(std::move(request));
        if (!run) {
            say(QStringLiteral("paddock: ") + run.error().fullMessage());
            m_exit = exitCodeOf(run.error());
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
        // One Ctrl-C may arrive twice: from the terminal, and once more from a program that passes it on to its group.
        if (m_sinceSignal.isValid() && m_sinceSignal.elapsed() < samePressMs)
            return;
        const bool again = m_sinceSignal.isValid();
        m_sinceSignal.start();
        if (again) {
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
        if (const QString outputs = m_service->hostPath(m_run, QStringLiteral("/mnt/user-data/outputs")); !outputs.isEmpty())
            m_printer.note(QStringLiteral("outputs are in %1").arg(outputs));
        const bool toldAlready = finished.error && finished.error->contains(m_service->journalProblem());
        m_service->shutdown([this, toldAlready] {
            drain();
            judgeWhatIsKept(toldAlready);
            QCoreApplication::quit();
        });
    }

    /// A run whose record or output is lost was not done, whatever its agents achieved.
    void judgeWhatIsKept(bool toldAlready)
    {
        const QString problem = m_service->journalProblem();
        if (!problem.isEmpty()) {
            if (!toldAlready)
                say(QStringLiteral("paddock: this run is not saved whole: ") + problem);
            QLoggingCategory::setFilterRules(QStringLiteral("paddock.journal.critical=false")); // it would say the same once more
        }
        const QString output = outputProblem();
        if (!output.isEmpty())
            say(QStringLiteral("paddock: standard output takes no more (%1); the run is kept, see: paddock export %2").arg(output, m_run.value()));
        if (m_exit == Done && (!problem.isEmpty() || !output.isEmpty()))
            m_exit = Failed;
    }

    std::unique_ptr<RunService> m_service;
    ProgressPrinter m_printer;
    bool m_jsonl;
    std::shared_ptr<EventQueue> m_events;
    RunId m_run;
    QElapsedTimer m_sinceSignal;
    bool m_finished = false;
    int m_exit = Failed;
};

/// What the command line asked for.
struct Asked {
    RunRequest request;
    RunService::Options service;
    bool jsonl = false;
    bool quiet = false;
};

/// Says what is wrong and gives nothing when the values make no run.
std::optional<Asked> checked(Asked asked, const QString &maxRunning)
{
    if (!maxRunning.isNull()) {
        bool ok = false;
        asked.service.maxRunning = maxRunning.toInt(&ok);
        if (!ok || *asked.service.maxRunning < 1 || *asked.service.maxRunning > 64) {
            say(QStringLiteral("paddock run: --max-running takes a whole number from 1 to 64"));
            return std::nullopt;
        }
    }
    if (asked.request.task.trimmed().isEmpty() && asked.request.scenario.isEmpty()) {
        say(QStringLiteral("paddock run: give a task, or --scenario survey for the sample. Try: paddock run --help"));
        return std::nullopt;
    }
    return asked;
}

int runAsked(Asked asked)
{
    UnixSignals unixSignals; // before anything is opened: an early Ctrl-C must end in order, too
    auto service = RunService::open(asked.service);
    if (!service) {
        say(QStringLiteral("paddock: ") + service.error().fullMessage());
        return exitCodeOf(service.error());
    }
    HeadlessRun headless(std::move(*service), unixSignals, asked.jsonl, asked.quiet);
    return headless.start(std::move(asked.request));
}

} // namespace

int run(const QStringList &arguments)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(QStringLiteral(
        "Runs one task without a window. Progress goes to standard error, the answer to standard output.\n"
        "Ctrl-C once cancels and waits until everything is released; twice ends at once."));
    const QCommandLineOption config = configOption();
    const QCommandLineOption workspace({QStringLiteral("w"), QStringLiteral("workspace")},
        QStringLiteral("Folder that agents work on, in place."), QStringLiteral("DIR"));
    const QCommandLineOption copy(QStringLiteral("workspace-copy"), QStringLiteral("Work on a copy of the folder instead."));
    const QCommandLineOption model(QStringLiteral("model"), QStringLiteral("Name of a model from the configuration."), QStringLiteral("NAME"));
    const QCommandLineOption scenario({QStringLiteral("s"), QStringLiteral("scenario")},
        QStringLiteral("Scripted model: a built-in name or a file (see: paddock scenario list)."), QStringLiteral("NAME|FILE"));
    const QCommandLineOption sandboxKind(QStringLiteral("sandbox"), QStringLiteral("embedded, container or local; default: sandbox.use of the configuration, else embedded."), QStringLiteral("KIND"));
    const QCommandLineOption maxRunning(QStringLiteral("max-running"), QStringLiteral("Subagents at once, 1 to 64; default: subagent_runtime.max_running of the configuration, else 3."), QStringLiteral("N"));
    const QCommandLineOption jsonl(QStringLiteral("jsonl"), QStringLiteral("Print every event as one JSON line on standard output."));
    const QCommandLineOption quiet({QStringLiteral("q"), QStringLiteral("quiet")}, QStringLiteral("No progress."));
    const QCommandLineOption channel(QStringLiteral("channel-user-id"), QStringLiteral("Sender identity of an IM conversation."), QStringLiteral("ID"));
    const QCommandLineOption plan(QStringLiteral("plan"), QStringLiteral("Plan mode: the lead keeps a todo list and ends when it is done."));
    const QCommandLineOption dataDir = dataDirOption();
    parser.addPositionalArgument(QStringLiteral("task"), QStringLiteral("What to do."), QStringLiteral("[TASK]"));
    const CommandForm form{QStringLiteral("paddock run"), 0, std::numeric_limits<int>::max(),
                           QStringLiteral("  paddock run --scenario survey --workspace ~/project\n"
                                          "  paddock run --scenario recovery --jsonl > events.jsonl"),
                           {config, workspace, copy, model, scenario, sandboxKind, maxRunning, jsonl, quiet, channel, plan, dataDir}};
    if (const auto over = parseOptions(parser, form, arguments))
        return *over;
    Asked asked;
    asked.request.task = parser.positionalArguments().join(QLatin1Char(' '));
    asked.request.scenario = parser.value(scenario);
    asked.request.workspace = parser.value(workspace);
    asked.request.copyWorkspace = parser.isSet(copy);
    asked.request.sandbox = parser.value(sandboxKind);
    asked.request.model = parser.value(model);
    asked.request.planMode = parser.isSet(plan);
    if (parser.isSet(channel))
        asked.request.channelUserId = parser.value(channel);
    asked.service.configPath = parser.value(config);
    asked.service.dataDir = parser.value(dataDir);
    asked.jsonl = parser.isSet(jsonl);
    asked.quiet = parser.isSet(quiet);
    if (asked.request.copyWorkspace && asked.request.workspace.isEmpty()) {
        say(QStringLiteral("paddock run: --workspace-copy wants --workspace: the folder to copy"));
        return Usage;
    }
    if (parser.isSet(model) && parser.isSet(scenario)) {
        say(QStringLiteral("paddock run: a scenario says what its model says, so --model and --scenario exclude each other"));
        return Usage;
    }
    auto complete = checked(std::move(asked), parser.isSet(maxRunning) ? parser.value(maxRunning) : QString());
    return complete ? runAsked(std::move(*complete)) : Usage;
}

} // namespace paddock::cli
