// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Areas of sandbox.json about text: truncate, write, read, search, lock; and workspace of runtime.json.
#include "core/base/text.h"
#include "core/sandbox/file_locks.h"
#include "core/sandbox/local/local_files.h"
#include "core/sandbox/search.h"
#include "core/sandbox/text_edit.h"
#include "core/sandbox/truncate.h"
#include "core/sandbox/workspace_rules.h"
#include "tests/cases/sandbox_case_support.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>

#include <algorithm>

namespace paddock::cases::sandbox_text_cases {

namespace {

using namespace sandbox;

// ---- truncation, reading and writing

Verdict truncated(const Json &c, const QString &cut)
{
    const Json &expect = c.at("expect");
    Json actual{{"value", toUtf8(cut)}, {"length", codePointCount(cut)}};
    if (expect.contains("contains"))
        actual["contains"] = cut.contains(text(expect, "contains")) ? expect.at("contains") : toJson(cut);
    if (expect.contains("head"))
        actual["head"] = toUtf8(firstCodePoints(cut, codePointCount(text(expect, "head"))));
    if (expect.contains("tail"))
        actual["tail"] = toUtf8(lastCodePoints(cut, codePointCount(text(expect, "tail"))));
    return compare(expect, actual);
}

Verdict writeLimit(const Json &c)
{
    return compareValue(c, writeFileLimit(optionalString(c.at("input"), "env")));
}

Verdict writeSize(const Json &c)
{
    const Json &in = c.at("input");
    const QString content = repeatedText(in);
    const auto refused = boolOf(in, "append") ? std::nullopt
                                              : writeSizeError(content.toUtf8().size(), writeFileLimit(optionalString(in, "env")));
    const QString said = refused.value_or(QStringLiteral("accepted"));
    const QString wanted = text(c.at("expect"), "starts_with");
    return said.startsWith(wanted) ? passed() : failed(QStringLiteral("expected '%1…', got '%2'").arg(wanted, said));
}

Verdict readRangeCase(const Json &c)
{
    const Json &in = c.at("input");
    return compareValue(c, toJson(readRange(text(in, "content"), optionalInt(in, "start_line"), optionalInt(in, "end_line")).text));
}

// ---- search

Verdict searchIgnore(const Json &c)
{
    return compareValue(c, isIgnoredName(text(c.at("input"), "name")));
}

Verdict searchIgnorePath(const Json &c)
{
    return compareValue(c, isIgnoredPath(text(c.at("input"), "path")));
}

Verdict searchMaxResults(const Json &c)
{
    const Json &in = c.at("input");
    const bool glob = text(in, "tool") == u"glob";
    std::optional<int> configured;
    if (const auto value = optionalInt(in, "configured"))
        configured = int(*value);
    return compareValue(c, effectiveMaxResults(int(intOf(in, "requested")), configured, glob ? globDefaultResults : grepDefaultResults,
                                               glob ? globMaxResults : grepMaxResults));
}

Verdict searchPathMatches(const Json &c)
{
    return compareValue(c, pathMatches(text(c.at("input"), "pattern"), text(c.at("input"), "rel_path")));
}

Verdict searchTruncateLine(const Json &c)
{
    return compareValue(c, toJson(shownLine(repeatedText(c.at("input")) + text(c.at("input"), "suffix"))));
}

Verdict searchFormatGlob(const Json &c)
{
    const Json &in = c.at("input");
    return compareValue(c, toJson(formatGlob(text(in, "root"), stringsOf(memberOf(in, "matches")), boolOf(in, "truncated"))));
}

Verdict searchFormatGrep(const Json &c)
{
    const Json &in = c.at("input");
    std::vector<GrepMatch> matches;
    for (const Json &match : memberOf(in, "matches"))
        matches.push_back({textOf(match.at(0)), match.at(1).get<int>(), textOf(match.at(2))});
    return compareValue(c, toJson(formatGrep(text(in, "root"), matches, boolOf(in, "truncated"))));
}

/// A thread whose workspace holds the files of a case.
class CaseTree
{
public:
    explicit CaseTree(const Json &files)
        : m_files(*ThreadPaths::make(m_dir.path(), {UserId(QStringLiteral("u1")), ThreadId(QStringLiteral("t1"))}),
                  SkillDirs::of(m_dir.path(), QStringLiteral("u1")), QStringLiteral("/mnt/skills"), {})
    {
        (void)m_files.paths().create();
        if (files.is_array()) {
            for (const Json &name : files)
                put(textOf(name), {});
        } else if (files.is_object()) {
            for (const auto &[name, content] : files.items())
                put(QString::fromStdString(name), textOf(content).toUtf8());
        }
    }
    LocalFiles &files() { return m_files; }
    QString rootOf(const Json &input) const
    {
        const QString root = text(input, "root");
        return root.isEmpty() ? virtualWorkspace.toString() : virtualWorkspace.toString() + u'/' + root;
    }
    static QString relative(const QString &path, const QString &root)
    {
        return path == root ? path.mid(path.lastIndexOf(u'/') + 1) : path.mid(root.size() + 1);
    }

private:
    void put(const QString &name, const QByteArray &content)
    {
        const QString path = m_files.paths().workspace + u'/' + name;
        QDir().mkpath(QFileInfo(path).path());
        QFile file(path);
        if (file.open(QIODevice::WriteOnly))
            file.write(content);
    }
    QTemporaryDir m_dir;
    LocalFiles m_files;
};

Verdict searchGlobTree(const Json &c)
{
    const Json &in = c.at("input");
    CaseTree tree(memberOf(in, "files"));
    const QString root = tree.rootOf(in);
    const auto found = tree.files().glob(root, text(in, "pattern"), boolOf(in, "include_dirs"),
                                         int(intOf(in, "max_results", globDefaultResults)), {});
    if (!found)
        return failed(found.error().message);
    QStringList paths;
    for (const QString &path : found->paths)
        paths << CaseTree::relative(path, root);
    paths.sort();
    return compareValue(c, Json{{"matches", namesToJson(paths)}, {"truncated", found->truncated}});
}

Verdict searchGrepTree(const Json &c)
{
    const Json &in = c.at("input");
    CaseTree tree(memberOf(in, "files"));
    GrepQuery query;
    query.path = tree.rootOf(in);
    query.pattern = text(in, "pattern");
    query.glob = text(in, "glob");
    query.literal = boolOf(in, "literal");
    query.caseSensitive = boolOf(in, "case_sensitive");
    query.maxResults = int(intOf(in, "max_results", grepDefaultResults));
    const auto found = tree.files().grep(query, {});
    if (!found) {
        const QString said = QStringLiteral("Error: Invalid regex pattern: ") + found.error().message;
        const QString wanted = text(c.at("expect"), "tool_text_starts_with");
        return compare(c.at("expect"), Json{{"error", found.error().code == ErrorCode::InvalidArgument ? "InvalidRegex" : "other"},
                                            {"tool_text_starts_with", said.startsWith(wanted) ? toUtf8(wanted) : toUtf8(said)}});
    }
    Json matches = Json::array();
    for (const GrepMatch &match : found->matches)
        matches.push_back(Json::array({toUtf8(CaseTree::relative(match.path, query.path)), match.line, toUtf8(match.text)}));
    std::sort(matches.begin(), matches.end());
    return compareValue(c, Json{{"matches", matches}, {"truncated", found->truncated}});
}

// ---- locks, workspace rules

Verdict lockKey(const Json &c)
{
    const Json &in = c.at("input");
    const bool aio = text(in, "sandbox_kind") == u"aio";
    const auto key = [&](const char *which) {
        const Json &one = in.at(which);
        const QString path = text(one, "path");
        return FileLocks::keyOf(SandboxId(text(one, "sandbox")), aio ? normalizeVirtualPath(path) : path);
    };
    return compare(c.at("expect"), Json{{"same_lock", key("a") == key("b")}});
}

Verdict workspaceCase(const Json &c)
{
    const Json &in = c.at("input");
    if (text(in, "op") == u"workspace.sensitive")
        return compare(c.at("expect"), Json{{"sensitive", isSensitivePath(text(in, "path"))}});
    if (text(in, "op") == u"workspace.count") {
        const LineChange change = countDiffLines(stringsOf(memberOf(in, "lines")));
        return compare(c.at("expect"), Json{{"additions", change.added}, {"deletions", change.removed}});
    }
    return skipped(QStringLiteral("unknown op ") + text(in, "op"));
}

qsizetype maxOf(const Json &c)
{
    return qsizetype(intOf(c.at("input"), "max"));
}

const Registrar registrars[] = {
    {"truncate.bash", [](const Json &c) { return truncated(c, truncateBash(repeatedText(c.at("input")), maxOf(c))); }},
    {"truncate.read_file", [](const Json &c) { return truncated(c, truncateReadFile(repeatedText(c.at("input")), maxOf(c))); }},
    {"truncate.ls", [](const Json &c) { return truncated(c, truncateLs(repeatedText(c.at("input")), maxOf(c))); }},
    {"truncate.write_error", [](const Json &c) { return truncated(c, truncateWriteError(repeatedText(c.at("input")), maxOf(c))); }},
    {"write.limit", writeLimit},
    {"write.size", writeSize},
    {"read.range", readRangeCase},
    {"search.ignore", searchIgnore},
    {"search.ignore_path", searchIgnorePath},
    {"search.max_results", searchMaxResults},
    {"search.path_matches", searchPathMatches},
    {"search.truncate_line", searchTruncateLine},
    {"search.format_glob", searchFormatGlob},
    {"search.format_grep", searchFormatGrep},
    {"search.glob_tree", searchGlobTree},
    {"search.grep_tree", searchGrepTree},
    {"lock.key", lockKey},
    {"workspace", workspaceCase, "runtime"},
};

} // namespace

} // namespace paddock::cases::sandbox_text_cases
