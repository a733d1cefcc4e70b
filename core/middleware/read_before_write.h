// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"

#include <functional>
#include <optional>

namespace paddock {

/// A file may be changed only by a model that has read its current version in this conversation (middleware-base §14,
/// sandbox.md §9.5). A per-path lock, shared by all chains of the process, spans check and write, and read and mark.
class ReadBeforeWriteMiddleware : public Middleware
{
public:
    /// The whole file as read_file resolves it; a missing file is NotFound.
    using FileReader = std::function<Task<Result<QString>>(RuntimePtr, QString path, std::stop_token)>;
    struct Options {
        bool elideBlockedPayloads = true;
        int elideMinChars = 0;
        FileReader reader; ///< empty: through the runtime's sandbox
    };
    ReadBeforeWriteMiddleware();
    explicit ReadBeforeWriteMiddleware(Options options);

    QString name() const override { return QStringLiteral("ReadBeforeWriteMiddleware"); }
    Hooks hooks() const override;
    Task<Result<ModelResponse>> wrapModelCall(ModelCall call, ModelNext next) override;
    Task<Result<ToolOutcome>> wrapToolCall(ToolCallRequest request, ToolNext next) override;

private:
    Task<Result<ToolOutcome>> gatedWrite(ToolCallRequest request, ToolNext next, QString path);
    Task<Result<ToolOutcome>> markedRead(ToolCallRequest request, ToolNext next, QString path);

    const Options m_options;
};

namespace read_before_write {

/// Hash of the newest mark for the normalized `path`; empty when there is none or it is malformed.
QString newestMark(const MessageList &messages, const QString &path);
/// Lines as read_file numbers them.
qsizetype lineCount(const QString &text);
/// Without a line count: the shorter text of sandbox.md §9.5.
QString blockText(const QString &tool, const QString &path, std::optional<qsizetype> lines);
MessagePtr blockMessage(const ToolCall &call, const QString &path, const QString &content);
/// The payloads of blocked calls replaced by a note; the same list when nothing was blocked. `elided` gets (call id, field).
MessageList elide(const MessageList &messages, int minChars, std::vector<std::pair<QString, QString>> *elided = nullptr);
/// "thread\npath", with the sandbox id or "global" where the thread is unknown.
QString lockKey(const QString &threadId, const QString &sandboxId, const QString &path);

} // namespace read_before_write

} // namespace paddock
