// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/action/palette_model.h"

#include <algorithm>

namespace paddock {

int paletteScore(const QString &query, const QString &text)
{
    if (query.trimmed().isEmpty())
        return 0;
    int score = 0;
    bool allWords = true;
    for (const QString &word : query.split(u' ', Qt::SkipEmptyParts)) {
        const qsizetype at = text.indexOf(word, 0, Qt::CaseInsensitive);
        if (at < 0) {
            allWords = false;
            break;
        }
        const bool wordStart = at == 0 || !text.at(at - 1).isLetterOrNumber();
        score += 100 + int(word.size()) * 4 + (wordStart ? 40 : 0) - int(std::min<qsizetype>(at, 30));
    }
    if (allWords)
        return 1000 + score - int(std::min<qsizetype>(text.size(), 100)) / 4;
    // Letters in order: "crun" finds "Cancel run".
    score = 0;
    qsizetype at = -1;
    for (const QChar c : query) {
        if (c.isSpace())
            continue;
        const qsizetype next = text.indexOf(c, at + 1, Qt::CaseInsensitive);
        if (next < 0)
            return -1;
        const bool wordStart = next == 0 || !text.at(next - 1).isLetterOrNumber();
        score += (next == at + 1 ? 8 : 1) + (wordStart ? 10 : 0);
        at = next;
    }
    return score;
}

void PaletteModel::setEntries(std::vector<PaletteEntry> entries)
{
    beginResetModel();
    m_entries = std::move(entries);
    filter();
    endResetModel();
}

void PaletteModel::setQuery(const QString &query)
{
    if (query == m_query)
        return;
    beginResetModel();
    m_query = query;
    filter();
    endResetModel();
}

void PaletteModel::filter()
{
    std::vector<std::pair<int, int>> scored;
    for (int i = 0; i < int(m_entries.size()); ++i) {
        const PaletteEntry &entry = m_entries[size_t(i)];
        const int score = paletteScore(m_query, entry.context + u' ' + entry.text);
        if (score >= 0)
            scored.emplace_back(score - (entry.enabled ? 0 : 500), i);
    }
    std::stable_sort(scored.begin(), scored.end(), [](const auto &a, const auto &b) { return a.first > b.first; });
    m_shown.clear();
    for (const auto &[score, index] : scored) {
        if (m_shown.size() >= size_t(mostShown))
            break;
        m_shown.push_back(index);
    }
}

const PaletteEntry *PaletteModel::entry(int row) const
{
    return row < 0 || row >= int(m_shown.size()) ? nullptr : &m_entries[size_t(m_shown[size_t(row)])];
}

int PaletteModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : int(m_shown.size());
}

QVariant PaletteModel::data(const QModelIndex &index, int role) const
{
    const PaletteEntry *entry = index.isValid() ? this->entry(index.row()) : nullptr;
    if (!entry)
        return {};
    switch (role) {
    case Qt::DisplayRole: return entry->text;
    case ContextRole: return entry->context;
    case ShortcutRole: return entry->shortcut;
    case Qt::AccessibleTextRole: return QStringLiteral("%1: %2 %3").arg(entry->context, entry->text, entry->shortcut).trimmed();
    default: return {};
    }
}

Qt::ItemFlags PaletteModel::flags(const QModelIndex &index) const
{
    const PaletteEntry *entry = index.isValid() ? this->entry(index.row()) : nullptr;
    if (!entry)
        return Qt::NoItemFlags;
    return entry->enabled ? Qt::ItemIsEnabled | Qt::ItemIsSelectable : Qt::ItemIsSelectable;
}

} // namespace paddock
