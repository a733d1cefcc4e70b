// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/file_ops.h"
#include "core/sandboxd/file_walk.h"
#include "core/sandboxd/glob_pattern.h"

#include <QElapsedTimer>
#include <QHash>
#include <QRegularExpression>

namespace paddock::sandboxd {

namespace {

constexpr qint64 timeLimitMs = 60'000;
constexpr qsizetype binaryProbe = 8192;

/// Extensions of ripgrep's common type names.
const QHash<QString, QStringList> &fileTypes()
{
    static const QHash<QString, QStringList> table = [] {
        QHash<QString, QStringList> out;
        const auto add = [&](const char *name, const char *extensions) {
            out.insert(QString::fromLatin1(name), QString::fromLatin1(extensions).split(u' '));
        };
        add("py", ".py .pyi");
        add("python", ".py .pyi");
        add("js", ".js .jsx .mjs .cjs .vue");
        add("ts", ".ts .tsx .mts .cts");
        add("c", ".c .h");
        add("cpp", ".cpp .cc .cxx .hpp .hh .hxx .h .inl");
        add("rust", ".rs");
        add("go", ".go");
        add("java", ".java");
        add("kotlin", ".kt .kts");
        add("swift", ".swift");
        add("ruby", ".rb");
        add("php", ".php");
        add("sh", ".sh .bash .zsh");
        add("json", ".json");
        add("yaml", ".yaml .yml");
        add("toml", ".toml");
        add("xml", ".xml .xsd .xsl");
        add("html", ".html .htm");
        add("css", ".css .scss");
        add("md", ".md .markdown .mdown");
        add("markdown", ".md .markdown .mdown");
        add("txt", ".txt");
        add("sql", ".sql");
        add("csv", ".csv");
        return out;
    }();
    return table;
}

class Grep
{
public:
    explicit Grep(const wire::FileGrepRequest &request) : m_request(request)
    {
        QString pattern = request.fixedStrings ? QRegularExpression::escape(request.pattern) : request.pattern;
        QRegularExpression::PatternOptions options = QRegularExpression::NoPatternOption;
        if (request.caseInsensitive)
            options |= QRegularExpression::CaseInsensitiveOption;
        if (request.multiline)
            options |= QRegularExpression::MultilineOption;
        m_regex = QRegularExpression(pattern, options);
        // A literal without case folding is looked for in the raw bytes first: most files do not have it.
        if (request.fixedStrings && !request.caseInsensitive)
            m_literal = request.pattern.toUtf8();
        m_sizeLimit = wire::FileGrepRequest::sizeOf(request.maxFileSize).value_or(1024 * 1024);
        m_clock.start();
    }

    FileOutcome<wire::FileGrepResult> run()
    {
        if (!m_regex.isValid())
            return refusedWith(QStringLiteral("Invalid regex: %1").arg(m_regex.errorString()));
        if (m_request.type && !fileTypes().contains(*m_request.type))
            return refusedWith(QStringLiteral("Unknown file type: %1").arg(*m_request.type));
        m_result.path = m_request.path;
        m_result.pattern = m_request.pattern;
        m_result.filesSearched = 0;
        m_result.filesMatched = 0;
        const QString rootText = cleanRoot(m_request.path);
        m_root = rootText.toUtf8();
        if (leadsToFile(m_root)) {
            searchFile(m_root);
        } else if (const int error = walkTree(m_root, [this](const WalkEntry &entry, bool *stop) { return visit(entry, stop); })) {
            return failedOn(error, "grep", m_request.path);
        }
        m_result.matchCount = m_result.matches.size();
        return std::move(m_result);
    }

private:
    bool visit(const WalkEntry &entry, bool *stop)
    {
        if (entry.isDirectory)
            return m_request.recursive;
        if (!entry.isLink && wanted(entry))
            searchFile(entry.path);
        if (m_clock.elapsed() > timeLimitMs)
            m_result.truncated = true;
        *stop = m_result.truncated;
        return false;
    }

    bool matchesAny(const QStringList &patterns, const WalkEntry &entry) const
    {
        const QString relative = QString::fromUtf8(entry.path.sliced(m_root.size())).mid(m_root.endsWith('/') ? 0 : 1);
        return std::any_of(patterns.begin(), patterns.end(), [&](const QString &pattern) {
            return pattern.contains(u'/') ? GlobPattern(pattern, true).matches(relative) : matchesName(pattern, entry.name, true);
        });
    }

    bool wanted(const WalkEntry &entry) const
    {
        if (m_request.include && !m_request.include->isEmpty() && !matchesAny(*m_request.include, entry))
            return false;
        if (m_request.exclude && matchesAny(*m_request.exclude, entry))
            return false;
        if (m_request.type) {
            const QStringList extensions = fileTypes().value(*m_request.type);
            return std::any_of(extensions.begin(), extensions.end(), [&](const QString &e) { return entry.name.endsWith(e); });
        }
        return true;
    }

    void searchFile(const QByteArray &path)
    {
        const QString name = QString::fromUtf8(path);
        const auto fd = openRegular("grep", name);
        struct stat facts;
        if (!fd || ::fstat(fd->get(), &facts) != 0 || facts.st_size > m_sizeLimit)
            return;
        const auto bytes = readAll(fd->get(), m_sizeLimit, "grep", name);
        if (!bytes || QByteArrayView(*bytes).first(std::min(bytes->size(), binaryProbe)).contains('\0'))
            return;
        ++*m_result.filesSearched;
        if (!m_literal.isEmpty() && !bytes->contains(m_literal))
            return;
        const qsizetype before = m_found;
        const QString text = QString::fromUtf8(*bytes);
        if (m_request.multiline)
            searchWhole(name, text);
        else
            searchLines(name, text);
        if (m_found > before)
            ++*m_result.filesMatched;
    }

    static QList<QStringView> linesOf(const QString &text)
    {
        QList<QStringView> lines = QStringView(text).split(u'\n');
        if (!lines.isEmpty() && lines.last().isEmpty())
            lines.removeLast();
        for (QStringView &line : lines) {
            if (line.endsWith(u'\r'))
                line.chop(1);
        }
        return lines;
    }

    void searchLines(const QString &file, const QString &text)
    {
        const auto lines = linesOf(text);
        for (qsizetype i = 0; i < lines.size() && !m_result.truncated; ++i) {
            if (m_regex.matchView(lines.at(i)).hasMatch())
                take(file, lines, i, lines.at(i).toString());
        }
    }

    void searchWhole(const QString &file, const QString &text)
    {
        const auto lines = linesOf(text);
        auto matches = m_regex.globalMatch(text);
        qsizetype counted = 0, number = 0;
        while (matches.hasNext() && !m_result.truncated) {
            const auto match = matches.next();
            number += QStringView(text).sliced(counted, match.capturedStart() - counted).count(u'\n');
            counted = match.capturedStart();
            if (number >= lines.size())
                return;
            const qsizetype extra = QStringView(match.capturedView()).count(u'\n');
            QStringList covered;
            for (qsizetype i = number; i <= std::min(number + extra, lines.size() - 1); ++i)
                covered << lines.at(i).toString();
            take(file, lines, number, covered.join(u'\n'));
        }
    }

    void take(const QString &file, const QList<QStringView> &lines, qsizetype index, const QString &content)
    {
        if (m_found++ < m_request.offset)
            return;
        if (m_result.matches.size() >= m_request.maxResults) {
            m_result.truncated = true;
            return;
        }
        wire::GrepMatch match;
        match.file = file;
        match.lineNumber = index + 1;
        match.lineContent = content;
        const auto context = [&](qsizetype from, qsizetype to) {
            QStringList out;
            for (qsizetype i = std::max<qsizetype>(from, 0); i < std::min(to, lines.size()); ++i)
                out << lines.at(i).toString();
            return out;
        };
        if (m_request.contextBefore > 0)
            match.contextBefore = context(index - m_request.contextBefore, index);
        if (m_request.contextAfter > 0)
            match.contextAfter = context(index + 1, index + 1 + m_request.contextAfter);
        m_result.matches.append(std::move(match));
    }

    const wire::FileGrepRequest &m_request;
    QRegularExpression m_regex;
    QByteArray m_literal;
    QByteArray m_root;
    qint64 m_sizeLimit = 0;
    qsizetype m_found = 0;
    QElapsedTimer m_clock;
    wire::FileGrepResult m_result;
};

} // namespace

FileOutcome<wire::FileGrepResult> grepFiles(const wire::FileGrepRequest &request)
{
    return Grep(request).run();
}

} // namespace paddock::sandboxd
