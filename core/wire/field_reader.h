// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/json.h"

#include <QList>
#include <QStringList>

#include <chrono>
#include <limits>
#include <memory>
#include <optional>

namespace paddock::wire {

/// One entry of a 422 reply (aio-api.md §1.4). `loc` parts are object keys or array positions.
struct ValidationIssue {
    Json loc = Json::array();
    QString message;
    QString type;

    /// The location joined by dots, e.g. "body.command".
    QString path() const;
};

using Timestamp = std::chrono::sys_time<std::chrono::milliseconds>;
/// "2026-01-01T00:00:00.123Z" (§1.5).
QString formatTimestamp(Timestamp time);
/// Accepts that form, other fractions and offsets, and the naive form, which means UTC.
std::optional<Timestamp> parseTimestamp(const QString &text);

/// Reads the members of one untrusted JSON object and collects what is wrong instead of stopping at the first fault.
/// Null means absent (§1.2). Unknown members are ignored. An integral float counts as an integer.
/// A value of the wrong type yields the fallback and an issue. Children share the issue list of their root.
class FieldReader
{
public:
    /// `object` must outlive the reader. When it is no object, one issue is recorded and every member is absent.
    FieldReader(const Json &object, Json loc);

    QString string(const char *key);
    std::optional<QString> optionalString(const char *key);
    QString stringOr(const char *key, const QString &fallback = {});
    /// The UTF-8 bytes, for big contents.
    QByteArray utf8(const char *key);
    std::optional<QByteArray> optionalUtf8(const char *key);
    bool boolean(const char *key);
    std::optional<bool> optionalBool(const char *key);
    bool boolOr(const char *key, bool fallback);
    qint64 integer(const char *key, qint64 min = std::numeric_limits<qint64>::min(), qint64 max = std::numeric_limits<qint64>::max());
    std::optional<qint64> optionalInteger(const char *key, qint64 min = std::numeric_limits<qint64>::min(),
                                          qint64 max = std::numeric_limits<qint64>::max());
    qint64 integerOr(const char *key, qint64 fallback, qint64 min = std::numeric_limits<qint64>::min(),
                     qint64 max = std::numeric_limits<qint64>::max());
    double number(const char *key);
    std::optional<double> optionalNumber(const char *key);
    /// A number above zero (timers).
    std::optional<double> optionalPositive(const char *key);
    std::optional<QStringList> optionalStrings(const char *key);
    QStringList strings(const char *key);
    Timestamp timestamp(const char *key);

    /// The member, or null when absent.
    const Json &value(const char *key) const;
    /// Reader of a required object member.
    FieldReader child(const char *key);
    /// Reader of any value below this object, e.g. an array element.
    FieldReader nested(const Json &value, const char *key, qsizetype index = -1) const;

    /// The array member read element by element with T::read; absent gives an empty list (an issue when `required`).
    template<typename T>
    QList<T> list(const char *key, bool required = false)
    {
        QList<T> out;
        if (const Json *array = arrayOf(key, required)) {
            out.reserve(qsizetype(array->size()));
            for (std::size_t i = 0; i < array->size(); ++i) {
                FieldReader reader = nested((*array)[i], key, qsizetype(i));
                out.append(T::read(reader));
            }
        }
        return out;
    }

    void fail(const char *key, const QString &message, const QString &type);
    /// "ensure this value is greater than 0" and the like.
    void failValue(const char *key, const QString &message);
    const QList<ValidationIssue> &issues() const { return *m_issues; }
    bool ok() const { return m_issues->isEmpty(); }

private:
    FieldReader(const Json &object, Json loc, std::shared_ptr<QList<ValidationIssue>> issues);
    const Json *present(const char *key, bool required);
    const Json *arrayOf(const char *key, bool required);
    std::optional<QString> readString(const char *key, bool required);
    std::optional<qint64> readInteger(const char *key, bool required, qint64 min, qint64 max);
    std::optional<double> readNumber(const char *key, bool required);
    std::optional<bool> readBool(const char *key, bool required);

    const Json &m_object;
    Json m_loc;
    std::shared_ptr<QList<ValidationIssue>> m_issues;
};

/// Writes `value` or null.
template<typename T>
Json orNull(const std::optional<T> &value)
{
    if constexpr (std::is_same_v<T, QString>)
        return value ? paddock::toJson(*value) : Json(nullptr);
    else
        return value ? Json(*value) : Json(nullptr);
}
/// Sets the member only when there is a value: requests never carry explicit nulls.
template<typename T>
void putIf(Json &object, const char *key, const std::optional<T> &value)
{
    if (value)
        object[key] = orNull(value);
}
Json toJson(const QStringList &list);
/// The `write()` of each.
template<typename T>
Json writeList(const QList<T> &list)
{
    Json out = Json::array();
    for (const T &item : list)
        out.push_back(item.write());
    return out;
}

/// Fails the field when there is a path that is not absolute.
void checkAbsolute(FieldReader &in, const char *key, const std::optional<QString> &path);

} // namespace paddock::wire
