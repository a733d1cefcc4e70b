// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QStringList>

namespace paddock {

/// The candidate that `word` was probably meant to be: at most three edits away, and fewer than the word has letters.
/// Empty when none is.
QString nearestWord(const QString &word, const QStringList &candidates);

} // namespace paddock
