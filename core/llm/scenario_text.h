// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/json.h"

#include <QString>
#include <QStringList>

#include <functional>

namespace paddock {

/// Finds the value of a name; nullopt when there is none (the text then stays as it is written).
using NameLookup = std::function<std::optional<QString>(const QString &name)>;

/// The names between `${` and `}` in a text, in order; `$${` is a literal and names nothing.
QStringList referencesIn(const QString &text);
/// The same for all strings inside a value.
QStringList referencesIn(const Json &value);

/// Replaces `${name}`; `$${` becomes `${`.
QString fillIn(const QString &text, const NameLookup &lookup);
Json fillIn(const Json &value, const NameLookup &lookup);

} // namespace paddock
