// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/wire/field_reader.h"

// Searches and listings of the file group (aio-api.md §4.6 to §4.10).
namespace paddock::wire {

struct FileSearchRequest {
    QString file;
    QString regex;
    bool sudo = false;

    static FileSearchRequest read(FieldReader &in);
    Json write() const;
};

struct FileSearchResult {
    QString file;
    QStringList matches;
    QList<qint64> lineNumbers; ///< 0-based, parallel to matches

    static FileSearchResult read(FieldReader &in);
    Json write() const;
};

struct FileFindRequest {
    QString path;
    QString glob;

    static FileFindRequest read(FieldReader &in);
    Json write() const;
};

struct FileFindResult {
    QString path;
    QStringList files;

    static FileFindResult read(FieldReader &in);
    Json write() const;
};

struct FileGrepRequest {
    QString path;
    QString pattern;
    std::optional<QStringList> include;
    std::optional<QStringList> exclude;
    bool caseInsensitive = false;
    bool fixedStrings = false;
    qint64 contextBefore = 0;
    qint64 contextAfter = 0;
    qint64 maxResults = 500;
    QString maxFileSize = QStringLiteral("1M");
    bool multiline = false;
    qint64 offset = 0;
    std::optional<QString> type;
    bool recursive = true;

    static FileGrepRequest read(FieldReader &in);
    Json write() const; ///< only what differs from the defaults
    /// "1M" as bytes; suffixes K M G.
    static std::optional<qint64> sizeOf(const QString &text);
};

struct GrepMatch {
    QString file;
    qint64 lineNumber = 0; ///< 1-based
    QString lineContent;
    std::optional<QStringList> contextBefore;
    std::optional<QStringList> contextAfter;

    static GrepMatch read(FieldReader &in);
    Json write() const;
};

struct FileGrepResult {
    QString path;
    QString pattern;
    QList<GrepMatch> matches;
    qint64 matchCount = 0;
    std::optional<qint64> filesSearched;
    std::optional<qint64> filesMatched;
    bool truncated = false;

    static FileGrepResult read(FieldReader &in);
    Json write() const;
};

struct FileGlobRequest {
    QString path;
    QString pattern;
    std::optional<QStringList> exclude;
    bool includeHidden = false;
    bool filesOnly = true;
    bool includeMetadata = true;
    qint64 maxResults = 5000;
    QString sortBy = QStringLiteral("path"); ///< path, name, size, modified
    bool sortDesc = false;

    static FileGlobRequest read(FieldReader &in);
    Json write() const;
};

struct GlobEntry {
    QString path;
    QString name;
    bool isDirectory = false;
    std::optional<qint64> size;
    std::optional<QString> modifiedTime;

    static GlobEntry read(FieldReader &in);
    Json write() const;
};

struct FileGlobResult {
    QString path;
    QString pattern;
    QList<GlobEntry> files;
    qint64 totalCount = 0;
    bool truncated = false;

    static FileGlobResult read(FieldReader &in);
    Json write() const;
};

struct FileListRequest {
    QString path;
    bool recursive = false;
    bool showHidden = true;
    std::optional<QStringList> fileTypes; ///< ".py"
    std::optional<qint64> maxDepth;
    bool includeSize = true;
    bool includePermissions = false;
    QString sortBy = QStringLiteral("name"); ///< name, size, modified, type
    bool sortDesc = false;

    static FileListRequest read(FieldReader &in);
    Json write() const;
};

struct ListEntry {
    QString name;
    QString path;
    bool isDirectory = false;
    std::optional<qint64> size;
    std::optional<QString> modifiedTime; ///< ISO
    std::optional<QString> permissions;
    std::optional<QString> extension;

    static ListEntry read(FieldReader &in);
    Json write() const;
};

struct FileListResult {
    QString path;
    QList<ListEntry> files;
    qint64 totalCount = 0;
    qint64 directoryCount = 0;
    qint64 fileCount = 0;

    static FileListResult read(FieldReader &in);
    Json write() const;
};

} // namespace paddock::wire
