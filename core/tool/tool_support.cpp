// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/tool/tool_support.h"

#include "core/base/text.h"
#include "core/sandbox/virtual_paths.h"

namespace paddock::tools {

ToolSpec makeSpec(const QString &name, const QString &description, const std::vector<Parameter> &parameters)
{
    Json properties{{"description", {{"type", "string"},
                                     {"description", "Explain in a few words why you use this tool. Always give it first."}}}};
    Json required = Json::array({"description"});
    for (const Parameter &parameter : parameters) {
        properties[parameter.name] = parameter.schema;
        if (parameter.required)
            required.push_back(parameter.name);
    }
    return {name, description, Json{{"type", "object"}, {"properties", properties}, {"required", required}}};
}

ToolOutcome answer(const ToolCall &call, const QString &text)
{
    return toolMessage(call.id, call.name, text);
}

ToolOutcome failure(const ToolCall &call, const QString &text)
{
    const QString prefix = QStringLiteral("Error: ");
    return toolMessage(call.id, call.name, text.startsWith(prefix) ? text : prefix + text, ToolStatus::Error);
}

Task<Result<SandboxPtr>> acquire(RuntimePtr runtime, std::stop_token stop)
{
    const auto refuse = [](const QString &text) { return fail(ErrorCode::FailedPrecondition, text); };
    if (!runtime || !runtime->sandbox)
        co_return refuse(QStringLiteral("Error: Tool runtime not available"));
    if (runtime->sandbox->key().thread.isEmpty())
        co_return refuse(QStringLiteral("Error: Thread ID not available in runtime context"));
    auto sandbox = co_await runtime->sandbox->ensure(stop);
    if (sandbox && *sandbox)
        co_return sandbox;
    if (!sandbox && sandbox.error().isCancelled())
        co_return std::unexpected(sandbox.error());
    const QString id = runtime->sandbox->currentId().value();
    if (sandbox)
        co_return refuse(QStringLiteral("Error: Sandbox not found after acquisition (sandbox_id=") + id + u')');
    const QString message = sandbox.error().fullMessage();
    if (message.startsWith(QLatin1String("Sandbox not found after acquisition")))
        co_return refuse(QStringLiteral("Error: ") + message);
    co_return refuse(QStringLiteral("Error: Unexpected error initializing sandbox: ") + truncateWriteError(message));
}

Trouble troubleOf(const Error &error, bool wantsDirectory)
{
    const QString reason = stringOf(error.details, fileErrorReasonKey);
    const QString type = stringOf(error.details, "error_type");
    if (reason == QLatin1String(reasonBinary) || type == u"decode_error")
        return Trouble::Binary;
    if (!stringOf(error.details, fileErrorKindKey).isEmpty())
        return Trouble::Special;
    if (reason == QLatin1String(reasonNotDirectory))
        return wantsDirectory ? Trouble::NotDirectory : Trouble::NotFound;
    if (reason == QLatin1String(reasonIsDirectory) || type == u"invalid_target")
        return wantsDirectory ? Trouble::NotDirectory : Trouble::IsDirectory;
    if (error.code == ErrorCode::NotFound || type == u"not_found")
        return Trouble::NotFound;
    if (error.code == ErrorCode::PermissionDenied || type == u"permission_denied" || type == u"read_only_filesystem")
        return Trouble::Permission;
    return Trouble::Other;
}

QString specialFileText(const Error &error, const QString &path)
{
    return QStringLiteral("Error: Path is ") + stringOf(error.details, fileErrorKindKey) + QStringLiteral(", not a regular file: ") + path;
}

std::optional<QString> SkillGate::refusal(const QString &path)
{
    if (!m_options.isSkillDisabled)
        return std::nullopt;
    const auto skill = skillNameOf(normalizeVirtualPath(path), m_options.skillsRoot);
    if (!skill)
        return std::nullopt;
    auto it = m_verdicts.find(*skill);
    if (it == m_verdicts.end())
        it = m_verdicts.insert(*skill, m_options.isSkillDisabled(*skill));
    return *it ? std::optional(disabledSkillText(*skill)) : std::nullopt;
}

} // namespace paddock::tools
