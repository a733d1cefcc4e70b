// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/search.h"
#include "core/tool/tool_support.h"

#include <algorithm>

namespace paddock::tools {

namespace {

ToolSpec globSpec()
{
    return makeSpec(QStringLiteral("glob"),
                    QStringLiteral("Find files whose path matches a glob pattern, e.g. `*.py`, `src/**/*.ts`. Returns absolute "
                                   "paths. Build output, caches and version control folders are passed over."),
                    {{"pattern", {{"type", "string"}, {"description", "The glob pattern, relative to `path`."}}},
                     {"path", {{"type", "string"}, {"description", "The absolute path of the directory to search."}}},
                     {"include_dirs", {{"type", "boolean"}, {"default", false}, {"description", "Return directories as well."}}, false},
                     {"max_results", {{"type", "integer"}, {"default", globDefaultResults}, {"description", "Return at most so many paths."}}, false}});
}

ToolSpec grepSpec()
{
    return makeSpec(QStringLiteral("grep"),
                    QStringLiteral("Search the lines of text files with a regular expression. Returns `path:line: text`. Binary "
                                   "and very large files, build output, caches and version control folders are passed over."),
                    {{"pattern", {{"type", "string"}, {"description", "The regular expression, or plain text with `literal`."}}},
                     {"path", {{"type", "string"}, {"description", "The absolute path of the directory or file to search."}}},
                     {"glob", {{"type", "string"}, {"description", "Only files whose path matches this pattern, e.g. `*.py`."}}, false},
                     {"literal", {{"type", "boolean"}, {"default", false}, {"description", "Take the pattern as plain text."}}, false},
                     {"case_sensitive", {{"type", "boolean"}, {"default", false}, {"description", "Tell upper from lower case."}}, false},
                     {"max_results", {{"type", "integer"}, {"default", grepDefaultResults}, {"description", "Return at most so many lines."}}, false}});
}

int asInt(qint64 value)
{
    return int(std::clamp<qint64>(value, -1, 1000000));
}

QString searchError(const Error &error, const QString &path, const QString &what)
{
    switch (troubleOf(error, true)) {
    case Trouble::NotFound: return QStringLiteral("Error: Directory not found: ") + path;
    case Trouble::NotDirectory: return QStringLiteral("Error: Path is not a directory: ") + path;
    case Trouble::Permission: return QStringLiteral("Error: Permission denied: ") + path;
    case Trouble::Special: return specialFileText(error, path);
    default: return QStringLiteral("Error: Unexpected error searching ") + what + QStringLiteral(": ") + error.message;
    }
}

class GlobTool : public SandboxTool
{
public:
    explicit GlobTool(SettingsPtr settings) : SandboxTool(std::move(settings), globSpec()) {}

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
        const int limit = effectiveMaxResults(asInt(intOf(call.args, "max_results", globDefaultResults)),
                                              settings->options.globMaxResults, globDefaultResults, globMaxResults);
        const auto found = co_await (*sandbox)->glob(path, stringOf(call.args, "pattern"), boolOf(call.args, "include_dirs"),
                                                     limit, context.stop);
        if (!found && found.error().isCancelled())
            co_return std::unexpected(found.error());
        if (!found)
            co_return failure(call, searchError(found.error(), path, QStringLiteral("paths")));
        QStringList paths;
        for (const QString &one : found->paths) {
            if (!gate.isClosed(one))
                paths << one;
        }
        co_return answer(call, formatGlob(path, paths, found->truncated));
    }
};

class GrepTool : public SandboxTool
{
public:
    explicit GrepTool(SettingsPtr settings) : SandboxTool(std::move(settings), grepSpec()) {}

    Task<Result<ToolOutcome>> call(ToolCallContext context) override
    {
        const SettingsPtr settings = m_settings;
        const ToolCall call = context.call;
        GrepQuery query;
        query.path = stringOf(call.args, "path");
        query.pattern = stringOf(call.args, "pattern");
        query.glob = stringOf(call.args, "glob");
        query.literal = boolOf(call.args, "literal");
        query.caseSensitive = boolOf(call.args, "case_sensitive");
        query.maxResults = effectiveMaxResults(asInt(intOf(call.args, "max_results", grepDefaultResults)),
                                               settings->options.grepMaxResults, grepDefaultResults, grepMaxResults);
        SkillGate gate(settings->options);
        if (const auto refusal = gate.refusal(query.path))
            co_return failure(call, *refusal);
        // Checked here, so that every backend gives the same text and a bad pattern costs no request.
        if (const auto expression = grepExpression(query.pattern, query.literal, query.caseSensitive); !expression)
            co_return failure(call, QStringLiteral("Error: Invalid regex pattern: ") + expression.error().message);
        const auto sandbox = co_await acquire(context.runtime, context.stop);
        if (!sandbox && sandbox.error().isCancelled())
            co_return std::unexpected(sandbox.error());
        if (!sandbox)
            co_return failure(call, sandbox.error().message);
        const auto found = co_await (*sandbox)->grep(query, context.stop);
        if (!found && found.error().isCancelled())
            co_return std::unexpected(found.error());
        if (!found)
            co_return failure(call, searchError(found.error(), query.path, QStringLiteral("file contents")));
        std::vector<GrepMatch> matches;
        for (const GrepMatch &match : found->matches) {
            if (!gate.isClosed(match.path))
                matches.push_back({match.path, match.line, shownLine(match.text)});
        }
        co_return answer(call, formatGrep(query.path, matches, found->truncated));
    }
};

} // namespace

std::vector<ToolPtr> makeSearchTools(const SettingsPtr &settings)
{
    return {std::make_shared<GlobTool>(settings), std::make_shared<GrepTool>(settings)};
}

} // namespace paddock::tools
