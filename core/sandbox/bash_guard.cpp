// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/bash_guard.h"

#include "core/sandbox/shell_words.h"
#include "core/sandbox/virtual_paths.h"

#include <QRegularExpression>

#include <algorithm>
#include <array>

namespace paddock {

namespace {

const auto unicode = QRegularExpression::UseUnicodePropertiesOption;

std::unexpected<Error> denied(const QString &text)
{
    return fail(ErrorCode::PermissionDenied, text);
}

std::unexpected<Error> badDirectoryChange(const QString &what)
{
    return denied(QStringLiteral("Unsafe working directory change in command: %1. Use paths under /mnt/user-data").arg(what));
}

bool contains(std::initializer_list<QStringView> names, const QString &word)
{
    return std::any_of(names.begin(), names.end(), [&](QStringView name) { return word == name; });
}

/// A URL of another scheme than file, whole or after the first "=".
bool isForeignUrl(const QString &word)
{
    static const QRegularExpression scheme(QStringLiteral("\\A[a-z][a-z0-9+.-]*://"),
                                           QRegularExpression::CaseInsensitiveOption);
    const auto foreign = [](const QString &text) {
        return scheme.match(text).hasMatch() && !text.startsWith(QLatin1String("file://"), Qt::CaseInsensitive);
    };
    const qsizetype cut = word.indexOf(u'=');
    return foreign(word) || (cut >= 0 && foreign(word.mid(cut + 1)));
}

/// "/bin/ls" is called ls.
QString commandName(const QString &word)
{
    return word.mid(word.lastIndexOf(u'/') + 1);
}

QStringList wordsOf(const QString &command)
{
    QString lines = command;
    lines.replace(QStringLiteral("\r\n"), QStringLiteral("\n")).replace(u'\r', u'\n').replace(u'\n', QStringLiteral(" ; "));
    if (auto words = shellWords(lines))
        return *words;
    static const QRegularExpression blanks(QStringLiteral("\\s+"), unicode);
    return command.split(blanks, Qt::SkipEmptyParts);
}

Result<void> checkTraversal(const QStringList &words)
{
    static const QRegularExpression parent(QStringLiteral("(?:^|[/\\\\=])\\.\\.(?:$|[/\\\\])"));
    for (const QString &word : words) {
        if (isCommandSeparator(word) || isRedirection(word) || isForeignUrl(word))
            continue;
        if (parent.match(word).hasMatch())
            return denied(QStringLiteral("Access denied: path traversal detected"));
    }
    return {};
}

QStringList virtualRoots(const BashGuardOptions &options)
{
    return QStringList{virtualRoot.toString(), options.skillsRoot, virtualAcp.toString()} + options.mounts;
}

bool isUnderAny(const QString &path, const QStringList &roots)
{
    return std::any_of(roots.cbegin(), roots.cend(), [&](const QString &root) { return !root.isEmpty() && isUnder(path, root); });
}

/// The first argument of `cd` that is no option and no redirection; null when there is none.
QString directoryTarget(const QStringList &words, qsizetype at)
{
    for (; at < words.size() && !isCommandSeparator(words.at(at)); ++at) {
        const QString &word = words.at(at);
        if (isRedirection(word)) {
            ++at; // and its file
            continue;
        }
        if (word.startsWith(u'-') && word != u"-")
            continue;
        return word.isNull() ? QStringLiteral("") : word;
    }
    return {};
}

Result<void> checkDirectoryChange(const QStringList &words, qsizetype at, const BashGuardOptions &options)
{
    const QString command = commandName(words.at(at));
    const QString target = directoryTarget(words, at + 1);
    if (target.isNull() || target == u"-")
        return badDirectoryChange(command);
    const bool expands = target.startsWith(u'$') || target.startsWith(u'`') || target.startsWith(u'~');
    if (expands || (target.startsWith(u'/') && !isUnderAny(target, virtualRoots(options) + options.mcpRoots)))
        return badDirectoryChange(command + u' ' + target);
    return {};
}

Result<void> checkRootArgument(const QStringList &words, qsizetype at)
{
    for (++at; at < words.size() && !isCommandSeparator(words.at(at)); ++at) {
        if (words.at(at) == u"/")
            return denied(QStringLiteral("Unsafe absolute paths in command: /. Use paths under /mnt/user-data"));
    }
    return {};
}

/// Calls `check(index)` for every word at command position until one fails.
template<typename Check>
Result<void> forEachCommand(const QStringList &words, Check check)
{
    static const QRegularExpression assignment(QStringLiteral("\\A[A-Za-z_]\\w*\\+?="));
    bool atCommand = true;
    for (qsizetype i = 0; i < words.size(); ++i) {
        const QString &word = words.at(i);
        if (isCommandSeparator(word)) {
            atCommand = true;
            continue;
        }
        if (!atCommand)
            continue;
        if (isRedirection(word)) {
            ++i; // a redirection may stand before the command
            continue;
        }
        if (assignment.match(word).hasMatch()
            || contains({u"!", u"{", u"}", u"case", u"do", u"done", u"elif", u"else", u"esac", u"fi", u"for", u"if", u"select",
                         u"then", u"time", u"until", u"while", u"command", u"builtin"}, commandName(word)))
            continue;
        if (word.startsWith(u'-') && i > 0 && contains({u"command", u"builtin", u"time"}, words.at(i - 1)))
            continue;
        if (const auto ok = check(i); !ok)
            return ok;
        atCommand = false;
    }
    return {};
}

/// "/devices/{id}/port": text, not a path; brace expansion and variables are paths.
bool isPlaceholderText(const QString &path)
{
    if (std::any_of(path.cbegin(), path.cend(), [](QChar c) { return c.unicode() > 0x7f; }))
        return true;
    if (!path.contains(u'{') || path.contains(QLatin1String("${")))
        return false;
    static const QRegularExpression placeholder(QStringLiteral("\\{[A-Za-z_]\\w*\\}"));
    QString rest = path;
    rest.remove(placeholder);
    return !rest.contains(u'{') && !rest.contains(u'}');
}

bool isSystemPath(const QString &path)
{
    static constexpr auto prefixes = std::to_array<QStringView>(
        {u"/bin/", u"/usr/bin/", u"/usr/sbin/", u"/sbin/", u"/opt/homebrew/bin/", u"/dev/"});
    return std::any_of(prefixes.begin(), prefixes.end(), [&](QStringView prefix) {
        return path.startsWith(prefix) || path == prefix.chopped(1);
    });
}

Result<void> checkAbsolutePaths(const QString &command, const BashGuardOptions &options)
{
    static const QRegularExpression url(QStringLiteral("\\b[a-z][a-z0-9+.-]*://[^\\s\"'`;&|<>()]+"),
                                        QRegularExpression::CaseInsensitiveOption | unicode);
    static const QRegularExpression absolute(QStringLiteral("(?<![:\\w])(?<!:/)/(?:[^\\s\"'`;&|<>()]+)"), unicode);
    std::vector<std::pair<qsizetype, qsizetype>> urls;
    for (auto matches = url.globalMatch(command); matches.hasNext();) {
        const auto match = matches.next();
        if (!match.captured().startsWith(QLatin1String("file://"), Qt::CaseInsensitive))
            urls.emplace_back(match.capturedStart(), match.capturedEnd());
    }
    QStringList unsafe;
    for (auto matches = absolute.globalMatch(command); matches.hasNext();) {
        const auto match = matches.next();
        const qsizetype at = match.capturedStart();
        if (std::any_of(urls.begin(), urls.end(), [at](const auto &span) { return at >= span.first && at < span.second; }))
            continue;
        const QString path = match.captured();
        if (isPlaceholderText(path))
            continue;
        if (isUnderAny(path, options.mcpRoots + virtualRoots(options))) {
            if (hasParentSegment(path))
                return denied(QStringLiteral("Access denied: path traversal detected"));
            continue;
        }
        if (!isSystemPath(path))
            unsafe << path;
    }
    if (unsafe.isEmpty())
        return {};
    unsafe.removeDuplicates();
    unsafe.sort();
    return denied(QStringLiteral("Unsafe absolute paths in command: %1. Use paths under /mnt/user-data")
                      .arg(unsafe.join(QStringLiteral(", "))));
}

} // namespace

Result<void> guardHostCommand(const QString &command, const BashGuardOptions &options)
{
    if (!options.hasThreadData)
        return fail(ErrorCode::FailedPrecondition, QStringLiteral("Thread data not available for local sandbox"));
    static const QRegularExpression fileUrl(QStringLiteral("\\bfile://\\S+"),
                                            QRegularExpression::CaseInsensitiveOption | unicode);
    if (const auto match = fileUrl.match(command); match.hasMatch())
        return denied(QStringLiteral("Unsafe file:// URL in command: %1. Use paths under /mnt/user-data").arg(match.captured()));
    static const QRegularExpression substitution(QStringLiteral("\\$\\([^)]*\\b(?:cd|pushd)\\b"), unicode);
    if (substitution.match(command).hasMatch())
        return denied(QStringLiteral("Unsafe working directory change in command substitution. Use paths under "
                                     "/mnt/user-data"));
    const QStringList words = wordsOf(command);
    if (const auto ok = checkTraversal(words); !ok)
        return ok;
    const auto directory = forEachCommand(words, [&](qsizetype i) -> Result<void> {
        return contains({u"cd", u"pushd"}, commandName(words.at(i))) ? checkDirectoryChange(words, i, options) : Result<void>{};
    });
    if (!directory)
        return directory;
    const auto root = forEachCommand(words, [&](qsizetype i) -> Result<void> {
        return contains({u"awk", u"cat", u"cp", u"du", u"find", u"grep", u"head", u"less", u"ln", u"ls", u"more", u"mv", u"rm",
                         u"sed", u"tail", u"tar"}, commandName(words.at(i)))
            ? checkRootArgument(words, i) : Result<void>{};
    });
    if (!root)
        return root;
    return checkAbsolutePaths(command, options);
}

} // namespace paddock
