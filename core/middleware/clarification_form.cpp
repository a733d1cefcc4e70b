// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/clarification_form.h"

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/middleware/message_edits.h"

#include <QSet>

#include <algorithm>

namespace paddock {

namespace {

constexpr std::size_t maxFields = 16;
constexpr qsizetype maxFieldOptions = 24;
constexpr qsizetype maxFieldChars = 200;
constexpr qsizetype maxFormBytes = 16384;
constexpr int maxShownDepth = 8;

// ---- values as text

/// A string inside a list or object, in the quotes of Python's repr.
QString quoted(const QString &text)
{
    const QChar quote = text.contains(u'\'') && !text.contains(u'"') ? u'"' : u'\'';
    QString out(quote);
    for (const QChar c : text) {
        if (c == quote || c == u'\\')
            out += u'\\';
        if (c == u'\n')
            out += QStringLiteral("\\n");
        else if (c == u'\r')
            out += QStringLiteral("\\r");
        else if (c == u'\t')
            out += QStringLiteral("\\t");
        else
            out += c;
    }
    return out + quote;
}

QString asText(const Json &value, bool nested, int depth);

QString itemsAsText(const Json &value, int depth)
{
    QStringList items;
    for (auto it = value.begin(); it != value.end(); ++it)
        items.append((value.is_object() ? quoted(QString::fromStdString(it.key())) + QStringLiteral(": ") : QString())
                     + asText(it.value(), true, depth + 1));
    return items.join(QStringLiteral(", "));
}

/// As Python's str() shows it.
QString asText(const Json &value, bool nested, int depth)
{
    if (value.is_string())
        return nested ? quoted(textOf(value)) : textOf(value);
    if (value.is_null())
        return QStringLiteral("None");
    if (value.is_boolean())
        return value.get<bool>() ? QStringLiteral("True") : QStringLiteral("False");
    if (value.is_structured() && depth >= maxShownDepth)
        return QStringLiteral("...");
    if (value.is_array())
        return QLatin1Char('[') + itemsAsText(value, depth) + QLatin1Char(']');
    if (value.is_object())
        return QLatin1Char('{') + itemsAsText(value, depth) + QLatin1Char('}');
    return QString::fromUtf8(dumpJson(value));
}

QString asText(const Json &value)
{
    return asText(value, false, 0);
}

/// JSON inside a string, as models write it that cannot give lists; nullopt when it is just text.
std::optional<Json> parsedText(const Json &raw)
{
    auto parsed = parseJson(textOf(raw).toUtf8());
    return parsed ? std::optional(std::move(*parsed)) : std::nullopt;
}

bool isNameStart(QChar c)
{
    return (c >= u'a' && c <= u'z') || (c >= u'A' && c <= u'Z') || c == u'_';
}

/// The end of the tag that starts at `start` (a '<'), or -1 when it is none. Linear over all calls: a '<' ends the search.
qsizetype tagEnd(const QString &text, qsizetype start)
{
    qsizetype at = start + 1;
    if (at < text.size() && text.at(at) == u'/')
        ++at;
    if (at >= text.size() || !isNameStart(text.at(at)))
        return -1;
    while (at < text.size() && (text.at(at).isLetterOrNumber() || QStringView(u"_:.-").contains(text.at(at))))
        ++at;
    qsizetype end = at;
    while (end < text.size() && text.at(end) != u'<' && text.at(end) != u'>')
        ++end;
    if (end >= text.size() || text.at(end) != u'>')
        return -1;
    const QStringView rest = QStringView(text).sliced(at, end - at);
    return rest.isEmpty() || rest == u"/" || rest.front().isSpace() ? end + 1 : -1;
}

QString withoutMarkup(const QString &text)
{
    QString out;
    for (qsizetype at = 0; at < text.size();) {
        const qsizetype end = text.at(at) == u'<' ? tagEnd(text, at) : -1;
        if (end > 0) {
            at = end;
        } else {
            out += text.at(at++);
        }
    }
    return out;
}

void collectLeaves(const Json &value, Json &leaves, int depth)
{
    if (value.is_structured()) {
        for (const Json &item : value) {
            if (depth < maxShownDepth)
                collectLeaves(item, leaves, depth + 1);
        }
    } else if (!value.is_null()) {
        leaves.push_back(value);
    }
}

// ---- fields

bool isRequired(const Json &raw)
{
    if (raw.is_string())
        return pythonStrip(textOf(raw)).toLower() == u"true";
    return (raw.is_boolean() || raw.is_number()) && isTruthy(raw);
}

/// Names that a JavaScript object has already.
bool isReservedName(const QString &name)
{
    static const QSet<QString> names{
        QStringLiteral("__proto__"), QStringLiteral("constructor"), QStringLiteral("prototype"), QStringLiteral("toString"),
        QStringLiteral("toLocaleString"), QStringLiteral("valueOf"), QStringLiteral("hasOwnProperty"), QStringLiteral("isPrototypeOf"),
        QStringLiteral("propertyIsEnumerable"), QStringLiteral("__defineGetter__"), QStringLiteral("__defineSetter__"),
        QStringLiteral("__lookupGetter__"), QStringLiteral("__lookupSetter__")};
    return names.contains(name);
}

bool isTooLong(const QString &text)
{
    return codePointCount(text) > maxFieldChars;
}

QString fieldType(const Json &raw)
{
    static const QSet<QString> types{QStringLiteral("text"), QStringLiteral("textarea"), QStringLiteral("number"),
                                     QStringLiteral("select"), QStringLiteral("multi_select"), QStringLiteral("checkbox"),
                                     QStringLiteral("date")};
    const QString type = textOf(raw);
    return types.contains(type) ? type : QStringLiteral("text");
}

Json optionList(const QStringList &labels, const QString &prefix)
{
    Json list = Json::array();
    for (const QString &label : labels)
        list.push_back(Json{{"id", toUtf8(prefix + QStringLiteral("option-%1").arg(list.size() + 1))},
                            {"label", toUtf8(label)},
                            {"value", toUtf8(label)}});
    return list;
}

/// One field, or null when something about it is wrong.
Json fieldOf(const Json &entry)
{
    const QString name = pythonStrip(stringOf(entry, "name"));
    if (name.isEmpty() || isReservedName(name) || isTooLong(name))
        return {};
    QString label = pythonStrip(stringOf(entry, "label"));
    if (label.isEmpty())
        label = name;
    const QString placeholder = pythonStrip(stringOf(entry, "placeholder"));
    if (isTooLong(label) || isTooLong(placeholder))
        return {};
    QString type = fieldType(memberOf(entry, "type"));
    QStringList options;
    if (type == u"select" || type == u"multi_select")
        options = clarificationOptions(memberOf(entry, "options"));
    if (options.size() > maxFieldOptions || std::ranges::any_of(options, isTooLong))
        return {};
    if (options.isEmpty() && (type == u"select" || type == u"multi_select"))
        type = QStringLiteral("text");
    Json field{{"name", toUtf8(name)},
               {"label", toUtf8(label)},
               {"type", toUtf8(type)},
               {"required", isRequired(memberOf(entry, "required"))}};
    if (!options.isEmpty())
        field["options"] = optionList(options, name + u'-');
    if (!placeholder.isEmpty())
        field["placeholder"] = toUtf8(placeholder);
    return field;
}

/// Bytes with a blank behind each comma and colon between values, as the limit is meant.
qsizetype spacedSize(const Json &value)
{
    if (!value.is_structured())
        return dumpJson(value).size();
    qsizetype size = 2 + (value.empty() ? 0 : 2 * qsizetype(value.size() - 1));
    for (auto it = value.begin(); it != value.end(); ++it)
        size += spacedSize(it.value()) + (value.is_object() ? dumpJson(Json(it.key())).size() + 2 : 0);
    return size;
}

// ---- the text

QString icon(const QString &type)
{
    if (type == u"ambiguous_requirement")
        return QStringLiteral("\U0001F914");
    if (type == u"approach_choice")
        return QStringLiteral("\U0001F500");
    if (type == u"risk_confirmation")
        return QStringLiteral("\u26A0\uFE0F");
    if (type == u"suggestion")
        return QStringLiteral("\U0001F4A1");
    return QStringLiteral("\u2753");
}

QString fieldLine(const Json &field)
{
    QString line = stringOf(field, "label");
    if (boolOf(field, "required"))
        line += QStringLiteral(" (required)");
    QStringList labels;
    for (const Json &option : memberOf(field, "options"))
        labels.append(stringOf(option, "label"));
    if (!labels.isEmpty())
        line += QStringLiteral(", one of: ") + labels.join(QStringLiteral(" / "));
    if (stringOf(field, "type") == u"multi_select")
        line += QStringLiteral(" (several allowed)");
    return line;
}

QString readable(const QString &question, const QString &background, const QString &type, const Json &fields, const QStringList &options)
{
    QStringList lines;
    lines.append(icon(type) + u' ' + (background.isEmpty() ? question : background));
    if (!background.isEmpty())
        lines << QString() << question;
    QStringList items = options;
    if (!fields.empty()) {
        items.clear();
        for (const Json &field : fields)
            items.append(fieldLine(field));
    }
    if (!items.isEmpty())
        lines.append(QString());
    for (qsizetype i = 0; i < items.size(); ++i)
        lines.append(QStringLiteral("  %1. ").arg(i + 1) + items.at(i));
    if (!fields.empty())
        lines << QString() << QStringLiteral("Please reply with a value for each field.");
    return lines.join(QLatin1Char('\n'));
}

} // namespace

QStringList clarificationOptions(const Json &raw)
{
    Json options = raw;
    if (raw.is_string())
        options = parsedText(raw).value_or(raw);
    if (options.is_null())
        return {};
    if (options.is_object()) {
        Json leaves = Json::array();
        collectLeaves(options, leaves, 0);
        options = std::move(leaves);
    } else if (!options.is_array()) {
        options = Json::array({options});
    }
    QStringList labels;
    QSet<QString> seen;
    for (const Json &option : options) {
        const QString label = pythonStrip(withoutMarkup(asText(option)));
        if (label.isEmpty() || seen.contains(label))
            continue;
        seen.insert(label);
        labels.append(label);
    }
    return labels;
}

Json clarificationFields(const Json &raw)
{
    const Json given = raw.is_string() ? parsedText(raw).value_or(Json()) : raw;
    Json fields = Json::array();
    if (!given.is_array() || given.size() > maxFields)
        return fields;
    QSet<QString> names;
    for (const Json &entry : given) {
        Json field = fieldOf(entry);
        const QString name = stringOf(field, "name");
        if (!field.is_object() || names.contains(name))
            return Json::array();
        names.insert(name);
        fields.push_back(std::move(field));
    }
    return spacedSize(fields) > maxFormBytes ? Json::array() : fields;
}

QString clarificationId(const QString &callId, const QString &text)
{
    return QStringLiteral("clarification:") + (callId.isEmpty() ? sha256Hex(text).first(16) : callId);
}

ClarificationRequest clarificationRequest(const Json &args, const QString &callId)
{
    const Json fields = clarificationFields(memberOf(args, "fields"));
    const QStringList options = clarificationOptions(memberOf(args, "options"));
    const Json &question = memberOf(args, "question");
    const Json &context = memberOf(args, "context");
    const Json &given = memberOf(args, "clarification_type");
    const QString type = given.is_null() ? QStringLiteral("missing_info") : asText(given);
    const QString asked = isTruthy(question) ? asText(question) : QString();

    ClarificationRequest request;
    request.text = readable(asked, isTruthy(context) ? asText(context) : QString(), type, fields, options);
    request.id = clarificationId(callId, request.text);
    const bool form = !fields.empty();
    request.payload = Json{{"version", form ? 2 : 1},
                           {"kind", "human_input_request"},
                           {"source", "ask_clarification"},
                           {"request_id", toUtf8(request.id)},
                           {"clarification_type", toUtf8(type)},
                           {"question", toUtf8(asked)},
                           {"input_mode", form ? "form" : options.isEmpty() ? "free_text" : "choice_with_other"}};
    if (!callId.isEmpty())
        request.payload["tool_call_id"] = toUtf8(callId);
    if (args.is_object() && args.contains("context"))
        request.payload["context"] = context.is_null() ? Json() : toJson(asText(context));
    if (form)
        request.payload["fields"] = fields;
    else if (!options.isEmpty())
        request.payload["options"] = optionList(options, {});
    return request;
}

} // namespace paddock
