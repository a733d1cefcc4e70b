// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "app/cli.h"
#include "core/run/scenarios.h"

namespace paddock::cli {

namespace {

const char *const help = R"(Scripted models: a scenario says what the model says; everything else of the run is real.

Usage:
  paddock scenario list            the built-in ones
  paddock scenario show NAME       print one, as a start for your own
  paddock scenario check FILE…     check files; every complaint names file, line and column

Run one with: paddock run --scenario NAME|FILE [--workspace DIR])";

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
    if (verb == u"list")
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
    const bool asked = verb == u"--help" || verb == u"-h";
    (asked ? print : say)(QString::fromUtf8(help));
    return asked ? Done : Usage;
}

} // namespace paddock::cli
