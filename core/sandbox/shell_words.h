// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QString>
#include <QStringList>

#include <optional>

namespace paddock {

/// The words of a command as a POSIX shell lexer sees them: quotes removed, runs of `();<>|&` as words of their own, no
/// comments. nullopt when a quote is left open or a backslash ends the text. Pure.
std::optional<QStringList> shellWords(const QString &command);

/// A word made of punctuation that separates commands (";", "&&", "|", "(", …).
bool isCommandSeparator(const QString &word);
/// "<", ">>", ">&", …
bool isRedirection(const QString &word);

} // namespace paddock
