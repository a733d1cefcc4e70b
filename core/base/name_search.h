// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QString>

#include <cstddef>
#include <vector>

namespace paddock {

struct NamedText {
    QString name;
    QString description;
};

/// How a model looks for something by name: "select:a, b" takes exact names, "+part rest" needs `part` in the name and
/// orders by hits of `rest`, anything else is one regular expression over name and description, hits in the name first.
/// Indices into `entries`, best first; at most five unless selected. What is no expression, or takes too many steps, is
/// searched as plain text. Untrusted query; pure.
std::vector<std::size_t> searchNames(const std::vector<NamedText> &entries, const QString &query);

} // namespace paddock
