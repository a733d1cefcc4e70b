// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/clock.h"

#include <QString>

namespace paddock {

/// How numbers look, everywhere the same.

/// "0.41 ms", "12 ms", "7.9 s", "4:12", "1:02:03"
QString formatSpan(qint64 micros);
/// A running clock: "12 s", "4:12", "1:02:03"
QString formatElapsed(qint64 micros);
/// "812", "9.4k", "1.3M"
QString formatTokens(qint64 tokens);
/// "61 B", "1.2 kB"
QString formatBytes(qint64 bytes);
/// With the locale's group separators.
QString formatCount(qint64 count);
/// Local time of day, "14:03:22".
QString formatTimeOfDay(Clock::Wall time);


/// A tool tip that says these words: text of models may look like markup, which would be read as such.
QString plainToolTip(const QString &text);

} // namespace paddock
