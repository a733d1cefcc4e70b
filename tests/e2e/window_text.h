// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QImage>
#include <QMap>
#include <QStringList>

class QAbstractItemModel;
class QModelIndex;

namespace paddock {
class MainWindow;
}

namespace paddock::test {

/// What each panel of the window says, as text, by the panel's name: what can be compared between a live run and the same
/// run from the journal. Terminals are read without line ends: how wide a pane was is not part of what was printed.
QMap<QString, QStringList> textsOf(MainWindow &window);
QStringList conversationOf(MainWindow &window, const QString &agent);
QStringList rowsOf(const QAbstractItemModel &model, const QModelIndex &parent, int indent = 0);
/// Everything a terminal of the window holds, by scope.
QMap<QString, QString> terminalsOf(MainWindow &window);

int coloursOf(const QImage &image);
/// Grabs every panel; the names of those that are blank. With PADDOCK_TEST_PICTURES set, the pictures are kept there.
QStringList blankPanels(MainWindow &window, const QString &moment);

} // namespace paddock::test
