// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/masking.h"

#include "core/sandbox/beneath.h"

#include <algorithm>

namespace paddock {

HostPathMasker::HostPathMasker(const std::vector<MaskSource> &sources)
{
    const auto add = [this](QString host, const QString &virtualBase) {
        while (host.size() > 1 && (host.endsWith(u'/') || host.endsWith(u'\\')))
            host.chop(1);
        // "/" as a host folder would turn every path into a virtual one.
        if (host.size() < 2 || std::any_of(m_spellings.cbegin(), m_spellings.cend(),
                                           [&](const MaskSource &known) { return known.host == host; }))
            return;
        m_spellings.push_back({host, virtualBase});
    };
    for (const MaskSource &source : sources) {
        QStringList spellings{source.host};
        if (source.host.startsWith(u'/'))
            spellings << QString::fromUtf8(resolveLinks(source.host.toUtf8()));
        for (QString &spelling : spellings) {
            add(spelling, source.virtualBase);
            add(QString(spelling).replace(u'\\', u'/'), source.virtualBase);
            add(QString(spelling).replace(u'/', u'\\'), source.virtualBase);
        }
    }
    std::stable_sort(m_spellings.begin(), m_spellings.end(),
                     [](const MaskSource &a, const MaskSource &b) { return a.host.size() > b.host.size(); });
    if (m_spellings.empty())
        return;
    QStringList alternatives;
    for (const MaskSource &spelling : m_spellings)
        alternatives << u'(' + QRegularExpression::escape(spelling.host) + u')';
    m_pattern = QRegularExpression(QStringLiteral("(?:") + alternatives.join(u'|')
                                       + QStringLiteral(")(?=/|\\z|[^\\w./-])([/\\\\][^\\s\"';&|<>():]*)?"),
                                   QRegularExpression::UseUnicodePropertiesOption);
    m_pattern.optimize();
}

QString HostPathMasker::mask(const QString &text) const
{
    if (m_spellings.empty() || text.isEmpty())
        return text;
    QString out;
    qsizetype copied = 0;
    const int tailGroup = int(m_spellings.size()) + 1;
    auto matches = m_pattern.globalMatch(text);
    while (matches.hasNext()) {
        const QRegularExpressionMatch match = matches.next();
        int group = 1;
        while (group < tailGroup && match.capturedStart(group) < 0)
            ++group;
        out += QStringView(text).mid(copied, match.capturedStart() - copied);
        out += m_spellings.at(size_t(group) - 1).virtualBase;
        QString tail = match.captured(tailGroup).replace(u'\\', u'/');
        qsizetype skip = 0;
        while (skip < tail.size() && tail.at(skip) == u'/')
            ++skip;
        if (skip > 0)
            out += u'/' + tail.mid(skip);
        copied = match.capturedEnd();
    }
    return copied == 0 ? text : out + text.mid(copied);
}

} // namespace paddock
