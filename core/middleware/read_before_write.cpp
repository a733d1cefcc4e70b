// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/read_before_write.h"

#include "core/base/async.h"
#include "core/base/run_on.h"
#include "core/base/text.h"
#include "core/middleware/message_edits.h"
#include "core/middleware/sandbox_member.h"
#include "core/middleware/tool_meta.h"

#include <QHash>

#include <algorithm>
#include <mutex>

namespace paddock {

namespace read_before_write {

namespace {

constexpr auto markKey = "deerflow_read_mark";
constexpr auto blockKey = "deerflow_write_block";
constexpr qsizetype hintLines = 30;

bool isHash(const QString &text)
{
    return text.size() == 64 && std::all_of(text.begin(), text.end(), [](QChar c) {
               return (c >= u'0' && c <= u'9') || (c >= u'a' && c <= u'f');
           });
}

} // namespace

QString newestMark(const MessageList &messages, const QString &path)
{
    for (qsizetype i = messages.size() - 1; i >= 0; --i) {
        const MessagePtr &message = messages.at(i);
        if (message->role != Role::Tool)
            continue;
        const Json &mark = memberOf(message->kwargs, markKey);
        if (!mark.is_object() || stringOf(mark, "path") != path)
            continue;
        const QString hash = stringOf(mark, "hash");
        return isHash(hash) ? hash : QString();
    }
    return {};
}

qsizetype lineCount(const QString &text)
{
    if (text.isEmpty())
        return 0;
    return text.count(u'\n') + (text.endsWith(u'\n') ? 0 : 1);
}

QString blockText(const QString &tool, const QString &path, std::optional<qsizetype> lines)
{
    const QString head = QStringLiteral("Error: ") + tool + QStringLiteral(" blocked \u2014 ") + path
        + QStringLiteral(" already exists");
    const QString rule = QStringLiteral(" and you have not read its current version. Any write invalidates earlier reads, so "
                                        "re-read before every modification. Call read_file on it ");
    const QString tail = QStringLiteral(", check what is already there, then retry.");
    if (!lines)
        return head + rule
            + QStringLiteral("(a ranged read of the relevant section is enough, e.g. the last ~30 lines before an append)") + tail;
    const QString count = QStringLiteral(" (%1 %2)").arg(*lines).arg(*lines == 1 ? QStringLiteral("line") : QStringLiteral("lines"));
    QString hint = QStringLiteral("first");
    if (*lines > 0)
        hint += QStringLiteral(" (e.g. start_line=%1, end_line=%2)").arg(std::max<qsizetype>(1, *lines - hintLines + 1)).arg(*lines);
    return head + count + rule + hint + tail;
}

MessagePtr blockMessage(const ToolCall &call, const QString &path, const QString &content)
{
    Message message;
    message.role = Role::Tool;
    message.name = call.name;
    message.toolCallId = call.id;
    message.status = ToolStatus::Error;
    message.content = toJson(blockText(call.name, path, lineCount(content)));
    message.kwargs[blockKey] = Json{{"path", toUtf8(path)}, {"tool", toUtf8(call.name)}};
    // Stamped here, so that a line count like 404 is not read as an HTTP code.
    message.kwargs[toolMetaKey] = ToolMeta{QStringLiteral("error"), {}, true, QStringLiteral("try_alternative"),
                                           QStringLiteral("tool_return")}
                                      .toJson();
    return makeMessage(std::move(message));
}

MessageList elide(const MessageList &messages, int minChars, std::vector<std::pair<QString, QString>> *elided)
{
    const bool any = std::any_of(messages.begin(), messages.end(), [](const MessagePtr &message) {
        return message->role == Role::Tool && memberOf(message->kwargs, blockKey).is_object();
    });
    if (!any)
        return messages;
    QHash<qsizetype, QHash<QString, Json>> rewrites; // ai message -> call id -> arguments
    for (const PairedCall &pair : pairCalls(messages)) {
        if (pair.result < 0 || !memberOf(messages.at(pair.result)->kwargs, blockKey).is_object())
            continue;
        const ToolCall &call = messages.at(pair.ai)->toolCalls[std::size_t(pair.callIndex)];
        Json args = call.args;
        bool changed = false;
        for (const char *field : {"content", "old_str", "new_str"}) {
            const bool payload = (call.name == u"write_file") == (qstrcmp(field, "content") == 0);
            const QString text = stringOf(args, field);
            const qsizetype chars = codePointCount(text);
            if (!payload || chars == 0 || chars < minChars)
                continue;
            args[field] = toUtf8(QStringLiteral("[payload elided: %1 chars; this %2 call was blocked by the read-before-write "
                                                "gate and nothing was written]")
                                     .arg(QString::number(chars), call.name));
            changed = true;
            if (elided != nullptr)
                elided->push_back({call.id, QString::fromLatin1(field)});
        }
        if (changed)
            rewrites[pair.ai].insert(call.id, args);
    }
    MessageList out = messages;
    for (auto it = rewrites.cbegin(); it != rewrites.cend(); ++it)
        out.replace(it.key(), rewriteCallArgs(messages.at(it.key()), it.value()));
    if (!rewrites.isEmpty())
        dropServerHistoryIds(out);
    return out;
}

QString lockKey(const QString &threadId, const QString &sandboxId, const QString &path)
{
    const QString scope = !threadId.isEmpty() ? QStringLiteral("thread:") + threadId
        : !sandboxId.isEmpty()                ? QStringLiteral("sandbox:") + sandboxId
                                              : QStringLiteral("global");
    return scope + u'\n' + path;
}

} // namespace read_before_write

namespace {

using namespace read_before_write;

constexpr qsizetype poolHashChars = 256 * 1024;

/// One async lock per key for the whole process; an unused one is dropped. Thread-safe.
class PathLocks
{
public:
    std::shared_ptr<AsyncMutex> of(const QString &key)
    {
        const std::lock_guard lock(m_mutex);
        if (m_locks.size() > sweepAbove)
            m_locks.removeIf([](const auto &entry) { return entry.value().expired(); });
        std::weak_ptr<AsyncMutex> &slot = m_locks[key];
        std::shared_ptr<AsyncMutex> own = slot.lock();
        if (!own) {
            own = std::make_shared<AsyncMutex>();
            slot = own;
        }
        return own;
    }

    static PathLocks &process()
    {
        static PathLocks locks;
        return locks;
    }

private:
    static constexpr qsizetype sweepAbove = 256;
    std::mutex m_mutex; // guards m_locks
    QHash<QString, std::weak_ptr<AsyncMutex>> m_locks;
};

std::shared_ptr<AsyncMutex> lockFor(const ToolCallContext &context, const QString &path)
{
    return PathLocks::process().of(
        lockKey(stringOf(context.runtime->values, "thread_id"), sandboxIdOf(context.state), path));
}

Task<QString> hashOf(QString content)
{
    if (content.size() <= poolHashChars)
        co_return sha256Hex(content);
    co_return co_await runOnPool([content] { return sha256Hex(content); });
}

Task<Result<QString>> readThroughSandbox(RuntimePtr runtime, QString path, std::stop_token stop)
{
    if (!runtime->sandbox)
        co_return fail(ErrorCode::Unavailable, QStringLiteral("this run has no sandbox"));
    const Result<SandboxPtr> sandbox = co_await runtime->sandbox->ensure(stop);
    if (!sandbox) {
        Error error = sandbox.error();
        if (error.code == ErrorCode::PermissionDenied)
            error.details = Json{{"denied", "sandbox:execute"}}; // unlike a file that may not be read
        co_return std::unexpected(std::move(error));
    }
    co_return co_await (*sandbox)->readFile(path, stop);
}

/// Remote sandboxes report failures as text.
bool isReadable(const Result<QString> &content)
{
    return content && !content->startsWith(QLatin1String("Error:"));
}

/// The in-band answers of read_file that showed no content (sandbox.md §2.5); "(empty)" did show it.
bool showedNothing(const QString &text)
{
    return text.startsWith(QLatin1String("(start_line must be")) || text.startsWith(QLatin1String("(end_line must be"))
        || text.startsWith(QLatin1String("(start_line exceeds")) || text.startsWith(QLatin1String("(start_line > end_line"));
}

MessagePtr withMark(const MessagePtr &message, const QString &path, const QString &hash)
{
    return edited(message, [&](Message &m) {
        if (!m.kwargs.is_object())
            m.kwargs = Json::object();
        m.kwargs["deerflow_read_mark"] = Json{{"path", toUtf8(path)}, {"hash", toUtf8(hash)}};
    });
}

/// The tool message of an outcome; for a command the last one.
MessagePtr *toolMessageOf(ToolOutcome &outcome)
{
    if (auto *message = std::get_if<MessagePtr>(&outcome))
        return message;
    std::vector<MessagePtr> &messages = std::get<Command>(outcome).update.messages;
    for (auto it = messages.rbegin(); it != messages.rend(); ++it) {
        if ((*it)->role == Role::Tool)
            return &*it;
    }
    return nullptr;
}

} // namespace

ReadBeforeWriteMiddleware::ReadBeforeWriteMiddleware() : ReadBeforeWriteMiddleware(Options{}) {}

ReadBeforeWriteMiddleware::ReadBeforeWriteMiddleware(Options options)
    : m_options(options.reader ? std::move(options)
                               : Options{options.elideBlockedPayloads, options.elideMinChars, readThroughSandbox})
{
}

Hooks ReadBeforeWriteMiddleware::hooks() const
{
    return m_options.elideBlockedPayloads ? Hook::WrapModelCall | Hook::WrapToolCall : Hooks(Hook::WrapToolCall);
}

Task<Result<ModelResponse>> ReadBeforeWriteMiddleware::wrapModelCall(ModelCall call, ModelNext next)
{
    call.request.messages = elide(call.request.messages, m_options.elideMinChars);
    return next(std::move(call));
}

Task<Result<ToolOutcome>> ReadBeforeWriteMiddleware::wrapToolCall(ToolCallRequest request, ToolNext next)
{
    const QString tool = request.context.call.name;
    const QString path = stringOf(request.context.call.args, "path");
    if (path.isEmpty())
        return next(std::move(request));
    if (tool == u"write_file" || tool == u"str_replace")
        return gatedWrite(std::move(request), std::move(next), path);
    if (tool == u"read_file")
        return markedRead(std::move(request), std::move(next), path);
    return next(std::move(request));
}

Task<Result<ToolOutcome>> ReadBeforeWriteMiddleware::gatedWrite(ToolCallRequest request, ToolNext next, QString path)
{
    const QString markPath = normalizedPath(path);
    const std::shared_ptr<AsyncMutex> mutex = lockFor(request.context, markPath);
    const AsyncMutex::Guard guard = co_await mutex->lock(request.context.stop);
    if (!guard)
        co_return cancelled();
    const FileReader reader = m_options.reader;
    const Result<QString> content = co_await reader(request.context.runtime, path, request.context.stop);
    if (request.context.stop.stop_requested() || (!content && content.error().isCancelled()))
        co_return cancelled();
    if (!content && memberOf(content.error().details, "denied").is_string()) // never fail open
        co_return toolMessage(request.context.call.id, request.context.call.name,
                              QStringLiteral("Error: ") + content.error().message, ToolStatus::Error);
    if (isReadable(content)) {
        const QString hash = co_await hashOf(*content);
        if (newestMark(request.context.state.messages, markPath) != hash)
            co_return blockMessage(request.context.call, path, *content);
    }
    co_return co_await next(std::move(request)); // new, unreadable (fail open), or read in its current version
}

Task<Result<ToolOutcome>> ReadBeforeWriteMiddleware::markedRead(ToolCallRequest request, ToolNext next, QString path)
{
    const QString markPath = normalizedPath(path);
    const std::shared_ptr<AsyncMutex> mutex = lockFor(request.context, markPath);
    const AsyncMutex::Guard guard = co_await mutex->lock(request.context.stop);
    if (!guard)
        co_return cancelled();
    const FileReader reader = m_options.reader;
    const RuntimePtr runtime = request.context.runtime;
    const std::stop_token stop = request.context.stop;
    Result<ToolOutcome> outcome = co_await next(std::move(request));
    if (!outcome)
        co_return outcome;
    MessagePtr *message = toolMessageOf(*outcome);
    if (message == nullptr || (*message)->status == ToolStatus::Error || showedNothing(textOf(*message))
        || textOf(*message).startsWith(QLatin1String("Error:")))
        co_return outcome;
    const Result<QString> content = co_await reader(runtime, path, stop);
    if (isReadable(content))
        *message = withMark(*message, markPath, co_await hashOf(*content));
    co_return outcome;
}

} // namespace paddock
