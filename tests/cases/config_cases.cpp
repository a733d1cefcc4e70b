// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Area config: sections, references, the number of shell sessions.
#include "core/config/config.h"
#include "core/sandbox/backend/session_capacity.h"
#include "tests/cases/middleware_support.h"

namespace paddock::cases::config_cases {

namespace {

/// The runner of a section: is the value accepted?
template<typename T>
Verdict accepted(const Json &testCase, Result<T> (*read)(const Json &))
{
    return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"valid", read(memberOf(memberOf(testCase, "input"), "value")).has_value()}}));
}

Verdict loopSection(const Json &testCase)
{
    return accepted(testCase, loopDetectionFromJson);
}

Verdict budgetSection(const Json &testCase)
{
    return accepted(testCase, tokenBudgetFromJson);
}

Verdict subagentsSection(const Json &testCase)
{
    return accepted(testCase, subagentsFromJson);
}

Verdict runtimeSection(const Json &testCase)
{
    const auto read = subagentRuntimeFromJson(memberOf(memberOf(testCase, "input"), "value"));
    Json actual{{"valid", read.has_value()}};
    if (read)
        actual["value"] = Json{{"max_running", read->maxRunning},
                               {"max_queued", read->maxQueued},
                               {"admission_policy", toUtf8(read->admissionPolicy)},
                               {"queue_timeout_seconds", read->queueTimeoutSeconds}};
    return verdictOf(mismatch(memberOf(testCase, "expect"), actual));
}

Verdict shellSessions(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    const Json &given = memberOf(input, "explicit");
    std::optional<QString> asked;
    if (!given.is_null())
        asked = given.is_string() ? textOf(given) : QString::fromUtf8(dumpJson(given));
    const auto capacity = resolveSessionCapacity(int(intOf(input, "max_running", 3)), asked);
    Json actual{{"valid", capacity.has_value()}, {"value", nullptr}, {"error", nullptr}};
    if (!capacity)
        actual["error"] = toUtf8(capacity.error().message.section(QStringLiteral(" (configured "), 0, 0)); // the sandbox's text says more
    else if (capacity->configured)
        actual["value"] = *capacity->configured;
    return verdictOf(mismatch(memberOf(testCase, "expect"), actual));
}

Verdict references(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    QMap<QString, QString> environment;
    for (const auto &[name, value] : memberOf(input, "env").items())
        environment.insert(QString::fromStdString(name), textOf(value));
    const bool lenient = stringOf(input, "op") == u"env.extensions";
    const auto resolved = resolveReferences(memberOf(input, "value"), environment, lenient);
    return verdictOf(mismatch(memberOf(testCase, "expect"),
                              Json{{"valid", resolved.has_value()}, {"value", resolved ? *resolved : Json()}}));
}

const Registrar registrars[] = {
    {"config#config.loop", loopSection}, {"config#config.token_budget", budgetSection}, {"config#config.subagents", subagentsSection},
    {"config#config.subagent_runtime", runtimeSection}, {"config#config.shell_sessions", shellSessions},
    {"config#env.config", references}, {"config#env.extensions", references},
};

} // namespace

} // namespace paddock::cases::config_cases
