// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/run/scenarios.h"

#include "core/llm/scenario.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

static void initScenarioResources()
{
    Q_INIT_RESOURCE(scenarios);
}

namespace paddock {

namespace {

constexpr qint64 maxScenarioBytes = 4 * 1024 * 1024;

QString builtinPath(const QString &name)
{
    initScenarioResources();
    return QStringLiteral(":/paddock/scenarios/") + name + QStringLiteral(".yaml");
}

} // namespace

Result<QByteArray> scenarioText(const QString &nameOrPath)
{
    const bool isName = !nameOrPath.contains(QLatin1Char('/')) && !nameOrPath.contains(QLatin1Char('.'));
    QFile file(isName ? builtinPath(nameOrPath) : nameOrPath);
    if (isName && !file.exists())
        return fail(ErrorCode::NotFound, QStringLiteral("There is no built-in scenario '%1'; see: paddock scenario list").arg(nameOrPath));
    if (!file.open(QIODevice::ReadOnly))
        return fail(ErrorCode::NotFound, QStringLiteral("Cannot read the scenario %1: %2").arg(nameOrPath, file.errorString()));
    const QByteArray text = file.read(maxScenarioBytes + 1);
    if (text.size() > maxScenarioBytes)
        return fail(ErrorCode::InvalidArgument, QStringLiteral("The scenario %1 is larger than 4 MiB").arg(nameOrPath));
    return text;
}

Result<std::shared_ptr<const Scenario>> loadScenario(const QString &nameOrPath)
{
    auto text = scenarioText(nameOrPath);
    if (!text)
        return fail(text.error());
    return parseScenario(*text, nameOrPath);
}

std::vector<ScenarioEntry> builtinScenarios()
{
    std::vector<ScenarioEntry> entries;
    for (const char *name : {"survey", "recovery"}) {
        if (auto entry = checkScenario(QString::fromLatin1(name)))
            entries.push_back(std::move(*entry));
    }
    return entries;
}

Result<ScenarioEntry> checkScenario(const QString &nameOrPath)
{
    auto scenario = loadScenario(nameOrPath);
    if (!scenario)
        return fail(scenario.error());
    return ScenarioEntry{(*scenario)->name, (*scenario)->description, (*scenario)->task};
}

} // namespace paddock
