// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/trace/text_diff.h"

#include "core/base/line_diff.h"

#include <QRegularExpression>

#include <algorithm>

namespace paddock {

std::vector<DiffLine> diffText(const QString &before, const QString &after, int context, int mostLines)
{
    const std::vector<QStringView> a = splitLines(before);
    const std::vector<QStringView> b = splitLines(after);
    const std::vector<DiffRun> runs = diffLines(a, b);
    std::vector<DiffLine> lines;
    for (size_t i = 0; i < runs.size(); ++i) {
        const DiffRun &run = runs[i];
        const bool same = run.kind == DiffRun::Kind::Same;
        const bool added = run.kind == DiffRun::Kind::Added;
        const bool removed = run.kind == DiffRun::Kind::Removed;
        const auto kind = added ? DiffLine::Kind::Added : removed ? DiffLine::Kind::Removed : DiffLine::Kind::Same;
        int head = same ? (i == 0 ? 0 : context) : mostLines;
        int tail = same ? (i + 1 == runs.size() ? 0 : context) : context;
        if (run.count <= head + tail + 1) {
            head = run.count;
            tail = 0;
        }
        const auto line = [&](int n) { return (added ? b[size_t(run.after + n)] : a[size_t(run.before + n)]).toString(); };
        for (int n = 0; n < head; ++n)
            lines.push_back({kind, line(n)});
        if (const int left = run.count - head - tail; left > 0) {
            lines.push_back({DiffLine::Kind::LeftOut, {}, left, added, removed});
            for (int n = run.count - tail; n < run.count; ++n)
                lines.push_back({kind, line(n)});
        }
    }
    return lines;
}

std::vector<DiffLine> hashesLast(std::vector<DiffLine> lines, const QString &heading)
{
    static const QRegularExpression hash(QStringLiteral(R"(\s*\b\w{0,40}sha256[=:]\s?[0-9a-f]{8,64}\b)"));
    if (std::any_of(lines.begin(), lines.end(), [](const DiffLine &line) { return line.kind == DiffLine::Kind::Removed || line.removed; }))
        return lines;
    std::vector<DiffLine> taken;
    for (DiffLine &line : lines) {
        if (line.kind != DiffLine::Kind::Added || !line.text.contains(u"sha256"))
            continue;
        QString words = line.text;
        words.remove(hash);
        if (words == line.text || words.trimmed().isEmpty())
            continue;
        taken.push_back({DiffLine::Kind::Added, std::exchange(line.text, words)});
    }
    if (!taken.empty()) {
        lines.push_back({DiffLine::Kind::Heading, heading});
        lines.insert(lines.end(), taken.begin(), taken.end());
    }
    return lines;
}

} // namespace paddock
