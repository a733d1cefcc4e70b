// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/term/cell.h"

#include <QColor>
#include <QPalette>

namespace paddock {

/// The colours of a cell on the given palette: the sixteen named ones keep their contrast on dark and on light.
struct CellColors {
    QColor foreground;
    QColor background; ///< invalid: the view's own
};
CellColors cellColors(const CellStyle &style, const QPalette &palette, bool reverseVideo);
QColor consoleBackground(const QPalette &palette);
QColor consoleText(const QPalette &palette);

} // namespace paddock
