// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/line_diff.h"

#include <QPlainTextEdit>

namespace paddock {

/// Two texts compared by lines, shown as one: removed lines on red, added ones on green, with their signs, long equal
/// stretches folded. Read-only; GUI thread (the comparison is bounded, see diffGiveUpEdits).
class DiffView : public QPlainTextEdit
{
    Q_OBJECT
public:
    explicit DiffView(QWidget *parent = nullptr);
    /// Lines of equal text kept around a change.
    static constexpr int context = 3;
    void setTexts(const QString &before, const QString &after);
    /// Moves to the next or previous change; false when there is none.
    bool goToChange(bool next);

private:
    QList<int> m_changes; ///< block numbers where changes begin
};

} // namespace paddock
