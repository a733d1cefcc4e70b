// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/tool_output_budget.h"

#include "core/base/run_on.h"
#include "core/base/text.h"
#include "core/middleware/message_edits.h"
#include "core/middleware/output_synopsis.h"
#include "core/middleware/sandbox_member.h"
#include "core/middleware/superseded_writes.h"
#include "core/sandbox/beneath.h"

#include <QDir>
#include <QFile>
#include <QLoggingCategory>

namespace paddock {

namespace {

Q_LOGGING_CATEGORY(lcOutputBudget, "paddock.middleware.output")

using OutputBudgetPtr = std::shared_ptr<const OutputBudgetOptions>;
using Action = output_budget::Action;

constexpr qsizetype storedMaxBytes = 64 * 1024 * 1024; ///< more is not written to a thread's folder
constexpr auto virtualOutputs = "/mnt/user-data/outputs";

/// Where results of this call can be written; made after the call.
struct OutputStore {
    QString outputsFolder; ///< on this host; empty: unknown
    bool inSandbox = false; ///< the model has a sandbox that sees other folders than this host's
    SandboxPtr sandbox;
    ScopeId scope;
    std::stop_token stop;
};

OutputStore storeOf(const OutputBudgetOptions &options, const ToolCallContext &context)
{
    OutputStore store;
    store.outputsFolder = stringOf(memberOf(context.state.channels, "thread_data"), "outputs_path");
    store.stop = context.stop;
    const RuntimePtr &runtime = context.runtime;
    if (options.threadFoldersMounted || !runtime)
        return store;
    // The call may have acquired a sandbox that its state, a snapshot, does not know yet.
    store.inSandbox = !sandboxIdOf(context.state).isEmpty() || (runtime->sandbox && !runtime->sandbox->currentId().isEmpty());
    if (runtime->sandbox) {
        store.sandbox = runtime->sandbox->current();
        store.scope = runtime->sandbox->scope();
    }
    return store;
}

QString toolOf(const Message &message)
{
    return message.name.isEmpty() ? QStringLiteral("unknown") : message.name;
}

MessagePtr replaced(const MessagePtr &message, const QString &text, const char *kind)
{
    return edited(message, [&](Message &m) {
        m.content = toJson(text);
        appendTransform(m.kwargs, QString::fromLatin1(kind), QStringLiteral("ToolOutputBudgetMiddleware"));
    });
}

MessagePtr truncated(const OutputBudgetOptions &options, const MessagePtr &message, const QString &text)
{
    return replaced(message,
                    output_budget::fallback(text, toolOf(*message), options.fallbackMaxChars, options.fallbackHeadChars,
                                            options.fallbackTailChars),
                    "output_truncated");
}

/// Beneath the outputs folder without following a link that stands in it: whoever owns the sandbox owns that folder too.
Result<void> writeOnHost(const QString &outputsFolder, const QString &subdir, const QString &name, const QString &text)
{
    const QByteArray bytes = text.toUtf8();
    if (bytes.size() > storedMaxBytes)
        return fail(ErrorCode::ResourceExhausted, QStringLiteral("The result has more than %1 bytes").arg(storedMaxBytes));
    if (!QDir().mkpath(outputsFolder))
        return fail(ErrorCode::Io, QStringLiteral("The outputs folder cannot be created"));
    const auto root = openRoot(QFile::encodeName(outputsFolder));
    if (!root)
        return std::unexpected(root.error());
    return writeAtomicBeneath(root->get(), QFile::encodeName(subdir + u'/' + name), bytes);
}

QString inSingleQuotes(QString text)
{
    return u'\'' + text.replace(u'\'', QLatin1String("'\"'\"'")) + u'\'';
}

Task<Result<QString>> answerOf(OutputStore store, QString command)
{
    CommandRequest request;
    request.command = std::move(command);
    request.scope = store.scope;
    const Result<CommandResult> result = co_await store.sandbox->execute(std::move(request), store.stop);
    if (!result)
        co_return std::unexpected(result.error());
    co_return pythonStrip(result->text);
}

Task<Result<void>> writeInSandbox(OutputStore store, QString folder, QString path, QString text)
{
    if (!store.sandbox)
        co_return fail(ErrorCode::Unavailable, QStringLiteral("The sandbox is not held by this run"));
    const auto made = co_await answerOf(store, QStringLiteral("mkdir -p ") + inSingleQuotes(folder));
    if (!made)
        co_return std::unexpected(made.error());
    const auto written = co_await store.sandbox->writeFile(path, std::move(text), false, store.stop);
    if (!written)
        co_return std::unexpected(written.error());
    const auto verdict =
        co_await answerOf(store, QStringLiteral("test -s ") + inSingleQuotes(path) + QStringLiteral(" && echo OK || echo MISSING"));
    if (!verdict)
        co_return std::unexpected(verdict.error());
    if (*verdict != u"OK") // an error text that holds "OK" is none
        co_return fail(ErrorCode::Io, QStringLiteral("The written file is missing or empty"));
    co_return Result<void>();
}

/// The virtual path of the stored text.
Task<Result<QString>> stored(OutputBudgetPtr options, OutputStore store, QString tool, QString text)
{
    if (!output_budget::isValidSubdir(options->storageSubdir))
        co_return fail(ErrorCode::InvalidArgument, QStringLiteral("The storage folder is not one path segment"));
    const QString name = output_budget::fileName(tool);
    const QString folder = QString::fromLatin1(virtualOutputs) + u'/' + options->storageSubdir;
    const QString path = folder + u'/' + name;
    Result<void> written;
    if (store.inSandbox) {
        written = co_await writeInSandbox(std::move(store), folder, path, std::move(text));
    } else if (store.outputsFolder.isEmpty()) {
        written = fail(ErrorCode::Unavailable, QStringLiteral("The thread has no outputs folder"));
    } else {
        written = co_await runOnPool([folder = store.outputsFolder, subdir = options->storageSubdir, name, text] {
            return writeOnHost(folder, subdir, name, text);
        });
    }
    if (!written)
        co_return std::unexpected(written.error());
    co_return path;
}

/// `stored` with nothing escaping: a store that breaks in an unexpected way is one that cannot store.
Task<Result<QString>> storedOrNot(OutputBudgetPtr options, OutputStore store, QString tool, QString text)
{
    try {
        co_return co_await stored(std::move(options), std::move(store), std::move(tool), std::move(text));
    } catch (const std::exception &e) {
        co_return fail(ErrorCode::Internal, QString::fromUtf8(e.what()));
    }
}

void tellStored(const EventSink &events, const QString &tool, qsizetype chars, const Result<QString> &path)
{
    LogRecorded log;
    log.level = path ? QStringLiteral("info") : QStringLiteral("warning");
    log.text = QStringLiteral("tool_output_budget: %1 characters of ").arg(chars) + tool
        + (path ? QStringLiteral(" saved to ") + *path : QStringLiteral(" could not be saved: ") + path.error().message);
    events.emitEvent(std::move(log));
}

struct Measured {
    QString text;
    qsizetype chars = 0;
    Action action = Action::Keep;
};

Measured measured(const OutputBudgetOptions &options, const Message &message)
{
    Measured out;
    const auto text = output_budget::measuredText(message.content);
    if (!text)
        return out;
    out.text = *text;
    out.chars = codePointCount(out.text);
    out.action = output_budget::decide(options, toolOf(message), out.chars, true);
    return out;
}

Task<MessagePtr> budgeted(OutputBudgetPtr options, OutputStore store, EventSink events, MessagePtr message)
{
    if (message->role != Role::Tool || !output_budget::mayExceed(*options, toolOf(*message), message->content))
        co_return message;
    const Measured result = co_await runOnPool([options, message] { return measured(*options, *message); });
    Action action = result.action;
    if (action == Action::Externalize) {
        const QString tool = toolOf(*message);
        const Result<QString> path = co_await storedOrNot(options, std::move(store), tool, result.text);
        tellStored(events, tool, result.chars, path);
        if (path)
            co_return co_await runOnPool([options, message, tool, text = result.text, path = *path] {
                return replaced(message,
                                output_synopsis::preview(text, tool, path, options->previewHeadChars, options->previewTailChars,
                                                         intOf(message->kwargs, missingCharsKey)),
                                "output_externalized");
            });
        action = output_budget::decide(*options, tool, result.chars, false);
    }
    if (action == Action::Truncate)
        co_return truncated(*options, message, result.text);
    co_return message;
}

/// budgeted() that keeps the message as it is when something unforeseen breaks.
Task<MessagePtr> budgetedOrSame(OutputBudgetPtr options, OutputStore store, EventSink events, MessagePtr message)
{
    try {
        co_return co_await budgeted(std::move(options), std::move(store), std::move(events), message);
    } catch (const std::exception &e) {
        qCWarning(lcOutputBudget, "a tool result was passed on as it was: %s", e.what());
    }
    co_return message;
}

} // namespace

ToolOutputBudgetMiddleware::ToolOutputBudgetMiddleware(OutputBudgetOptions options)
    : m_options(std::make_shared<const OutputBudgetOptions>(std::move(options)))
{
}

Hooks ToolOutputBudgetMiddleware::hooks() const
{
    return m_options->enabled ? Hook::WrapModelCall | Hook::WrapToolCall : Hooks();
}

MessageList ToolOutputBudgetMiddleware::trimmedHistory(const OutputBudgetOptions &options, const MessageList &messages)
{
    if (!options.enabled)
        return messages;
    MessageList out = messages;
    for (qsizetype i = 0; i < messages.size(); ++i) {
        const MessagePtr &message = messages.at(i);
        if (message->role != Role::Tool || !output_budget::mayExceed(options, toolOf(*message), message->content))
            continue;
        const auto text = output_budget::measuredText(message->content);
        if (text && output_budget::decide(options, toolOf(*message), codePointCount(*text), false) == Action::Truncate)
            out.replace(i, truncated(options, message, *text));
    }
    if (options.elideSupersededWrites)
        out = elideSupersededWrites(out, options.supersededWriteMinChars, options.keepRecentWrites);
    return out;
}

Task<Result<ModelResponse>> ToolOutputBudgetMiddleware::wrapModelCall(ModelCall call, ModelNext next)
{
    try {
        call.request.messages = trimmedHistory(*m_options, call.request.messages);
    } catch (const std::exception &e) {
        qCWarning(lcOutputBudget, "the history was sent as it is: %s", e.what());
    }
    return next(std::move(call));
}

Task<Result<ToolOutcome>> ToolOutputBudgetMiddleware::wrapToolCall(ToolCallRequest request, ToolNext next)
{
    const OutputBudgetPtr options = m_options;
    ToolCallContext context; // what storing needs, so that the history is not held by a long call
    context.runtime = request.context.runtime;
    context.stop = request.context.stop;
    for (const char *channel : {"thread_data", "sandbox"})
        context.state.channels[channel] = memberOf(request.context.state.channels, channel);
    Result<ToolOutcome> outcome = co_await next(std::move(request));
    if (!outcome)
        co_return outcome;
    const EventSink events = context.runtime->events;
    const OutputStore store = storeOf(*options, context);
    if (auto *message = std::get_if<MessagePtr>(&*outcome)) {
        *message = co_await budgetedOrSame(options, store, events, *message);
        co_return outcome;
    }
    for (MessagePtr &message : std::get<Command>(*outcome).update.messages)
        message = co_await budgetedOrSame(options, store, events, message);
    co_return outcome;
}

} // namespace paddock
