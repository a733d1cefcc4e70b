// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/shell_audit.h"

#include "core/base/text.h"

#include <QRegularExpression>

namespace paddock::shell_audit {

namespace {

/// One pass over a command (middleware-base §13 "Split").
class Splitter
{
public:
    Splitter(const QString &text, bool pipes) : m_text(text), m_pipes(pipes) {}

    QStringList run()
    {
        while (m_at < m_text.size())
            step();
        if (m_quote != 0 || m_loneBackslash)
            return {m_text};
        endPart();
        return m_parts.isEmpty() ? QStringList{m_text} : m_parts;
    }

private:
    bool startsWith(QLatin1String text) const { return QStringView(m_text).mid(m_at).startsWith(text); }

    void take(qsizetype count)
    {
        m_part += QStringView(m_text).mid(m_at, count);
        m_at += count;
    }

    void endPart()
    {
        const QString part = pythonStrip(m_part);
        if (!part.isEmpty())
            m_parts.append(part);
        m_part.clear();
    }

    void step()
    {
        const QChar c = m_text.at(m_at);
        if (c == u'\\' && m_quote != '\'') {
            m_loneBackslash = m_at + 1 >= m_text.size();
            take(2);
            return;
        }
        if (c == u'\'' || c == u'"') {
            const char quote = c == u'\'' ? '\'' : '"';
            if (m_quote == 0)
                m_quote = quote;
            else if (m_quote == quote)
                m_quote = 0;
            take(1);
            return;
        }
        if (m_quote != 0) {
            take(1);
            return;
        }
        stepUnquoted(c);
    }

    void stepUnquoted(QChar c)
    {
        if (startsWith(QLatin1String("(("))) {
            ++m_arithmetic;
            take(2);
        } else if (m_arithmetic > 0 && startsWith(QLatin1String("))"))) {
            --m_arithmetic;
            take(2);
        } else if (c == u'<' && m_arithmetic == 0 && takeHeredocHeader()) {
            return;
        } else if (c == u'\n') {
            swallowBodies();
            endPart();
        } else if (startsWith(QLatin1String("&&")) || startsWith(QLatin1String("||"))) {
            m_at += 2;
            endPart();
        } else if (c == u';' || (c == u'|' && m_pipes)) {
            ++m_at;
            endPart();
        } else {
            take(1);
        }
    }

    bool takeHeredocHeader()
    {
        static const QRegularExpression header(
            QStringLiteral(R"re((?<!<)<<(?!<)-?[ \t]*(?:\\?([A-Za-z_][\w.-]*)|'([^'\n]*)'|"([^"\n]*)"))re"),
            QRegularExpression::UseUnicodePropertiesOption);
        const QRegularExpressionMatch match =
            header.match(m_text, m_at, QRegularExpression::NormalMatch, QRegularExpression::AnchorAtOffsetMatchOption);
        if (!match.hasMatch())
            return false;
        for (int group = 1; group <= 3; ++group) {
            if (match.hasCaptured(group))
                m_delimiters.append(match.captured(group));
        }
        take(match.capturedLength());
        return true;
    }

    /// At a newline: takes it and every pending heredoc body, each up to the line that is its delimiter.
    void swallowBodies()
    {
        take(1);
        for (const QString &delimiter : std::as_const(m_delimiters)) {
            while (m_at < m_text.size()) {
                const qsizetype end = m_text.indexOf(u'\n', m_at);
                const qsizetype length = (end < 0 ? m_text.size() : end) - m_at;
                const QString line = m_text.mid(m_at, length);
                take(end < 0 ? length : length + 1);
                if (pythonStrip(line) == delimiter)
                    break;
            }
        }
        m_delimiters.clear();
    }

    const QString &m_text;
    const bool m_pipes;
    qsizetype m_at = 0;
    char m_quote = 0;
    bool m_loneBackslash = false;
    int m_arithmetic = 0;
    QStringList m_delimiters;
    QString m_part;
    QStringList m_parts;
};

bool isWordSpace(QChar c)
{
    return c == u' ' || c == u'\t' || c == u'\r' || c == u'\n';
}

} // namespace

QStringList split(const QString &command, bool pipes)
{
    return Splitter(command, pipes).run();
}

std::optional<QStringList> posixWords(const QString &text)
{
    QStringList words;
    QString word;
    bool inWord = false;
    qsizetype i = 0;
    while (i < text.size()) {
        const QChar c = text.at(i);
        if (isWordSpace(c)) {
            if (inWord)
                words.append(word);
            word.clear();
            inWord = false;
            ++i;
            continue;
        }
        inWord = true;
        if (c == u'\\') {
            if (i + 1 >= text.size())
                return std::nullopt;
            word += text.at(i + 1);
            i += 2;
        } else if (c == u'\'' || c == u'"') {
            for (++i; i < text.size() && text.at(i) != c; ++i) {
                // Inside double quotes a backslash escapes only the quote and itself.
                if (c == u'"' && text.at(i) == u'\\' && i + 1 < text.size()
                    && (text.at(i + 1) == u'"' || text.at(i + 1) == u'\\'))
                    ++i;
                word += text.at(i);
            }
            if (i >= text.size())
                return std::nullopt;
            ++i;
        } else {
            word += c;
            ++i;
        }
    }
    if (inWord)
        words.append(word);
    return words;
}

} // namespace paddock::shell_audit
