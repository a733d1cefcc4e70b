// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/store/store_hub.h"

#include <QAbstractListModel>
#include <QWidget>

class QLabel;
class QListView;

namespace paddock {

/// What waits for a person in all live runs, oldest first. Rows vanish by the event that decides them. GUI thread.
class ApprovalsModel : public QAbstractListModel
{
    Q_OBJECT
public:
    enum { CommandRole = Qt::UserRole, AgentRole, VerdictRole, RuleRole, RunIdRole, AgentIdRole };

    explicit ApprovalsModel(StoreHub *hub, QObject *parent = nullptr);
    int rowCount(const QModelIndex &parent = {}) const override;
    QVariant data(const QModelIndex &index, int role) const override;

private:
    void refresh();
    QString nameOf(const ApprovalEntry &entry) const;
    StoreHub *m_hub;
    std::vector<ApprovalEntry> m_entries;
};

/// The list with the whole command, who wants it and what the audit says. Choosing a row shows its agent. Decisions are
/// given by actions that a later version adds. Owner: its dock; GUI thread.
class ApprovalsPanel : public QWidget
{
    Q_OBJECT
public:
    explicit ApprovalsPanel(StoreHub *hub, QWidget *parent = nullptr);
    ApprovalsModel *model() const { return m_model; }

Q_SIGNALS:
    void remarkChanged(const QString &remark);
    void agentChosen(const paddock::RunId &run, const paddock::AgentId &agent);

private:
    void refresh();
    ApprovalsModel *m_model;
    QListView *m_view;
    QLabel *m_empty;
};

} // namespace paddock
