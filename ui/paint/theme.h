// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QColor>
#include <QPalette>

class QApplication;

namespace paddock {

/// What a colour is for. Views ask by role and by their own palette, at paint time, so that a switch between dark and
/// light needs nothing but a repaint (style.md E16).
enum class Tint {
    Panel,      ///< background of lists and lanes
    Raised,     ///< headers, cards
    Console,    ///< terminals, code
    Line,       ///< hairlines
    Text, Dim,
    Accent,     ///< the one accent: selection, links, focus
    Selection,  ///< background of the selected row
    OnBar,      ///< text on a coloured bar
    Model, Tool, Hook, Queued, Waiting,
    Lease, LeaseOver,
    Ok, Warn, Error,
    AddedBack, RemovedBack, Added, Removed,
};

bool isDark(const QPalette &palette);
QColor themeColor(const QPalette &palette, Tint role);

enum class ThemeChoice { System, Dark, Light };
ThemeChoice themeChoiceFromName(const QString &name);
QString themeChoiceName(ThemeChoice choice);

/// Sets the application's palette and icon theme. System keeps the desktop's own colours; where no desktop gives any
/// (plain X, offscreen) the system's wish for dark or light picks one of ours. Follows later changes of that wish.
void applyTheme(QApplication &app, ThemeChoice choice);

} // namespace paddock
