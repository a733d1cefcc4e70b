// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/file_walk.h"

#include "core/sandboxd/glob_pattern.h"

#include <QFileInfo>

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

namespace paddock::sandboxd {

namespace {

constexpr qsizetype maxFound = 50'000;   // §4.7
constexpr qsizetype maxListed = 100'000; // §4.10
constexpr int maxDepth = 200;

struct DirCloser {
    void operator()(DIR *dir) const { ::closedir(dir); }
};

int readNames(const QByteArray &path, std::vector<std::pair<QByteArray, unsigned char>> *names)
{
    const int fd = ::open(path.constData(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    const std::unique_ptr<DIR, DirCloser> dir(::fdopendir(fd));
    if (!dir)
        return errno;
    while (const dirent *entry = ::readdir(dir.get())) {
        if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
            names->emplace_back(entry->d_name, entry->d_type);
    }
    std::sort(names->begin(), names->end());
    return 0;
}

int walkLevel(const QByteArray &directory, int depth, const std::function<bool(const WalkEntry &, bool *)> &visit, bool *stop)
{
    std::vector<std::pair<QByteArray, unsigned char>> names;
    if (const int error = readNames(directory, &names))
        return error;
    for (const auto &[name, type] : names) {
        WalkEntry entry;
        entry.path = directory + (directory.endsWith('/') ? "" : "/") + name;
        entry.name = QString::fromUtf8(name);
        entry.depth = depth;
        unsigned char kind = type;
        if (kind == DT_UNKNOWN) {
            struct stat facts;
            if (::lstat(entry.path.constData(), &facts) != 0)
                continue;
            kind = S_ISDIR(facts.st_mode) ? DT_DIR : S_ISLNK(facts.st_mode) ? DT_LNK : S_ISREG(facts.st_mode) ? DT_REG : DT_CHR;
        }
        entry.isDirectory = kind == DT_DIR;
        entry.isLink = kind == DT_LNK;
        if (kind != DT_DIR && kind != DT_LNK && kind != DT_REG)
            continue; // sockets, pipes, devices
        const bool descend = visit(entry, stop);
        if (*stop)
            return 0;
        if (entry.isDirectory && descend && depth < maxDepth)
            walkLevel(entry.path, depth + 1, visit, stop);
        if (*stop)
            return 0;
    }
    return 0;
}

} // namespace

int walkTree(const QByteArray &root, const std::function<bool(const WalkEntry &, bool *)> &visit)
{
    bool stop = false;
    return walkLevel(root, 1, visit, &stop);
}

bool leadsToFile(const QByteArray &path)
{
    struct stat facts;
    return ::stat(path.constData(), &facts) == 0 && S_ISREG(facts.st_mode);
}

QString modifiedTime(const struct stat &facts)
{
    const auto ms = std::chrono::milliseconds(qint64(facts.st_mtim.tv_sec) * 1000 + facts.st_mtim.tv_nsec / 1'000'000);
    return wire::formatTimestamp(wire::Timestamp(ms));
}

// ---- find ----------------------------------------------------------------------------------------------------------

namespace {

/// Walks along a pattern; `take` gets every entry that the whole pattern matches.
int walkPattern(const QByteArray &root, const GlobPattern &pattern, const std::function<bool(const WalkEntry &)> &take)
{
    std::vector<GlobPattern::States> stack{pattern.start()};
    return walkTree(root, [&](const WalkEntry &entry, bool *stop) {
        stack.resize(size_t(entry.depth));
        auto states = pattern.next(stack.back(), entry.name);
        if (pattern.accepts(states) && !take(entry))
            *stop = true;
        const bool descend = entry.isDirectory && pattern.goesOn(states);
        if (descend)
            stack.push_back(std::move(states));
        return descend;
    });
}

} // namespace

FileOutcome<wire::FileFindResult> findFiles(const wire::FileFindRequest &request)
{
    wire::FileFindResult result;
    result.path = request.path;
    std::vector<QByteArray> found;
    const int error = walkPattern(cleanRoot(request.path).toUtf8(), GlobPattern(request.glob), [&](const WalkEntry &entry) {
        if (entry.isLink ? leadsToFile(entry.path) : !entry.isDirectory)
            found.push_back(entry.path);
        return qsizetype(found.size()) < maxFound;
    });
    if (error)
        return failedWith(error, "find", request.path);
    std::sort(found.begin(), found.end());
    for (const QByteArray &path : found)
        result.files << QString::fromUtf8(path);
    return result;
}

// ---- glob ----------------------------------------------------------------------------------------------------------

namespace {

template<typename T, typename Key>
void sortBy(QList<T> &list, bool descending, Key key)
{
    std::stable_sort(list.begin(), list.end(), [&](const T &a, const T &b) { return descending ? key(b) < key(a) : key(a) < key(b); });
}

bool excludedBy(const QList<GlobPattern> &patterns, const QStringList &texts, const QString &relative, const QString &name)
{
    for (qsizetype i = 0; i < patterns.size(); ++i) {
        if (texts.at(i).contains(u'/') ? patterns.at(i).matches(relative) : matchesName(texts.at(i), name, true))
            return true;
    }
    return false;
}

} // namespace

FileOutcome<wire::FileGlobResult> globFiles(const wire::FileGlobRequest &request)
{
    wire::FileGlobResult result;
    result.path = request.path;
    result.pattern = request.pattern;
    const QByteArray root = cleanRoot(request.path).toUtf8();
    const QStringList excludeTexts = request.exclude.value_or(QStringList());
    QList<GlobPattern> excludes;
    for (const QString &text : excludeTexts)
        excludes.append(GlobPattern(text, true));
    const int error = walkPattern(root, GlobPattern(request.pattern, request.includeHidden), [&](const WalkEntry &entry) {
        const bool isFile = entry.isLink ? leadsToFile(entry.path) : !entry.isDirectory;
        const QString relative = QString::fromUtf8(entry.path.sliced(root.size())).mid(root.endsWith('/') ? 0 : 1);
        if ((request.filesOnly && !isFile) || excludedBy(excludes, excludeTexts, relative, entry.name))
            return true;
        wire::GlobEntry shown;
        shown.path = QString::fromUtf8(entry.path);
        shown.name = entry.name;
        shown.isDirectory = entry.isDirectory;
        struct stat facts;
        if (::stat(entry.path.constData(), &facts) == 0) {
            shown.size = facts.st_size;
            shown.modifiedTime = modifiedTime(facts);
        }
        result.files.append(shown);
        return result.files.size() < maxListed;
    });
    if (error)
        return failedWith(error, "glob", request.path);
    if (request.sortBy == u"size")
        sortBy(result.files, request.sortDesc, [](const wire::GlobEntry &e) { return e.size.value_or(0); });
    else if (request.sortBy == u"modified")
        sortBy(result.files, request.sortDesc, [](const wire::GlobEntry &e) { return e.modifiedTime.value_or(QString()); });
    else if (request.sortBy == u"name")
        sortBy(result.files, request.sortDesc, [](const wire::GlobEntry &e) { return e.name.toUtf8(); });
    else
        sortBy(result.files, request.sortDesc, [](const wire::GlobEntry &e) { return e.path.toUtf8(); });
    result.totalCount = result.files.size();
    result.truncated = result.files.size() > request.maxResults;
    result.files = result.files.first(std::min<qsizetype>(result.files.size(), request.maxResults));
    if (!request.includeMetadata) {
        for (wire::GlobEntry &entry : result.files) {
            entry.size.reset();
            entry.modifiedTime.reset();
        }
    }
    return result;
}

// ---- list ----------------------------------------------------------------------------------------------------------

namespace {

QString permissionsText(mode_t mode)
{
    QString out(1, S_ISDIR(mode) ? u'd' : S_ISLNK(mode) ? u'l' : u'-');
    const char16_t letters[] = u"rwxrwxrwx";
    for (int bit = 0; bit < 9; ++bit)
        out += mode & (0400 >> bit) ? QChar(letters[bit]) : QChar(u'-');
    return out;
}

wire::ListEntry listEntry(const WalkEntry &entry, const wire::FileListRequest &request)
{
    wire::ListEntry shown;
    shown.name = entry.name;
    shown.path = QString::fromUtf8(entry.path);
    shown.isDirectory = entry.isDirectory;
    struct stat facts;
    if (::lstat(entry.path.constData(), &facts) == 0) {
        if (request.includeSize || request.sortBy == u"size")
            shown.size = facts.st_size;
        shown.modifiedTime = modifiedTime(facts);
        if (request.includePermissions)
            shown.permissions = permissionsText(facts.st_mode);
    }
    const QString suffix = QFileInfo(entry.name).suffix();
    if (!entry.isDirectory && !suffix.isEmpty() && entry.name.lastIndexOf(u'.') > 0)
        shown.extension = u'.' + suffix;
    return shown;
}

} // namespace

FileOutcome<wire::FileListResult> listFiles(const wire::FileListRequest &request)
{
    wire::FileListResult result;
    result.path = request.path;
    const qint64 depthLimit = request.recursive ? request.maxDepth.value_or(maxDepth) : 1;
    const int error = walkTree(cleanRoot(request.path).toUtf8(), [&](const WalkEntry &entry, bool *stop) {
        if (!request.showHidden && entry.name.startsWith(u'.'))
            return false;
        wire::ListEntry shown = listEntry(entry, request);
        const bool wanted = !request.fileTypes || (!entry.isDirectory && std::any_of(request.fileTypes->begin(), request.fileTypes->end(),
                                                                                    [&](const QString &type) { return entry.name.endsWith(type); }));
        if (wanted)
            result.files.append(std::move(shown));
        *stop = result.files.size() >= maxListed;
        return request.recursive && entry.depth < depthLimit;
    });
    if (error)
        return failedWith(error, "list", request.path);
    if (request.sortBy == u"size")
        sortBy(result.files, request.sortDesc, [](const wire::ListEntry &e) { return e.size.value_or(0); });
    else if (request.sortBy == u"modified")
        sortBy(result.files, request.sortDesc, [](const wire::ListEntry &e) { return e.modifiedTime.value_or(QString()); });
    else if (request.sortBy == u"type")
        sortBy(result.files, request.sortDesc, [](const wire::ListEntry &e) { return std::pair(!e.isDirectory, e.extension.value_or(QString())); });
    else
        sortBy(result.files, request.sortDesc, [](const wire::ListEntry &e) { return e.path.toUtf8(); });
    for (wire::ListEntry &entry : result.files) {
        ++(entry.isDirectory ? result.directoryCount : result.fileCount);
        if (!request.includeSize)
            entry.size.reset();
    }
    result.totalCount = result.files.size();
    return result;
}

} // namespace paddock::sandboxd
