// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
//
// paddock_bench [--quick] [NAME…]: measures what design.md §10 promises and prints it beside a peer of the same run. Numbers
// are for reading: the exit code is 0 whatever they are, and 1 only when something could not be measured.
#include "tests/bench/bench.h"

#include <QCommandLineParser>
#include <QCoreApplication>
#include <QTextStream>
#include <QThread>

using namespace paddock;

namespace {

struct Entry {
    const char *name;
    bench::Readings (*run)(const bench::Scale &);
};

constexpr Entry entries[] = {
    {"shell", bench::shellRoundTrip}, {"lease", bench::leases},          {"chain", bench::subagentChain},
    {"journal", bench::eventsToJournal}, {"terminal", bench::terminalBytes},
};

QString number(double value)
{
    return value >= 1000 ? QString::number(value, 'f', 0) : QString::number(value, 'g', 3);
}

void print(QTextStream &out, const bench::Reading &reading)
{
    out << reading.what << "\n    ours " << reading.ours << "; " << reading.peer << "\n    " << number(reading.value) << ' ' << reading.unit
        << ", budget " << (reading.atLeast ? "at least " : "at most ") << number(reading.budget) << ' ' << reading.unit << ": "
        << (reading.within() ? "within budget" : "OVER BUDGET") << "\n";
    out.flush();
}

} // namespace

int main(int argc, char **argv)
{
    QCoreApplication app(argc, argv);
    QCommandLineParser parser;
    parser.setApplicationDescription(QStringLiteral("Measures Paddock against its budgets."));
    parser.addHelpOption();
    const QCommandLineOption quick(QStringLiteral("quick"), QStringLiteral("Only see that everything runs; the numbers mean nothing."));
    parser.addOption(quick);
    QStringList names;
    for (const Entry &entry : entries)
        names << QString::fromLatin1(entry.name);
    parser.addPositionalArgument(QStringLiteral("names"), names.join(u", ") + QStringLiteral("; all when none is given"), QStringLiteral("[NAME…]"));
    parser.process(app);

    QTextStream out(stdout);
    QTextStream err(stderr);
    const QStringList asked = parser.positionalArguments();
    for (const QString &name : asked) {
        if (!names.contains(name)) {
            err << "paddock_bench: there is no measurement '" << name << "'; there are " << names.join(u", ") << "\n";
            return 2;
        }
    }
    out << QThread::idealThreadCount() << " processors" << (parser.isSet(quick) ? ", quick: the numbers mean nothing" : "") << "\n";
    int code = 0;
    for (const Entry &entry : entries) {
        if (!asked.isEmpty() && !asked.contains(QLatin1StringView(entry.name)))
            continue;
        const auto readings = entry.run({parser.isSet(quick)});
        if (!readings) {
            err << "paddock_bench: " << entry.name << " could not be measured: " << readings.error().fullMessage() << "\n";
            code = 1;
            continue;
        }
        for (const bench::Reading &reading : *readings)
            print(out, reading);
    }
    return code;
}
