// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Areas of core/message and of the text helpers of core/base.
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/message/state.h"
#include "core/message/usage_records.h"
#include "tests/cases/case_registry.h"

namespace paddock::cases::message_cases {

namespace {

Verdict verdictOf(const QString &problem)
{
    return problem.isEmpty() ? passed() : failed(problem);
}

Result<std::vector<MessagePtr>> messagesOf(const Json &list)
{
    std::vector<MessagePtr> messages;
    for (const Json &item : list) {
        auto message = messageFromJson(item);
        if (!message)
            return fail(message.error());
        messages.push_back(makeMessage(std::move(*message)));
    }
    return messages;
}

Verdict reducerMessages(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const Json &expect = memberOf(testCase, "expect");
    const auto state = messagesOf(memberOf(input, "state"));
    if (!state)
        return failed(state.error().message);
    const Json &given = memberOf(input, "update");
    if (given.is_null()) // an update of null is an error (§1.5)
        return verdictOf(expect.contains("error") ? QString() : QStringLiteral("null must be an error"));
    const Json list = given.is_object() ? Json::array({given}) : given; // a single message is a list of one
    const auto update = messagesOf(list);
    if (!update)
        return failed(update.error().message);
    const auto reduced = reduceMessages(MessageList(*state), *update);
    Json actual = Json::object();
    if (!reduced) {
        actual["error"] = toJson(reduced.error().message);
    } else {
        Json out = Json::array();
        for (const MessagePtr &message : *reduced)
            out.push_back(messageToJson(*message));
        actual["messages"] = std::move(out);
    }
    return verdictOf(strictMismatch(expect, actual));
}

Verdict reducerSandbox(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    const auto value = reduceChannel(QStringLiteral("sandbox"), memberOf(input, "old"), memberOf(input, "new"));
    const Json actual = value ? *value : Json{{"$error", toJson(value.error().message)}};
    return verdictOf(mismatch(memberOf(testCase, "expect"), actual));
}

Verdict reducer(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const QString op = stringOf(input, "op");
    if (!op.startsWith(u"reduce."))
        return failed(QStringLiteral("unknown op '%1'").arg(op));
    const QString channel = op.sliced(7);
    const auto value = reduceChannel(channel, memberOf(input, "old"), memberOf(input, "new"));
    Json actual = Json::object();
    if (!value) {
        actual["error"] = toJson(value.error().message);
        return verdictOf(mismatch(memberOf(testCase, "expect"), actual));
    }
    actual["value"] = *value;
    if (value->is_array()) {
        actual["ids"] = Json::array();
        actual["paths"] = Json::array();
        for (const Json &item : *value) {
            actual["ids"].push_back(memberOf(item, "id"));
            actual["paths"].push_back(memberOf(item, "path"));
        }
        actual["count"] = value->size();
        if (!value->empty()) {
            actual["first"] = value->front();
            actual["last"] = value->back();
            actual["last_description"] = memberOf(value->back(), "description");
            actual["last_description_length"] = codePointCount(stringOf(value->back(), "description"));
        }
    }
    return verdictOf(mismatch(memberOf(testCase, "expect"), actual));
}

Verdict bound(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const QString text = boundText(stringOf(input, "text"), intOf(input, "cap"));
    return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"text", toJson(text)}, {"length", codePointCount(text)}}));
}

Verdict usage(const Json &testCase)
{
    const Json &input = memberOf(testCase, "input");
    const QString op = stringOf(input, "op");
    Json actual = Json::object();
    if (op == u"usage.sum") {
        std::vector<UsageRecord> records;
        for (const Json &record : memberOf(input, "records"))
            records.push_back(usageRecordFromJson(record));
        const auto sum = sumUsage(records);
        actual["usage"] = sum ? usageToJson(*sum) : Json(nullptr);
    } else if (op == u"usage.collect") {
        UsageCollector collector(QStringLiteral("subagent:x"));
        for (const Json &call : memberOf(input, "calls")) {
            const Json &used = memberOf(call, "usage");
            collector.add(stringOf(call, "id"), used.is_object() ? std::optional(usageFromJson(used)) : std::nullopt, memberOf(call, "meta"));
        }
        actual["records"] = Json::array();
        for (const UsageRecord &record : collector.records())
            actual["records"].push_back(usageRecordToJson(record));
    } else {
        return failed(QStringLiteral("unknown op '%1'").arg(op));
    }
    return verdictOf(mismatch(memberOf(testCase, "expect"), actual));
}

const Registrar registrars[] = {
    {"reducer.messages", reducerMessages}, {"reducer.sandbox", reducerSandbox}, {"reducer", reducer}, {"bound", bound}, {"usage", usage},
};

} // namespace

} // namespace paddock::cases::message_cases
