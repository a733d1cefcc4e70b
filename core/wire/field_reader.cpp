// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/wire/field_reader.h"

#include <QDateTime>
#include <QTimeZone>

#include <cmath>

namespace paddock::wire {

QString ValidationIssue::path() const
{
    QStringList parts;
    for (const Json &part : loc)
        parts << (part.is_string() ? textOf(part) : QString::fromStdString(part.dump()));
    return parts.join(QLatin1Char('.'));
}

QString formatTimestamp(Timestamp time)
{
    const auto dateTime = QDateTime::fromMSecsSinceEpoch(time.time_since_epoch().count(), QTimeZone::UTC);
    return dateTime.toString(QStringLiteral("yyyy-MM-ddTHH:mm:ss.zzzZ"));
}

std::optional<Timestamp> parseTimestamp(const QString &text)
{
    QDateTime dateTime = QDateTime::fromString(text, Qt::ISODateWithMs);
    if (!dateTime.isValid())
        return std::nullopt;
    if (dateTime.timeSpec() == Qt::LocalTime)
        dateTime.setTimeZone(QTimeZone::UTC);
    return Timestamp(std::chrono::milliseconds(dateTime.toMSecsSinceEpoch()));
}

Json toJson(const QStringList &list)
{
    return namesToJson(list);
}

FieldReader::FieldReader(const Json &object, Json loc)
    : FieldReader(object, std::move(loc), std::make_shared<QList<ValidationIssue>>())
{
}

FieldReader::FieldReader(const Json &object, Json loc, std::shared_ptr<QList<ValidationIssue>> issues)
    : m_object(object), m_loc(std::move(loc)), m_issues(std::move(issues))
{
    if (!m_object.is_object())
        m_issues->append({m_loc, QStringLiteral("value is not a valid dict"), QStringLiteral("type_error.dict")});
}

void FieldReader::fail(const char *key, const QString &message, const QString &type)
{
    Json loc = m_loc;
    loc.push_back(key);
    m_issues->append({std::move(loc), message, type});
}

void FieldReader::failValue(const char *key, const QString &message)
{
    fail(key, message, QStringLiteral("value_error"));
}

const Json &FieldReader::value(const char *key) const
{
    return memberOf(m_object, key);
}

const Json *FieldReader::present(const char *key, bool required)
{
    const Json &member = memberOf(m_object, key);
    if (!member.is_null())
        return &member;
    if (required && m_object.is_object()) {
        if (m_object.contains(key))
            fail(key, QStringLiteral("none is not an allowed value"), QStringLiteral("type_error.none.not_allowed"));
        else
            fail(key, QStringLiteral("field required"), QStringLiteral("value_error.missing"));
    }
    return nullptr;
}

const Json *FieldReader::arrayOf(const char *key, bool required)
{
    const Json *member = present(key, required);
    if (member && !member->is_array()) {
        fail(key, QStringLiteral("value is not a valid list"), QStringLiteral("type_error.list"));
        return nullptr;
    }
    return member;
}

std::optional<QString> FieldReader::readString(const char *key, bool required)
{
    const Json *member = present(key, required);
    if (!member)
        return std::nullopt;
    if (!member->is_string()) {
        fail(key, QStringLiteral("str type expected"), QStringLiteral("type_error.str"));
        return std::nullopt;
    }
    return textOf(*member);
}

std::optional<qint64> FieldReader::readInteger(const char *key, bool required, qint64 min, qint64 max)
{
    const Json *member = present(key, required);
    if (!member)
        return std::nullopt;
    std::optional<qint64> number;
    if (member->is_number_unsigned() && member->get<quint64>() <= quint64(std::numeric_limits<qint64>::max()))
        number = qint64(member->get<quint64>());
    else if (member->is_number_integer() && !member->is_number_unsigned())
        number = member->get<qint64>();
    else if (member->is_number_float() && std::trunc(member->get<double>()) == member->get<double>()
             && std::fabs(member->get<double>()) < 9e15)
        number = qint64(member->get<double>());
    if (!number) {
        fail(key, QStringLiteral("value is not a valid integer"), QStringLiteral("type_error.integer"));
        return std::nullopt;
    }
    if (*number < min) {
        fail(key, QStringLiteral("ensure this value is greater than or equal to %1").arg(min),
             QStringLiteral("value_error.number.not_ge"));
        return std::nullopt;
    }
    if (*number > max) {
        fail(key, QStringLiteral("ensure this value is less than or equal to %1").arg(max),
             QStringLiteral("value_error.number.not_le"));
        return std::nullopt;
    }
    return number;
}

std::optional<double> FieldReader::readNumber(const char *key, bool required)
{
    const Json *member = present(key, required);
    if (!member)
        return std::nullopt;
    if (!member->is_number()) {
        fail(key, QStringLiteral("value is not a valid float"), QStringLiteral("type_error.float"));
        return std::nullopt;
    }
    return member->get<double>();
}

std::optional<bool> FieldReader::readBool(const char *key, bool required)
{
    const Json *member = present(key, required);
    if (!member)
        return std::nullopt;
    if (!member->is_boolean()) {
        fail(key, QStringLiteral("value could not be parsed to a boolean"), QStringLiteral("type_error.bool"));
        return std::nullopt;
    }
    return member->get<bool>();
}

QString FieldReader::string(const char *key) { return readString(key, true).value_or(QString()); }
std::optional<QString> FieldReader::optionalString(const char *key) { return readString(key, false); }
QString FieldReader::stringOr(const char *key, const QString &fallback) { return readString(key, false).value_or(fallback); }

QByteArray FieldReader::utf8(const char *key)
{
    if (!present(key, true))
        return {};
    return optionalUtf8(key).value_or(QByteArray());
}

std::optional<QByteArray> FieldReader::optionalUtf8(const char *key)
{
    const Json *member = present(key, false);
    if (!member)
        return std::nullopt;
    if (!member->is_string()) {
        fail(key, QStringLiteral("str type expected"), QStringLiteral("type_error.str"));
        return std::nullopt;
    }
    return QByteArray::fromStdString(member->get_ref<const std::string &>());
}

bool FieldReader::boolean(const char *key) { return readBool(key, true).value_or(false); }
std::optional<bool> FieldReader::optionalBool(const char *key) { return readBool(key, false); }
bool FieldReader::boolOr(const char *key, bool fallback) { return readBool(key, false).value_or(fallback); }

qint64 FieldReader::integer(const char *key, qint64 min, qint64 max)
{
    return readInteger(key, true, min, max).value_or(0);
}

std::optional<qint64> FieldReader::optionalInteger(const char *key, qint64 min, qint64 max)
{
    return readInteger(key, false, min, max);
}

qint64 FieldReader::integerOr(const char *key, qint64 fallback, qint64 min, qint64 max)
{
    return readInteger(key, false, min, max).value_or(fallback);
}

double FieldReader::number(const char *key) { return readNumber(key, true).value_or(0); }
std::optional<double> FieldReader::optionalNumber(const char *key) { return readNumber(key, false); }

std::optional<double> FieldReader::optionalPositive(const char *key)
{
    const auto number = readNumber(key, false);
    if (number && !(*number > 0)) {
        fail(key, QStringLiteral("ensure this value is greater than 0"), QStringLiteral("value_error.number.not_gt"));
        return std::nullopt;
    }
    return number;
}

std::optional<QStringList> FieldReader::optionalStrings(const char *key)
{
    const Json *array = arrayOf(key, false);
    if (!array)
        return std::nullopt;
    QStringList out;
    for (const Json &item : *array) {
        if (!item.is_string()) {
            fail(key, QStringLiteral("str type expected"), QStringLiteral("type_error.str"));
            return std::nullopt;
        }
        out << textOf(item);
    }
    return out;
}

QStringList FieldReader::strings(const char *key)
{
    present(key, true);
    return optionalStrings(key).value_or(QStringList());
}

Timestamp FieldReader::timestamp(const char *key)
{
    const auto text = readString(key, true);
    if (!text)
        return {};
    const auto time = parseTimestamp(*text);
    if (!time)
        fail(key, QStringLiteral("invalid datetime format"), QStringLiteral("value_error.datetime"));
    return time.value_or(Timestamp());
}

FieldReader FieldReader::child(const char *key)
{
    const Json *member = present(key, true);
    static const Json empty = Json::object();
    return nested(member ? *member : empty, key);
}

FieldReader FieldReader::nested(const Json &value, const char *key, qsizetype index) const
{
    Json loc = m_loc;
    loc.push_back(key);
    if (index >= 0)
        loc.push_back(index);
    return FieldReader(value, std::move(loc), m_issues);
}

void checkAbsolute(FieldReader &in, const char *key, const std::optional<QString> &path)
{
    if (path && (!path->startsWith(QLatin1Char('/')) || path->contains(QChar(u'\0'))))
        in.failValue(key, QStringLiteral("path must be absolute"));
}

} // namespace paddock::wire
