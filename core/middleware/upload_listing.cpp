// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/upload_listing.h"

#include "core/base/text.h"
#include "core/middleware/framing.h"
#include "core/sandbox/beneath.h"

#include <QFileInfo>
#include <QStringDecoder>

#include <fcntl.h>
#include <map>
#include <unistd.h>

namespace paddock {

namespace {

constexpr std::size_t maxListedFiles = 1000; ///< of one message
constexpr std::size_t maxShownFiles = 10;
constexpr qsizetype maxOutlineEntries = 50;
constexpr qsizetype maxPreviewLines = 5;
constexpr qsizetype maxLineChars = 200;
constexpr qint64 maxLookedAtBytes = 256 * 1024;

bool isBareName(const QString &name)
{
    return !name.isEmpty() && name != u"." && name != u".." && !name.contains(u'/') && !name.contains(u'\\') && !name.contains(QChar(0));
}

/// A name under which a file lies while it is still being uploaded.
bool isStaging(const QString &name)
{
    return name.startsWith(QLatin1String(".upload-")) && name.endsWith(QLatin1String(".part"));
}

QString extensionOf(const QString &name)
{
    const QString suffix = QFileInfo(name).suffix();
    return suffix.isEmpty() || name.lastIndexOf(QLatin1Char('.')) == 0 ? QString() : QLatin1Char('.') + suffix.toLower();
}

QString harmless(const QString &text)
{
    const auto neutral = framing::neutralize(text);
    return neutral ? neutral->text : escapeMarkup(text);
}

QString shortened(const QString &line)
{
    return codePointCount(line) <= maxLineChars ? line : firstCodePoints(line, maxLineChars) + QChar(0x2026);
}

/// The beginning of a text file; empty for anything else.
QString beginningOf(int fd)
{
    QByteArray bytes(maxLookedAtBytes, Qt::Uninitialized);
    qint64 filled = 0;
    while (filled < bytes.size()) {
        const ssize_t got = ::read(fd, bytes.data() + filled, std::size_t(bytes.size() - filled));
        if (got <= 0)
            break;
        filled += got;
    }
    bytes.truncate(filled);
    if (bytes.contains('\0'))
        return {};
    if (filled == maxLookedAtBytes) // a line, or a character, may be cut in two
        bytes.truncate(std::max<qsizetype>(0, bytes.lastIndexOf('\n')));
    QStringDecoder decoder(QStringDecoder::Utf8, QStringConverter::Flag::Stateless);
    const QString text = decoder.decode(bytes);
    return decoder.hasError() ? QString() : text;
}

void lookInside(UploadedFile &file, int fd)
{
    const QString text = beginningOf(fd);
    const QString extension = extensionOf(file.name);
    if (extension == u".md" || extension == u".markdown")
        file.outline = markdownOutline(text, maxOutlineEntries, &file.moreOutline);
    if (!file.outline.isEmpty())
        return;
    for (const QStringView line : QStringView(text).split(u'\n')) {
        const QString trimmed = line.trimmed().toString();
        if (!trimmed.isEmpty())
            file.preview.append(shortened(trimmed));
        if (file.preview.size() >= maxPreviewLines)
            break;
    }
}

QString sizeText(qint64 bytes)
{
    const double kb = double(bytes) / 1024;
    return kb < 1024 ? QStringLiteral("%1 KB").arg(kb, 0, 'f', 1) : QStringLiteral("%1 MB").arg(kb / 1024, 0, 'f', 1);
}

void addEntry(QStringList &lines, const UploadedFile &file)
{
    const QString name = harmless(file.name);
    lines.append(QStringLiteral("- ") + name + QStringLiteral(" (") + sizeText(file.size) + QLatin1Char(')'));
    lines.append(QStringLiteral("  Path: /mnt/user-data/uploads/") + name);
    if (!file.outline.isEmpty())
        lines.append(QStringLiteral("  Outline, by line:"));
    for (const QString &heading : file.outline)
        lines.append(QStringLiteral("    ") + harmless(heading));
    if (file.moreOutline)
        lines.append(QStringLiteral("    ... (the first %1 headings)").arg(file.outline.size()));
    if (!file.preview.isEmpty())
        lines.append(QStringLiteral("  Begins with:"));
    for (const QString &line : file.preview)
        lines.append(QStringLiteral("    > ") + harmless(line));
    lines.append(QString());
}

QString omittedTypes(const std::vector<UploadedFile> &files)
{
    std::map<QString, int> counts;
    for (std::size_t i = maxShownFiles; i < files.size(); ++i) {
        const QString extension = extensionOf(files[i].name);
        ++counts[extension.isEmpty() ? QStringLiteral("(no extension)") : extension];
    }
    QStringList parts;
    for (const auto &[extension, count] : counts)
        parts.append(QStringLiteral("%1 ").arg(count) + extension);
    return harmless(parts.join(QStringLiteral(", ")));
}

} // namespace

QStringList markdownOutline(const QString &text, qsizetype most, bool *more)
{
    QStringList outline;
    QString fence; ///< its characters, while one is open
    qsizetype number = 0;
    for (const QStringView raw : QStringView(text).split(u'\n')) {
        ++number;
        const QStringView line = raw.trimmed();
        qsizetype marks = 0;
        while (marks < line.size() && line.at(marks) == line.front() && (line.front() == u'`' || line.front() == u'~'))
            ++marks;
        if (marks >= 3) {
            if (fence.isEmpty())
                fence = line.first(marks).toString();
            else if (line.startsWith(fence) && line.size() == marks)
                fence.clear();
            continue;
        }
        qsizetype level = 0;
        while (level < line.size() && line.at(level) == u'#')
            ++level;
        if (!fence.isEmpty() || level < 1 || level > 6 || level >= line.size() || !line.at(level).isSpace() || raw.startsWith(u"    "))
            continue;
        if (outline.size() >= most) {
            *more = true;
            break;
        }
        outline.append(QStringLiteral("L%1: ").arg(number) + shortened(line.sliced(level).trimmed().toString()));
    }
    return outline;
}

std::vector<UploadedFile> lookAtUploads(const Json &files, const QString &folder)
{
    std::vector<UploadedFile> found;
    const auto root = openRoot(folder.toUtf8());
    if (!root || !files.is_array())
        return found;
    for (const Json &entry : files) {
        const QString name = stringOf(entry, "filename");
        if (!isBareName(name) || isStaging(name) || found.size() >= maxListedFiles)
            continue;
        const auto fd = openBeneath(root->get(), name.toUtf8(), O_RDONLY | O_NONBLOCK);
        struct stat status{};
        if (!fd || ::fstat(fd->get(), &status) != 0 || !S_ISREG(status.st_mode))
            continue;
        UploadedFile file;
        file.name = name;
        file.size = status.st_size;
        if (found.size() < maxShownFiles)
            lookInside(file, fd->get());
        found.push_back(std::move(file));
    }
    return found;
}

QString uploadsBlock(const std::vector<UploadedFile> &files)
{
    QStringList lines{QStringLiteral("<current_uploads>"), QStringLiteral("The person uploaded these files with this message:"), QString()};
    for (std::size_t i = 0; i < std::min(files.size(), maxShownFiles); ++i)
        addEntry(lines, files[i]);
    if (files.size() > maxShownFiles)
        lines << QStringLiteral("... and %1 more: ").arg(files.size() - maxShownFiles) + omittedTypes(files)
              << QStringLiteral("  `glob` with path /mnt/user-data/uploads lists all of them.") << QString();
    lines << QStringLiteral("Read them before you answer: by lines of the outline, or with `grep` where you know what to look for.")
          << QStringLiteral("</current_uploads>");
    return lines.join(QLatin1Char('\n'));
}

Json uploadsToJson(const std::vector<UploadedFile> &files)
{
    Json list = Json::array();
    for (const UploadedFile &file : files)
        list.push_back(Json{{"filename", toUtf8(file.name)},
                            {"size", file.size},
                            {"path", toUtf8(QStringLiteral("/mnt/user-data/uploads/") + file.name)},
                            {"extension", toUtf8(extensionOf(file.name))}});
    return list;
}

} // namespace paddock
