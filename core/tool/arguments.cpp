// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/text.h"
#include "core/tool/tool.h"

#include <QStringList>

#include <algorithm>
#include <cmath>

namespace paddock {

namespace {

constexpr int maxSchemaDepth = 16; ///< of nested items and properties; our own schemas have three

/// Collects what is wrong, as "place\n  what" lines.
struct Problems {
    QStringList lines;
    int count = 0;

    void add(const QString &place, const QString &what)
    {
        lines << place << QStringLiteral("  ") + what;
        ++count;
    }
};

QString typeName(const Json &value)
{
    if (value.is_null())
        return QStringLiteral("null");
    if (value.is_boolean())
        return QStringLiteral("boolean");
    if (value.is_number_integer())
        return QStringLiteral("integer");
    if (value.is_number())
        return QStringLiteral("number");
    if (value.is_string())
        return QStringLiteral("string");
    return value.is_array() ? QStringLiteral("array") : QStringLiteral("object");
}

bool isOfType(const Json &value, const QString &type)
{
    const QString is = typeName(value);
    return is == type || (type == u"number" && is == u"integer");
}

/// Models write 5 as 5.0 or "5" and true as "true"; that is clear enough to take.
bool coerce(Json &value, const QString &type)
{
    if (type == u"integer" && value.is_number_float()) {
        const double number = value.get<double>();
        if (std::floor(number) != number || std::fabs(number) > 9e15)
            return false;
        value = qint64(number);
        return true;
    }
    if (!value.is_string())
        return false;
    const QString text = pythonStrip(textOf(value));
    bool ok = false;
    if (type == u"integer") {
        const qint64 number = text.toLongLong(&ok);
        if (ok)
            value = number;
    } else if (type == u"number") {
        const double number = text.toDouble(&ok);
        ok = ok && std::isfinite(number);
        if (ok)
            value = number;
    } else if (type == u"boolean") {
        ok = text.compare(u"true", Qt::CaseInsensitive) == 0 || text.compare(u"false", Qt::CaseInsensitive) == 0;
        if (ok)
            value = text.compare(u"true", Qt::CaseInsensitive) == 0;
    }
    return ok;
}

QStringList typesOf(const Json &schema)
{
    const Json &type = memberOf(schema, "type");
    if (type.is_string())
        return {textOf(type)};
    QStringList types;
    if (type.is_array()) {
        for (const Json &one : type)
            types << textOf(one);
    }
    return types;
}

class Checker
{
public:
    Problems problems;

    void check(const Json &schema, Json &value, const QString &place, int depth)
    {
        if (depth > maxSchemaDepth || !schema.is_object())
            return;
        if (!checkType(schema, value, place))
            return;
        checkValue(schema, value, place);
        if (value.is_array() && memberOf(schema, "items").is_object()) {
            for (size_t i = 0; i < value.size(); ++i)
                check(schema.at("items"), value[i], place + QStringLiteral(".%1").arg(i), depth + 1);
        }
        if (value.is_object())
            checkMembers(schema, value, place, depth);
    }

    void checkMembers(const Json &schema, Json &object, const QString &place, int depth)
    {
        const Json &properties = memberOf(schema, "properties");
        const auto placeOf = [&](const std::string &name) {
            const QString text = QString::fromStdString(name);
            return place.isEmpty() ? text : place + u'.' + text;
        };
        if (properties.is_object()) {
            for (const auto &[name, property] : properties.items())
                checkMember(schema, object, name, property, placeOf(name), depth);
        }
        const Json &additional = memberOf(schema, "additionalProperties");
        if (!additional.is_boolean() || additional.get<bool>())
            return;
        for (const auto &[name, value] : object.items()) {
            if (!properties.is_object() || !properties.contains(name))
                problems.add(placeOf(name), QStringLiteral("Unexpected argument"));
        }
    }

private:
    void checkMember(const Json &schema, Json &object, const std::string &name, const Json &property, const QString &place,
                     int depth)
    {
        const Json &required = memberOf(schema, "required");
        const bool needed = required.is_array() && std::find(required.begin(), required.end(), Json(name)) != required.end();
        // An optional argument that a model sends as null was not given.
        if (!needed && object.contains(name) && object.at(name).is_null() && !typesOf(property).contains(QStringLiteral("null")))
            object.erase(name);
        if (object.contains(name)) {
            check(property, object[name], place, depth + 1);
        } else if (property.is_object() && property.contains("default")) {
            object[name] = property.at("default");
        } else if (needed) {
            problems.add(place, QStringLiteral("Field required"));
        }
    }

    bool checkType(const Json &schema, Json &value, const QString &place)
    {
        const QStringList types = typesOf(schema);
        if (types.isEmpty())
            return true;
        if (std::any_of(types.cbegin(), types.cend(), [&](const QString &type) { return isOfType(value, type); }))
            return true;
        if (std::any_of(types.cbegin(), types.cend(), [&](const QString &type) { return coerce(value, type); }))
            return true;
        problems.add(place, QStringLiteral("Input should be a valid %1, got %2").arg(types.join(QStringLiteral(" or ")), typeName(value)));
        return false;
    }

    void checkValue(const Json &schema, const Json &value, const QString &place)
    {
        const Json &allowed = memberOf(schema, "enum");
        if (allowed.is_array() && std::find(allowed.begin(), allowed.end(), value) == allowed.end()) {
            QStringList names;
            for (const Json &one : allowed)
                names << QString::fromUtf8(dumpJson(one));
            problems.add(place, QStringLiteral("Input should be one of ") + names.join(QStringLiteral(", ")));
        }
        if (!value.is_number())
            return;
        const double number = value.get<double>();
        const Json &minimum = memberOf(schema, "minimum");
        const Json &maximum = memberOf(schema, "maximum");
        if (minimum.is_number() && number < minimum.get<double>())
            problems.add(place, QStringLiteral("Input should be greater than or equal to ") + formatG(minimum.get<double>()));
        if (maximum.is_number() && number > maximum.get<double>())
            problems.add(place, QStringLiteral("Input should be less than or equal to ") + formatG(maximum.get<double>()));
    }
};

} // namespace

Result<Json> checkArguments(const ToolSpec &spec, const Json &args)
{
    Checker checker;
    Json checked = args.is_null() ? Json::object() : args;
    if (!checked.is_object())
        checker.problems.add(QStringLiteral("arguments"), QStringLiteral("Input should be a valid object, got ") + typeName(args));
    else
        checker.checkMembers(spec.parameters, checked, {}, 0);
    if (checker.problems.count == 0)
        return checked;
    const QString head = QStringLiteral("%1 validation %2 for ")
                             .arg(checker.problems.count)
                             .arg(checker.problems.count == 1 ? QStringLiteral("error") : QStringLiteral("errors"))
        + spec.name;
    return fail(ErrorCode::InvalidArgument, (QStringList{head} + checker.problems.lines).join(u'\n'));
}

} // namespace paddock
