// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "app/cli.h"
#include "app/progress_printer.h"
#include "core/run/run_service.h"

#include <QCommandLineParser>
#include <QCoreApplication>

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
    auto printer = std::make_shared<ProgressPrinter>(false);
    auto answer = std::make_shared<QString>();
    service.load(run, [printer, answer](std::vector<std::shared_ptr<const Event>> events, bool last) {
        for (const auto &event : events) {
            printer->show(*event);
            if (const auto *finished = std::get_if<RunFinished>(&event->body))
                *answer = finished->answer;
        }
        if (last) {
            if (!answer->isEmpty())
                print(*answer);
            QCoreApplication::quit();
        }
    });
}

/// The service of commands that only look: opened read-only; `use` is called once it is open.
int withReader(const QString &dataDir, const std::function<int(RunService &)> &use)
{
    auto service = RunService::open({.configPath = {}, .dataDir = dataDir, .maxRunning = {}, .readOnly = true});
    if (!service) {
        say(QStringLiteral("paddock: ") + service.error().fullMessage());
        return Failed;
    }
    return use(**service);
}

} // namespace

int show(const QStringList &arguments)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(QStringLiteral(
        "Lists the runs in the journal, newest first; with RUN tells what happened in it.\n"
        "RUN is an id, the beginning of one, or \"last\"."));
    const QCommandLineOption help = parser.addHelpOption();
    const QCommandLineOption dataDir(QStringLiteral("data-dir"), QStringLiteral("Where journal and threads are kept."), QStringLiteral("DIR"));
    parser.addOption(dataDir);
    parser.addPositionalArgument(QStringLiteral("run"), QStringLiteral("Which run."), QStringLiteral("[RUN]"));
    if (!parser.parse(QStringList{QStringLiteral("paddock show")} + arguments) || parser.positionalArguments().size() > 1) {
        say(QStringLiteral("paddock show: %1. Try: paddock show --help").arg(parser.errorText()));
        return Usage;
    }
    if (parser.isSet(help)) {
        print(parser.helpText());
        return Done;
    }
    return withReader(parser.value(dataDir), [&](RunService &service) {
        if (parser.positionalArguments().isEmpty()) {
            printList(service);
            return QCoreApplication::exec();
        }
        const auto run = service.resolve(parser.positionalArguments().constFirst());
        if (!run) {
            say(QStringLiteral("paddock: ") + run.error().fullMessage());
            return int(Usage);
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
    const QCommandLineOption help = parser.addHelpOption();
    const QCommandLineOption format({QStringLiteral("f"), QStringLiteral("format")}, QStringLiteral("jsonl, markdown or otlp."), QStringLiteral("FORMAT"), QStringLiteral("jsonl"));
    const QCommandLineOption output({QStringLiteral("o"), QStringLiteral("output")}, QStringLiteral("File to write; default: standard output."), QStringLiteral("FILE"));
    const QCommandLineOption dataDir(QStringLiteral("data-dir"), QStringLiteral("Where journal and threads are kept."), QStringLiteral("DIR"));
    parser.addOptions({format, output, dataDir});
    parser.addPositionalArgument(QStringLiteral("run"), QStringLiteral("Id, beginning of one, or \"last\"."), QStringLiteral("RUN"));
    if (!parser.parse(QStringList{QStringLiteral("paddock export")} + arguments)) {
        say(QStringLiteral("paddock export: %1. Try: paddock export --help").arg(parser.errorText()));
        return Usage;
    }
    if (parser.isSet(help)) {
        print(parser.helpText());
        return Done;
    }
    if (parser.positionalArguments().size() != 1) {
        say(QStringLiteral("paddock export: name one run. Try: paddock show"));
        return Usage;
    }
    return withReader(parser.value(dataDir), [&](RunService &service) {
        const auto run = service.resolve(parser.positionalArguments().constFirst());
        if (!run) {
            say(QStringLiteral("paddock: ") + run.error().fullMessage());
            return int(Usage);
        }
        const QString path = parser.isSet(output) ? parser.value(output) : QStringLiteral("/dev/stdout");
        int exit = Done;
        service.exportRun(*run, parser.value(format), path, [&exit](const QString &problem) {
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
