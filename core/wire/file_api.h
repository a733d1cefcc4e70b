// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/wire/field_reader.h"

// The file group (aio-api.md §4): single files here, searches and listings in file_query_api.h.
// Paths are absolute inside the sandbox; a relative one or one with NUL is a validation issue.
namespace paddock::wire {

/// Checks an absolute path member and records an issue otherwise.
void checkFilePath(FieldReader &in, const char *key, const QString &path);

/// `data` of a failed file operation (§4.2).
struct FileError {
    QString path;
    QString operation;
    QString message;
    QString errorType;
    bool retryable = false;
    std::optional<qint64> errnoValue;
    std::optional<QString> errnoName;
    std::optional<QString> exceptionType;
    std::optional<QString> fileKind; ///< of a special file (file_kind.h); ours alone: not written when it is none

    static FileError read(FieldReader &in);
    Json write() const;
    /// From an errno: error type, Python exception name and the message "Failed to <operation> file: [Errno n] text: 'path'".
    static FileError fromErrno(int error, const QString &operation, const QString &path);
    /// The path leads to a pipe, a socket or a device.
    static FileError special(const QString &kind, const QString &operation, const QString &path);
};

struct FileReadRequest {
    QString file;
    std::optional<qint64> startLine; ///< 0-based
    std::optional<qint64> endLine;   ///< exclusive
    bool sudo = false;

    static FileReadRequest read(FieldReader &in);
    Json write() const;
};

struct FileReadResult {
    QString content;
    QString file;
    std::optional<qint64> lineCount;

    static FileReadResult read(FieldReader &in);
    Json write() const;
};

struct FileWriteRequest {
    QString file;
    QByteArray content; ///< the JSON string as UTF-8: text, base64, or one character per byte ("raw")
    QString encoding = QStringLiteral("utf-8");
    bool append = false;
    bool leadingNewline = false;
    bool trailingNewline = false;
    bool sudo = false;

    /// A request that writes these bytes as base64.
    static FileWriteRequest forBytes(const QString &file, const QByteArray &bytes);
    static FileWriteRequest read(FieldReader &in);
    Json write() const;
    /// The bytes to store, newline flags included. Errors: invalid base64 or raw text (a 422).
    std::expected<QByteArray, QString> bytes() const;
};

struct FileWriteResult {
    QString file;
    std::optional<qint64> bytesWritten;
    std::optional<QString> realPath{}; ///< Paddock's own: where links led, when that is not `file`

    static FileWriteResult read(FieldReader &in);
    Json write() const;
};

struct FileReplaceRequest {
    QString file;
    QString oldText;
    QString newText;
    bool sudo = false;

    static FileReplaceRequest read(FieldReader &in);
    Json write() const;
};

struct FileReplaceResult {
    QString file;
    qint64 replacedCount = 0;

    static FileReplaceResult read(FieldReader &in);
    Json write() const;
};

struct FileUploadResult {
    QString filePath;
    qint64 fileSize = 0;
    bool success = true;

    static FileUploadResult read(FieldReader &in);
    Json write() const;
};

struct EditorRequest { ///< str_replace_editor (§4.13)
    QString command;   ///< view, create, str_replace, insert, undo_edit
    QString path;
    std::optional<QString> fileText;
    std::optional<QString> oldText;
    std::optional<QString> newText;
    std::optional<qint64> insertLine;
    std::optional<QList<qint64>> viewRange;
    std::optional<QString> replaceMode; ///< ALL, FIRST, LAST
    bool documentOptions = false;       ///< a PDF, sheet or slide option was given
    bool enableMetadata = false;

    static EditorRequest read(FieldReader &in);
    Json write() const;
};

struct EditorResult {
    QString output;
    std::optional<QString> error;
    QString path;
    bool prevExist = false;
    std::optional<QString> oldContent;
    std::optional<QString> newContent;
    Json metadata = nullptr;

    static EditorResult read(FieldReader &in);
    Json write() const;
};

} // namespace paddock::wire
