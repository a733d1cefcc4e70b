// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"

#include <QRegularExpression>
#include <QString>
#include <QStringList>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace paddock {

/// One tool call that the scripted model makes.
struct ScenarioCall {
    QString tool;
    QString id;             ///< empty: "call_<turn>_<n>"
    Json args = Json::object();
    std::optional<QString> rawArgs; ///< sent exactly as written, perhaps broken
};

/// What a model request must contain. Patterns are kept as text, because `${name}` in them is filled in at run time.
struct ScenarioExpect {
    std::optional<QString> system;
    std::optional<QString> notSystem;
    std::optional<QString> lastUser;
    std::optional<QString> lastMessage;
    std::vector<std::pair<QString, QString>> toolResults; ///< call id, pattern
    QStringList tools;
    QStringList notTools;
    std::optional<int> messagesMin;
    std::optional<int> messagesMax;
};

/// A failure of the provider, met before or within the turn's content.
struct ScenarioFault {
    enum class Kind { Http, Drop, Hang, Malformed, Reset } kind = Kind::Http;
    int status = 0;                                        ///< Http
    std::optional<std::chrono::milliseconds> retryAfter;   ///< Http
    std::optional<int> afterChunks;                        ///< content that comes first, in chunks
    int times = 1;                                         ///< uses before the turn proceeds normally
};

struct ScenarioTurn {
    QString say;
    QString reasoning;
    std::vector<ScenarioCall> calls;
    ScenarioExpect expect;
    std::chrono::milliseconds delay{0};
    int chunk = 0; ///< code points a chunk; 0: in one piece
    std::chrono::milliseconds every{0};
    std::optional<qint64> usageInput;
    std::optional<qint64> usageOutput;
    QString finish; ///< empty: by content
    std::optional<ScenarioFault> fault;
    std::vector<std::pair<QString, QString>> capture; ///< name, pattern
};

/// The script of the agents that `match` describes.
struct ScenarioAgent {
    QString agent; ///< "lead", "subagent", or a wildcard pattern over agent ids; empty: any
    QString type;  ///< subagent type; empty: any
    std::optional<QRegularExpression> prompt; ///< searched in the task message
    std::vector<std::shared_ptr<const ScenarioTurn>> turns; ///< repeats written out
};

/// A fault of the environment. `run` turns it into a rule of the sandbox room.
struct ScenarioEnvFault {
    enum class Action { SessionNotFound, ErrorObservation, Fail, Latency } action = Action::Fail;
    QString at;    ///< shell.exec, shell.create, bash.exec, file.op, provider.acquire, provider.release
    QString scope; ///< "lead", "subagent:*", an owner id; wildcards; empty: any
    int nth = 1;
    QString message;                    ///< Fail
    std::chrono::milliseconds delay{0}; ///< Latency
};

/// When a run or one agent of it is cancelled: after a time, or at the n-th event of a type by matching agents.
struct ScenarioCancel {
    std::optional<std::chrono::milliseconds> after;
    QString at;    ///< an event type: "tool.started"
    QString agent; ///< wildcard pattern over agent ids; empty: any
    QString type;  ///< subagent type of that agent; empty: any (our addition: says which of several agents)
    int nth = 1;
    bool wholeRun = true; ///< scope: run | agent
};

/// A checked scenario (scenario.md). Immutable and shared once parsed.
struct Scenario {
    QString name;
    QString description;
    QString task;
    std::vector<ScenarioAgent> agents;
    std::vector<ScenarioEnvFault> faults;
    std::optional<ScenarioCancel> cancel;
};

/// Parses and checks everything before anything runs: version, unknown keys, regular expressions, references to results
/// and captures. The error reads "file:line:column: what is wrong"; `name` stands for the file.
Result<std::shared_ptr<const Scenario>> parseScenario(const QByteArray &yaml, const QString &name);

} // namespace paddock
