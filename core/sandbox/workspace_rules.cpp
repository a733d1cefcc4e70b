// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/workspace_rules.h"

#include <QHash>
#include <QStringDecoder>

#include <algorithm>
#include <array>
#include <vector>

namespace paddock {

namespace {

constexpr auto sensitiveParts = std::to_array<QStringView>(
    {u"api_key", u"apikey", u"credential", u"password", u"private_key", u"secret", u"token"});
constexpr auto skippedDirectories = std::to_array<QByteArrayView>(
    {".git", ".hg", ".svn", ".cache", ".next", ".venv", "__pycache__", "build", "dist", "node_modules", ".tool-results",
     ".browser-frames", ".mcp"});
constexpr auto binarySuffixes = std::to_array<QStringView>(
    {u".png", u".jpg", u".jpeg", u".gif", u".webp", u".bmp", u".ico", u".tiff", u".pdf", u".zip", u".gz", u".tgz", u".bz2",
     u".xz", u".zst", u".7z", u".tar", u".jar", u".whl", u".so", u".a", u".o", u".dll", u".exe", u".bin", u".class", u".pyc",
     u".wasm", u".mp3", u".mp4", u".wav", u".ogg", u".webm", u".mov", u".avi", u".ttf", u".otf", u".woff", u".woff2",
     u".xlsx", u".xls", u".docx", u".doc", u".pptx", u".ppt", u".odt", u".ods", u".db", u".sqlite", u".sqlite3",
     u".parquet", u".npy", u".npz", u".pkl"});

constexpr qsizetype maxEdits = 2000; ///< beyond it the exact count costs too much

std::vector<QByteArrayView> linesOf(const QByteArray &text)
{
    std::vector<QByteArrayView> lines;
    for (qsizetype start = 0; start < text.size();) {
        const qsizetype end = text.indexOf('\n', start);
        const qsizetype next = end < 0 ? text.size() : end + 1;
        lines.push_back(QByteArrayView(text).sliced(start, next - start));
        start = next;
    }
    return lines;
}

using Lines = std::vector<QByteArrayView>;

/// Length of the shortest edit script, or -1 when it is longer than maxEdits (Myers' greedy algorithm).
qsizetype editDistance(const Lines &a, const Lines &b)
{
    const qsizetype n = qsizetype(a.size()), m = qsizetype(b.size());
    const qsizetype most = std::min(n + m, maxEdits);
    std::vector<qsizetype> reach(size_t(2 * most + 3), 0);
    const qsizetype zero = most + 1;
    for (qsizetype d = 0; d <= most; ++d) {
        for (qsizetype k = -d; k <= d; k += 2) {
            const bool down = k == -d || (k != d && reach[size_t(zero + k - 1)] < reach[size_t(zero + k + 1)]);
            qsizetype x = down ? reach[size_t(zero + k + 1)] : reach[size_t(zero + k - 1)] + 1;
            while (x < n && x - k < m && a[size_t(x)] == b[size_t(x - k)])
                ++x;
            reach[size_t(zero + k)] = x;
            if (x >= n && x - k >= m)
                return d;
        }
    }
    return -1;
}

/// Lines that both hold, each as often as the one that has it fewer times.
qsizetype commonLines(const Lines &a, const Lines &b)
{
    QHash<QByteArrayView, qsizetype> counts;
    for (const QByteArrayView line : a)
        ++counts[line];
    qsizetype common = 0;
    for (const QByteArrayView line : b) {
        const auto it = counts.find(line);
        if (it == counts.end() || *it == 0)
            continue;
        --*it;
        ++common;
    }
    return common;
}

} // namespace

bool isSensitivePath(const QString &path)
{
    const QStringList names = QString(path).replace(u'\\', u'/').toLower().split(u'/', Qt::SkipEmptyParts);
    return std::any_of(names.cbegin(), names.cend(), [](const QString &name) {
        return name == u".env" || name.startsWith(u".env.") || name.endsWith(u".key") || name.endsWith(u".pem")
            || std::any_of(sensitiveParts.begin(), sensitiveParts.end(), [&](QStringView part) { return name.contains(part); });
    });
}

bool isSkippedDirectory(const QByteArray &name)
{
    return std::find(skippedDirectories.begin(), skippedDirectories.end(), QByteArrayView(name)) != skippedDirectories.end();
}

bool isBinaryContent(const QString &path, const QByteArray &content)
{
    const QString lower = path.toLower();
    if (std::any_of(binarySuffixes.begin(), binarySuffixes.end(), [&](QStringView suffix) { return lower.endsWith(suffix); }))
        return true;
    const QByteArrayView sample = QByteArrayView(content).first(std::min(content.size(), binarySampleBytes));
    if (sample.contains('\0'))
        return true;
    QStringDecoder decoder(QStringDecoder::Utf8); // stateful: a character cut at the end is no error
    const QString ignored = decoder(sample);
    return decoder.hasError();
}

LineChange countLineChanges(const QByteArray &before, const QByteArray &after)
{
    if (before == after)
        return {};
    Lines a = linesOf(before), b = linesOf(after);
    size_t head = 0;
    while (head < a.size() && head < b.size() && a[head] == b[head])
        ++head;
    size_t tail = 0;
    while (tail < a.size() - head && tail < b.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
        ++tail;
    a = Lines(a.begin() + qsizetype(head), a.end() - qsizetype(tail));
    b = Lines(b.begin() + qsizetype(head), b.end() - qsizetype(tail));
    const qsizetype n = qsizetype(a.size()), m = qsizetype(b.size());
    qsizetype common = 0;
    if (n > 0 && m > 0) {
        const qsizetype distance = editDistance(a, b);
        common = distance >= 0 ? (n + m - distance) / 2 : commonLines(a, b);
    }
    return {int(m - common), int(n - common)};
}

LineChange countDiffLines(const QStringList &diff)
{
    LineChange change;
    for (qsizetype i = 2; i < diff.size(); ++i) {
        change.added += diff.at(i).startsWith(u'+') ? 1 : 0;
        change.removed += diff.at(i).startsWith(u'-') ? 1 : 0;
    }
    return change;
}

} // namespace paddock
