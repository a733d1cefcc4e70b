// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "app/cli.h"
#include "core/base/nearest.h"
#include "core/run/scenarios.h"

namespace paddock::cli {

namespace {

const char *const help = R"(Scripted models: a scenario says what the model says; everything else of the run is real.

Usage:
  paddock scenario list            the built-in ones
  paddock scenario show NAME       print one, as a start for your own
  paddock scenario check FILE…     check files; every complaint names file, line and column;
                                   notes about what may not be meant leave a file good

Run one with: paddock run --scenario NAME|FILE [--workspace DIR]
Exit codes: 0 done (every file is good), 1 failed (one is not), 2 wrong usage.)";

int list()
{
    for (const ScenarioEntry &entry : builtinScenarios())
        print(QStringLiteral("%1  %2").arg(entry.name, -12).arg(entry.description));
    return Done;
}

int check(const QStringList &files)
{
    if (files.isEmpty()) {
        say(QStringLiteral("paddock scenario check: name at least one file"));
        return Usage;
    }
    int exit = Done;
    for (const QString &file : files) {
        if (const auto entry = checkScenario(file)) {
            print(QStringLiteral("%1: good (%2)").arg(file, entry->name));
            for (const QString &remark : entry->remarks)
                say(QStringLiteral("%1 (a note; it may run so)").arg(remark));
        } else {
            say(entry.error().fullMessage());
            exit = Failed;
        }
    }
    return exit;
}

} // namespace

int scenario(const QStringList &arguments)
{
    const QString verb = arguments.value(0);
    for (const QString &argument : arguments) {
        if (argument == u"--help" || argument == u"-h") {
            print(QString::fromUtf8(help));
            return Done;
        }
        if (argument.startsWith(QLatin1Char('-'))) {
            say(QStringLiteral("paddock scenario: there is no option %1. Try: paddock scenario --help").arg(argument));
            return Usage;
        }
    }
    if (verb == u"list" && arguments.size() == 1)
        return list();
    if (verb == u"check")
        return check(arguments.mid(1));
    if (verb == u"show" && arguments.size() == 2) {
        const auto text = scenarioText(arguments.at(1));
        if (!text) {
            say(QStringLiteral("paddock: ") + text.error().fullMessage());
            return Usage;
        }
        print(QString::fromUtf8(*text).trimmed());
        return Done;
    }
    if (verb.isEmpty()) {
        say(QString::fromUtf8(help));
        return Usage;
    }
    const QString near = nearestWord(verb, {QStringLiteral("list"), QStringLiteral("show"), QStringLiteral("check")});
    say(QStringLiteral("paddock scenario: '%1' is not list, show NAME or check FILE%2 Try: paddock scenario --help")
            .arg(verb, near.isEmpty() ? QStringLiteral(".") : QStringLiteral("; did you mean %1?").arg(near)));
    return Usage;
}

} // namespace paddock::cli
