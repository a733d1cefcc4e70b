// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/file_transfer.h"

#include "core/base/ids.h"
#include "core/sandboxd/file_ops.h"
#include "core/wire/envelope.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace paddock::sandboxd {

namespace {

constexpr qsizetype maxPathBytes = 4096;

QByteArray directoryOf(const QByteArray &path)
{
    const qsizetype slash = path.lastIndexOf('/');
    return slash <= 0 ? QByteArray("/") : path.left(slash);
}

bool isDirectory(const QByteArray &path)
{
    struct stat facts;
    return ::stat(path.constData(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

HttpReply invalid(const char *field, const QString &message)
{
    return fileReply(422, wire::validationBody({{Json::array({"body", field}), message, QStringLiteral("value_error")}}));
}

int copyFile(int from, const QByteArray &target)
{
    const UniqueFd out(::open(target.constData(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, newFileMode));
    if (!out)
        return errno;
    char block[65536];
    off_t offset = 0;
    while (true) {
        const ssize_t count = ::pread(from, block, sizeof block, offset);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return count < 0 ? errno : 0;
        for (ssize_t done = 0; done < count;) {
            const ssize_t written = ::write(out.get(), block + done, size_t(count - done));
            if (written < 0 && errno != EINTR)
                return errno;
            done += std::max<ssize_t>(written, 0);
        }
        offset += count;
    }
}

} // namespace

HttpReply fileReply(int status, const Json &body)
{
    HttpReply reply;
    reply.status = status;
    reply.body = dumpJson(body);
    return reply;
}

HttpReply fileFailureReply(const FileFailure &failure)
{
    if (failure.status != 200)
        return fileReply(failure.status, wire::refused(failure.error.message).write());
    return fileReply(200, wire::refused(failure.error.message, failure.error.write()).write());
}

// ---- upload --------------------------------------------------------------------------------------------------------

UploadSink::UploadSink(const QByteArray &boundary, QByteArray workspace)
    : m_reader(boundary, {[this](const MultipartReader::Part &part) { beginPart(part); }, [this](QByteArrayView bytes) { data(bytes); },
                          [this] { m_field = Field::None; }}),
      m_workspace(std::move(workspace))
{
}

UploadSink::~UploadSink()
{
    if (!m_temporaryName.isEmpty())
        ::unlink(m_temporaryName.constData());
}

bool UploadSink::feed(QByteArrayView bytes)
{
    if (!m_reader.feed(bytes))
        m_broken = true;
    return !m_broken && !m_tooLarge;
}

void UploadSink::beginPart(const MultipartReader::Part &part)
{
    if (part.name == u"path") {
        m_field = Field::Path;
        m_path = QByteArray();
    } else if (part.name == u"file" && !m_hasFile) {
        m_field = Field::File;
        m_hasFile = true;
        m_fileName = part.fileName.value_or(QStringLiteral("upload"));
        QByteArray directory = m_workspace;
        if (m_path && m_path->startsWith('/')) {
            const QByteArray wanted = target();
            m_error = makeParents(wanted);
            directory = directoryOf(wanted);
        }
        if (!m_error)
            openTemporary(directory);
    } else {
        m_field = Field::Other;
    }
}

void UploadSink::openTemporary(const QByteArray &directory)
{
    m_temporaryName = directory + "/.upload-" + newUuid().toLatin1();
    m_temporary.reset(::open(m_temporaryName.constData(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, newFileMode));
    if (!m_temporary) {
        m_error = errno;
        m_temporaryName.clear();
    }
}

void UploadSink::data(QByteArrayView bytes)
{
    if (m_field == Field::Path) {
        if (m_path->size() + bytes.size() > maxPathBytes)
            m_broken = true;
        else
            m_path->append(bytes);
        return;
    }
    if (m_field != Field::File)
        return;
    m_size += bytes.size();
    m_tooLarge = m_size > maxUploadBytes;
    for (qsizetype done = 0; done < bytes.size() && !m_error && !m_tooLarge && m_temporary;) {
        const ssize_t count = ::write(m_temporary.get(), bytes.data() + done, size_t(bytes.size() - done));
        if (count < 0 && errno != EINTR)
            m_error = errno;
        done += std::max<ssize_t>(count, 0);
    }
}

QByteArray UploadSink::target() const
{
    QString base = m_fileName;
    base = base.sliced(base.lastIndexOf(u'/') + 1);
    base = base.sliced(base.lastIndexOf(u'\\') + 1);
    if (base.isEmpty() || base == u"." || base == u"..")
        base = QStringLiteral("upload");
    if (!m_path || m_path->isEmpty())
        return m_workspace + '/' + base.toUtf8();
    if (isDirectory(*m_path))
        return *m_path + (m_path->endsWith('/') ? "" : "/") + base.toUtf8();
    return *m_path;
}

int UploadSink::moveTo(const QByteArray &target)
{
    if (const int error = makeParents(target))
        return error;
    if (::rename(m_temporaryName.constData(), target.constData()) == 0) {
        m_temporaryName.clear();
        return 0;
    }
    // The path came behind the file and lies on another file system.
    return errno == EXDEV ? copyFile(m_temporary.get(), target) : errno;
}

HttpReply UploadSink::finish()
{
    if (m_tooLarge)
        return fileReply(413, wire::refused(QStringLiteral("Upload is larger than 4 GiB")).write());
    if (m_broken || !m_reader.complete())
        return invalid("file", QStringLiteral("malformed multipart body"));
    if (!m_hasFile)
        return fileReply(422, wire::validationBody({{Json::array({"body", "file"}), QStringLiteral("field required"),
                                                     QStringLiteral("value_error.missing")}}));
    if (m_path && !m_path->isEmpty() && (!m_path->startsWith('/') || m_path->contains('\0')))
        return invalid("path", QStringLiteral("path must be absolute"));
    const QByteArray wanted = target();
    const int error = m_error ? m_error : moveTo(wanted);
    const QString shown = QString::fromUtf8(wanted);
    if (error)
        return fileFailureReply({wire::FileError::fromErrno(error, QStringLiteral("upload"), shown)});
    return fileReply(200, wire::succeeded(wire::FileUploadResult{shown, m_size, true}.write(), QStringLiteral("File uploaded successfully")).write());
}

// ---- download ------------------------------------------------------------------------------------------------------

namespace {

HttpReply downloadError(int status, int error, const QString &path)
{
    const QString kind = specialKindAt(path.toUtf8());
    auto failure = kind.isEmpty() ? wire::FileError::fromErrno(error, QStringLiteral("download"), path)
                                  : wire::FileError::special(kind, QStringLiteral("download"), path);
    if (error == ENOENT)
        failure.message = QStringLiteral("File not found: %1").arg(path);
    return fileReply(status, wire::refused(failure.message, failure.write()).write());
}

QByteArray dispositionOf(const QByteArray &path)
{
    const QByteArray name = path.sliced(path.lastIndexOf('/') + 1);
    return "attachment; filename*=UTF-8''" + name.toPercentEncoding();
}

/// What must stay the same while a file is sent under change_policy=abort.
bool sameVersion(const struct stat &a, const struct stat &b)
{
    return a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec && a.st_ino == b.st_ino;
}

struct Download {
    UniqueFd fd;
    struct stat before;
    QByteArray path;
    qint64 offset = 0;
    bool strict = false;

    qint64 read(char *buffer, qint64 size)
    {
        struct stat now;
        if (strict && (::stat(path.constData(), &now) != 0 || !sameVersion(before, now)))
            return HttpReply::cutConnection;
        const ssize_t count = ::pread(fd.get(), buffer, size_t(size), offset);
        if (count < 0)
            return HttpReply::cutConnection;
        if (count == 0)
            return offset < before.st_size ? HttpReply::cutConnection : HttpReply::endOfBody; // it became shorter
        offset += count;
        return count;
    }
};

} // namespace

HttpReply downloadReply(const QHash<QByteArray, QByteArray> &query)
{
    const auto found = query.find("path");
    if (found == query.end())
        return fileReply(422, wire::validationBody({{Json::array({"query", "path"}), QStringLiteral("field required"),
                                                     QStringLiteral("value_error.missing")}}));
    const QByteArray path = *found;
    const QByteArray policy = query.value("change_policy", "ignore");
    const bool badPath = !path.startsWith('/') || path.contains('\0');
    if (badPath || (policy != "ignore" && policy != "abort")) {
        return fileReply(422, wire::validationBody({{Json::array({"query", badPath ? "path" : "change_policy"}),
                                                     badPath ? QStringLiteral("path must be absolute")
                                                             : QStringLiteral("unexpected value; permitted: 'ignore', 'abort'"),
                                                     QStringLiteral("value_error")}}));
    }
    const QString shown = QString::fromUtf8(path);
    auto download = std::make_shared<Download>();
    download->fd.reset(::open(path.constData(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!download->fd) {
        const int error = errno;
        const int status = error == ENOENT || error == ENOTDIR ? 404 : error == EACCES || error == EPERM ? 403 : 400;
        return downloadError(status, error, shown);
    }
    if (::fstat(download->fd.get(), &download->before) != 0 || !S_ISREG(download->before.st_mode))
        return downloadError(400, S_ISDIR(download->before.st_mode) ? EISDIR : EINVAL, shown);
    download->path = path;
    download->strict = policy == "abort";
    HttpReply reply;
    reply.contentType = "application/octet-stream";
    reply.headers.append(std::pair<QByteArray, QByteArray>("Content-Disposition", dispositionOf(path)));
    // Files of /proc say 0 and have more.
    reply.sourceSize = download->before.st_size > 0 ? qint64(download->before.st_size) : -1;
    reply.source = [download](char *buffer, qint64 size) { return download->read(buffer, size); };
    return reply;
}

} // namespace paddock::sandboxd
