// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/agent/forwarding.h"

#include "core/base/ids.h"

namespace paddock {

namespace {

bool isLiteralTrue(const Json &value)
{
    return value.is_boolean() && value.get<bool>();
}

bool isBareName(const QString &name)
{
    return !name.isEmpty() && name != u"." && name != u".." && !name.contains(u'/') && !name.contains(u'\\') && !name.contains(QChar(0));
}

} // namespace

Json childValues(const Json &parent, const QString &subagentName, const QString &taskId, const QString &modelName)
{
    Json child = Json::object();
    for (const char *key : {"thread_id", "user_id", "user_role", "oauth_provider", "oauth_id", "authz_attributes",
                            "knowledge_scope", "__knowledge_scope_execution", "extensions", "tool_groups", "request_trace_id"}) {
        if (const Json &value = memberOf(parent, key); !value.is_null())
            child[key] = value;
    }
    child["run_id"] = memberOf(parent, "run_id");
    if (parent.is_object() && parent.contains("channel_user_id"))
        child["channel_user_id"] = parent["channel_user_id"];
    child["is_internal"] = isLiteralTrue(memberOf(parent, "is_internal"));
    const QString trace = stringOf(parent, "trace_id");
    child["trace_id"] = toUtf8(trace.isEmpty() ? newShortId().first(8) : trace);
    child["is_subagent"] = true;
    child["agent_id"] = toUtf8(subagentName);
    child["model_name"] = toUtf8(modelName);
    const std::string owner = toUtf8(subagentOwner(taskId).value());
    child["sandbox_lease_owner_id"] = owner;
    child["sandbox_command_scope_id"] = owner;
    return child;
}

bool isValidUploadedFiles(const Json &value)
{
    if (!value.is_array())
        return false;
    for (const Json &file : value) {
        const auto name = optionalString(file, "filename");
        if (!isBareName(name.value_or(stringOf(file, "name"))))
            return false;
    }
    return true;
}

Json childChannels(const Json &parentChannels)
{
    Json child = Json::object();
    for (const char *key : {"sandbox", "thread_data"}) {
        if (const Json &value = memberOf(parentChannels, key); !value.is_null())
            child[key] = value;
    }
    if (const Json &files = memberOf(parentChannels, "uploaded_files"); isValidUploadedFiles(files))
        child["uploaded_files"] = files;
    return child;
}

} // namespace paddock
