// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/message/message.h"

namespace paddock {

namespace {

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
    for (const InvalidToolCall &call : calls)
        list.push_back(Json{{"name", toUtf8(call.name)}, {"args", call.args}, {"id", toUtf8(call.id)},
                            {"error", toUtf8(call.error)}, {"type", "invalid_tool_call"}});
    return list;
}

std::optional<Role> roleFromName(const QString &name)
{
    static const std::pair<const char16_t *, Role> names[] = {
        {u"system", Role::System}, {u"human", Role::Human}, {u"user", Role::Human},   {u"ai", Role::Ai},
        {u"assistant", Role::Ai},  {u"tool", Role::Tool},   {u"remove", Role::Remove}};
    for (const auto &[text, role] : names) {
        if (name == QStringView(text))
            return role;
    }
    return std::nullopt;
}

} // namespace

Json usageToJson(const Usage &usage)
{
    Json json{{"input_tokens", usage.input}, {"output_tokens", usage.output}, {"total_tokens", usage.total}};
    Json inputDetails = Json::object();
    if (usage.cacheRead)
        inputDetails["cache_read"] = usage.cacheRead;
    if (usage.cacheCreation)
        inputDetails["cache_creation"] = usage.cacheCreation;
    if (!inputDetails.empty())
        json["input_token_details"] = std::move(inputDetails);
    if (usage.reasoning)
        json["output_token_details"] = Json{{"reasoning", usage.reasoning}};
    return json;
}

Usage usageFromJson(const Json &json)
{
    Usage usage;
    usage.input = intOf(json, "input_tokens");
    usage.output = intOf(json, "output_tokens");
    usage.total = intOf(json, "total_tokens", usage.input + usage.output);
    usage.cacheRead = intOf(memberOf(json, "input_token_details"), "cache_read");
    usage.cacheCreation = intOf(memberOf(json, "input_token_details"), "cache_creation");
    usage.reasoning = intOf(memberOf(json, "output_token_details"), "reasoning");
    return usage;
}

Json messageToJson(const Message &message)
{
    Json json{{"type", toUtf8(roleName(message.role))}};
    if (!message.id.isEmpty())
        json["id"] = toUtf8(message.id);
    if (!message.name.isEmpty())
        json["name"] = toUtf8(message.name);
    json["content"] = message.content;
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
        return fail(ErrorCode::InvalidArgument, QStringLiteral("A message must be a JSON object"));
    const QString name = stringOf(json, "type", stringOf(json, "role"));
    const auto role = roleFromName(name);
    if (!role)
        return fail(ErrorCode::InvalidArgument, QStringLiteral("A message has the unknown type '%1'").arg(name));
    Message message;
    message.role = *role;
    message.id = stringOf(json, "id");
    message.name = stringOf(json, "name");
    if (json.contains("content"))
        message.content = json["content"];
    for (const Json &call : memberOf(json, "tool_calls"))
        message.toolCalls.push_back({stringOf(call, "name"), memberOf(call, "args"), stringOf(call, "id")});
    for (const Json &call : memberOf(json, "invalid_tool_calls"))
        message.invalidToolCalls.push_back(
            {stringOf(call, "name"), memberOf(call, "args"), stringOf(call, "id"), stringOf(call, "error")});
    message.toolCallId = stringOf(json, "tool_call_id");
    message.status = stringOf(json, "status") == u"error" ? ToolStatus::Error : ToolStatus::Success;
    message.artifact = memberOf(json, "artifact");
    const Json &kwargs = json.contains("additional_kwargs") ? json["additional_kwargs"] : memberOf(json, "kwargs");
    if (kwargs.is_object())
        message.kwargs = kwargs;
    const Json &metadata = memberOf(json, "response_metadata");
    if (metadata.is_object())
        message.responseMetadata = metadata;
    const Json &usage = json.contains("usage_metadata") ? json["usage_metadata"] : memberOf(json, "usage");
    if (usage.is_object())
        message.usage = usageFromJson(usage);
    return message;
}

} // namespace paddock
