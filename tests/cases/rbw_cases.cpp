// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Areas rbw.*
#include "core/base/text.h"
#include "core/middleware/message_edits.h"
#include "core/middleware/read_before_write.h"
#include "core/middleware/tool_error_handling.h"
#include "tests/cases/middleware_support.h"

namespace paddock::cases::rbw_cases {

namespace {

/// The files of a case; "$unreadable" makes the reader fail.
struct Files {
    QMap<QString, QString> content;
};
using FilesPtr = std::shared_ptr<Files>;

Result<QString> readOf(const Files &files, const QString &path)
{
    const auto found = files.content.constFind(normalizedPath(path));
    if (found == files.content.constEnd())
        return fail(ErrorCode::NotFound, QStringLiteral("no such file"));
    if (*found == u"$unreadable")
        return fail(ErrorCode::Io, QStringLiteral("cannot be read"));
    return *found;
}

Task<Result<QString>> answered(Result<QString> result)
{
    co_return result;
}

/// What the real tools would do, in memory.
Result<ToolOutcome> execute(Files &files, const ToolCall &call)
{
    const QString path = normalizedPath(stringOf(call.args, "path"));
    const auto say = [&call](const QString &text, ToolStatus status) -> Result<ToolOutcome> {
        return toolMessage(call.id, call.name, text, status);
    };
    if (call.name == u"read_file") {
        const auto content = readOf(files, path);
        return content ? say(content->isEmpty() ? QStringLiteral("(empty)") : *content, ToolStatus::Success)
                       : say(QStringLiteral("Error: ") + content.error().message, ToolStatus::Error);
    }
    if (stringOf(call.args, "path").isEmpty() || call.name == u"bash")
        return say(QStringLiteral("OK"), ToolStatus::Success);
    QString &content = files.content[path];
    if (call.name == u"write_file") {
        content = boolOf(call.args, "append") ? content + stringOf(call.args, "content") : stringOf(call.args, "content");
    } else if (call.name == u"str_replace") {
        const QString old = stringOf(call.args, "old_str");
        const qsizetype at = content.indexOf(old);
        if (at >= 0)
            content.replace(at, old.size(), stringOf(call.args, "new_str"));
    }
    return say(QStringLiteral("OK"), ToolStatus::Success);
}

struct Session {
    FilesPtr files;
    std::shared_ptr<Chain> chain;
    RuntimePtr runtime = plainRuntime(Json{{"thread_id", "rbw-case"}});
    AgentState state;
    int turn = 0;
};

Result<Json> runTurn(Session &session, const Json &calls)
{
    std::vector<ToolCall> list;
    for (const Json &call : calls)
        list.push_back({stringOf(call, "tool"), memberOf(call, "args"), QStringLiteral("c%1_%2").arg(session.turn).arg(list.size())});
    ++session.turn;
    session.state.messages.append(aiMessage(QString(), list));
    const AgentState snapshot = session.state;
    Json outcomes = Json::array();
    for (const ToolCall &call : list) {
        const FilesPtr files = session.files;
        const auto outcome = awaited(session.chain->runTool(
            toolRequest(session.runtime, call, snapshot),
            toolCore([files](ToolCallRequest request) { return execute(*files, request.context.call); })));
        if (!outcome)
            return std::unexpected(outcome.error());
        const MessagePtr message = std::get<MessagePtr>(*outcome);
        outcomes.push_back(memberOf(message->kwargs, "deerflow_write_block").is_object() ? "blocked" : "run");
        session.state.messages.append(message);
    }
    return outcomes;
}

Verdict sequence(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    Session session;
    session.files = std::make_shared<Files>();
    for (const auto &[path, content] : memberOf(input, "files").items())
        session.files->content[QString::fromStdString(path)] = textOf(content);
    ReadBeforeWriteMiddleware::Options options;
    options.reader = [files = session.files](RuntimePtr, QString path, std::stop_token) { return answered(readOf(*files, path)); };
    const auto chain = chainOf({std::make_shared<ReadBeforeWriteMiddleware>(options), std::make_shared<ToolErrorHandlingMiddleware>()});
    if (!chain)
        return failed(chain.error().message);
    session.chain = *chain;
    Json outcomes = Json::array();
    for (const Json &step : memberOf(input, "steps")) {
        if (step.contains("turn")) {
            const auto turn = runTurn(session, step["turn"]);
            if (!turn)
                return failed(turn.error().message);
            outcomes.push_back(*turn);
        } else if (step.contains("external")) {
            for (const auto &[path, content] : step["external"].items())
                session.files->content[QString::fromStdString(path)] = textOf(content);
            outcomes.push_back("external");
        } else {
            session.state.messages = MessageList();
            outcomes.push_back("dropped");
        }
    }
    Json files = Json::object();
    for (auto it = session.files->content.cbegin(); it != session.files->content.cend(); ++it)
        files[toUtf8(it.key())] = toUtf8(it.value());
    return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"outcomes", outcomes}, {"files", files}}));
}

Verdict blockText(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const qsizetype lines = read_before_write::lineCount(stringOf(input, "content"));
    const QString text = read_before_write::blockText(stringOf(input, "tool"), stringOf(input, "path"), lines);
    return verdictOf(mismatch(memberOf(testCase, "expect"), toJson(text)));
}

Verdict elide(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const auto messages = messageListOf(memberOf(input, "messages"));
    if (!messages)
        return failed(messages.error().message);
    std::vector<std::pair<QString, QString>> fields;
    const MessageList out = read_before_write::elide(*messages, int(intOf(input, "min_chars")), &fields);
    Json elided = Json::array();
    for (const auto &[call, field] : fields)
        elided.push_back(Json::array({toUtf8(call), toUtf8(field)}));
    return verdictOf(mismatch(memberOf(testCase, "expect"), Json{{"elided", elided}, {"messages", messagesToJson(out)}}));
}

/// sandbox.md §9.5 knows the text without the line count only; the gate itself is the same one.
Verdict gate(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    MessageList history;
    for (const Json &mark : memberOf(input, "marks_oldest_first")) {
        history.append(edited(toolMessage(QStringLiteral("c"), QStringLiteral("read_file"), QStringLiteral("x")),
                              [&mark](Message &m) { m.kwargs["deerflow_read_mark"] = mark; }));
    }
    const QString path = stringOf(input, "path");
    const auto content = optionalString(input, "current_content");
    const bool allowed = !content || content->startsWith(QLatin1String("Error:"))
        || read_before_write::newestMark(history, normalizedPath(path)) == sha256Hex(*content);
    Json actual{{"allowed", allowed}};
    if (!allowed)
        actual["message"] = toUtf8(read_before_write::blockText(stringOf(input, "tool"), path, std::nullopt));
    return verdictOf(mismatch(memberOf(testCase, "expect"), actual));
}

const Registrar r1("rbw.sequence", sequence);
const Registrar r2("rbw.block_text", blockText);
const Registrar r3("rbw.elide", elide);
const Registrar r4("rbw.gate", gate);

} // namespace

} // namespace paddock::cases::rbw_cases
