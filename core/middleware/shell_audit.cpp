// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/shell_audit.h"

#include "core/base/text.h"

#include <QRegularExpression>

#include <vector>

namespace paddock::shell_audit {

namespace {

struct Pattern {
    QString rule;
    QRegularExpression regex;
};

QRegularExpression compiled(const QString &pattern)
{
    // The limit makes a pathological text an error instead of a hang; isValid() of the match tells.
    return QRegularExpression(QStringLiteral("(*LIMIT_MATCH=2000000)") + pattern,
                              QRegularExpression::UseUnicodePropertiesOption);
}

std::vector<Pattern> numbered(const QString &prefix, const QStringList &patterns)
{
    std::vector<Pattern> list;
    int number = 0;
    for (const QString &pattern : patterns)
        list.push_back({prefix + QString::number(++number), compiled(pattern)});
    return list;
}

QString exe()
{
    return QStringLiteral(R"((?:curl|wget|bash|sh|python[\d.]*|ruby|perl|base64)\b)");
}

QString substitution()
{
    return QStringLiteral(R"((?:[$<]\(\s*|`\s*))") + exe();
}

/// An interpreter with up to four flags behind it.
QString interpreter()
{
    return QStringLiteral(R"(\b(?:(?:ba|da|k|z)?sh|python[\d.]*|perl|ruby|node|php)\s+(?:-\w+\s+){0,4})");
}

/// Assignments and wrappers that may stand before the command word.
QString commandPrefix()
{
    return QStringLiteral(R"(^(?:(?:env|command|builtin|exec|nohup|time|sudo|doas)\s+|\w+=\S*\s+){0,8}["']?)");
}

/// Gaps of the reference that we close (sandbox.md §9.3): options behind the path, upper-case and long options; sudo,
/// doas or env between the pipe and the shell.
std::vector<Pattern> closedGaps()
{
    const QString target = QStringLiteral(R"(\s+(?:--\s+)?(?:/\*?|~/?\*?|/home\b|/root\b))");
    const QString recursive = QStringLiteral(R"(\s+(?:-[A-Za-z]*[rR][A-Za-z]*|--recursive)(?=\s|$))");
    const QString options = QStringLiteral(R"((?:\s+-[\w-]+(?:=\S*)?){0,8})");
    const QString rm = QStringLiteral(R"(\brm)") + options;
    const QString end = options + QStringLiteral(R"(\s*$)");
    return {{QStringLiteral("H1"), compiled(rm + recursive + options + target + end)},
            {QStringLiteral("H1"), compiled(rm + target + options + recursive + end)},
            {QStringLiteral("H6"),
             compiled(QStringLiteral(
                 R"(\|\s*(?:(?:sudo|doas|env)\s+(?:-[\w-]+(?:=\S*)?\s+|\w+=\S*\s+){0,8}){1,4}(?:\S*/)?(?:ba)?sh\b)"))}};
}

const std::vector<Pattern> &highPatterns()
{
    static const std::vector<Pattern> patterns = [] {
        std::vector<Pattern> list = numbered(
            QStringLiteral("H"),
            {QStringLiteral(R"(rm\s+-[^\s]*r[^\s]*\s+(/\*?|~/?\*?|/home\b|/root\b)\s*$)"),
             QStringLiteral(R"(dd\s+if=)"),
             QStringLiteral(R"(mkfs)"),
             QStringLiteral(R"(cat\s+/etc/shadow)"),
             QStringLiteral(R"(>+\s*/etc/)"),
             QStringLiteral(R"(\|\s*(ba)?sh\b)"),
             QStringLiteral(R"(\b(eval|source)\s+["']?)") + substitution(),
             interpreter() + QStringLiteral(R"(-[cepr]\s+["']?)") + substitution(),
             interpreter() + QStringLiteral(R"(<<<\s*["']?)") + substitution(),
             QStringLiteral(R"(base64\s+.*-d.*\|)"),
             QStringLiteral(R"(>+\s*(/usr/bin/|/bin/|/sbin/))"),
             QStringLiteral(R"(>+\s*~/?\.(bashrc|profile|zshrc|bash_profile))"),
             QStringLiteral(R"(/proc/[^/]+/environ)"),
             QStringLiteral(R"(\b(LD_PRELOAD|LD_LIBRARY_PATH)\s*=)"),
             QStringLiteral(R"(/dev/tcp/)"),
             QStringLiteral(R"(\S+\(\)\s*\{[^}]*\|\s*\S+\s*&)"),
             QStringLiteral(R"(while\s+true.*&\s*done)")});
        const std::vector<Pattern> gaps = closedGaps();
        list.insert(list.end(), gaps.begin(), gaps.end());
        return list;
    }();
    return patterns;
}

const std::vector<Pattern> &positionPatterns()
{
    static const std::vector<Pattern> patterns =
        numbered(QStringLiteral("C"), {commandPrefix() + QStringLiteral(R"(\$\(\s*)") + exe(),
                                       commandPrefix() + QStringLiteral(R"(`\s*)") + exe()});
    return patterns;
}

const std::vector<Pattern> &mediumPatterns()
{
    static const std::vector<Pattern> patterns =
        numbered(QStringLiteral("M"), {QStringLiteral(R"(chmod\s+777)"), QStringLiteral(R"(pip3?\s+install)"),
                                       QStringLiteral(R"(apt(-get)?\s+install)"), QStringLiteral(R"(\b(sudo|su)\b)"),
                                       QStringLiteral(R"(\bPATH\s*=)")});
    return patterns;
}

bool isSpace(QChar c)
{
    return pythonStrip(QString(c)).isEmpty();
}

/// White-space runs become one space; trimmed.
QString normalized(const QString &text)
{
    QString out;
    out.reserve(text.size());
    bool gap = false;
    for (const QChar c : text) {
        if (isSpace(c)) {
            gap = !out.isEmpty();
            continue;
        }
        if (gap)
            out += QLatin1Char(' ');
        gap = false;
        out += c;
    }
    return out;
}

/// The rule of the first pattern found; empty when none is.
Result<QString> firstHit(const std::vector<Pattern> &patterns, const QString &text)
{
    for (const Pattern &pattern : patterns) {
        const QRegularExpressionMatch match = pattern.regex.match(text);
        if (!match.isValid())
            return fail(ErrorCode::ResourceExhausted, QStringLiteral("audit pattern %1 exceeded its limit").arg(pattern.rule));
        if (match.hasMatch())
            return pattern.rule;
    }
    return QString();
}

Result<AuditFinding> classifyPart(const QString &part)
{
    const QString text = normalized(part);
    QStringList forms{text};
    if (const auto words = posixWords(part))
        forms.append(words->join(QLatin1Char(' ')));
    for (const QString &form : std::as_const(forms)) {
        for (const auto *patterns : {&highPatterns(), &positionPatterns()}) {
            const Result<QString> rule = firstHit(*patterns, form);
            if (!rule)
                return std::unexpected(rule.error());
            if (!rule->isEmpty())
                return AuditFinding{AuditVerdict::Block, *rule, part};
        }
    }
    const Result<QString> rule = firstHit(mediumPatterns(), text);
    if (!rule)
        return std::unexpected(rule.error());
    if (!rule->isEmpty())
        return AuditFinding{AuditVerdict::Warn, *rule, part};
    return AuditFinding{};
}

// --- downloading a file and running that same file ------------------------------------------------------------------

QString baseName(const QString &path)
{
    return path.mid(path.lastIndexOf(QLatin1Char('/')) + 1);
}

/// The file a URL is saved as; empty when the URL does not tell ("http://host").
QString nameFromUrl(QString url)
{
    const qsizetype scheme = url.indexOf(QLatin1String("://"));
    if (scheme >= 0)
        url = url.mid(scheme + 3);
    url = url.left(url.indexOf(QLatin1Char('?')) >= 0 ? url.indexOf(QLatin1Char('?')) : url.size());
    return url.contains(QLatin1Char('/')) ? baseName(url) : QString();
}

struct Downloads {
    QStringList names;
    bool unknownName = false; ///< something was saved under a name we cannot tell: any file run afterwards may be it

    void add(const QString &name)
    {
        if (name.isEmpty())
            unknownName = true;
        else
            names.append(name);
    }
    bool mayBe(const QString &file) const { return unknownName || names.contains(baseName(file)); }
};

/// The value of an output option at words[i]: the next word, or what is glued to the option; nullopt when it is none.
/// `letter` is -o for curl and -O for wget, also inside a cluster ("-qO-").
std::optional<QString> outputName(const QStringList &words, qsizetype i, QChar letter, const QString &longName)
{
    const QString &word = words.at(i);
    if (word == longName || word == u">" || word == u">>")
        return words.value(i + 1);
    if (word.startsWith(longName + u'='))
        return word.mid(longName.size() + 1);
    if (word.startsWith(u'>'))
        return word.mid(word.startsWith(QLatin1String(">>")) ? 2 : 1);
    if (!word.startsWith(u'-') || word.startsWith(QLatin1String("--")))
        return std::nullopt;
    const qsizetype at = word.indexOf(letter);
    if (at < 0)
        return std::nullopt;
    return at + 1 < word.size() ? word.mid(at + 1) : words.value(i + 1);
}

void collectDownloads(const QStringList &words, Downloads &downloads)
{
    const bool curl = baseName(words.first()) == u"curl";
    const QString longName = curl ? QStringLiteral("--output") : QStringLiteral("--output-document");
    QStringList urls;
    bool saves = !curl;
    for (qsizetype i = 1; i < words.size(); ++i) {
        const QString &word = words.at(i);
        if (const std::optional<QString> name = outputName(words, i, curl ? u'o' : u'O', longName)) {
            if (*name != u"-") // standard output
                downloads.add(baseName(*name));
            return;
        }
        if (curl && (word == u"--remote-name" || (word.startsWith(u'-') && !word.startsWith(QLatin1String("--")) && word.contains(u'O'))))
            saves = true;
        else if (!word.startsWith(u'-'))
            urls.append(word);
    }
    if (!saves)
        return;
    for (const QString &url : std::as_const(urls))
        downloads.add(nameFromUrl(url));
}

bool runsDownload(const QStringList &words, const Downloads &downloads)
{
    static const QRegularExpression shells(QStringLiteral(R"(^(?:(?:ba|da|k|z)?sh|python[\d.]*|perl|ruby|node|php|source|\.)$)"));
    qsizetype first = 0;
    static const QStringList wrappers{QStringLiteral("sudo"), QStringLiteral("doas"), QStringLiteral("env"),
                                      QStringLiteral("nohup"), QStringLiteral("exec"), QStringLiteral("time")};
    while (first < words.size() && (wrappers.contains(words.at(first)) || (first > 0 && words.at(first).startsWith(u'-'))))
        ++first;
    if (first >= words.size())
        return false;
    const QString &program = words.at(first);
    if (program.contains(u'/') && !shells.match(baseName(program)).hasMatch())
        return downloads.mayBe(program);
    if (!shells.match(baseName(program)).hasMatch())
        return false;
    for (qsizetype i = first + 1; i < words.size(); ++i) {
        if (!words.at(i).startsWith(u'-'))
            return downloads.mayBe(words.at(i));
    }
    return false;
}

std::optional<AuditFinding> downloadThenRun(const QStringList &parts)
{
    Downloads downloads;
    for (const QString &part : parts) {
        const auto words = posixWords(part);
        if (!words || words->isEmpty())
            continue;
        const QString program = baseName(words->first());
        if (program == u"curl" || program == u"wget")
            collectDownloads(*words, downloads);
        else if ((downloads.unknownName || !downloads.names.isEmpty()) && runsDownload(*words, downloads))
            return AuditFinding{AuditVerdict::Warn, QStringLiteral("W1"), part};
    }
    return std::nullopt;
}

} // namespace

std::optional<QString> rejectReason(const QString &command)
{
    if (pythonStrip(command).isEmpty())
        return QStringLiteral("empty command");
    if (codePointCount(command) > maxCommandChars)
        return QStringLiteral("command too long");
    if (command.contains(QChar(0)))
        return QStringLiteral("null byte detected");
    return std::nullopt;
}

Result<AuditFinding> classify(const QString &command)
{
    const QString whole = normalized(command);
    const Result<QString> rule = firstHit(highPatterns(), whole);
    if (!rule)
        return std::unexpected(rule.error());
    if (!rule->isEmpty())
        return AuditFinding{AuditVerdict::Block, *rule, command};
    AuditFinding worst;
    const QStringList parts = split(command, true);
    for (const QString &part : parts) {
        Result<AuditFinding> finding = classifyPart(part);
        if (!finding)
            return finding;
        if (finding->verdict > worst.verdict)
            worst = std::move(*finding);
        if (worst.verdict == AuditVerdict::Block)
            return worst;
    }
    if (worst.verdict == AuditVerdict::Pass) {
        if (const auto finding = downloadThenRun(parts))
            return *finding;
    }
    return worst;
}

QString verdictName(AuditVerdict verdict)
{
    switch (verdict) {
    case AuditVerdict::Pass: return QStringLiteral("pass");
    case AuditVerdict::Warn: return QStringLiteral("warn");
    case AuditVerdict::Block: return QStringLiteral("block");
    }
    return {};
}

} // namespace paddock::shell_audit
