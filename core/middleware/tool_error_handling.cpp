// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/tool_error_handling.h"

#include "core/base/text.h"
#include "core/middleware/message_edits.h"
#include "core/middleware/scrub.h"
#include "core/middleware/tool_meta.h"

namespace paddock {

namespace {

constexpr qsizetype maxDetailChars = 500;
constexpr qsizetype maxDescriptionChars = 500;

/// The class name that models know such a failure by.
QString className(const Error &error)
{
    const QString thrown = stringOf(error.details, "exception_class");
    if (!thrown.isEmpty())
        return thrown;
    const QString given = stringOf(error.details, "cls");
    if (!given.isEmpty())
        return given;
    switch (error.code) {
    case ErrorCode::InvalidArgument: return QStringLiteral("ValueError");
    case ErrorCode::NotFound: return QStringLiteral("FileNotFoundError");
    case ErrorCode::AlreadyExists: return QStringLiteral("FileExistsError");
    case ErrorCode::PermissionDenied: return QStringLiteral("PermissionError");
    case ErrorCode::Unavailable: return QStringLiteral("ConnectionError");
    case ErrorCode::Timeout: return QStringLiteral("TimeoutError");
    case ErrorCode::Io: return QStringLiteral("OSError");
    default: return QStringLiteral("RuntimeError");
    }
}

QString detailOf(const Error &error)
{
    return error.details.is_object() && error.details.contains("exception") ? stringOf(error.details, "exception")
                                                                           : error.fullMessage();
}

/// `description:` of the front matter, as far as one line tells it.
QString frontMatterDescription(const QString &text)
{
    const QStringList lines = text.split(u'\n');
    if (lines.isEmpty() || pythonStrip(lines.first()) != u"---")
        return {};
    for (qsizetype i = 1; i < lines.size(); ++i) {
        const QString line = pythonStrip(lines.at(i));
        if (line == u"---")
            break;
        if (!line.startsWith(QLatin1String("description:")))
            continue;
        QString value = pythonStrip(line.mid(int(qstrlen("description:"))));
        if (value.size() >= 2 && (value.front() == u'"' || value.front() == u'\'') && value.back() == value.front())
            value = value.mid(1, value.size() - 2);
        return firstCodePoints(value, maxDescriptionChars);
    }
    return {};
}

} // namespace

MessagePtr ToolErrorHandlingMiddleware::failureMessage(const ToolCall &call, const QString &type, const QString &detail)
{
    QString text = pythonStrip(detail);
    if (text.isEmpty())
        text = type;
    if (codePointCount(text) > maxDetailChars)
        text = firstCodePoints(text, maxDetailChars - 3) + QStringLiteral("...");
    const QString name = call.name.isEmpty() ? QStringLiteral("unknown_tool") : call.name;
    const QString failure = type + QStringLiteral(": ") + text;
    Message message;
    message.role = Role::Tool;
    message.name = name;
    message.toolCallId = call.id.isEmpty() ? QStringLiteral("missing_tool_call_id") : call.id;
    message.status = ToolStatus::Error;
    message.kwargs[toolMetaKey] = classifyErrorText(failure, QStringLiteral("exception")).toJson();
    if (name == u"task") {
        const bool ended = text.endsWith(u'.') || text.endsWith(u'!') || text.endsWith(u'?');
        message.content = toJson(QStringLiteral("Task failed. Error: ") + failure + (ended ? QString() : QStringLiteral("."))
                                 + QStringLiteral(" Continue with available context, or choose an alternative tool."));
        message.kwargs["subagent_status"] = "failed";
        message.kwargs["subagent_error"] = toUtf8(failure);
    } else {
        message.content = toJson(QStringLiteral("Error: Tool '%1' failed with ").arg(name) + failure
                                 + QStringLiteral(". Continue with available context, or choose an alternative tool."));
    }
    return makeMessage(std::move(message));
}

std::optional<Json> ToolErrorHandlingMiddleware::skillEntry(const Message &message, const ToolCall &call) const
{
    if (!m_options.skillReadTools.contains(call.name) || message.status == ToolStatus::Error || !message.content.is_string())
        return std::nullopt;
    QString path;
    for (const char *key : {"path", "file_path", "filepath"}) {
        if (path.isEmpty())
            path = stringOf(call.args, key);
    }
    if (path.isEmpty())
        return std::nullopt;
    path = normalizedPath(path);
    const QString text = textOf(message.content);
    if (!path.startsWith(m_options.skillsRoot + u'/') || !path.endsWith(QLatin1String("/SKILL.md"))
        || text.startsWith(QLatin1String("Error:")))
        return std::nullopt;
    return Json{{"path", toUtf8(path)}, {"description", toUtf8(frontMatterDescription(text))}};
}

MessagePtr ToolErrorHandlingMiddleware::stamped(const MessagePtr &message, const ToolCall &call) const
{
    if (message->role != Role::Tool)
        return message;
    const std::optional<Json> entry = skillEntry(*message, call);
    const bool hasMeta = memberOf(message->kwargs, toolMetaKey).is_object();
    if (!entry && hasMeta)
        return message;
    return edited(message, [&](Message &m) {
        if (!m.kwargs.is_object())
            m.kwargs = Json::object();
        if (entry)
            m.kwargs["skill_context_entry"] = *entry;
        if (!hasMeta)
            m.kwargs[toolMetaKey] =
                classifyToolResult(textOf(m.content), m.status, m.name.isEmpty() ? call.name : m.name).toJson();
    });
}

Task<Result<ToolOutcome>> ToolErrorHandlingMiddleware::wrapToolCall(ToolCallRequest request, ToolNext next)
{
    const ToolCall call = request.context.call;
    const RuntimePtr runtime = request.context.runtime;
    AgentState paths; // only what masking needs, so that the history is not held by a long call
    paths.channels["thread_data"] = memberOf(request.context.state.channels, "thread_data");
    const Result<ToolOutcome> outcome = co_await next(std::move(request));
    if (!outcome) {
        if (isControlSignal(outcome.error()))
            co_return outcome;
        const QString detail = scrubSecrets(scrubHostPaths(detailOf(outcome.error()), paths), runtime.get());
        co_return failureMessage(call, className(outcome.error()), detail);
    }
    if (const auto *message = std::get_if<MessagePtr>(&*outcome))
        co_return stamped(*message, call);
    co_return outcome;
}

} // namespace paddock
