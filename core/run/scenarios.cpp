// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/run/scenarios.h"

#include "core/agent/subagent_catalogue.h"
#include "core/base/file_kind.h"
#include "core/llm/scenario.h"
#include "core/llm/scenario_remarks.h"
#include "core/tool/lead_tools.h"
#include "core/tool/sandbox_tools.h"
#include "core/tool/view_image.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

#include <sys/stat.h>

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

/// Opening a named pipe waits for its other end, perhaps for ever. What a shell made for this command (`<(…)`, a pipe into
/// /dev/stdin) has one and is read.
QString specialKindOf(const QString &path)
{
    struct stat info {};
    if (::stat(QFile::encodeName(path).constData(), &info) != 0)
        return {};
    const bool ofShell = path == u"/dev/stdin" || path.startsWith(u"/dev/fd/") || path.startsWith(u"/proc/self/fd/");
    return S_ISFIFO(info.st_mode) && ofShell ? QString() : specialFileKind(info.st_mode);
}

/// The names that a run of this version knows, whatever its configuration adds.
const ScenarioVocabulary &vocabulary()
{
    static const ScenarioVocabulary words = [] {
        ScenarioVocabulary all;
        std::vector<ToolPtr> tools = sandboxTools({});
        for (const ToolPtr &more : {makeViewImageTool(), makeClarificationTool(), makeTodoTool()})
            tools.push_back(more);
        for (const ToolPtr &tool : tools)
            all.tools.append(tool->spec().name);
        all.tools += {QStringLiteral("task"), QStringLiteral("tool_search"), QStringLiteral("describe_skill")};
        for (const SubagentDefinition &definition : subagentCatalogue({}))
            all.subagentTypes.append(definition.name);
        return all;
    }();
    return words;
}

/// `remarks` may be null.
Result<std::shared_ptr<const Scenario>> checkedScenario(const QString &nameOrPath, QStringList *remarks)
{
    const auto text = scenarioText(nameOrPath);
    if (!text)
        return fail(text.error());
    auto scenario = parseScenario(*text, nameOrPath);
    if (!scenario)
        return scenario;
    const auto found = scenarioRemarks(*text, nameOrPath, vocabulary());
    if (!found)
        return fail(found.error());
    if (remarks)
        *remarks = *found;
    return scenario;
}

} // namespace

Result<QByteArray> scenarioText(const QString &nameOrPath)
{
    const bool isName = !nameOrPath.contains(QLatin1Char('/')) && !nameOrPath.contains(QLatin1Char('.'));
    QFile file(isName ? builtinPath(nameOrPath) : nameOrPath);
    if (isName && !file.exists())
        return fail(ErrorCode::NotFound, QStringLiteral("There is no built-in scenario '%1'; see: paddock scenario list").arg(nameOrPath));
    if (const QString kind = isName ? QString() : specialKindOf(nameOrPath); !kind.isEmpty())
        return fail(ErrorCode::InvalidArgument, QStringLiteral("%1 is %2, not a scenario file").arg(nameOrPath, kind));
    if (!file.open(QIODevice::ReadOnly))
        return fail(ErrorCode::NotFound, QStringLiteral("Cannot read the scenario %1: %2").arg(nameOrPath, file.errorString()));
    const QByteArray text = file.read(maxScenarioBytes + 1);
    if (text.size() > maxScenarioBytes)
        return fail(ErrorCode::InvalidArgument, QStringLiteral("The scenario %1 is larger than 4 MiB").arg(nameOrPath));
    return text;
}

Result<std::shared_ptr<const Scenario>> loadScenario(const QString &nameOrPath)
{
    return checkedScenario(nameOrPath, nullptr);
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
    QStringList remarks;
    const auto scenario = checkedScenario(nameOrPath, &remarks);
    if (!scenario)
        return fail(scenario.error());
    return ScenarioEntry{(*scenario)->name, (*scenario)->description, (*scenario)->task, remarks};
}

} // namespace paddock
