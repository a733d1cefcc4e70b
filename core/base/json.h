// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QByteArray>
#include <QStringList>

#include <nlohmann/json.hpp>

#include <expected>
#include <optional>

namespace paddock {

struct Error;

/// The one JSON value of core: keeps object order and keeps integers, floats and strings apart. UTF-8 inside.
/// QJson* is used at Qt's own borders only.
using Json = nlohmann::ordered_json;

/// Parses untrusted text. Refuses nesting deeper than `maxDepth`, NaN, trailing bytes and invalid UTF-8; never throws.
/// The error names the byte offset. Integers beyond 64 bits are kept as strings (middleware-base §19).
std::expected<Json, Error> parseJson(const QByteArray &utf8, int maxDepth = 64);

/// Compact, not ASCII-escaped; invalid UTF-8 in strings is replaced. Never throws.
QByteArray dumpJson(const Json &value);
/// Indented by two spaces.
QByteArray dumpJsonPretty(const Json &value);
/// Python's json.dumps(sort_keys=True): ", " and ": " separators, sorted keys, non-ASCII escaped (runtime §4.7).
QByteArray dumpJsonPythonSorted(const Json &value);

inline Json toJson(const QString &text) { return Json(text.toStdString()); }
inline std::string toUtf8(const QString &text) { return text.toStdString(); }

/// Lenient readers for untrusted objects: the fallback when the value is no object, the key is absent or of another type.
QString stringOf(const Json &object, const char *key, const QString &fallback = {});
std::optional<QString> optionalString(const Json &object, const char *key);
qint64 intOf(const Json &object, const char *key, qint64 fallback = 0);
std::optional<qint64> optionalInt(const Json &object, const char *key);
double doubleOf(const Json &object, const char *key, double fallback = 0);
bool boolOf(const Json &object, const char *key, bool fallback = false);
/// The member, or a null value (with static lifetime) when absent.
const Json &memberOf(const Json &object, const char *key);
/// The string inside a JSON string value; empty for any other type.
QString textOf(const Json &value);

/// A list of names (or other short texts), and back: nothing when it is no list, an empty text for an item that is none.
Json namesToJson(const QStringList &names);
std::optional<QStringList> namesFromJson(const Json &list);

} // namespace paddock
