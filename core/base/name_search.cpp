// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/name_search.h"

#include "core/base/text.h"

#include <QRegularExpression>
#include <QSet>

#include <algorithm>
#include <optional>

namespace paddock {

namespace {

constexpr std::size_t maxHits = 5;
constexpr qsizetype maxPatternChars = 1000;
constexpr qsizetype maxSearchedChars = 20000; ///< of one entry
constexpr int maxCounted = 10000;             ///< hits of one entry

/// One pattern of a model. Its steps are bounded, and PCRE's own verbs, which could lift the bound, are plain text.
class Pattern
{
public:
    explicit Pattern(const QString &text) : m_literal(text.left(maxPatternChars))
    {
        static const QRegularExpression verb(QStringLiteral("(?<!\\\\)\\(\\*"));
        if (text.size() > maxPatternChars || verb.match(text).hasMatch())
            return;
        m_expression.setPattern(QStringLiteral("(*LIMIT_MATCH=100000)(*LIMIT_DEPTH=1000)") + text);
        m_expression.setPatternOptions(QRegularExpression::CaseInsensitiveOption | QRegularExpression::UseUnicodePropertiesOption);
        m_usable = m_expression.isValid();
    }

    /// How often it is found; stops at one when `any` is enough.
    int hits(const QString &text, bool any)
    {
        if (m_usable) {
            if (const auto counted = expressionHits(text, any))
                return *counted;
            m_usable = false; // too many steps: the same for the entries that follow
        }
        return any ? int(text.contains(m_literal, Qt::CaseInsensitive)) : int(text.count(m_literal, Qt::CaseInsensitive));
    }

private:
    std::optional<int> expressionHits(const QString &text, bool any) const
    {
        if (any) {
            const auto match = m_expression.match(text);
            return match.isValid() ? std::optional(int(match.hasMatch())) : std::nullopt;
        }
        int count = 0;
        auto matches = m_expression.globalMatch(text);
        if (!matches.isValid())
            return std::nullopt;
        while (matches.hasNext() && count < maxCounted) {
            matches.next();
            ++count;
        }
        return matches.isValid() ? std::optional(count) : std::nullopt;
    }

    QString m_literal;
    QRegularExpression m_expression;
    bool m_usable = false;
};

QString searched(const NamedText &entry)
{
    return firstCodePoints(entry.name + u' ' + entry.description, maxSearchedChars);
}

std::vector<std::size_t> selected(const std::vector<NamedText> &entries, const QString &list)
{
    QSet<QString> wanted;
    for (const QString &name : list.split(u','))
        wanted.insert(pythonStrip(name));
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (wanted.contains(entries[i].name))
            found.push_back(i);
    }
    return found;
}

struct Scored {
    int score = 0;
    std::size_t index = 0;
};

std::vector<std::size_t> best(std::vector<Scored> scored)
{
    std::ranges::stable_sort(scored, [](const Scored &a, const Scored &b) { return a.score > b.score; });
    std::vector<std::size_t> found;
    for (const Scored &one : scored) {
        if (found.size() == maxHits)
            break;
        found.push_back(one.index);
    }
    return found;
}

std::vector<std::size_t> withPart(const std::vector<NamedText> &entries, const QString &query)
{
    static const QRegularExpression blank(QStringLiteral("\\s+"), QRegularExpression::UseUnicodePropertiesOption);
    const QString text = pythonStrip(query);
    if (text.isEmpty())
        return {};
    const auto gap = blank.match(text);
    const QString part = (gap.hasMatch() ? text.left(gap.capturedStart()) : text).toLower();
    const QString rest = gap.hasMatch() ? text.mid(gap.capturedEnd()) : QString();
    Pattern pattern(rest);
    std::vector<Scored> scored;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (entries[i].name.toLower().contains(part))
            scored.push_back({rest.isEmpty() ? 0 : pattern.hits(searched(entries[i]), false), i});
    }
    return best(std::move(scored));
}

} // namespace

std::vector<std::size_t> searchNames(const std::vector<NamedText> &entries, const QString &query)
{
    static const QString select = QStringLiteral("select:");
    const QString text = pythonStrip(query);
    if (text.isEmpty())
        return {};
    if (text.startsWith(select))
        return selected(entries, text.mid(select.size()));
    if (text.startsWith(u'+'))
        return withPart(entries, text.mid(1));
    Pattern pattern(text);
    std::vector<Scored> scored;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (pattern.hits(searched(entries[i]), true) > 0)
            scored.push_back({pattern.hits(entries[i].name, true) > 0 ? 2 : 1, i});
    }
    return best(std::move(scored));
}

} // namespace paddock
