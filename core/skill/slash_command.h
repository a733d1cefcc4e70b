// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QString>

#include <optional>

namespace paddock {

/// "/name the rest" at the very start of what a person wrote (runtime §4.1.1).
struct SlashCommand {
    QString name;
    QString rest; ///< without leading blanks
};

/// Nothing for other text and for the reserved words, which are commands of the program. Pure.
std::optional<SlashCommand> parseSlashCommand(const QString &text);

} // namespace paddock
