// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/wire/file_query_api.h"

#include "core/wire/file_api.h"

namespace paddock::wire {

namespace {

void putStrings(Json &object, const char *key, const std::optional<QStringList> &list)
{
    if (list)
        object[key] = toJson(*list);
}

Json stringsOrNull(const std::optional<QStringList> &list)
{
    return list ? toJson(*list) : Json(nullptr);
}

void checkChoice(FieldReader &in, const char *key, const QString &value, const QStringList &choices)
{
    if (!choices.contains(value))
        in.fail(key, QStringLiteral("unexpected value; permitted: %1").arg(choices.join(QStringLiteral(", "))),
                QStringLiteral("value_error.const"));
}

/// `include`, `exclude` and `file_types` also come as one plain string.
std::optional<QStringList> stringOrStrings(FieldReader &in, const char *key)
{
    if (in.value(key).is_string())
        return QStringList{textOf(in.value(key))};
    return in.optionalStrings(key);
}

QString readPath(FieldReader &in, const char *key)
{
    const QString path = in.string(key);
    checkFilePath(in, key, path);
    return path;
}

} // namespace

FileSearchRequest FileSearchRequest::read(FieldReader &in)
{
    return {readPath(in, "file"), in.string("regex"), in.boolOr("sudo", false)};
}

Json FileSearchRequest::write() const
{
    Json out{{"file", paddock::toJson(file)}, {"regex", paddock::toJson(regex)}};
    if (sudo)
        out["sudo"] = true;
    return out;
}

FileSearchResult FileSearchResult::read(FieldReader &in)
{
    FileSearchResult r;
    r.file = in.string("file");
    r.matches = in.optionalStrings("matches").value_or(QStringList());
    if (const Json &numbers = in.value("line_numbers"); numbers.is_array()) {
        for (const Json &number : numbers) {
            if (number.is_number_integer())
                r.lineNumbers.append(number.get<qint64>());
            else
                in.fail("line_numbers", QStringLiteral("value is not a valid integer"), QStringLiteral("type_error.integer"));
        }
    }
    return r;
}

Json FileSearchResult::write() const
{
    Json numbers = Json::array();
    for (const qint64 number : lineNumbers)
        numbers.push_back(number);
    return {{"file", paddock::toJson(file)}, {"matches", toJson(matches)}, {"line_numbers", std::move(numbers)}};
}

FileFindRequest FileFindRequest::read(FieldReader &in)
{
    return {readPath(in, "path"), in.string("glob")};
}

Json FileFindRequest::write() const
{
    return {{"path", paddock::toJson(path)}, {"glob", paddock::toJson(glob)}};
}

FileFindResult FileFindResult::read(FieldReader &in)
{
    return {in.string("path"), in.optionalStrings("files").value_or(QStringList())};
}

Json FileFindResult::write() const
{
    return {{"path", paddock::toJson(path)}, {"files", toJson(files)}};
}

std::optional<qint64> FileGrepRequest::sizeOf(const QString &text)
{
    QString digits = text.trimmed().toUpper();
    qint64 unit = 1;
    if (digits.endsWith(u'B') && digits.size() > 1)
        digits.chop(1);
    if (digits.endsWith(u'K'))
        unit = 1024;
    else if (digits.endsWith(u'M'))
        unit = 1024 * 1024;
    else if (digits.endsWith(u'G'))
        unit = qint64(1024) * 1024 * 1024;
    if (unit > 1)
        digits.chop(1);
    bool ok = false;
    const qint64 number = digits.toLongLong(&ok);
    if (!ok || number < 0 || number > std::numeric_limits<qint64>::max() / unit)
        return std::nullopt;
    return number * unit;
}

FileGrepRequest FileGrepRequest::read(FieldReader &in)
{
    FileGrepRequest r;
    r.path = readPath(in, "path");
    r.pattern = in.string("pattern");
    r.include = stringOrStrings(in, "include");
    r.exclude = stringOrStrings(in, "exclude");
    r.caseInsensitive = in.boolOr("case_insensitive", false);
    r.fixedStrings = in.boolOr("fixed_strings", false);
    r.contextBefore = in.integerOr("context_before", 0, 0, 20);
    r.contextAfter = in.integerOr("context_after", 0, 0, 20);
    r.maxResults = in.integerOr("max_results", 500, 1, 10000);
    r.maxFileSize = in.stringOr("max_file_size", r.maxFileSize);
    if (!sizeOf(r.maxFileSize))
        in.failValue("max_file_size", QStringLiteral("not a size: use a number with K, M or G"));
    r.multiline = in.boolOr("multiline", false);
    r.offset = in.integerOr("offset", 0, 0);
    r.type = in.optionalString("type");
    r.recursive = in.boolOr("recursive", true);
    return r;
}

Json FileGrepRequest::write() const
{
    Json out{{"path", paddock::toJson(path)}, {"pattern", paddock::toJson(pattern)}};
    putStrings(out, "include", include);
    putStrings(out, "exclude", exclude);
    out["case_insensitive"] = caseInsensitive;
    out["fixed_strings"] = fixedStrings;
    if (contextBefore)
        out["context_before"] = contextBefore;
    if (contextAfter)
        out["context_after"] = contextAfter;
    out["max_results"] = maxResults;
    out["max_file_size"] = paddock::toJson(maxFileSize);
    if (multiline)
        out["multiline"] = true;
    if (offset)
        out["offset"] = offset;
    putIf(out, "type", type);
    out["recursive"] = recursive;
    return out;
}

GrepMatch GrepMatch::read(FieldReader &in)
{
    return {in.string("file"), in.integer("line_number"), in.string("line_content"), in.optionalStrings("context_before"),
            in.optionalStrings("context_after")};
}

Json GrepMatch::write() const
{
    return {{"file", paddock::toJson(file)},
            {"line_number", lineNumber},
            {"line_content", paddock::toJson(lineContent)},
            {"context_before", stringsOrNull(contextBefore)},
            {"context_after", stringsOrNull(contextAfter)}};
}

FileGrepResult FileGrepResult::read(FieldReader &in)
{
    FileGrepResult r;
    r.path = in.string("path");
    r.pattern = in.string("pattern");
    r.matches = in.list<GrepMatch>("matches");
    r.matchCount = in.integerOr("match_count", 0);
    r.filesSearched = in.optionalInteger("files_searched");
    r.filesMatched = in.optionalInteger("files_matched");
    r.truncated = in.boolOr("truncated", false);
    return r;
}

Json FileGrepResult::write() const
{
    return {{"path", paddock::toJson(path)},
            {"pattern", paddock::toJson(pattern)},
            {"matches", writeList(matches)},
            {"match_count", matchCount},
            {"files_searched", orNull(filesSearched)},
            {"files_matched", orNull(filesMatched)},
            {"truncated", truncated}};
}

FileGlobRequest FileGlobRequest::read(FieldReader &in)
{
    FileGlobRequest r;
    r.path = readPath(in, "path");
    r.pattern = in.string("pattern");
    r.exclude = stringOrStrings(in, "exclude");
    r.includeHidden = in.boolOr("include_hidden", false);
    r.filesOnly = in.boolOr("files_only", true);
    r.includeMetadata = in.boolOr("include_metadata", true);
    r.maxResults = in.integerOr("max_results", 5000, 1, 50000);
    r.sortBy = in.stringOr("sort_by", r.sortBy);
    checkChoice(in, "sort_by", r.sortBy,
                {QStringLiteral("path"), QStringLiteral("name"), QStringLiteral("size"), QStringLiteral("modified")});
    r.sortDesc = in.boolOr("sort_desc", false);
    return r;
}

Json FileGlobRequest::write() const
{
    Json out{{"path", paddock::toJson(path)}, {"pattern", paddock::toJson(pattern)}};
    putStrings(out, "exclude", exclude);
    out["include_hidden"] = includeHidden;
    out["files_only"] = filesOnly;
    out["include_metadata"] = includeMetadata;
    out["max_results"] = maxResults;
    out["sort_by"] = paddock::toJson(sortBy);
    out["sort_desc"] = sortDesc;
    return out;
}

GlobEntry GlobEntry::read(FieldReader &in)
{
    return {in.string("path"), in.string("name"), in.boolOr("is_directory", false), in.optionalInteger("size"),
            in.optionalString("modified_time")};
}

Json GlobEntry::write() const
{
    return {{"path", paddock::toJson(path)},
            {"name", paddock::toJson(name)},
            {"is_directory", isDirectory},
            {"size", orNull(size)},
            {"modified_time", orNull(modifiedTime)}};
}

FileGlobResult FileGlobResult::read(FieldReader &in)
{
    return {in.string("path"), in.string("pattern"), in.list<GlobEntry>("files"), in.integerOr("total_count", 0),
            in.boolOr("truncated", false)};
}

Json FileGlobResult::write() const
{
    return {{"path", paddock::toJson(path)},
            {"pattern", paddock::toJson(pattern)},
            {"files", writeList(files)},
            {"total_count", totalCount},
            {"truncated", truncated}};
}

FileListRequest FileListRequest::read(FieldReader &in)
{
    FileListRequest r;
    r.path = readPath(in, "path");
    r.recursive = in.boolOr("recursive", false);
    r.showHidden = in.boolOr("show_hidden", true);
    r.fileTypes = stringOrStrings(in, "file_types");
    r.maxDepth = in.optionalInteger("max_depth", 0);
    r.includeSize = in.boolOr("include_size", true);
    r.includePermissions = in.boolOr("include_permissions", false);
    r.sortBy = in.stringOr("sort_by", r.sortBy);
    checkChoice(in, "sort_by", r.sortBy,
                {QStringLiteral("name"), QStringLiteral("size"), QStringLiteral("modified"), QStringLiteral("type")});
    r.sortDesc = in.boolOr("sort_desc", false);
    return r;
}

Json FileListRequest::write() const
{
    Json out{{"path", paddock::toJson(path)}, {"recursive", recursive}, {"show_hidden", showHidden}};
    putStrings(out, "file_types", fileTypes);
    putIf(out, "max_depth", maxDepth);
    if (!includeSize)
        out["include_size"] = false;
    if (includePermissions)
        out["include_permissions"] = true;
    if (sortBy != u"name")
        out["sort_by"] = paddock::toJson(sortBy);
    if (sortDesc)
        out["sort_desc"] = true;
    return out;
}

ListEntry ListEntry::read(FieldReader &in)
{
    ListEntry r;
    r.name = in.string("name");
    r.path = in.string("path");
    r.isDirectory = in.boolean("is_directory");
    r.size = in.optionalInteger("size");
    r.modifiedTime = in.optionalString("modified_time");
    r.permissions = in.optionalString("permissions");
    r.extension = in.optionalString("extension");
    return r;
}

Json ListEntry::write() const
{
    return {{"name", paddock::toJson(name)},
            {"path", paddock::toJson(path)},
            {"is_directory", isDirectory},
            {"size", orNull(size)},
            {"modified_time", orNull(modifiedTime)},
            {"permissions", orNull(permissions)},
            {"extension", orNull(extension)}};
}

FileListResult FileListResult::read(FieldReader &in)
{
    FileListResult r;
    r.path = in.string("path");
    r.files = in.list<ListEntry>("files");
    r.totalCount = in.integerOr("total_count", 0);
    r.directoryCount = in.integerOr("directory_count", 0);
    r.fileCount = in.integerOr("file_count", 0);
    return r;
}

Json FileListResult::write() const
{
    return {{"path", paddock::toJson(path)},
            {"files", writeList(files)},
            {"total_count", totalCount},
            {"directory_count", directoryCount},
            {"file_count", fileCount}};
}

} // namespace paddock::wire
