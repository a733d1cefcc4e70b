// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/journal/task_record.h"

#include "core/base/text.h"
#include "core/message/message.h"

namespace paddock {

namespace {

/// Puts the text, and `<key>_truncated` when it had to be cut.
void putCut(Json &into, const char *key, const QString &text)
{
    const bool cut = codePointCount(text) > longestTaskText;
    into[key] = toJson(cut ? firstCodePoints(text, longestTaskText) : text);
    if (cut)
        into[std::string(key) + "_truncated"] = true;
}

Json storedCall(const Json &call)
{
    Json stored{{"name", memberOf(call, "name")}};
    const Json &args = memberOf(call, "args");
    const QString text = QString::fromUtf8(dumpJson(args));
    if (codePointCount(text) > longestTaskText) {
        stored["args"] = toJson(firstCodePoints(text, longestTaskText));
        stored["args_truncated"] = true;
    } else {
        stored["args"] = args;
    }
    return stored;
}

Json record(const char *type, Json content, Json metadata)
{
    return Json{{"event_type", type}, {"category", "subagent"}, {"content", std::move(content)}, {"metadata", std::move(metadata)}};
}

Json endContent(const QString &taskId, const QString &status, const Json &chunk)
{
    Json content{{"task_id", toUtf8(taskId)}, {"status", toUtf8(status)}};
    for (const char *key : {"model_name", "usage"}) {
        if (!memberOf(chunk, key).is_null())
            content[key] = chunk[key];
    }
    for (const char *key : {"result", "error"}) {
        if (const auto text = optionalString(chunk, key))
            putCut(content, key, *text);
    }
    return content;
}

} // namespace

Json taskStep(const QString &taskId, qint64 messageIndex, const Json &message)
{
    const bool isTool = stringOf(message, "type", stringOf(message, "role")) == u"tool";
    const QString text = textOfContent(memberOf(message, "content"));
    const bool cut = codePointCount(text) > longestTaskText;
    Json step{{"task_id", toUtf8(taskId)},
              {"message_index", messageIndex},
              {"kind", isTool ? "tool" : "ai"},
              {"text", toJson(cut ? firstCodePoints(text, longestTaskText) : text)},
              {"truncated", cut}};
    if (isTool) {
        step["tool_name"] = memberOf(message, "name");
        return step;
    }
    Json calls = Json::array();
    for (const Json &call : memberOf(message, "tool_calls")) {
        if (call.is_object())
            calls.push_back(storedCall(call));
    }
    step["tool_calls"] = std::move(calls);
    return step;
}

std::optional<Json> taskRecord(const Json &chunk)
{
    const QString type = stringOf(chunk, "type");
    const QString taskId = stringOf(chunk, "task_id");
    if (taskId.isEmpty())
        return std::nullopt;
    const Json metadata{{"task_id", toUtf8(taskId)}};
    if (type == u"task_started")
        return record("subagent.start", Json{{"task_id", toUtf8(taskId)}, {"description", memberOf(chunk, "description")}}, metadata);
    if (type == u"task_running") {
        const auto index = optionalInt(chunk, "message_index");
        const Json &message = memberOf(chunk, "message");
        if (!index || *index < 0 || !message.is_object())
            return std::nullopt;
        return record("subagent.step", taskStep(taskId, *index, message), Json{{"task_id", toUtf8(taskId)}, {"message_index", *index}});
    }
    for (const QString &status : {QStringLiteral("completed"), QStringLiteral("failed"), QStringLiteral("cancelled"), QStringLiteral("timed_out")}) {
        if (type == QStringLiteral("task_") + status)
            return record("subagent.end", endContent(taskId, status, chunk), metadata);
    }
    return std::nullopt;
}

} // namespace paddock
