// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "tests/rooms/source_text.h"

#include <QRegularExpression>

#include <algorithm>

namespace paddock::rooms {
namespace {

bool isWord(QChar c)
{
    return c.isLetterOrNumber() || c == u'_';
}

void blank(QString &text, qsizetype from, qsizetype to)
{
    for (qsizetype i = from; i < std::min(to, text.size()); ++i) {
        if (text[i] != u'\n')
            text[i] = u' ';
    }
}

qsizetype endOr(qsizetype found, qsizetype length, const QString &text)
{
    return found < 0 ? text.size() : found + length;
}

/// The end of a literal that is closed by `quote`, just behind it; a line end closes it too.
qsizetype literalEnd(const QString &text, qsizetype open, QChar quote)
{
    qsizetype at = open + 1;
    while (at < text.size() && text[at] != quote && text[at] != u'\n')
        at += text[at] == u'\\' ? 2 : 1;
    return std::min(at + 1, text.size());
}

/// 1'000 and 0x1'f: the word before the mark begins with a digit.
bool separatesDigits(const QString &text, qsizetype at)
{
    qsizetype from = at;
    while (from > 0 && (isWord(text[from - 1]) || text[from - 1] == u'\''))
        --from;
    return from < at && text[from].isDigit();
}

bool opensRawString(const QString &text, qsizetype quote)
{
    if (quote == 0 || text[quote - 1] != u'R')
        return false;
    return quote == 1 || !isWord(text[quote - 2]) || text[quote - 2] == u'u' || text[quote - 2] == u'8' || text[quote - 2] == u'L';
}

/// Blanks the literal or comment that begins at `at`, if one does; gives where to go on.
qsizetype blankAt(QString &out, const QString &text, qsizetype at)
{
    const QStringView rest = QStringView(text).sliced(at);
    if (rest.startsWith(u"//") || rest.startsWith(u"/*")) {
        const qsizetype end = rest[1] == u'/' ? endOr(text.indexOf(u'\n', at), 0, text) : endOr(text.indexOf(u"*/", at + 2), 2, text);
        blank(out, at, end);
        return end;
    }
    if (rest[0] == u'"' && opensRawString(text, at)) {
        const qsizetype body = text.indexOf(u'(', at);
        const QString close = QLatin1Char(')') + text.mid(at + 1, body - at - 1) + QLatin1Char('"');
        const qsizetype end = endOr(text.indexOf(close, body), close.size(), text);
        blank(out, at + 1, end - 1);
        return end;
    }
    if (rest[0] == u'"' || (rest[0] == u'\'' && !separatesDigits(text, at))) {
        const qsizetype end = literalEnd(text, at, rest[0]);
        blank(out, at + 1, end - 1);
        return end;
    }
    return at + 1;
}

/// The code without lines of the preprocessor, whose braces need not pair up.
QString withoutDirectives(const QString &text)
{
    static const QRegularExpression directive(QStringLiteral(R"(^[ \t]*#(?:[^\n\\]|\\.|\\\n)*)"), QRegularExpression::MultilineOption);
    QString code = codeOf(text);
    auto matches = directive.globalMatch(code);
    QString out = code;
    while (matches.hasNext()) {
        const auto match = matches.next();
        blank(out, match.capturedStart(), match.capturedEnd());
    }
    return out;
}

/// Reads code brace by brace and notes how long each outermost function is; lambdas count with the function they stand in.
class FunctionScan
{
public:
    QList<FunctionSpan> run(const QString &code)
    {
        for (qsizetype at = 0; at < code.size(); ++at) {
            if (m_bodyDepth)
                inFunction(code, at);
            else
                inScope(code[at]);
            if (code[at] == u'\n')
                ++m_line;
        }
        return m_found;
    }

private:
    void inScope(QChar c)
    {
        if (c == u'(' || c == u')')
            m_parens += c == u'(' ? 1 : -1;
        if (m_parens == 0 && c == u'{')
            return open();
        if (m_parens == 0 && c == u'}') {
            if (!m_stack.isEmpty() && m_stack.takeLast() == 's')
                m_head.clear();
            return;
        }
        if (m_parens == 0 && c == u';')
            return m_head.clear();
        if (m_head.isEmpty() && c.isSpace())
            return;
        if (m_head.isEmpty())
            m_headLine = m_line;
        m_head += c;
        static const QRegularExpression label(QStringLiteral(R"(^(public|protected|private|Q_SIGNALS)( Q_SLOTS)?\s*:$)"));
        if (c == u':' && label.match(m_head).hasMatch())
            m_head.clear();
    }

    void open()
    {
        static const QRegularExpression macros(QStringLiteral(R"(^(Q_[A-Z_]+(\([^)]*\))?\s*)+)"));
        static const QRegularExpression scope(
            QStringLiteral(R"(^(template\s*<.*>\s*)?(\[\[.*\]\]\s*)?(inline\s+)?(namespace|class|struct|enum|union|extern)\b(?!.*\)\s*(const|noexcept)*$))"),
            QRegularExpression::DotMatchesEverythingOption);
        QString head = m_head.trimmed().remove(macros);
        if (scope.match(head).hasMatch()) {
            m_stack.append('s');
            m_head.clear();
        } else if (head.contains(u'(') && !QStringLiteral("=,(").contains(head.back())) {
            m_stack.append('f');
            m_bodyDepth = m_stack.size();
            m_bodyLine = m_line;
        } else {
            m_stack.append('o');
        }
    }

    void inFunction(const QString &code, qsizetype at)
    {
        if (code[at] == u'{')
            m_stack.append('o');
        if (code[at] != u'}')
            return;
        m_stack.removeLast();
        if (m_stack.size() >= m_bodyDepth)
            return;
        m_bodyDepth = 0;
        const QStringView rest = QStringView(code).sliced(at + 1).trimmed();
        if (rest.startsWith(u',') || rest.startsWith(u'{'))
            return; // a member that the constructor initialises; its body comes later
        m_found.append({m_headLine, m_line - m_bodyLine + 1, m_head.simplified()});
        m_head.clear();
    }

    QList<FunctionSpan> m_found;
    QList<char> m_stack; ///< what each open brace is: s a scope, f a function, o something else
    QString m_head;
    int m_headLine = 1;
    int m_line = 1;
    int m_bodyLine = 1;
    int m_parens = 0;
    qsizetype m_bodyDepth = 0; ///< size of the stack within the function; 0 outside
};

/// Walks the body of one class, from behind its brace.
class ClassScan
{
public:
    ClassScan(QString name, bool isPublic) : m_public(isPublic), m_name(std::move(name)) {}

    QStringList run(const QString &code, qsizetype at)
    {
        for (int depth = 1; at < code.size() && depth > 0; ++at) {
            const QChar c = code[at];
            if (c == u'{' && ++depth == 2)
                declared(true);
            else if (c == u'}' && --depth == 1)
                m_head.clear();
            else if (depth == 1 && c == u';')
                declared(false);
            else if (depth == 1 && c == u':' && code[at + 1] != u':' && code[at - 1] != u':')
                label();
            else if (depth == 1)
                m_head += c;
        }
        m_names.removeDuplicates();
        return m_names;
    }

private:
    void label()
    {
        static const QRegularExpression access(QStringLiteral(R"(\b(public|protected|private|Q_SIGNALS)( Q_SLOTS)?\s*$)"));
        if (const auto match = access.match(m_head); match.hasMatch()) {
            m_public = match.captured(1) == u"public";
            m_head.clear();
        } else {
            m_head += u':';
        }
    }

    void declared(bool withBody)
    {
        static const QRegularExpression angles(QStringLiteral("<[^<>]*>"));
        static const QRegularExpression ignored(QStringLiteral(R"(^(friend|using|typedef|static_assert|class|struct|enum)\b|\boperator\b|\boverride\b)"));
        static const QRegularExpression macros(QStringLiteral(R"((Q_[A-Z_]+(\([^)]*\))?\s*)+)"));
        static const QRegularExpression called(QStringLiteral(R"((~?\w+)\s*\()"));
        QString head = std::exchange(m_head, {}).remove(macros).simplified();
        for (QString before; before != head;) {
            before = head;
            head.remove(angles);
        }
        const auto match = called.match(head);
        const qsizetype given = head.indexOf(u'=');
        const bool isFunction = match.hasMatch() && (given < 0 || given > match.capturedStart(1));
        if (!m_public || withBody || !isFunction || ignored.match(head).hasMatch())
            return;
        if (const QString name = match.captured(1); name != m_name && name != QLatin1Char('~') + m_name)
            m_names.append(name);
    }

    bool m_public;
    QString m_name;
    QString m_head;
    QStringList m_names;
};

} // namespace

QString codeOf(const QString &text)
{
    QString out = text;
    for (qsizetype at = 0; at < text.size();)
        at = blankAt(out, text, at);
    return out;
}

QList<Include> includesOf(const QString &text)
{
    static const QRegularExpression directive(QStringLiteral(R"(^[ \t]*#[ \t]*include[ \t]*([<"]))"), QRegularExpression::MultilineOption);
    QList<Include> found;
    auto matches = directive.globalMatch(codeOf(text)); // an include in a literal or comment is none
    while (matches.hasNext()) {
        const auto match = matches.next();
        const bool quoted = match.captured(1) == u"\"";
        const qsizetype from = match.capturedEnd();
        const qsizetype to = text.indexOf(quoted ? u'"' : u'>', from);
        found.append({lineAt(text, match.capturedEnd()), text.mid(from, to - from), quoted});
    }
    return found;
}

QList<FunctionSpan> functionsOf(const QString &text)
{
    return FunctionScan().run(withoutDirectives(text));
}

QList<ClassShape> classesOf(const QString &text)
{
    static const QRegularExpression begin(QStringLiteral(R"((?<!enum )\b(class|struct)\s+(?:\[\[\w+\]\]\s*)?([\w:]+)\s*(?:final\s*)?(?::[^;{()]*)?\{)"));
    const QString code = withoutDirectives(text);
    QList<ClassShape> found;
    auto matches = begin.globalMatch(code);
    while (matches.hasNext()) {
        const auto match = matches.next();
        const QString name = match.captured(2).section(QStringLiteral("::"), -1);
        ClassScan scan(name, match.captured(1) == u"struct");
        found.append({lineAt(code, match.capturedStart()), name, scan.run(code, match.capturedEnd())});
    }
    return found;
}

int lineAt(const QString &text, qsizetype offset)
{
    return int(std::count(text.cbegin(), text.cbegin() + offset, u'\n')) + 1;
}

} // namespace paddock::rooms
