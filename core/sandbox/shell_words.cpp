// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/shell_words.h"

#include <algorithm>

namespace paddock {

namespace {

bool isPunctuation(QChar c)
{
    return QStringView(u"();<>|&").contains(c);
}

bool isBlank(QChar c)
{
    return c == u' ' || c == u'\t' || c == u'\r' || c == u'\n';
}

/// One pass over the text, collecting words.
class Lexer
{
public:
    explicit Lexer(const QString &text) : m_text(text) {}

    std::optional<QStringList> run()
    {
        while (m_at < m_text.size()) {
            if (!step())
                return std::nullopt;
        }
        finish();
        return m_words;
    }

private:
    bool step()
    {
        const QChar c = m_text.at(m_at);
        if (isBlank(c)) {
            finish();
            ++m_at;
        } else if (isPunctuation(c)) {
            finish();
            while (m_at < m_text.size() && isPunctuation(m_text.at(m_at)))
                m_word += m_text.at(m_at++);
            m_started = true;
            finish();
        } else if (c == u'\'') {
            return singleQuoted();
        } else if (c == u'"') {
            return doubleQuoted();
        } else if (c == u'\\') {
            if (m_at + 1 >= m_text.size())
                return false;
            m_word += m_text.at(m_at + 1);
            m_started = true;
            m_at += 2;
        } else {
            m_word += c;
            m_started = true;
            ++m_at;
        }
        return true;
    }

    bool singleQuoted()
    {
        const qsizetype end = m_text.indexOf(u'\'', m_at + 1);
        if (end < 0)
            return false;
        m_word += QStringView(m_text).mid(m_at + 1, end - m_at - 1);
        m_started = true;
        m_at = end + 1;
        return true;
    }

    bool doubleQuoted()
    {
        m_started = true;
        for (++m_at; m_at < m_text.size(); ++m_at) {
            const QChar c = m_text.at(m_at);
            if (c == u'"') {
                ++m_at;
                return true;
            }
            if (c == u'\\' && m_at + 1 < m_text.size()) {
                const QChar next = m_text.at(m_at + 1);
                if (next == u'"' || next == u'\\') {
                    m_word += next;
                    ++m_at;
                    continue;
                }
            }
            m_word += c;
        }
        return false;
    }

    void finish()
    {
        if (m_started)
            m_words << m_word;
        m_word.clear();
        m_started = false;
    }

    const QString &m_text;
    qsizetype m_at = 0;
    QString m_word;
    bool m_started = false;
    QStringList m_words;
};

} // namespace

std::optional<QStringList> shellWords(const QString &command)
{
    return Lexer(command).run();
}

bool isRedirection(const QString &word)
{
    static const QStringList known{
        QStringLiteral("<"), QStringLiteral(">"), QStringLiteral("<<"), QStringLiteral(">>"), QStringLiteral("<<<"),
        QStringLiteral("<>"), QStringLiteral(">&"), QStringLiteral("<&"), QStringLiteral("&>"), QStringLiteral("&>>"),
        QStringLiteral(">|")};
    return known.contains(word);
}

bool isCommandSeparator(const QString &word)
{
    // A run such as ");" or ";;" separates as well, whatever stands beside the separating character.
    return !word.isEmpty() && std::all_of(word.cbegin(), word.cend(), isPunctuation) && !isRedirection(word);
}

} // namespace paddock
