// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/text_edit.h"
#include "core/tool/file_change.h"
#include "core/tool/tool_support.h"

#include <climits>

namespace paddock::tools {

namespace {

constexpr int listDepth = 2;

const Json &pathSchema()
{
    static const Json schema{{"type", "string"}, {"description", "The absolute path, e.g. /mnt/user-data/workspace/main.py."}};
    return schema;
}

ToolSpec lsSpec()
{
    return makeSpec(QStringLiteral("ls"),
                    QStringLiteral("List the contents of a directory two levels deep. Directories end in `/`."),
                    {{"path", pathSchema()}});
}

ToolSpec readSpec()
{
    return makeSpec(QStringLiteral("read_file"),
                    QStringLiteral("Read a UTF-8 text file, whole or a range of lines. Long files are cut; go on with start_line."),
                    {{"path", pathSchema()},
                     {"start_line", {{"type", "integer"}, {"description", "First line to read, from 1."}}, false},
                     {"end_line", {{"type", "integer"}, {"description", "Last line to read, inclusive."}}, false}});
}

ToolSpec writeSpec()
{
    return makeSpec(
        QStringLiteral("write_file"),
        QStringLiteral("Write text to a file, creating it and its folders, or append to it. An existing file must have been read "
                       "in its current version first.\n\n"
                       "SIZE POLICY: one call without `append` writes at most 81920 bytes of UTF-8. Write larger files in "
                       "sections: the first one plainly, each further one with `append`, or edit with `str_replace`."),
        {{"path", pathSchema()},
         {"content", {{"type", "string"}, {"description", "The text to write."}}},
         {"append", {{"type", "boolean"}, {"default", false}, {"description", "Add to the end instead of replacing."}}, false}});
}

ToolSpec replaceSpec()
{
    return makeSpec(
        QStringLiteral("str_replace"),
        QStringLiteral("Replace text in a file. `old_str` must appear in the file exactly once, unless `replace_all` is set."),
        {{"path", pathSchema()},
         {"old_str", {{"type", "string"}, {"description", "The text to replace, exactly as it stands in the file."}}},
         {"new_str", {{"type", "string"}, {"description", "The text to put in its place."}}},
         {"replace_all", {{"type", "boolean"}, {"default", false}, {"description", "Replace every occurrence."}}, false}});
}

QString readError(const Error &error, const QString &path)
{
    switch (troubleOf(error, false)) {
    case Trouble::NotFound: return QStringLiteral("Error: File not found: ") + path;
    case Trouble::Permission: return QStringLiteral("Error: Permission denied reading file: ") + path;
    case Trouble::IsDirectory: return QStringLiteral("Error: Path is a directory, not a file: ") + path;
    case Trouble::Special: return specialFileText(error, path);
    case Trouble::Binary:
        return QStringLiteral("Error: cannot read '") + path
            + QStringLiteral("' as text \u2014 it appears to be a binary file (e.g. .xlsx, .pdf, or an image). read_file only "
                             "supports UTF-8 text. Use bash with a suitable library instead (pandas/openpyxl for spreadsheets), "
                             "or view_image for images.");
    default: return QStringLiteral("Error: Unexpected error reading file: ") + error.message;
    }
}

QString writeError(const Error &error, const QString &path)
{
    switch (troubleOf(error, false)) {
    case Trouble::Permission: return QStringLiteral("Error: Permission denied writing to file: ") + path;
    case Trouble::IsDirectory: return QStringLiteral("Error: Path is a directory, not a file: ") + path;
    case Trouble::Special: return specialFileText(error, path);
    default:
        return truncateWriteError(QStringLiteral("Error: Failed to write file '") + path + QStringLiteral("': ") + error.message);
    }
}

QString replaceError(const Error &error, const QString &path)
{
    switch (troubleOf(error, false)) {
    case Trouble::NotFound: return QStringLiteral("Error: File not found: ") + path;
    case Trouble::Permission: return QStringLiteral("Error: Permission denied accessing file: ") + path;
    case Trouble::Special: return specialFileText(error, path);
    default: return QStringLiteral("Error: Unexpected error replacing string: ") + error.message;
    }
}

std::optional<QString> writeLimitVariableValue()
{
    if (!qEnvironmentVariableIsSet(writeLimitVariable))
        return std::nullopt;
    return qEnvironmentVariable(writeLimitVariable);
}

class LsTool : public SandboxTool
{
public:
    explicit LsTool(SettingsPtr settings) : SandboxTool(std::move(settings), lsSpec()) {}

    Task<Result<ToolOutcome>> call(ToolCallContext context) override
    {
        const SettingsPtr settings = m_settings;
        const ToolCall call = context.call;
        const QString path = stringOf(call.args, "path");
        SkillGate gate(settings->options);
        if (const auto refusal = gate.refusal(path))
            co_return failure(call, *refusal);
        const auto sandbox = co_await acquire(context.runtime, context.stop);
        if (!sandbox && sandbox.error().isCancelled())
            co_return std::unexpected(sandbox.error());
        if (!sandbox)
            co_return failure(call, sandbox.error().message);
        const auto found = co_await (*sandbox)->listDir(path, listDepth, context.stop);
        if (!found && found.error().isCancelled())
            co_return std::unexpected(found.error());
        if (!found)
            co_return failure(call, listError(found.error(), path));
        QStringList entries;
        for (const QString &entry : *found) {
            if (!gate.isClosed(entry))
                entries << entry;
        }
        if (entries.isEmpty())
            co_return answer(call, QStringLiteral("(empty)"));
        co_return answer(call, truncateLs(entries.join(u'\n'), settings->options.lsOutputChars));
    }

private:
    static QString listError(const Error &error, const QString &path)
    {
        switch (troubleOf(error, true)) {
        case Trouble::NotFound: return QStringLiteral("Error: Directory not found: ") + path;
        case Trouble::NotDirectory: return QStringLiteral("Error: Path is not a directory: ") + path;
        case Trouble::Permission: return QStringLiteral("Error: Permission denied: ") + path;
        default: return QStringLiteral("Error: Unexpected error listing directory: ") + error.message;
        }
    }
};

class ReadFileTool : public SandboxTool
{
public:
    explicit ReadFileTool(SettingsPtr settings) : SandboxTool(std::move(settings), readSpec()) {}

    Task<Result<ToolOutcome>> call(ToolCallContext context) override
    {
        const SettingsPtr settings = m_settings;
        const ToolCall call = context.call;
        const QString path = stringOf(call.args, "path");
        SkillGate gate(settings->options);
        if (const auto refusal = gate.refusal(path))
            co_return failure(call, *refusal);
        const auto start = optionalInt(call.args, "start_line");
        const auto end = optionalInt(call.args, "end_line");
        const auto sandbox = co_await acquire(context.runtime, context.stop);
        if (!sandbox && sandbox.error().isCancelled())
            co_return std::unexpected(sandbox.error());
        if (!sandbox)
            co_return failure(call, sandbox.error().message);
        const auto content = co_await (*sandbox)->readFile(path, context.stop);
        if (!content && content.error().isCancelled())
            co_return std::unexpected(content.error());
        if (!content)
            co_return failure(call, readError(content.error(), path));
        const RangeText part = readRange(*content, start, end);
        if (part.isNotice)
            co_return answer(call, part.text);
        co_return answer(call, truncateReadFile(part.text, settings->options.readFileChars, settings->options.truncation,
                                                qsizetype(start.value_or(1))));
    }
};

class WriteFileTool : public SandboxTool
{
public:
    explicit WriteFileTool(SettingsPtr settings) : SandboxTool(std::move(settings), writeSpec()) {}

    Task<Result<ToolOutcome>> call(ToolCallContext context) override
    {
        const SettingsPtr settings = m_settings;
        const ToolCall call = context.call;
        const QString path = stringOf(call.args, "path");
        const QString content = stringOf(call.args, "content");
        const bool append = boolOf(call.args, "append");
        const QByteArray bytes = content.toUtf8();
        if (const auto tooLarge = append ? std::nullopt : writeSizeError(bytes.size(), writeFileLimit(writeLimitVariableValue())))
            co_return failure(call, *tooLarge);
        const auto acquired = co_await acquire(context.runtime, context.stop);
        if (!acquired && acquired.error().isCancelled())
            co_return std::unexpected(acquired.error());
        if (!acquired)
            co_return failure(call, acquired.error().message);
        const SandboxPtr sandbox = *acquired;
        const QString lockPath = co_await sandbox->lockPath(path);
        const auto lock = co_await FileLocks::lock(settings->locks, sandbox->id(), lockPath, context.stop);
        if (!lock)
            co_return cancelled();
        const FileVersion before = co_await readVersion(sandbox, path, context.stop);
        const auto written = co_await sandbox->writeFile(path, content, append, context.stop);
        if (!written && written.error().isCancelled())
            co_return std::unexpected(written.error());
        if (!written)
            co_return failure(call, writeError(written.error(), path));
        FileVersion after{true, true, bytes};
        if (sandbox->isLocal() || (append && !before.isKnown))
            after = co_await readVersion(sandbox, path, context.stop); // local sandboxes rewrite paths in the content
        else if (append)
            after.content = before.content + bytes;
        tellFileChanged(settings->options, context.runtime, call, path, *written, before, after);
        co_return answer(call, QStringLiteral("OK"));
    }
};

class StrReplaceTool : public SandboxTool
{
public:
    explicit StrReplaceTool(SettingsPtr settings) : SandboxTool(std::move(settings), replaceSpec()) {}

    Task<Result<ToolOutcome>> call(ToolCallContext context) override
    {
        const SettingsPtr settings = m_settings;
        const ToolCall call = context.call;
        const QString path = stringOf(call.args, "path");
        const auto acquired = co_await acquire(context.runtime, context.stop);
        if (!acquired && acquired.error().isCancelled())
            co_return std::unexpected(acquired.error());
        if (!acquired)
            co_return failure(call, acquired.error().message);
        const SandboxPtr sandbox = *acquired;
        const QString lockPath = co_await sandbox->lockPath(path);
        const auto lock = co_await FileLocks::lock(settings->locks, sandbox->id(), lockPath, context.stop);
        if (!lock)
            co_return cancelled();
        const FileVersion before = co_await readVersion(sandbox, path, context.stop);
        const auto done = co_await replaceIn(sandbox, call.args, context.stop);
        if (!done && done.error().isCancelled())
            co_return std::unexpected(done.error());
        if (!done)
            co_return failure(call, replaceError(done.error(), path));
        if (done->kind == Outcome::Kind::NotFound)
            co_return failure(call, QStringLiteral("Error: String to replace not found in file: ") + path);
        if (done->kind == Outcome::Kind::Written) {
            const FileVersion after = co_await readVersion(sandbox, path, context.stop);
            tellFileChanged(settings->options, context.runtime, call, path, done->written, before, after);
        }
        co_return answer(call, QStringLiteral("OK"));
    }

private:
    struct Outcome {
        enum class Kind { Written, Unchanged, NotFound } kind;
        FileWritten written{};
    };

    /// Text where the file is text, so that a local sandbox can translate paths both ways; else bytes.
    static Task<Result<Outcome>> replaceIn(SandboxPtr sandbox, Json args, std::stop_token stop)
    {
        const QString path = stringOf(args, "path");
        const QString oldText = stringOf(args, "old_str");
        const QString newText = stringOf(args, "new_str");
        const bool all = boolOf(args, "replace_all");
        const auto content = co_await sandbox->readFile(path, stop);
        if (content) {
            const auto changed = replaceText(*content, oldText, newText, all);
            if (!changed)
                co_return Outcome{Outcome::Kind::NotFound};
            if (oldText.isEmpty())
                co_return Outcome{Outcome::Kind::Unchanged};
            const auto written = co_await sandbox->writeFile(path, *changed, false, stop);
            co_return written ? Result<Outcome>(Outcome{Outcome::Kind::Written, *written}) : std::unexpected(written.error());
        }
        if (troubleOf(content.error(), false) != Trouble::Binary)
            co_return std::unexpected(content.error());
        const auto bytes = co_await sandbox->readBytes(path, LLONG_MAX, stop);
        if (!bytes)
            co_return std::unexpected(bytes.error());
        const auto changed = replaceBytes(*bytes, oldText.toUtf8(), newText.toUtf8(), all);
        if (!changed)
            co_return Outcome{Outcome::Kind::NotFound};
        if (oldText.isEmpty())
            co_return Outcome{Outcome::Kind::Unchanged};
        const auto written = co_await sandbox->writeBytes(path, *changed, stop);
        co_return written ? Result<Outcome>(Outcome{Outcome::Kind::Written, *written}) : std::unexpected(written.error());
    }
};

} // namespace

std::vector<ToolPtr> makeFileTools(const SettingsPtr &settings)
{
    return {std::make_shared<LsTool>(settings), std::make_shared<ReadFileTool>(settings),
            std::make_shared<WriteFileTool>(settings), std::make_shared<StrReplaceTool>(settings)};
}

} // namespace paddock::tools
