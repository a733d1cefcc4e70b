// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/wire/file_api.h"

#include <cerrno>
#include <cstring>

namespace paddock::wire {

void checkFilePath(FieldReader &in, const char *key, const QString &path)
{
    if (in.value(key).is_string() && !path.startsWith(QLatin1Char('/')))
        in.failValue(key, QStringLiteral("path must be absolute"));
    else if (path.contains(QChar(u'\0')))
        in.failValue(key, QStringLiteral("path must not contain NUL"));
}

namespace {

struct ErrnoFacts {
    int number;
    const char *name;
    const char *type;
    const char *exception;
    bool retryable;
};

constexpr ErrnoFacts errnoTable[] = {
    {ENOENT, "ENOENT", "not_found", "FileNotFoundError", false},
    {EACCES, "EACCES", "permission_denied", "PermissionError", false},
    {EPERM, "EPERM", "permission_denied", "PermissionError", false},
    {EISDIR, "EISDIR", "invalid_target", "IsADirectoryError", false},
    {ENOTDIR, "ENOTDIR", "invalid_target", "NotADirectoryError", false},
    {EEXIST, "EEXIST", "already_exists", "FileExistsError", false},
    {ENAMETOOLONG, "ENAMETOOLONG", "invalid_path", "OSError", false},
    {ELOOP, "ELOOP", "invalid_path", "OSError", false},
    {EINVAL, "EINVAL", "invalid_path", "OSError", false},
    {EROFS, "EROFS", "read_only_filesystem", "OSError", false},
    {ENOSPC, "ENOSPC", "no_space_left", "OSError", true},
    {EDQUOT, "EDQUOT", "no_space_left", "OSError", false},
    {EAGAIN, "EAGAIN", "io_error", "BlockingIOError", true},
    {EBUSY, "EBUSY", "io_error", "OSError", true},
    {EINTR, "EINTR", "io_error", "InterruptedError", true},
    {EIO, "EIO", "io_error", "OSError", false},
    {ENXIO, "ENXIO", "io_error", "OSError", false},
    {EFBIG, "EFBIG", "io_error", "OSError", false},
    {EMFILE, "EMFILE", "io_error", "OSError", false},
    {ENFILE, "ENFILE", "io_error", "OSError", false},
    {ENOMEM, "ENOMEM", "io_error", "OSError", false},
    {ETXTBSY, "ETXTBSY", "io_error", "OSError", false},
};

} // namespace

FileError FileError::read(FieldReader &in)
{
    FileError r;
    r.path = in.string("path");
    r.operation = in.string("operation");
    r.message = in.string("message");
    r.errorType = in.string("error_type");
    r.retryable = in.boolOr("retryable", false);
    r.errnoValue = in.optionalInteger("errno");
    r.errnoName = in.optionalString("errno_name");
    r.exceptionType = in.optionalString("exception_type");
    if (in.value("file_kind").is_string())
        r.fileKind = in.string("file_kind");
    return r;
}

Json FileError::write() const
{
    Json out{{"path", paddock::toJson(path)},
             {"operation", paddock::toJson(operation)},
             {"message", paddock::toJson(message)},
             {"error_type", paddock::toJson(errorType)},
             {"retryable", retryable},
             {"errno", orNull(errnoValue)},
             {"errno_name", orNull(errnoName)},
             {"exception_type", orNull(exceptionType)}};
    putIf(out, "file_kind", fileKind);
    return out;
}

FileError FileError::special(const QString &kind, const QString &operation, const QString &path)
{
    FileError r;
    r.path = path;
    r.operation = operation;
    r.errorType = QStringLiteral("invalid_target");
    r.exceptionType = QStringLiteral("OSError");
    r.fileKind = kind;
    r.message = QStringLiteral("Failed to %1 file: it is %2, not a regular file: '%3'").arg(operation, kind, path);
    return r;
}

FileError FileError::fromErrno(int error, const QString &operation, const QString &path)
{
    FileError r;
    r.path = path;
    r.operation = operation;
    r.errnoValue = error;
    r.errorType = QStringLiteral("io_error");
    r.exceptionType = QStringLiteral("OSError");
    for (const ErrnoFacts &facts : errnoTable) {
        if (facts.number == error) {
            r.errnoName = QString::fromLatin1(facts.name);
            r.errorType = QString::fromLatin1(facts.type);
            r.exceptionType = QString::fromLatin1(facts.exception);
            r.retryable = facts.retryable;
        }
    }
    r.message = QStringLiteral("Failed to %1 file: [Errno %2] %3: '%4'")
                    .arg(operation)
                    .arg(error)
                    .arg(QString::fromLocal8Bit(std::strerror(error)), path);
    return r;
}

FileReadRequest FileReadRequest::read(FieldReader &in)
{
    FileReadRequest r;
    r.file = in.string("file");
    checkFilePath(in, "file", r.file);
    r.startLine = in.optionalInteger("start_line", 0);
    r.endLine = in.optionalInteger("end_line", 0);
    r.sudo = in.boolOr("sudo", false);
    return r;
}

Json FileReadRequest::write() const
{
    Json out{{"file", paddock::toJson(file)}};
    putIf(out, "start_line", startLine);
    putIf(out, "end_line", endLine);
    if (sudo)
        out["sudo"] = true;
    return out;
}

FileReadResult FileReadResult::read(FieldReader &in)
{
    return {in.string("content"), in.string("file"), in.optionalInteger("line_count")};
}

Json FileReadResult::write() const
{
    Json out{{"content", paddock::toJson(content)}, {"file", paddock::toJson(file)}};
    putIf(out, "line_count", lineCount);
    return out;
}

FileWriteRequest FileWriteRequest::forBytes(const QString &file, const QByteArray &bytes)
{
    FileWriteRequest r;
    r.file = file;
    r.content = bytes.toBase64();
    r.encoding = QStringLiteral("base64");
    return r;
}

FileWriteRequest FileWriteRequest::read(FieldReader &in)
{
    FileWriteRequest r;
    r.file = in.string("file");
    checkFilePath(in, "file", r.file);
    r.content = in.utf8("content");
    r.encoding = in.stringOr("encoding", QStringLiteral("utf-8"));
    if (r.encoding != u"utf-8" && r.encoding != u"base64" && r.encoding != u"raw")
        in.fail("encoding", QStringLiteral("unexpected value; permitted: 'utf-8', 'base64', 'raw'"), QStringLiteral("value_error.const"));
    r.append = in.boolOr("append", false);
    r.leadingNewline = in.boolOr("leading_newline", false);
    r.trailingNewline = in.boolOr("trailing_newline", false);
    r.sudo = in.boolOr("sudo", false);
    if (in.ok()) {
        // Checked here so that the reply is a 422 like every other fault of the request.
        if (const auto checked = r.bytes(); !checked)
            in.failValue("content", checked.error());
    }
    return r;
}

Json FileWriteRequest::write() const
{
    Json out{{"file", paddock::toJson(file)}, {"content", content.toStdString()}};
    if (encoding != u"utf-8")
        out["encoding"] = paddock::toJson(encoding);
    if (append)
        out["append"] = true;
    if (leadingNewline)
        out["leading_newline"] = true;
    if (trailingNewline)
        out["trailing_newline"] = true;
    if (sudo)
        out["sudo"] = true;
    return out;
}

std::expected<QByteArray, QString> FileWriteRequest::bytes() const
{
    if (encoding == u"base64") {
        QByteArray packed;
        packed.reserve(content.size());
        for (const char c : content) {
            if (c != ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\v')
                packed.append(c);
        }
        auto decoded = QByteArray::fromBase64Encoding(packed, QByteArray::AbortOnBase64DecodingErrors);
        if (!decoded || packed.size() % 4 != 0)
            return std::unexpected(QStringLiteral("invalid base64"));
        return std::move(decoded.decoded);
    }
    QByteArray out = content;
    if (encoding == u"raw") {
        const QString text = QString::fromUtf8(content);
        for (const QChar c : text) {
            if (c.unicode() > 0xff)
                return std::unexpected(QStringLiteral("raw content must only hold characters up to U+00FF"));
        }
        return text.toLatin1();
    }
    if (leadingNewline)
        out.prepend('\n');
    if (trailingNewline)
        out.append('\n');
    return out;
}

FileWriteResult FileWriteResult::read(FieldReader &in)
{
    FileWriteResult r;
    r.file = in.string("file");
    r.bytesWritten = in.optionalInteger("bytes_written");
    r.realPath = in.optionalString("real_path");
    return r;
}

Json FileWriteResult::write() const
{
    Json out{{"file", paddock::toJson(file)}, {"bytes_written", orNull(bytesWritten)}};
    if (realPath)
        out["real_path"] = paddock::toJson(*realPath);
    return out;
}

FileReplaceRequest FileReplaceRequest::read(FieldReader &in)
{
    FileReplaceRequest r;
    r.file = in.string("file");
    checkFilePath(in, "file", r.file);
    r.oldText = in.string("old_str");
    if (in.value("old_str").is_string() && r.oldText.isEmpty())
        in.failValue("old_str", QStringLiteral("old_str must not be empty"));
    r.newText = in.string("new_str");
    r.sudo = in.boolOr("sudo", false);
    return r;
}

Json FileReplaceRequest::write() const
{
    Json out{{"file", paddock::toJson(file)}, {"old_str", paddock::toJson(oldText)}, {"new_str", paddock::toJson(newText)}};
    if (sudo)
        out["sudo"] = true;
    return out;
}

FileReplaceResult FileReplaceResult::read(FieldReader &in)
{
    return {in.string("file"), in.integerOr("replaced_count", 0)};
}

Json FileReplaceResult::write() const
{
    return {{"file", paddock::toJson(file)}, {"replaced_count", replacedCount}};
}

FileUploadResult FileUploadResult::read(FieldReader &in)
{
    return {in.string("file_path"), in.integer("file_size"), in.boolean("success")};
}

Json FileUploadResult::write() const
{
    return {{"file_path", paddock::toJson(filePath)}, {"file_size", fileSize}, {"success", success}};
}

EditorRequest EditorRequest::read(FieldReader &in)
{
    EditorRequest r;
    r.command = in.string("command");
    static const QStringList commands{QStringLiteral("view"), QStringLiteral("create"), QStringLiteral("str_replace"),
                                      QStringLiteral("insert"), QStringLiteral("undo_edit")};
    if (in.value("command").is_string() && !commands.contains(r.command))
        in.fail("command", QStringLiteral("unexpected value; permitted: %1").arg(commands.join(QStringLiteral(", "))),
                QStringLiteral("value_error.const"));
    r.path = in.string("path");
    checkFilePath(in, "path", r.path);
    r.fileText = in.optionalString("file_text");
    r.oldText = in.optionalString("old_str");
    r.newText = in.optionalString("new_str");
    r.insertLine = in.optionalInteger("insert_line", 0);
    if (const Json &range = in.value("view_range"); !range.is_null()) {
        QList<qint64> lines;
        bool good = range.is_array();
        for (std::size_t i = 0; good && i < range.size(); ++i) {
            good = range[i].is_number_integer();
            if (good)
                lines.append(range[i].get<qint64>());
        }
        if (!good)
            in.fail("view_range", QStringLiteral("value is not a valid list of integers"), QStringLiteral("type_error.list"));
        r.viewRange = lines;
    }
    r.replaceMode = in.optionalString("replace_mode");
    if (r.replaceMode && *r.replaceMode != u"ALL" && *r.replaceMode != u"FIRST" && *r.replaceMode != u"LAST")
        in.fail("replace_mode", QStringLiteral("unexpected value; permitted: ALL, FIRST, LAST"), QStringLiteral("value_error.const"));
    for (const char *key : {"page_range", "sheet_name", "row_range", "slide_range"})
        r.documentOptions = r.documentOptions || !in.value(key).is_null();
    r.enableMetadata = in.boolOr("enable_metadata", false);
    return r;
}

Json EditorRequest::write() const
{
    Json out{{"command", paddock::toJson(command)}, {"path", paddock::toJson(path)}};
    putIf(out, "file_text", fileText);
    putIf(out, "old_str", oldText);
    putIf(out, "new_str", newText);
    putIf(out, "insert_line", insertLine);
    if (viewRange)
        out["view_range"] = Json(std::vector<qint64>(viewRange->begin(), viewRange->end()));
    putIf(out, "replace_mode", replaceMode);
    if (enableMetadata)
        out["enable_metadata"] = true;
    return out;
}

EditorResult EditorResult::read(FieldReader &in)
{
    EditorResult r;
    r.output = in.string("output");
    r.error = in.optionalString("error");
    r.path = in.string("path");
    r.prevExist = in.boolean("prev_exist");
    r.oldContent = in.optionalString("old_content");
    r.newContent = in.optionalString("new_content");
    r.metadata = in.value("metadata");
    return r;
}

Json EditorResult::write() const
{
    return {{"output", paddock::toJson(output)},
            {"error", orNull(error)},
            {"path", paddock::toJson(path)},
            {"prev_exist", prevExist},
            {"old_content", orNull(oldContent)},
            {"new_content", orNull(newContent)},
            {"metadata", metadata}};
}

} // namespace paddock::wire
