// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QRect>
#include <QString>

namespace paddock {

/// What a painted view of rows tells assistive technology. A QAbstractScrollArea that also derives from this becomes a
/// list with one item a row; its value is accessibleValue(). Rects are in viewport coordinates.
class AccessibleRows
{
public:
    virtual ~AccessibleRows() = default;
    virtual int accessibleRowCount() const = 0;
    virtual QString accessibleRowText(int row) const = 0;
    virtual QRect accessibleRowRect(int row) const = 0;
    virtual int accessibleRowAt(int y) const = 0;
    virtual int accessibleCurrentRow() const = 0;
    virtual QString accessibleValue() const { return {}; }
};

/// Idempotent; GUI thread. Called by the constructors of such views.
void installRowsAccessibility();

} // namespace paddock
