// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QAbstractListModel>
#include <QKeySequence>

#include <functional>
#include <vector>

namespace paddock {

/// Something the command palette can do or go to.
struct PaletteEntry {
    QString text;
    QString context;  ///< "Run", "Agent", …
    QString shortcut; ///< native text, may be empty
    bool enabled = true;
    std::function<void()> run;
};

/// How well `query` fits `text`: all its words as parts, or its letters in order; higher is better, -1 is no match.
/// Starts of words and unbroken runs count more.
int paletteScore(const QString &query, const QString &text);

/// The entries that match, best first. GUI thread.
class PaletteModel : public QAbstractListModel
{
    Q_OBJECT
public:
    enum { ContextRole = Qt::UserRole, ShortcutRole };
    static constexpr int mostShown = 200;

    using QAbstractListModel::QAbstractListModel;
    void setEntries(std::vector<PaletteEntry> entries);
    void setQuery(const QString &query);
    const PaletteEntry *entry(int row) const;

    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    Qt::ItemFlags flags(const QModelIndex &index) const override;

private:
    void filter();
    std::vector<PaletteEntry> m_entries;
    std::vector<int> m_shown;
    QString m_query;
};

} // namespace paddock
