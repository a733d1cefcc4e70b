// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/paint/theme.h"

#include <QIcon>
#include <QRectF>

class QPainter;

namespace paddock {

/// Small state marks: the shape tells as much as the colour.
enum class Mark {
    Running,  ///< filled dot
    Waiting,  ///< dot with a bar
    Queued,   ///< hollow dot
    Done,     ///< tick
    Failed,   ///< cross
    Stopped,  ///< square
};

/// Paints the mark in the middle of `area`, as large as a letter allows.
void paintMark(QPainter &painter, const QRectF &area, Mark mark, const QPalette &palette);
Tint markRole(Mark mark);

} // namespace paddock
