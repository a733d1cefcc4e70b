// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/local/local_files.h"

#include "core/sandbox/virtual_paths.h"

#include <QStringDecoder>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>

namespace paddock {

namespace {

bool isRaced(const Error &error)
{
    const qint64 number = intOf(error.details, "errno");
    return number == ELOOP || number == EXDEV;
}

std::unexpected<Error> traversal()
{
    return fail(ErrorCode::PermissionDenied, QStringLiteral("Access denied: path traversal detected"));
}

/// Strict; a byte order mark is kept.
std::optional<QString> decodeUtf8(const QByteArray &bytes)
{
    QStringDecoder decoder(QStringDecoder::Utf8, QStringDecoder::Flag::Stateless | QStringDecoder::Flag::ConvertInitialBom);
    const QString text = decoder(bytes);
    if (decoder.hasError())
        return std::nullopt;
    return text;
}

std::vector<MaskSource> maskSources(const ThreadPaths &paths, const SkillDirs &skills, const QString &skillsRoot,
                                    const PathMap &map)
{
    std::vector<MaskSource> sources = threadMaskSources(paths, skills, skillsRoot);
    for (const PathMapping &mapping : map.mappings())
        sources.push_back({mapping.localPath, mapping.containerPath});
    return sources;
}

} // namespace

LocalFiles::LocalFiles(ThreadPaths paths, SkillDirs skills, QString skillsRoot, const std::vector<MountSpec> &mounts)
    : m_paths(std::move(paths))
    , m_skillsRoot(std::move(skillsRoot))
    , m_map(threadMappings(m_paths, skills, m_skillsRoot, mounts, &m_warnings))
    , m_masker(maskSources(m_paths, skills, m_skillsRoot, m_map))
{
    for (const MountSpec &mount : mounts) {
        const PathMapping *mapping = m_map.find(mount.containerPath);
        if (mapping && mapping->localPath == mount.hostPath)
            m_mounts.push_back({mapping->containerPath, mapping->readOnly});
    }
}

QByteArray LocalFiles::Place::hostPath() const
{
    return relative.isEmpty() ? rootPath : rootPath + '/' + relative;
}

Result<Located> LocalFiles::locatePath(const QString &path, bool write) const
{
    if (path.contains(QChar(0)))
        return fail(ErrorCode::InvalidArgument, QStringLiteral("The path contains a null character."));
    if (const auto ok = validateLocalToolPath(path, dirs(), !write, m_skillsRoot, m_mounts); !ok)
        return std::unexpected(ok.error());
    if (isUnder(path, virtualRoot)) {
        const QByteArray host = replaceVirtualPath(path, dirs()).toUtf8();
        if (!host.startsWith('/') || host == path.toUtf8()) // no folder stands for it
            return traversal();
        return locate(host, {{m_paths.workspace.toUtf8(), false}, {m_paths.uploads.toUtf8(), false},
                             {m_paths.outputs.toUtf8(), false}});
    }
    const PathMapping *mapping = m_map.find(path);
    if (!mapping)
        return fail(ErrorCode::NotFound, QStringLiteral("Nothing is at this path."));
    if (write && m_map.isReadOnly(path))
        return std::unexpected(errnoError(EROFS, QStringLiteral("Cannot write the file")));
    const QByteArray host = (mapping->localPath + path.mid(mapping->containerPath.size())).toUtf8();
    auto located = locate(host, {{mapping->localPath.toUtf8(), mapping->readOnly}});
    if (!located)
        return fail(ErrorCode::PermissionDenied, QStringLiteral("Access denied: path escapes mounted directory"),
                    Json{{"errno", EACCES}, {"path", toUtf8(path)}});
    return located;
}

Result<LocalFiles::Place> LocalFiles::place(const QString &path, bool write) const
{
    const auto located = locatePath(path, write);
    if (!located)
        return std::unexpected(located.error());
    auto root = openRoot(located->rootPath);
    if (!root)
        return std::unexpected(root.error());
    return Place{std::move(*root), located->rootPath, located->relative};
}

Result<UniqueFd> LocalFiles::openForRead(const QString &path, int flags, QByteArray *hostPath) const
{
    for (int i = 0; i < maxResolveTries; ++i) {
        const auto where = place(path, false);
        if (!where)
            return std::unexpected(where.error());
        auto fd = openBeneath(where->root.get(), where->relative, flags);
        if (!fd && isRaced(fd.error()))
            continue;
        if (fd && hostPath)
            *hostPath = where->hostPath();
        return fd;
    }
    return traversal();
}

template<typename Write>
Result<QByteArray> LocalFiles::writeWith(const QString &path, Write write) const
{
    if (path.endsWith(u'/'))
        return fail(Error{ErrorCode::InvalidArgument, QStringLiteral("The path is a directory."),
                          Json{{fileErrorReasonKey, reasonIsDirectory}}, nullptr});
    for (int i = 0; i < maxResolveTries; ++i) {
        const auto where = place(path, true);
        if (!where)
            return std::unexpected(where.error());
        const Result<void> written = write(where->root.get(), where->relative);
        if (written)
            return where->hostPath();
        if (!isRaced(written.error()))
            return std::unexpected(written.error());
    }
    return traversal();
}

Result<QByteArray> LocalFiles::readBytes(const QString &path, qint64 maxBytes) const
{
    // O_NONBLOCK: a FIFO must not hold us; readAll refuses it.
    const auto fd = openForRead(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (!fd) {
        // A socket cannot be opened at all; only what stands there tells why.
        struct stat info {};
        const auto look = intOf(fd.error().details, "errno") == ENXIO ? openForRead(path, O_PATH) : Result<UniqueFd>(std::unexpected(fd.error()));
        if (look && ::fstat(look->get(), &info) == 0)
            return std::unexpected(specialFileError(info.st_mode));
        return std::unexpected(fd.error());
    }
    return readAll(fd->get(), std::min(maxBytes, maxFileBytes));
}

Result<QString> LocalFiles::readFile(const QString &path)
{
    const auto bytes = readBytes(path, maxFileBytes);
    if (!bytes)
        return std::unexpected(bytes.error());
    const auto text = decodeUtf8(*bytes);
    if (!text)
        return fail(Error{ErrorCode::InvalidArgument, QStringLiteral("The file is not UTF-8 text."),
                          Json{{fileErrorReasonKey, reasonBinary}}, nullptr});
    return m_masker.mask(*text);
}

Result<FileWritten> LocalFiles::writeFile(const QString &path, const QString &content, bool append)
{
    const QByteArray bytes = m_map.mapContent(content).toUtf8();
    const auto host = writeWith(path, [&](int root, const QByteArray &relative) {
        return append ? appendBeneath(root, relative, bytes) : writeAtomicBeneath(root, relative, bytes);
    });
    if (!host)
        return std::unexpected(host.error());
    const std::lock_guard lock(m_mutex);
    m_written.insert(*host);
    return writtenAt(*host);
}

Result<FileWritten> LocalFiles::writeBytes(const QString &path, const QByteArray &content) const
{
    const auto host = writeWith(path, [&](int root, const QByteArray &relative) {
        return writeAtomicBeneath(root, relative, content);
    });
    return host ? Result<FileWritten>(writtenAt(*host)) : std::unexpected(host.error());
}

FileWritten LocalFiles::writtenAt(const QByteArray &hostPath) const
{
    const QString host = QString::fromUtf8(hostPath);
    const QString path = m_map.reverse(host);
    return {path == host ? QString() : path}; // a host path is nobody's to see
}

QString LocalFiles::lockPath(const QString &path) const
{
    const auto located = locatePath(path, false);
    if (!located)
        return normalizeVirtualPath(path);
    return QString::fromUtf8(located->rootPath + '/' + located->relative);
}

QString LocalFiles::hostCommand(const QString &command) const
{
    return m_map.mapCommand(replaceVirtualPathsInCommand(command, dirs()));
}

} // namespace paddock
