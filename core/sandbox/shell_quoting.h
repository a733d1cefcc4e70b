// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QString>

#include <optional>
#include <vector>

namespace paddock {

/// How a shell reads one place of a command.
enum class ShellQuoting {
    None,
    Single,   ///< '…'
    Dollar,   ///< $'…'
    Double,   ///< "…"
    Verbatim, ///< here-document or comment
};

/// The quoting at each index of a command, for putting text into it that the shell shall take literally. Understands quotes,
/// backslashes, $(…) inside double quotes, comments and here-documents. Pure; never fails.
std::vector<ShellQuoting> shellQuotingOf(const QString &command);

/// `text` spelled so that the shell reads it literally at a place with that quoting.
QString quotedFor(const QString &text, ShellQuoting quoting);

} // namespace paddock
