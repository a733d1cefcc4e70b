// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/trace/text_diff.h"

#include <QStringList>

#include <algorithm>

namespace paddock {

namespace {

struct Edit {
    DiffLine::Kind kind;
    int line; ///< of the old text for Same and Removed, of the new one for Added
};

/// Myers' greedy shortest edit script between a[lo..] and b[lo..]; empty when it needs more than `limit` edits.
std::vector<Edit> shortestScript(const QStringList &a, int aFrom, int aTo, const QStringList &b, int bFrom, int bTo, int limit)
{
    const int n = aTo - aFrom;
    const int m = bTo - bFrom;
    const int most = std::min(limit, n + m);
    const int offset = most + 1;
    std::vector<int> furthest(size_t(2 * most + 3), 0);
    std::vector<std::vector<int>> trace;
    bool found = n == 0 && m == 0;
    for (int d = 0; d <= most && !found; ++d) {
        for (int k = -d; k <= d; k += 2) {
            const bool down = k == -d || (k != d && furthest[size_t(offset + k - 1)] < furthest[size_t(offset + k + 1)]);
            int x = down ? furthest[size_t(offset + k + 1)] : furthest[size_t(offset + k - 1)] + 1;
            int y = x - k;
            while (x < n && y < m && a.at(aFrom + x) == b.at(bFrom + y)) {
                ++x;
                ++y;
            }
            furthest[size_t(offset + k)] = x;
            if (x >= n && y >= m) {
                found = true;
                break;
            }
        }
        // Only the diagonals reached so far: the sum stays within limit squared.
        trace.emplace_back(furthest.begin() + (offset - d - 1), furthest.begin() + (offset + d + 2));
    }
    std::vector<Edit> script;
    if (!found)
        return script;
    int x = n;
    int y = m;
    for (int d = int(trace.size()) - 1; d > 0; --d) {
        const std::vector<int> &before = trace[size_t(d - 1)];
        const auto at = [&](int k) {
            const int index = k + d; // trace[d-1] starts at diagonal -(d-1)-1
            return index < 0 || index >= int(before.size()) ? -1 : before[size_t(index)];
        };
        const int k = x - y;
        const bool down = k == -d || (k != d && at(k - 1) < at(k + 1));
        const int previousX = down ? at(k + 1) : at(k - 1);
        const int previousY = previousX - (down ? k + 1 : k - 1);
        while (x > previousX + (down ? 0 : 1) && y > previousY + (down ? 1 : 0)) {
            --x;
            --y;
            script.push_back({DiffLine::Kind::Same, aFrom + x});
        }
        if (down)
            script.push_back({DiffLine::Kind::Added, bFrom + --y});
        else
            script.push_back({DiffLine::Kind::Removed, aFrom + --x});
    }
    while (x > 0 && y > 0) {
        --x;
        --y;
        script.push_back({DiffLine::Kind::Same, aFrom + x});
    }
    std::reverse(script.begin(), script.end());
    return script;
}

std::vector<Edit> wholeScript(const QStringList &a, const QStringList &b, int limit)
{
    int head = 0;
    while (head < a.size() && head < b.size() && a.at(head) == b.at(head))
        ++head;
    int tail = 0;
    while (tail < a.size() - head && tail < b.size() - head && a.at(a.size() - 1 - tail) == b.at(b.size() - 1 - tail))
        ++tail;
    std::vector<Edit> script;
    for (int i = 0; i < head; ++i)
        script.push_back({DiffLine::Kind::Same, i});
    const int aTo = int(a.size()) - tail;
    const int bTo = int(b.size()) - tail;
    std::vector<Edit> middle = shortestScript(a, head, aTo, b, head, bTo, limit);
    if (middle.empty() && (aTo > head || bTo > head)) {
        for (int i = head; i < aTo; ++i)
            middle.push_back({DiffLine::Kind::Removed, i});
        for (int i = head; i < bTo; ++i)
            middle.push_back({DiffLine::Kind::Added, i});
    }
    script.insert(script.end(), middle.begin(), middle.end());
    for (int i = aTo; i < a.size(); ++i)
        script.push_back({DiffLine::Kind::Same, i});
    return script;
}

} // namespace

std::vector<DiffLine> diffText(const QString &before, const QString &after, int context, int mostEdits, int mostLines)
{
    const QStringList a = before.isEmpty() ? QStringList() : before.split(u'\n');
    const QStringList b = after.isEmpty() ? QStringList() : after.split(u'\n');
    const std::vector<Edit> script = wholeScript(a, b, mostEdits);
    std::vector<DiffLine> lines;
    for (size_t i = 0; i < script.size();) {
        size_t end = i;
        while (end < script.size() && script[end].kind == script[i].kind)
            ++end;
        const DiffLine::Kind kind = script[i].kind;
        const auto length = int(end - i);
        int head = kind == DiffLine::Kind::Same ? (i == 0 ? 0 : context) : mostLines;
        int tail = kind == DiffLine::Kind::Same ? (end == script.size() ? 0 : context) : context;
        if (length <= head + tail + 1) {
            head = length;
            tail = 0;
        }
        const QStringList &from = kind == DiffLine::Kind::Added ? b : a;
        for (int n = 0; n < head; ++n)
            lines.push_back({kind, from.at(script[i + size_t(n)].line)});
        if (const int left = length - head - tail; left > 0) {
            lines.push_back({DiffLine::Kind::LeftOut, {}, left, kind == DiffLine::Kind::Added, kind == DiffLine::Kind::Removed});
            for (int n = length - tail; n < length; ++n)
                lines.push_back({kind, from.at(script[i + size_t(n)].line)});
        }
        i = end;
    }
    return lines;
}

} // namespace paddock
