// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/action/palette_model.h"

#include <QFrame>

class QLineEdit;
class QListView;

namespace paddock {

class ActionRegistry;

/// Ctrl+Shift+P: finds every action, agent and file by a few letters. Appears over the middle of its window, closes on
/// Escape, on a click elsewhere, or when an entry was run. Owner: the main window; GUI thread.
class CommandPalette : public QFrame
{
    Q_OBJECT
public:
    CommandPalette(const ActionRegistry *actions, QWidget *window);

    /// Further entries, asked for each time the palette opens.
    void addProvider(std::function<std::vector<PaletteEntry>()> provider);
    void popUp(const QString &query = {});
    PaletteModel *model() const { return m_model; }

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void runRow(int row);
    void chooseFirst();

    const ActionRegistry *m_actions;
    PaletteModel *m_model;
    QLineEdit *m_edit;
    QListView *m_list;
    std::vector<std::function<std::vector<PaletteEntry>()>> m_providers;
};

} // namespace paddock
