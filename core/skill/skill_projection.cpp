// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/skill/skill_projection.h"

#include "core/base/ids.h"
#include "core/base/text.h"
#include "core/sandbox/beneath.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QFileInfo>
#include <QLockFile>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <set>

namespace paddock {

namespace {

constexpr int lockWaitMs = 10'000;
constexpr int maxCopiedFiles = 2000;                   ///< of one skill
constexpr qint64 maxCopiedBytes = 64LL * 1024 * 1024;  ///< of one skill
constexpr int maxCopyDepth = 16;

/// One file of a skill: where it really is, and where its copy goes.
struct Piece {
    QByteArray source;   ///< links resolved
    QString relative;    ///< below the category's folder
    qint64 size = 0;
    qint64 changedNs = 0;
    bool executable = false;
};

/// The files of one skill; links that lead out of its own folder are left out.
class Collector
{
public:
    explicit Collector(const Skill &skill) : m_base(resolveLinks(QFile::encodeName(QFileInfo(skill.file).absolutePath()))) {}

    Result<std::vector<Piece>> collect(const QString &target)
    {
        folder(m_base, target, 0);
        if (m_tooMuch)
            return fail(ErrorCode::ResourceExhausted, QStringLiteral("it has more than %1 files, more than %2 bytes, or too deep folders")
                                                          .arg(maxCopiedFiles).arg(maxCopiedBytes));
        return std::move(m_pieces);
    }

private:
    void folder(const QByteArray &path, const QString &target, int depth)
    {
        m_tooMuch = m_tooMuch || depth > maxCopyDepth;
        if (m_tooMuch)
            return;
        QDirIterator it(QFile::decodeName(path), QDir::AllEntries | QDir::NoDotAndDotDot | QDir::Hidden | QDir::System);
        while (it.hasNext() && !m_tooMuch) {
            it.next();
            entry(QFile::encodeName(it.filePath()), target + u'/' + it.fileName(), depth);
        }
    }

    void entry(const QByteArray &path, const QString &target, int depth)
    {
        const QByteArray real = resolveLinks(path);
        struct stat info {};
        if (!isBelow(real, m_base) || ::lstat(real.constData(), &info) != 0)
            return;
        if (S_ISDIR(info.st_mode)) {
            if (real == path) // a linked folder is either elsewhere in the skill, or a circle
                folder(real, target, depth + 1);
            return;
        }
        if (!S_ISREG(info.st_mode))
            return;
        m_bytes += info.st_size;
        m_tooMuch = m_tooMuch || m_bytes > maxCopiedBytes || m_pieces.size() >= maxCopiedFiles;
        m_pieces.push_back({real, target, info.st_size, info.st_mtim.tv_sec * 1'000'000'000LL + info.st_mtim.tv_nsec,
                            (info.st_mode & S_IXUSR) != 0});
    }

    const QByteArray m_base;
    std::vector<Piece> m_pieces;
    qint64 m_bytes = 0;
    bool m_tooMuch = false;
};

Result<void> copied(const Piece &piece, int stage, const QByteArray &root)
{
    const auto folder = openRoot(root);
    if (!folder)
        return fail(folder.error());
    const auto source = openBeneath(folder->get(), piece.source.mid(root.size() + 1), O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (!source)
        return fail(source.error());
    const auto content = readAll(source->get(), maxCopiedBytes);
    if (!content)
        return fail(content.error());
    const QByteArray name = QFile::encodeName(piece.relative);
    if (auto written = writeAtomicBeneath(stage, name, *content); !written)
        return written;
    const auto file = openBeneath(stage, name, O_RDONLY);
    if (!file)
        return fail(file.error());
    if (::fchmod(file->get(), piece.executable ? 0755 : 0644) != 0)
        return fail(errnoError(errno, QStringLiteral("Cannot set the mode of a copy")));
    return {};
}

QByteArray manifestOf(const std::vector<Piece> &pieces)
{
    QByteArray lines;
    for (const Piece &piece : pieces)
        lines += piece.relative.toUtf8() + '\0' + piece.source + '\0' + QByteArray::number(piece.size) + '\0'
            + QByteArray::number(piece.changedNs) + (piece.executable ? "x\n" : "\n");
    return sha256Hex(lines).toLatin1();
}

QByteArray contentOf(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.read(1024) : QByteArray();
}

std::set<QString> namesIn(const QString &folder)
{
    const QStringList names = QDir(folder).entryList(QDir::AllEntries | QDir::NoDotAndDotDot | QDir::Hidden | QDir::System);
    return {names.begin(), names.end()};
}

void removeEntry(const QString &path)
{
    const QFileInfo info(path);
    if (info.isDir() && !info.isSymLink())
        QDir(path).removeRecursively();
    else
        QFile::remove(path);
}

/// Each entry of `stage` takes the place of the one of its name in `folder`; what `stage` lacks goes.
Result<void> swapIn(const QString &stage, const QString &folder)
{
    const std::set<QString> wanted = namesIn(stage);
    for (const QString &name : wanted) {
        const QByteArray from = QFile::encodeName(stage + u'/' + name);
        const QByteArray to = QFile::encodeName(folder + u'/' + name);
        // The old one, if any, goes to the stage in the same step, so that no reader finds nothing.
        if (::renameat2(AT_FDCWD, from.constData(), AT_FDCWD, to.constData(), RENAME_EXCHANGE) == 0)
            continue;
        if (errno != ENOENT)
            removeEntry(folder + u'/' + name); // a file system without exchange
        if (::rename(from.constData(), to.constData()) != 0)
            return fail(errnoError(errno, QStringLiteral("Cannot put the copy of a skill in its place")));
    }
    for (const QString &name : namesIn(folder)) {
        if (!wanted.contains(name))
            removeEntry(folder + u'/' + name);
    }
    return {};
}

Result<void> projectCategory(const SkillProjection &projection, const QString &category, const std::vector<Piece> &pieces)
{
    const QString folder = projection.folders.value(category);
    const QString record = projection.state + u'/' + category + QStringLiteral(".manifest");
    if (!QDir().mkpath(folder))
        return fail(ErrorCode::Io, QStringLiteral("The folder %1 cannot be made").arg(folder));
    const QByteArray manifest = manifestOf(pieces);
    std::set<QString> tops;
    for (const Piece &piece : pieces)
        tops.insert(piece.relative.section(u'/', 0, 0));
    if (contentOf(record) == manifest && namesIn(folder) == tops)
        return {};
    QFile::remove(record); // half done counts as not done
    const QString stage = projection.state + u'/' + category + u'-' + newShortId();
    if (!QDir().mkpath(stage))
        return fail(ErrorCode::Io, QStringLiteral("The folder %1 cannot be made").arg(stage));
    Result<void> done = [&]() -> Result<void> {
        const auto target = openRoot(QFile::encodeName(stage));
        if (!target)
            return fail(target.error());
        const QByteArray root = resolveLinks(QFile::encodeName(QDir(projection.root).absolutePath()));
        for (const Piece &piece : pieces) {
            if (auto copy = copied(piece, target->get(), root); !copy)
                return copy;
        }
        return swapIn(stage, folder);
    }();
    QDir(stage).removeRecursively();
    QFile file(record);
    if (done && (!file.open(QIODevice::WriteOnly) || file.write(manifest) != manifest.size()))
        return fail(ErrorCode::Io, QStringLiteral("Cannot write %1: %2").arg(record, file.errorString()));
    return done;
}

} // namespace

Result<QStringList> projectSkills(const SkillProjection &projection, const SkillList &skills)
{
    if (!QDir().mkpath(projection.state))
        return fail(ErrorCode::Io, QStringLiteral("The folder %1 cannot be made").arg(projection.state));
    QLockFile lock(projection.state + QStringLiteral("/lock"));
    if (!lock.tryLock(lockWaitMs))
        return fail(ErrorCode::Unavailable, QStringLiteral("Another Paddock is copying skills into %1").arg(projection.state));
    QStringList problems;
    for (auto it = projection.folders.cbegin(); it != projection.folders.cend(); ++it) {
        std::vector<Piece> pieces;
        for (const Skill &skill : skills.skills) {
            if (skill.category != it.key() || !skill.enabled || skill.outside)
                continue;
            auto own = Collector(skill).collect(skill.folder);
            if (own)
                pieces.insert(pieces.end(), own->begin(), own->end());
            else
                problems.append(QStringLiteral("The skill %1 is not given to agents: %2").arg(skill.name, own.error().message));
        }
        std::ranges::sort(pieces, {}, &Piece::relative);
        if (auto done = projectCategory(projection, it.key(), pieces); !done)
            return fail(done.error());
    }
    return problems;
}

} // namespace paddock
