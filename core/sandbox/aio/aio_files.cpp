// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/aio/aio_files.h"

#include "core/sandbox/search.h"

#include <algorithm>

namespace paddock::aio {

namespace {

constexpr int maxWalkedDirectories = 20000; ///< of one listing or search
constexpr int maxGrepPages = 20;            ///< when ignored files crowd the others out

/// `path` without a trailing slash, except "/" itself.
QString trimmedPath(QString path)
{
    while (path.size() > 1 && path.endsWith(QLatin1Char('/')))
        path.chop(1);
    return path;
}

QString childPath(const QString &directory, const QString &name)
{
    return directory.endsWith(QLatin1Char('/')) ? directory + name : directory + QLatin1Char('/') + name;
}

/// What a listing of a missing or wrong root says (#5263: never an empty result).
Error directoryError(const wire::Failure &failure, const QString &path)
{
    Error error = failure.toError();
    const QString type = stringOf(error.details, "error_type");
    if (type == QLatin1String("not_found"))
        error.message = QStringLiteral("Directory not found: %1").arg(path);
    else if (type == QLatin1String("invalid_target"))
        error.message = QStringLiteral("Path is not a directory: %1").arg(path);
    else if (type == QLatin1String("permission_denied"))
        error.message = QStringLiteral("Permission denied: %1").arg(path);
    return error;
}

struct WalkEntry {
    QString path;
    bool isDirectory = false;
};

/// One directory: its entries without ignored names, in code point order; a symlink is shown and never entered.
Task<wire::Decoded<std::vector<WalkEntry>>> entriesOf(AioClient client, QString directory, std::stop_token stop)
{
    wire::FileListRequest request;
    request.path = directory;
    request.includeSize = false;
    request.includePermissions = true;
    auto reply = co_await client.post<wire::FileListResult>("/v1/file/list", request.write(), limits::listTimeout, stop);
    if (!reply)
        co_return std::unexpected(std::move(reply.error()));
    std::vector<WalkEntry> entries;
    for (const wire::ListEntry &entry : std::as_const(reply->files)) {
        if (isIgnoredName(entry.name) || entry.name.isEmpty() || entry.name.contains(QLatin1Char('/')))
            continue;
        const bool link = entry.permissions.value_or(QString()).startsWith(QLatin1Char('l'));
        entries.push_back({childPath(directory, entry.name), entry.isDirectory && !link});
    }
    std::sort(entries.begin(), entries.end(), [](const WalkEntry &a, const WalkEntry &b) { return codePointLess(a.path, b.path); });
    co_return entries;
}

QString relativeTo(const QString &root, const QString &path)
{
    return path.sliced(root.endsWith(QLatin1Char('/')) ? root.size() : root.size() + 1);
}

/// "1M" of the wire is 1 MiB, the rule says 1,000,000 bytes; the server's value is close enough and never smaller.
wire::FileGrepRequest grepRequest(const GrepQuery &query)
{
    wire::FileGrepRequest request;
    request.path = trimmedPath(query.path);
    request.pattern = query.pattern;
    request.caseInsensitive = !query.caseSensitive;
    request.fixedStrings = query.literal;
    request.maxResults = std::min(std::max(4 * query.maxResults, query.maxResults + 50), 10000);
    request.recursive = true;
    // The client filters too; this keeps the server from reading what would be thrown away.
    QStringList exclude;
    for (const QString &name : ignoredNamePatterns())
        exclude << name << QStringLiteral("**/%1/**").arg(name);
    request.exclude = exclude;
    return request;
}

/// The client's part of grep's rules: ignore list, root, glob filter, long lines.
bool keepsMatch(const wire::GrepMatch &match, const QString &root, const GrepQuery &query)
{
    QString relative;
    if (match.file == root)
        relative = root.sliced(root.lastIndexOf(QLatin1Char('/')) + 1);
    else if (match.file.startsWith(childPath(root, QString())))
        relative = relativeTo(root, match.file);
    else
        return false;
    if (match.file != root && isIgnoredPath(relative))
        return false;
    return (query.glob.isEmpty() || pathMatches(query.glob, relative)) && match.lineContent.size() <= 2 * grepMaxLineChars;
}

Error fileError(const wire::Failure &failure)
{
    return failure.toError();
}

} // namespace

Result<void> checkDownloadPath(const QString &path)
{
    QString normal = path;
    normal.replace(QLatin1Char('\\'), QLatin1Char('/'));
    while (normal.startsWith(QLatin1Char('/')))
        normal.remove(0, 1);
    const bool inside = normal == QLatin1String("mnt/user-data") || normal.startsWith(QLatin1String("mnt/user-data/"));
    if (!inside || normal.split(QLatin1Char('/')).contains(QStringLiteral("..")))
        return fail(ErrorCode::PermissionDenied, QStringLiteral("Access denied: path must be under '/mnt/user-data'"));
    return {};
}

Task<Result<QString>> readFile(AioClient client, QString path, std::stop_token stop)
{
    wire::FileReadRequest request;
    request.file = path;
    auto reply = co_await client.post<wire::FileReadResult>("/v1/file/read", request.write(), limits::fileTimeout, stop);
    if (!reply)
        co_return fail(fileError(reply.error()));
    co_return std::move(reply->content);
}

Task<Result<QByteArray>> readBytes(AioClient client, QString path, qint64 maxBytes, std::stop_token stop)
{
    if (const Result<void> allowed = checkDownloadPath(path); !allowed)
        co_return fail(allowed.error());
    const qint64 limit = maxBytes > 0 ? std::min(maxBytes, limits::downloadBytes) : limits::downloadBytes;
    auto bytes = co_await client.download(path, limit, stop);
    if (bytes)
        co_return std::move(*bytes);
    if (bytes.error().kind == wire::FailureKind::Transport && bytes.error().transport == wire::TransportKind::TooLarge)
        co_return fail(ErrorCode::ResourceExhausted, QStringLiteral("File exceeds maximum download size of %1 bytes").arg(limit));
    co_return fail(fileError(bytes.error()));
}

Task<Result<FileWritten>> writeFile(AioClient client, QString path, QString content, bool append, std::stop_token stop)
{
    wire::FileWriteRequest request;
    request.file = path;
    request.content = content.toUtf8();
    request.append = append;
    auto reply = co_await client.post<wire::FileWriteResult>("/v1/file/write", request.write(), limits::fileTimeout, stop);
    if (!reply)
        co_return fail(fileError(reply.error()));
    co_return FileWritten{reply->realPath.value_or(QString())};
}

Task<Result<FileWritten>> writeBytes(AioClient client, QString path, QByteArray content, std::stop_token stop)
{
    auto reply = co_await client.post<wire::FileWriteResult>("/v1/file/write", wire::FileWriteRequest::forBytes(path, content).write(),
                                                             limits::fileTimeout, stop);
    if (!reply)
        co_return fail(fileError(reply.error()));
    co_return FileWritten{reply->realPath.value_or(QString())};
}

Task<Result<QStringList>> listDir(AioClient client, QString path, int depth, std::stop_token stop)
{
    struct Level {
        QString directory;
        int depth;
    };
    const QString root = trimmedPath(path);
    QStringList out;
    std::vector<Level> todo{{root, 1}};
    for (int visited = 0; !todo.empty() && visited < maxWalkedDirectories; ++visited) {
        const Level level = todo.back();
        todo.pop_back();
        const auto entries = co_await entriesOf(client, level.directory, stop);
        if (!entries) {
            const wire::Failure &failure = entries.error();
            if (level.directory == root || failure.kind == wire::FailureKind::Transport)
                co_return fail(directoryError(failure, path));
            continue; // a subdirectory that is gone or closed to us by now
        }
        for (const WalkEntry &entry : *entries) {
            out << (entry.isDirectory ? entry.path + QLatin1Char('/') : entry.path);
            if (entry.isDirectory && level.depth < depth)
                todo.push_back({entry.path, level.depth + 1});
        }
    }
    std::sort(out.begin(), out.end(), codePointLess);
    co_return out;
}

Task<Result<GlobResult>> glob(AioClient client, QString path, QString pattern, bool includeDirs, int maxResults, std::stop_token stop)
{
    const QString root = trimmedPath(path);
    GlobResult result;
    std::vector<QString> todo{root}; // a stack: the next directory is its last
    for (int visited = 0; !todo.empty() && visited < maxWalkedDirectories; ++visited) {
        const QString directory = todo.back();
        todo.pop_back();
        const auto entries = co_await entriesOf(client, directory, stop);
        if (!entries) {
            const wire::Failure &failure = entries.error();
            if (directory == root || failure.kind == wire::FailureKind::Transport)
                co_return fail(directoryError(failure, path));
            continue;
        }
        // Files of a directory before its subdirectories.
        for (const WalkEntry &entry : *entries) {
            const bool wanted = !entry.isDirectory || includeDirs;
            if (!wanted || !pathMatches(pattern, relativeTo(root, entry.path)))
                continue;
            if (!entry.isDirectory || includeDirs)
                result.paths << entry.path;
            if (result.paths.size() >= maxResults) {
                result.truncated = true;
                co_return result;
            }
        }
        for (auto it = entries->rbegin(); it != entries->rend(); ++it) {
            if (it->isDirectory)
                todo.push_back(it->path);
        }
    }
    co_return result;
}

Task<Result<GrepResult>> grep(AioClient client, GrepQuery query, std::stop_token stop)
{
    if (const auto expression = grepExpression(query.pattern, query.literal, query.caseSensitive); !expression)
        co_return fail(expression.error());
    const QString root = trimmedPath(query.path);
    wire::FileGrepRequest request = grepRequest(query);
    GrepResult result;
    for (int page = 0; page < maxGrepPages; ++page) {
        auto reply = co_await client.post<wire::FileGrepResult>("/v1/file/grep", request.write(), limits::listTimeout, stop);
        if (!reply)
            co_return fail(directoryError(reply.error(), query.path));
        for (const wire::GrepMatch &match : std::as_const(reply->matches)) {
            if (!keepsMatch(match, root, query))
                continue;
            result.matches.push_back({match.file, int(match.lineNumber), shownLine(match.lineContent)});
            if (int(result.matches.size()) >= query.maxResults) {
                result.truncated = true;
                co_return result;
            }
        }
        if (!reply->truncated || reply->matches.isEmpty())
            break;
        request.offset += reply->matches.size();
    }
    co_return result;
}

} // namespace paddock::aio
