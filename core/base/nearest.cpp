// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/nearest.h"

#include <algorithm>
#include <vector>

namespace paddock {

namespace {

constexpr int mostEdits = 3;

int editDistance(const QString &a, const QString &b)
{
    std::vector<int> row(size_t(b.size()) + 1);
    for (size_t j = 0; j < row.size(); ++j)
        row[j] = int(j);
    for (qsizetype i = 1; i <= a.size(); ++i) {
        int diagonal = row[0];
        row[0] = int(i);
        for (qsizetype j = 1; j <= b.size(); ++j) {
            const int keep = row[size_t(j)];
            row[size_t(j)] = std::min({row[size_t(j)] + 1, row[size_t(j) - 1] + 1, diagonal + (a.at(i - 1) == b.at(j - 1) ? 0 : 1)});
            diagonal = keep;
        }
    }
    return row.back();
}

} // namespace

QString nearestWord(const QString &word, const QStringList &candidates)
{
    constexpr qsizetype mostLetters = 100; // longer words are no misspelling of an option or a key
    if (word.size() > mostLetters)
        return {};
    QString best;
    int bestDistance = std::min(mostEdits + 1, int(word.size()));
    for (const QString &candidate : candidates) {
        const int distance = editDistance(word, candidate);
        if (distance < bestDistance) {
            bestDistance = distance;
            best = candidate;
        }
    }
    return best;
}

} // namespace paddock
