// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QString>
#include <QStringView>

#include <optional>
#include <utility>
#include <vector>

namespace paddock {

/// What a synopsis needs of a JSON text (middleware-base §4.6): the outer levels with the first members and items of each
/// container and the sizes of all; the rest is checked and forgotten. A value.
struct JsonOutline {
    enum class Kind { Object, Array, Boolean, Null, Number, String };
    Kind kind = Kind::Null;
    QString shown;       ///< of a scalar: as the examples print it
    qsizetype count = 0; ///< distinct keys, or items; of the outer levels only
    std::vector<std::pair<QString, JsonOutline>> members; ///< in document order; a repeated key keeps its place, its last value counts
    std::vector<JsonOutline> items;

    bool isContainer() const { return kind == Kind::Object || kind == Kind::Array; }
};

inline constexpr qsizetype jsonOutlineKeys = 12; ///< kept of each object

struct OutlinedJson {
    JsonOutline value;
    qsizetype end = 0; ///< UTF-16 index behind the first value
};

/// Reads the first value of untrusted text, which must be an object or an array; what follows is not looked at. NaN,
/// Infinity and -Infinity are numbers. Nothing for text that is not JSON or nested too deeply. Pure; any thread.
std::optional<OutlinedJson> outlineJson(QStringView text);

} // namespace paddock
