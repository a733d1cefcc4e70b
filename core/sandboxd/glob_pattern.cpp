// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/glob_pattern.h"

namespace paddock::sandboxd {

namespace {

/// Matches one character against a bracket expression that begins at `at` ("["); moves `at` behind it. A bracket without
/// an end stands for itself.
bool matchesBracket(QStringView pattern, qsizetype &at, QChar c)
{
    qsizetype end = at + 1;
    if (end < pattern.size() && (pattern[end] == u'!' || pattern[end] == u'^'))
        ++end;
    if (end < pattern.size() && pattern[end] == u']')
        ++end;
    while (end < pattern.size() && pattern[end] != u']')
        ++end;
    if (end >= pattern.size()) {
        ++at;
        return c == u'[';
    }
    qsizetype from = at + 1;
    const bool negated = pattern[from] == u'!' || pattern[from] == u'^';
    from += negated;
    bool found = false;
    for (qsizetype i = from; i < end; ++i) {
        if (i + 2 < end && pattern[i + 1] == u'-') {
            found = found || (c >= pattern[i] && c <= pattern[i + 2]);
            i += 2;
        } else {
            found = found || c == pattern[i];
        }
    }
    at = end + 1;
    return found != negated;
}

} // namespace

bool matchesName(QStringView pattern, QStringView name, bool dots)
{
    if (!dots && name.startsWith(u'.') && !pattern.startsWith(u'.'))
        return false;
    qsizetype p = 0, n = 0, starAt = -1, starName = 0;
    while (n < name.size()) {
        bool good = false;
        qsizetype after = p;
        if (p < pattern.size()) {
            if (pattern[p] == u'*') {
                starAt = p++;
                starName = n;
                continue;
            }
            if (pattern[p] == u'?') {
                good = true;
                after = p + 1;
                // A character outside the first plane counts as one.
                if (name[n].isHighSurrogate() && n + 1 < name.size())
                    ++n;
            } else if (pattern[p] == u'[') {
                good = matchesBracket(pattern, after, name[n]);
            } else {
                good = pattern[p] == name[n];
                after = p + 1;
            }
        }
        if (good) {
            p = after;
            ++n;
        } else if (starAt >= 0) {
            p = starAt + 1;
            n = ++starName;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == u'*')
        ++p;
    return p == pattern.size();
}

GlobPattern::GlobPattern(const QString &pattern, bool dots)
    : m_segments(pattern.split(u'/', Qt::SkipEmptyParts)), m_dots(dots)
{
    m_segments.removeAll(QStringLiteral("."));
}

void GlobPattern::add(States &states, int position) const
{
    if (states.contains(position))
        return;
    states.append(position);
    // "**" may stand for no directory at all.
    if (position < m_segments.size() && m_segments.at(position) == u"**")
        add(states, position + 1);
}

GlobPattern::States GlobPattern::start() const
{
    States states;
    add(states, 0);
    return states;
}

GlobPattern::States GlobPattern::next(const States &states, const QString &name) const
{
    States out;
    for (const int position : states) {
        if (position >= m_segments.size())
            continue;
        const QString &segment = m_segments.at(position);
        if (segment == u"**") {
            if (m_dots || !name.startsWith(u'.')) {
                add(out, position);
                // A final "**" matches files as well.
                if (position + 1 == m_segments.size())
                    add(out, position + 1);
            }
        } else if (matchesName(segment, name, m_dots)) {
            add(out, position + 1);
        }
    }
    return out;
}

bool GlobPattern::goesOn(const States &states) const
{
    return std::any_of(states.begin(), states.end(), [this](int position) { return position < m_segments.size(); });
}

bool GlobPattern::matches(const QString &relativePath) const
{
    States states = start();
    for (const QString &name : relativePath.split(u'/', Qt::SkipEmptyParts))
        states = next(states, name);
    return accepts(states);
}

} // namespace paddock::sandboxd
