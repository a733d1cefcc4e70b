// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/store/selection.h"

#include <QAbstractTableModel>
#include <QHash>
#include <QSet>
#include <QWidget>

#include <functional>

class QComboBox;
class QPlainTextEdit;
class QTableView;

namespace paddock {

/// Asks for a message by content hash; the answer may come at once, later, or be null when the journal has none.
using MessageFetch = std::function<void(const QString &hash, std::function<void(MessagePtr)> done)>;

/// The messages of one model request, as the model saw them. Contents are fetched once and kept while the request is
/// shown. GUI thread.
class MessagesModel : public QAbstractTableModel
{
    Q_OBJECT
public:
    enum Column { NumberColumn, RoleColumn, TokensColumn, TextColumn, ColumnCount };
    static constexpr int mostRows = 5000; ///< the newest; older ones are counted in the page's remark

    explicit MessagesModel(MessageFetch fetch, QObject *parent = nullptr);
    void setHashes(const QStringList &hashes);
    const QStringList &hashes() const { return m_hashes; }
    MessagePtr message(int row) const { return m_messages.value(m_hashes.value(row)); }

    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    void arrived(const QString &hash, const MessagePtr &message);
    void tellRowsOf(const QString &hash);
    MessageFetch m_fetch;
    QStringList m_hashes;
    QHash<QString, MessagePtr> m_messages;
    QSet<QString> m_missing; ///< asked for, and there is none
};

/// What the model saw, turn by turn: pick a turn, read each message whole. Owner: the centre; GUI thread.
class MessagesPage : public QWidget
{
    Q_OBJECT
public:
    MessagesPage(MessageFetch fetch, Selection *selection, QWidget *parent = nullptr);
    /// The turn chooser, for the header of the centre.
    QWidget *trailing() const;
    MessagesModel *model() const { return m_model; }
    QTableView *view() const { return m_view; }

private:
    void follow(RunStore *run);
    void refresh();
    void showTurn(int index);
    void showMessage(int row);

    Selection *m_selection;
    MessagesModel *m_model;
    QTableView *m_view;
    QPlainTextEdit *m_text;
    QComboBox *m_turns;
    AgentId m_shownAgent;
    QPointer<RunStore> m_shownRun;
};

} // namespace paddock
