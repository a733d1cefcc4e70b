// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QIcon>

namespace paddock {

/// The few signs of the toolbar. Painted in the text colour of the moment, so they need no icon theme and follow a
/// switch between dark and light.
enum class Glyph { Play, Stop, StopOne, Follow };

QIcon glyphIcon(Glyph glyph);

} // namespace paddock
