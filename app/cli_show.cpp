// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "app/cli.h"
#include "app/progress_printer.h"
#include "core/run/run_service.h"

#include <QCoreApplication>
#include <QFileInfo>

#include <unistd.h>

namespace paddock::cli {

namespace {

QString when(Clock::Wall time)
{
    return formatWall(time).left(19).replace(QLatin1Char('T'), QLatin1Char(' '));
}

void printList(RunService &service)
{
    service.list([](std::vector<RunSummary> runs) {
        if (runs.empty())
            print(QStringLiteral("No runs yet. Try: paddock run --scenario survey --workspace ."));
        for (const RunSummary &run : runs)
            print(QStringLiteral("%1  %2  %3 %4 events  %5")
                      .arg(run.id.value(), when(run.started), run.status.leftJustified(11))
                      .arg(run.events, 6)
                      .arg(run.title.isEmpty() ? run.task : run.title));
        QCoreApplication::quit();
    });
}

void printRun(RunService &service, const RunId &run)
{
    struct Told {
        ProgressPrinter printer{false, print};
        QString answer;
        bool known = false;
        bool whole = true;
        bool hadShells = false;
    };
    auto told = std::make_shared<Told>();
    service.load(run, [told, run, &service](std::vector<std::shared_ptr<const Event>> events, bool last) {
        for (const auto &event : events) {
            // Without a number it is no event of the run: the reader says what it could not read.
            if (const auto *problem = std::get_if<LogRecorded>(&event->body); problem && event->seq == 0) {
                say(QStringLiteral("paddock: ") + problem->text);
                told->whole = false;
                continue;
            }
            told->printer.show(*event);
            told->known = told->known || std::holds_alternative<RunStarted>(event->body);
            told->hadShells = told->hadShells || std::holds_alternative<ShellSessionCreated>(event->body);
            if (const auto *finished = std::get_if<RunFinished>(&event->body))
                told->answer = finished->answer;
        }
        if (!last)
            return;
        if (!told->answer.isEmpty())
            print(told->answer);
        if (told->hadShells && service.areShellLogsGone(run))
            print(QStringLiteral("What its terminals printed is gone: old logs of terminals are removed when all together pass "
                                 "terminal_logs.max_total_bytes, and imported runs have none."));
        QCoreApplication::exit(told->known && told->whole ? Done : Failed);
    });
}

/// The service of commands that only look: opened read-only; `use` is called once it is open.
int withReader(const QString &dataDir, const std::function<int(RunService &)> &use)
{
    if (!dataDir.isEmpty() && !QFileInfo(dataDir).isDir()) {
        say(QStringLiteral("paddock: there is no data folder %1").arg(dataDir));
        return Usage;
    }
    auto service = RunService::open({.configPath = {}, .dataDir = dataDir, .maxRunning = {}, .readOnly = true});
    if (!service) {
        say(QStringLiteral("paddock: ") + service.error().fullMessage());
        return exitCodeOf(service.error());
    }
    const int exit = use(**service);
    const QString output = outputProblem();
    if (output.isEmpty())
        return exit;
    say(QStringLiteral("paddock: standard output takes no more: ") + output);
    return Failed;
}

} // namespace

int show(const QStringList &arguments)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(QStringLiteral(
        "Lists the runs in the journal, newest first; with RUN tells what happened in it.\n"
        "RUN is an id, the beginning of one, or \"last\"."));
    const QCommandLineOption dataDir = dataDirOption();
    parser.addPositionalArgument(QStringLiteral("run"), QStringLiteral("Which run."), QStringLiteral("[RUN]"));
    const CommandForm form{QStringLiteral("paddock show"), 0, 1, QStringLiteral("  paddock show\n  paddock show last"), {dataDir}};
    if (const auto over = parseOptions(parser, form, arguments))
        return *over;
    return withReader(parser.value(dataDir), [&](RunService &service) {
        if (parser.positionalArguments().isEmpty()) {
            // The list itself cannot say why it is empty: a journal that cannot be read must not look like none.
            if (const auto newest = service.resolve(QStringLiteral("last")); !newest && newest.error().code != ErrorCode::NotFound) {
                say(QStringLiteral("paddock: ") + newest.error().fullMessage());
                return exitCodeOf(newest.error());
            }
            printList(service);
            return QCoreApplication::exec();
        }
        const auto run = service.resolve(parser.positionalArguments().constFirst());
        if (!run) {
            say(QStringLiteral("paddock: ") + run.error().fullMessage());
            return exitCodeOf(run.error());
        }
        printRun(service, *run);
        return QCoreApplication::exec();
    });
}

int exportRun(const QStringList &arguments)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(QStringLiteral(
        "Writes one run of the journal to a file or to standard output.\n"
        "jsonl: one event a line, stable, complete. markdown: the conversation. otlp: the spans as OTLP/JSON."));
    const QCommandLineOption format({QStringLiteral("f"), QStringLiteral("format")}, QStringLiteral("jsonl (default), markdown or otlp."), QStringLiteral("FORMAT"), QStringLiteral("jsonl"));
    const QCommandLineOption output({QStringLiteral("o"), QStringLiteral("output")}, QStringLiteral("File to write; default: standard output."), QStringLiteral("FILE"));
    const QCommandLineOption dataDir = dataDirOption();
    parser.addPositionalArgument(QStringLiteral("run"), QStringLiteral("Id, beginning of one, or \"last\"."), QStringLiteral("RUN"));
    const CommandForm form{QStringLiteral("paddock export"), 0, 1,
                           QStringLiteral("  paddock export last > run.jsonl\n  paddock export last --format markdown --output run.md"),
                           {format, output, dataDir}};
    if (const auto over = parseOptions(parser, form, arguments))
        return *over;
    if (parser.positionalArguments().isEmpty()) {
        say(QStringLiteral("paddock export: name one run; paddock show lists them. Try: paddock export --help"));
        return Usage;
    }
    static const QStringList formats{QStringLiteral("jsonl"), QStringLiteral("markdown"), QStringLiteral("otlp")};
    if (!formats.contains(parser.value(format))) {
        say(QStringLiteral("paddock export: the format '%1' is not known; choose jsonl, markdown or otlp").arg(parser.value(format)));
        return Usage;
    }
    return withReader(parser.value(dataDir), [&](RunService &service) {
        const auto run = service.resolve(parser.positionalArguments().constFirst());
        if (!run) {
            say(QStringLiteral("paddock: ") + run.error().fullMessage());
            return exitCodeOf(run.error());
        }
        int exit = Done;
        service.exportRun(*run, parser.value(format), parser.value(output), [&exit](const QString &problem) {
            if (!problem.isEmpty()) {
                say(QStringLiteral("paddock: ") + problem);
                exit = Failed;
            }
            QCoreApplication::quit();
        });
        QCoreApplication::exec();
        return exit;
    });
}

} // namespace paddock::cli
