// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/agent/step_capture.h"

#include "core/base/text.h"

#include <algorithm>

namespace paddock {

namespace {

constexpr qsizetype maxStepText = 8192;

/// Cuts the member in place of copying it: `key`, and `key`_truncated when it was cut.
void addBounded(Json &content, const char *key, const Json &value)
{
    if (!value.is_string())
        return;
    const QString text = textOf(value);
    content[key] = toUtf8(firstCodePoints(text, maxStepText));
    if (codePointCount(text) > maxStepText)
        content[std::string(key) + "_truncated"] = true;
}

Json boundedCalls(const Json &calls)
{
    Json out = Json::array();
    for (const Json &call : calls) {
        if (!call.is_object())
            continue;
        Json entry{{"name", memberOf(call, "name")}, {"args", memberOf(call, "args")}};
        const QString text = QString::fromUtf8(dumpJson(memberOf(call, "args")));
        if (codePointCount(text) > maxStepText) {
            entry["args"] = toUtf8(firstCodePoints(text, maxStepText));
            entry["args_truncated"] = true;
        }
        out.push_back(std::move(entry));
    }
    return out;
}

QString roleText(const Json &message)
{
    return optionalString(message, "type").value_or(stringOf(message, "role"));
}

Json stored(const char *type, const QString &taskId, Json content)
{
    return Json{{"event_type", type},
                {"category", "subagent"},
                {"content", std::move(content)},
                {"metadata", {{"task_id", toUtf8(taskId)}}}};
}

Json storedStep(const QString &taskId, const Json &event)
{
    const Json &index = memberOf(event, "message_index");
    const Json &message = memberOf(event, "message");
    if (!index.is_number_integer() || index.get<qint64>() < 0 || !message.is_object())
        return nullptr;
    Json out = stored("subagent.step", taskId, stepOf(taskId, index.get<qint64>(), message));
    out["metadata"]["message_index"] = index;
    return out;
}

Json storedEnd(const QString &taskId, const QString &status, const Json &event)
{
    Json content{{"task_id", toUtf8(taskId)}, {"status", toUtf8(status)}};
    for (const char *key : {"model_name", "usage"}) {
        if (!memberOf(event, key).is_null())
            content[key] = memberOf(event, key);
    }
    addBounded(content, "result", memberOf(event, "result"));
    addBounded(content, "error", memberOf(event, "error"));
    return stored("subagent.end", taskId, std::move(content));
}

} // namespace

bool StepCapture::take(const MessagePtr &message)
{
    if (message->role != Role::Ai && message->role != Role::Tool)
        return false;
    if (!message->id.isEmpty()) {
        if (m_seen.contains(message->id))
            return false;
        m_seen.insert(message->id);
    } else if (std::ranges::any_of(m_captured, [&](const MessagePtr &known) { return *known == *message; })) {
        return false;
    }
    m_captured.push_back(message);
    return true;
}

std::vector<MessagePtr> StepCapture::update(const MessageList &snapshot)
{
    std::vector<MessagePtr> fresh;
    if (snapshot.size() > m_cursor) {
        for (qsizetype i = m_cursor; i < snapshot.size(); ++i) {
            if (take(snapshot.at(i)))
                fresh.push_back(snapshot.at(i));
        }
    } else if (!snapshot.isEmpty() && take(snapshot.last())) {
        fresh.push_back(snapshot.last());
    }
    m_cursor = snapshot.size(); // also when it shrank: a compaction
    return fresh;
}

Json stepOf(const QString &taskId, qint64 index, const Json &message)
{
    const bool tool = roleText(message) == u"tool";
    const Json &content = memberOf(message, "content");
    const QString text = content.is_null() ? QString() : textOfContent(content);
    Json step{{"task_id", toUtf8(taskId)},
              {"message_index", index},
              {"kind", tool ? "tool" : "ai"},
              {"text", toUtf8(firstCodePoints(text, maxStepText))},
              {"truncated", codePointCount(text) > maxStepText}};
    if (tool)
        step["tool_name"] = memberOf(message, "name");
    else
        step["tool_calls"] = boundedCalls(memberOf(message, "tool_calls"));
    return step;
}

Json storedTaskEvent(const Json &event)
{
    const QString taskId = stringOf(event, "task_id");
    const QString type = stringOf(event, "type");
    if (taskId.isEmpty())
        return nullptr;
    if (type == u"task_started")
        return stored("subagent.start", taskId,
                      Json{{"task_id", toUtf8(taskId)}, {"description", memberOf(event, "description")}});
    if (type == u"task_running")
        return storedStep(taskId, event);
    for (const char16_t *status : {u"completed", u"failed", u"cancelled", u"timed_out"}) {
        const QString name = QString::fromUtf16(status);
        if (type == QStringLiteral("task_") + name)
            return storedEnd(taskId, name, event);
    }
    return nullptr;
}

} // namespace paddock
