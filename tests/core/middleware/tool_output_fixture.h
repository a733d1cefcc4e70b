// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/pii_redactor.h"
#include "core/middleware/tool_meta.h"
#include "tests/core/middleware/chain_fixture.h"

#include <QDir>
#include <QFile>

namespace paddock::test {

inline constexpr qsizetype overThreshold = 12001;
inline constexpr qsizetype overFallback = 30001;

inline std::shared_ptr<Chain> chainOf(std::vector<MiddlewarePtr> members)
{
    auto chain = Chain::compile(std::move(members));
    if (!chain)
        qFatal("%s", qPrintable(chain.error().message));
    return *chain;
}

inline AgentState stateWithOutputs(const QString &folder)
{
    AgentState state;
    state.channels["thread_data"] = Json{{"outputs_path", toUtf8(folder)}};
    return state;
}

inline ToolNext answering(ToolOutcome outcome)
{
    return [outcome](ToolCallRequest) { return outcomeOf(outcome); };
}

inline MessagePtr resultOf(const QString &text)
{
    return edited(toolMessage(QStringLiteral("c1"), QStringLiteral("bash"), text), [](Message &m) {
        m.id = QStringLiteral("m1");
        m.artifact = Json{{"kept", true}};
        m.kwargs[toolMetaKey] = Json{{"status", "success"}};
    });
}

inline MessagePtr passedOn(const std::shared_ptr<Chain> &chain, const MessagePtr &given, const AgentState &state, RuntimePtr runtime = runtimeOn(nullptr))
{
    const auto outcome = awaited(chain->runTool(toolCall(runtime, given->name, Json::object(), state), answering(given)));
    return outcome ? std::get<MessagePtr>(*outcome) : nullptr;
}

inline QString onlyFileIn(const QString &folder)
{
    const QStringList names = QDir(folder).entryList(QDir::Files | QDir::Hidden);
    return names.size() == 1 ? folder + u'/' + names.first() : QString();
}

inline QString contentOf(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

inline QString numbered(qsizetype chars)
{
    QString text;
    for (int line = 1; text.size() < chars; ++line)
        text += QStringLiteral("line %1\n").arg(line);
    return text.first(chars);
}

/// A sandbox whose commands and writes are scripted; what it was asked is kept.

inline PiiOptions secretOptions()
{
    PiiOptions options;
    options.tokenSecret = QStringLiteral("test-secret");
    return options;
}

/// What a model is sent of `messages` by a chain.

} // namespace paddock::test
