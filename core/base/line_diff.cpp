// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/line_diff.h"

#include <algorithm>

namespace paddock {

namespace {

void push(std::vector<DiffRun> &runs, DiffRun::Kind kind, int before, int after, int count)
{
    if (count <= 0)
        return;
    if (!runs.empty() && runs.back().kind == kind)
        runs.back().count += count;
    else
        runs.push_back({kind, before, after, count});
}

/// The path through the middle as steps from the end: true = diagonal (same), else whether it is an insertion.
struct Middle {
    const std::vector<QStringView> &a;
    const std::vector<QStringView> &b;
    int from;  ///< common head
    int n, m;  ///< lengths of the middles

    bool same(int x, int y) const { return a[std::size_t(from + x)] == b[std::size_t(from + y)]; }

    /// False when it gave up.
    bool run(int giveUp, std::vector<DiffRun> &out) const
    {
        const int most = std::min(n + m, giveUp);
        std::vector<std::vector<int>> trace;
        std::vector<int> v(std::size_t(2 * most + 3), 0);
        const auto at = [most](int k) { return std::size_t(k + most + 1); };
        for (int d = 0; d <= most; ++d) {
            trace.emplace_back(v.begin() + qsizetype(at(-d)) - 1, v.begin() + qsizetype(at(d)) + 2);
            for (int k = -d; k <= d; k += 2) {
                int x = (k == -d || (k != d && v[at(k - 1)] < v[at(k + 1)])) ? v[at(k + 1)] : v[at(k - 1)] + 1;
                int y = x - k;
                while (x < n && y < m && same(x, y)) {
                    ++x;
                    ++y;
                }
                v[at(k)] = x;
                if (x >= n && y >= m) {
                    unwind(trace, d, out);
                    return true;
                }
            }
        }
        return false;
    }

    void unwind(const std::vector<std::vector<int>> &trace, int d, std::vector<DiffRun> &out) const
    {
        struct Step {
            DiffRun::Kind kind;
            int x, y;
        };
        std::vector<Step> steps;
        int x = n, y = m;
        for (; d >= 0; --d) {
            const std::vector<int> &v = trace[std::size_t(d)];
            const auto value = [&](int k) { return v[std::size_t(k + d + 1)]; };
            const int k = x - y;
            const bool down = k == -d || (k != d && value(k - 1) < value(k + 1));
            const int previousK = down ? k + 1 : k - 1;
            const int previousX = d == 0 ? 0 : value(previousK);
            const int previousY = d == 0 ? 0 : previousX - previousK;
            while (x > previousX && y > previousY) {
                --x;
                --y;
                steps.push_back({DiffRun::Kind::Same, x, y});
            }
            if (d == 0)
                break;
            steps.push_back({down ? DiffRun::Kind::Added : DiffRun::Kind::Removed, previousX, previousY});
            x = previousX;
            y = previousY;
        }
        for (auto it = steps.rbegin(); it != steps.rend(); ++it)
            push(out, it->kind, from + it->x, from + it->y, 1);
    }
};

} // namespace

std::vector<QStringView> splitLines(QStringView text)
{
    std::vector<QStringView> lines;
    qsizetype start = 0;
    while (start < text.size()) {
        const qsizetype end = text.indexOf(u'\n', start);
        if (end < 0) {
            lines.push_back(text.mid(start));
            break;
        }
        lines.push_back(text.mid(start, end - start));
        start = end + 1;
    }
    return lines;
}

std::vector<DiffRun> diffLines(const std::vector<QStringView> &before, const std::vector<QStringView> &after, int giveUp)
{
    std::vector<DiffRun> runs;
    const int n = int(before.size());
    const int m = int(after.size());
    int head = 0;
    while (head < n && head < m && before[std::size_t(head)] == after[std::size_t(head)])
        ++head;
    int tail = 0;
    while (tail < n - head && tail < m - head && before[std::size_t(n - 1 - tail)] == after[std::size_t(m - 1 - tail)])
        ++tail;
    push(runs, DiffRun::Kind::Same, 0, 0, head);
    const Middle middle{before, after, head, n - head - tail, m - head - tail};
    if (middle.n == 0 || middle.m == 0 || !middle.run(giveUp, runs)) {
        push(runs, DiffRun::Kind::Removed, head, head, middle.n);
        push(runs, DiffRun::Kind::Added, head + middle.n, head, middle.m);
    }
    push(runs, DiffRun::Kind::Same, n - tail, m - tail, tail);
    return runs;
}

LineCounts countChanges(QStringView before, QStringView after)
{
    LineCounts counts;
    for (const DiffRun &run : diffLines(splitLines(before), splitLines(after))) {
        if (run.kind == DiffRun::Kind::Added)
            counts.added += run.count;
        else if (run.kind == DiffRun::Kind::Removed)
            counts.removed += run.count;
    }
    return counts;
}

} // namespace paddock
