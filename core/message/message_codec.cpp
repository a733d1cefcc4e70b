// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// The JSON form of messages: middleware-base §1.6 and §20, runtime.md conventions.
#include "core/base/text.h"
#include "core/message/message.h"

namespace paddock {

namespace {

std::optional<Role> roleFromName(const QString &name)
{
    // Chunk classes of the reference become full messages (middleware-base §1.5, rule 1).
    static const std::pair<QLatin1String, Role> known[] = {
        {QLatin1String("system"), Role::System},        {QLatin1String("SystemMessageChunk"), Role::System},
        {QLatin1String("human"), Role::Human},          {QLatin1String("user"), Role::Human},
        {QLatin1String("HumanMessageChunk"), Role::Human}, {QLatin1String("ai"), Role::Ai},
        {QLatin1String("assistant"), Role::Ai},         {QLatin1String("AIMessageChunk"), Role::Ai},
        {QLatin1String("tool"), Role::Tool},            {QLatin1String("ToolMessageChunk"), Role::Tool},
        {QLatin1String("remove"), Role::Remove},
    };
    for (const auto &[text, role] : known) {
        if (name == text)
            return role;
    }
    return std::nullopt;
}

/// The member under the first of two spellings that is there.
const Json &either(const Json &object, const char *first, const char *second)
{
    const Json &member = memberOf(object, first);
    return member.is_null() ? memberOf(object, second) : member;
}

Json objectOrEmpty(const Json &value)
{
    return value.is_object() ? value : Json::object();
}

Result<std::vector<ToolCall>> readCalls(const Json &list)
{
    std::vector<ToolCall> calls;
    if (list.is_null())
        return calls;
    if (!list.is_array())
        return fail(ErrorCode::InvalidArgument, QStringLiteral("tool_calls of a message is not a list"));
    for (const Json &item : list) {
        if (!item.is_object())
            return fail(ErrorCode::InvalidArgument, QStringLiteral("A tool call is not an object"));
        ToolCall call;
        call.name = stringOf(item, "name");
        call.id = stringOf(item, "id");
        if (item.contains("args"))
            call.args = item["args"].is_null() ? Json::object() : item["args"];
        calls.push_back(std::move(call));
    }
    return calls;
}

std::vector<InvalidToolCall> readInvalidCalls(const Json &list)
{
    std::vector<InvalidToolCall> calls;
    if (!list.is_array())
        return calls;
    for (const Json &item : list) {
        if (item.is_object())
            calls.push_back({stringOf(item, "name"), memberOf(item, "args"), stringOf(item, "id"), stringOf(item, "error")});
    }
    return calls;
}

Json callsToJson(const std::vector<ToolCall> &calls)
{
    Json list = Json::array();
    for (const ToolCall &call : calls)
        list.push_back(Json{{"name", toUtf8(call.name)}, {"args", call.args}, {"id", toUtf8(call.id)}, {"type", "tool_call"}});
    return list;
}

Json invalidCallsToJson(const std::vector<InvalidToolCall> &calls)
{
    Json list = Json::array();
    for (const InvalidToolCall &call : calls) {
        list.push_back(Json{{"name", toUtf8(call.name)},
                            {"args", call.args},
                            {"id", toUtf8(call.id)},
                            {"error", call.error.isEmpty() ? Json(nullptr) : toJson(call.error)},
                            {"type", "invalid_tool_call"}});
    }
    return list;
}

} // namespace

Json usageToJson(const Usage &usage)
{
    Json json{{"input_tokens", usage.input}, {"output_tokens", usage.output}, {"total_tokens", usage.total}};
    Json details = Json::object();
    if (usage.cacheRead != 0)
        details["cache_read"] = usage.cacheRead;
    if (usage.cacheCreation != 0)
        details["cache_creation"] = usage.cacheCreation;
    if (!details.empty())
        json["input_token_details"] = std::move(details);
    if (usage.reasoning != 0)
        json["output_token_details"] = Json{{"reasoning", usage.reasoning}};
    return json;
}

Usage usageFromJson(const Json &json)
{
    Usage usage;
    usage.input = intOf(json, "input_tokens");
    usage.output = intOf(json, "output_tokens");
    usage.total = intOf(json, "total_tokens", usage.input + usage.output);
    const Json &in = memberOf(json, "input_token_details");
    usage.cacheRead = intOf(in, "cache_read");
    usage.cacheCreation = intOf(in, "cache_creation");
    usage.reasoning = intOf(memberOf(json, "output_token_details"), "reasoning");
    return usage;
}

Json messageToJson(const Message &message)
{
    Json json{{"type", toUtf8(roleName(message.role))}};
    if (message.role == Role::Remove) {
        json["id"] = toUtf8(message.id);
        return json;
    }
    json["content"] = message.content;
    if (!message.id.isEmpty())
        json["id"] = toUtf8(message.id);
    if (!message.name.isEmpty())
        json["name"] = toUtf8(message.name);
    if (!message.toolCalls.empty())
        json["tool_calls"] = callsToJson(message.toolCalls);
    if (!message.invalidToolCalls.empty())
        json["invalid_tool_calls"] = invalidCallsToJson(message.invalidToolCalls);
    if (message.role == Role::Tool) {
        json["tool_call_id"] = toUtf8(message.toolCallId);
        json["status"] = message.status == ToolStatus::Error ? "error" : "success";
        if (!message.artifact.is_null())
            json["artifact"] = message.artifact;
    }
    if (!message.kwargs.empty())
        json["additional_kwargs"] = message.kwargs;
    if (!message.responseMetadata.empty())
        json["response_metadata"] = message.responseMetadata;
    if (message.usage)
        json["usage_metadata"] = usageToJson(*message.usage);
    return json;
}

Result<Message> messageFromJson(const Json &json)
{
    if (!json.is_object())
        return fail(ErrorCode::InvalidArgument, QStringLiteral("A message is not a JSON object"));
    const QString typeName = textOf(either(json, "type", "role"));
    const std::optional<Role> role = roleFromName(typeName);
    if (!role)
        return fail(ErrorCode::InvalidArgument, QStringLiteral("Unknown message type '%1'").arg(typeName.left(64)));
    Message message;
    message.role = *role;
    message.id = stringOf(json, "id");
    message.name = stringOf(json, "name");
    const Json &content = memberOf(json, "content");
    message.content = content.is_null() ? Json("") : content;
    auto calls = readCalls(memberOf(json, "tool_calls"));
    if (!calls)
        return fail(calls.error());
    message.toolCalls = std::move(*calls);
    message.invalidToolCalls = readInvalidCalls(memberOf(json, "invalid_tool_calls"));
    message.toolCallId = stringOf(json, "tool_call_id");
    message.status = stringOf(json, "status") == u"error" ? ToolStatus::Error : ToolStatus::Success;
    message.artifact = memberOf(json, "artifact");
    message.kwargs = objectOrEmpty(either(json, "additional_kwargs", "kwargs"));
    message.responseMetadata = objectOrEmpty(memberOf(json, "response_metadata"));
    const Json &usage = either(json, "usage_metadata", "usage");
    if (usage.is_object())
        message.usage = usageFromJson(usage);
    return message;
}

Json messageToStoredJson(const Message &message)
{
    Json json = messageToJson(message);
    json.erase("id");
    return json;
}

QString contentHash(const Message &message)
{
    return sha256Hex(dumpJsonPythonSorted(messageToStoredJson(message)));
}

QString contentHash(const MessagePtr &message)
{
    if (const auto known = message->hash.value.load())
        return *known;
    auto fresh = std::make_shared<const QString>(contentHash(*message));
    message->hash.value.store(fresh);
    return *fresh;
}

} // namespace paddock
