// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/shell_quoting.h"

#include "core/base/text.h"

#include <QRegularExpression>
#include <QStringList>

namespace paddock {

namespace {

class QuotingScanner
{
public:
    explicit QuotingScanner(const QString &text) : m_text(text), m_found(size_t(text.size()), ShellQuoting::None) {}

    std::vector<ShellQuoting> run()
    {
        while (m_at < m_text.size()) {
            switch (m_stack.back()) {
            case ShellQuoting::None: plain(); break;
            case ShellQuoting::Double: doubleQuoted(); break;
            default: singleQuoted(); break;
            }
        }
        return std::move(m_found);
    }

private:
    QChar at(qsizetype offset = 0) const { return m_at + offset < m_text.size() ? m_text.at(m_at + offset) : QChar(); }

    void take(ShellQuoting quoting, qsizetype count = 1)
    {
        for (; count > 0 && m_at < m_text.size(); --count)
            m_found[size_t(m_at++)] = quoting;
    }

    void plain()
    {
        const QChar c = at();
        if (c == u'\\') {
            take(ShellQuoting::None, 2);
        } else if (c == u'\'') {
            take(ShellQuoting::None);
            m_stack.push_back(ShellQuoting::Single);
        } else if (c == u'$' && at(1) == u'\'') {
            take(ShellQuoting::None, 2);
            m_stack.push_back(ShellQuoting::Dollar);
        } else if (c == u'"') {
            take(ShellQuoting::None);
            m_stack.push_back(ShellQuoting::Double);
        } else if (c == u'#' && startsWord()) {
            while (m_at < m_text.size() && at() != u'\n')
                take(ShellQuoting::Verbatim);
        } else if (c == u'\n') {
            take(ShellQuoting::None);
            hereDocuments();
        } else if (c == u'<' && at(1) == u'<' && at(2) != u'<' && (m_at == 0 || m_text.at(m_at - 1) != u'<')) {
            hereDocumentHeader();
        } else {
            if (c == u')' && m_stack.size() > 1)
                m_stack.pop_back(); // the end of a substitution inside double quotes
            take(ShellQuoting::None);
        }
    }

    bool startsWord() const
    {
        return m_at == 0 || QStringView(u" \t\n;&|()").contains(m_text.at(m_at - 1));
    }

    void doubleQuoted()
    {
        if (at() == u'\\') {
            take(ShellQuoting::Double, 2);
        } else if (at() == u'$' && at(1) == u'(') {
            take(ShellQuoting::Double, 2);
            m_stack.push_back(ShellQuoting::None);
        } else {
            if (at() == u'"')
                m_stack.pop_back();
            take(ShellQuoting::Double);
        }
    }

    void singleQuoted()
    {
        const ShellQuoting kind = m_stack.back();
        if (kind == ShellQuoting::Dollar && at() == u'\\') {
            take(kind, 2);
            return;
        }
        if (at() == u'\'')
            m_stack.pop_back();
        take(kind);
    }

    void hereDocumentHeader()
    {
        static const QRegularExpression header(
            QStringLiteral("\\G<<(-?)[ \\t]*(?:\\\\?([A-Za-z_][\\w.-]*)|'([^'\\n]*)'|\"([^\"\\n]*)\")"));
        const QRegularExpressionMatch match = header.match(m_text, m_at);
        if (!match.hasMatch()) {
            take(ShellQuoting::None, 2);
            return;
        }
        m_delimiters << match.captured(2) + match.captured(3) + match.captured(4);
        take(ShellQuoting::None, match.capturedLength());
    }

    void hereDocuments()
    {
        for (const QString &delimiter : std::exchange(m_delimiters, {})) {
            while (m_at < m_text.size()) {
                const qsizetype end = m_text.indexOf(u'\n', m_at);
                const qsizetype length = (end < 0 ? m_text.size() : end + 1) - m_at;
                const bool last = QStringView(m_text).mid(m_at, length).trimmed() == delimiter;
                take(ShellQuoting::Verbatim, length);
                if (last)
                    break;
            }
        }
    }

    const QString &m_text;
    std::vector<ShellQuoting> m_found;
    qsizetype m_at = 0;
    std::vector<ShellQuoting> m_stack{ShellQuoting::None};
    QStringList m_delimiters;
};

/// Every character of `special` with a backslash in front.
QString escaped(const QString &text, QStringView special)
{
    QString out;
    for (const QChar c : text) {
        if (special.contains(c))
            out += u'\\';
        out += c;
    }
    return out;
}

} // namespace

std::vector<ShellQuoting> shellQuotingOf(const QString &command)
{
    return QuotingScanner(command).run();
}

QString quotedFor(const QString &text, ShellQuoting quoting)
{
    switch (quoting) {
    case ShellQuoting::None: return shellQuote(text);
    case ShellQuoting::Single: return QString(text).replace(QStringLiteral("'"), QStringLiteral("'\"'\"'"));
    case ShellQuoting::Dollar: return escaped(text, u"\\'");
    case ShellQuoting::Double: return escaped(text, u"\\\"$`");
    case ShellQuoting::Verbatim: break;
    }
    return text;
}

} // namespace paddock
