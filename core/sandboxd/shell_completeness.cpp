// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// A rough reading of bash's grammar: good enough to tell a plain, whole command, honest about everything else.
#include "core/sandboxd/shell_protocol.h"

#include <QHash>

namespace paddock::sandboxd {

namespace {

class Scanner
{
public:
    explicit Scanner(QByteArrayView text) : m_text(text) {}

    Completeness run()
    {
        while (m_at < m_text.size()) {
            if (!step())
                return m_result;
        }
        endWord();
        return verdict();
    }

private:
    char peek(qsizetype ahead = 0) const { return m_at + ahead < m_text.size() ? m_text[m_at + ahead] : '\0'; }
    bool stop(Completeness result)
    {
        m_result = result;
        return false;
    }

    bool step()
    {
        const char c = peek();
        switch (c) {
        case '\\':
            if (m_at + 1 >= m_text.size())
                return stop(Completeness::Incomplete);
            m_word += 'x';
            m_last = 'x';
            m_at += 2;
            return true;
        case '\'': return singleQuoted();
        case '"': return doubleQuoted();
        case '`': m_backticks = !m_backticks; return plain();
        case '#':
            if (m_word.isEmpty()) {
                while (m_at < m_text.size() && peek() != '\n')
                    ++m_at;
                return true;
            }
            return plain();
        case '\n':
            endWord();
            ++m_at;
            return skipHereDocuments();
        case ' ': case '\t':
            endWord();
            ++m_at;
            return true;
        case '<':
            if (peek(1) == '<' && peek(2) != '<' && m_arithmetic == 0)
                return hereDocument();
            if (peek(1) == '<' && peek(2) == '<')
                m_at += 2;
            return operatorChar();
        case '(':
            m_arithmetic += peek(1) == '(';
            ++m_depth;
            return operatorChar();
        case ')':
            // A pattern of `case` or an unbalanced text: not for us to say.
            if (--m_depth < 0)
                return stop(Completeness::Unsure);
            m_arithmetic -= m_arithmetic > 0 && peek(1) == ')';
            return operatorChar();
        case ';': case '|': case '&': case '>': return operatorChar();
        default: return plain();
        }
    }

    bool plain()
    {
        m_word += peek();
        m_beforeLast = m_last;
        m_last = peek();
        ++m_at;
        return true;
    }
    bool operatorChar()
    {
        endWord();
        m_beforeLast = m_last;
        m_last = peek();
        ++m_at;
        return true;
    }

    bool singleQuoted()
    {
        const bool ansi = m_word.endsWith('$');
        for (++m_at; m_at < m_text.size() && peek() != '\''; ++m_at) {
            if (ansi && peek() == '\\')
                ++m_at;
        }
        if (m_at >= m_text.size())
            return stop(Completeness::Incomplete);
        ++m_at;
        m_word += 'q';
        m_last = 'q';
        return true;
    }

    bool doubleQuoted()
    {
        ++m_at;
        if (!skipDouble())
            return stop(m_nested ? Completeness::Unsure : Completeness::Incomplete);
        m_word += 'q';
        m_last = 'q';
        return true;
    }

    /// From behind an opening double quote to behind the closing one.
    bool skipDouble()
    {
        while (m_at < m_text.size()) {
            const char c = peek();
            if (c == '"') {
                ++m_at;
                return true;
            }
            if (c == '$' && peek(1) == '(') {
                m_at += 2;
                if (!skipParentheses())
                    return false;
                continue;
            }
            m_nested = m_nested || c == '`';
            m_at += c == '\\' ? 2 : 1;
        }
        return false;
    }

    /// From behind an opening parenthesis inside quotes to behind the closing one.
    bool skipParentheses()
    {
        int depth = 1;
        while (m_at < m_text.size()) {
            const char c = peek();
            ++m_at;
            if (c == '\\') {
                ++m_at;
            } else if (c == '\'') {
                m_at = m_text.indexOf('\'', m_at);
                if (m_at < 0) {
                    m_at = m_text.size();
                    return false;
                }
                ++m_at;
            } else if (c == '"') {
                if (!skipDouble())
                    return false;
            } else if (c == '(') {
                ++depth;
            } else if (c == ')' && --depth == 0) {
                return true;
            }
            // A here document or a comment in there may hold anything.
            m_nested = m_nested || (c == '<' && peek() == '<') || c == '#';
        }
        return false;
    }

    bool hereDocument()
    {
        endWord();
        m_at += 2;
        const bool tabs = peek() == '-';
        m_at += tabs;
        while (peek() == ' ' || peek() == '\t')
            ++m_at;
        QByteArray delimiter;
        while (m_at < m_text.size() && !QByteArrayView(" \t\n;|&<>()").contains(peek())) {
            if (peek() != '\'' && peek() != '"' && peek() != '\\')
                delimiter += peek();
            ++m_at;
        }
        m_last = 'q';
        m_hereDocuments.append({delimiter, tabs});
        return true;
    }

    bool skipHereDocuments()
    {
        while (!m_hereDocuments.isEmpty()) {
            const auto [delimiter, tabs] = m_hereDocuments.takeFirst();
            bool found = false;
            while (m_at < m_text.size() && !found) {
                qsizetype end = m_text.indexOf('\n', m_at);
                if (end < 0)
                    end = m_text.size();
                QByteArrayView line = m_text.sliced(m_at, end - m_at);
                while (tabs && line.startsWith('\t'))
                    line = line.sliced(1);
                found = line == delimiter;
                m_at = std::min(end + 1, m_text.size());
            }
            if (!found)
                return stop(Completeness::Incomplete);
        }
        return true;
    }

    void endWord()
    {
        if (!m_word.isEmpty())
            ++m_words[m_word];
        m_word.clear();
    }

    Completeness verdict() const
    {
        const auto count = [this](const char *word) { return m_words.value(word); };
        if (!m_hereDocuments.isEmpty() || m_depth > 0 || m_backticks)
            return m_nested ? Completeness::Unsure : Completeness::Incomplete;
        const int loops = count("for") + count("while") + count("until") + count("select");
        const bool open = loops > count("do") || count("do") > count("done") || count("if") > count("fi")
            || count("if") + count("elif") > count("then") || count("case") > count("esac") || count("{") > count("}")
            || count("[[") > count("]]");
        const bool dangling = m_last == '|' || (m_last == '&' && m_beforeLast == '&') || m_text.trimmed().endsWith("()");
        if (open || dangling)
            return Completeness::Incomplete;
        const bool balanced = loops == count("do") && count("do") == count("done") && count("if") == count("fi")
            && count("if") + count("elif") == count("then") && count("case") == 0 && count("esac") == 0
            && count("{") == count("}") && count("[[") == count("]]");
        const bool odd = count("!") > 0 && m_last == '!';
        return balanced && !odd && !m_nested ? Completeness::Complete : Completeness::Unsure;
    }

    QByteArrayView m_text;
    qsizetype m_at = 0;
    QByteArray m_word;
    QHash<QByteArray, int> m_words;
    QList<std::pair<QByteArray, bool>> m_hereDocuments;
    int m_depth = 0;
    int m_arithmetic = 0;
    bool m_backticks = false;
    bool m_nested = false;
    char m_last = '\0';
    char m_beforeLast = '\0';
    Completeness m_result = Completeness::Unsure;
};

} // namespace

Completeness completeness(QByteArrayView text)
{
    return Scanner(text).run();
}

} // namespace paddock::sandboxd
