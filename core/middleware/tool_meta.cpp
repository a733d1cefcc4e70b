// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/tool_meta.h"

#include "core/base/text.h"
#include "core/middleware/message_edits.h"

#include <QSet>

#include <algorithm>

namespace paddock {

namespace {

struct Attributes {
    const char *errorType;
    bool recoverable;
    const char *action;
};

struct TextRule {
    std::vector<const char *> keywords;
    Attributes attributes;
};

const std::vector<TextRule> &textRules()
{
    static const std::vector<TextRule> rules{
        {{"401", "403", "unauthorized", "authentication", "invalid api key"}, {"auth", false, "stop"}},
        {{"rate limit", "rate limited", "rate_limit"}, {"rate_limited", false, "summarize"}},
        {{"timeout", "timed out", "connection", "network error", "temporarily unavailable"}, {"transient", false, "try_alternative"}},
        {{"not configured", "not installed", "missing required", "disabled", "no api key"}, {"config", false, "stop"}},
        {{"permission denied", "access denied", "path traversal", "forbidden"}, {"permission", true, "try_alternative"}},
        {{"no results found", "no content found", "no images found", "no results"}, {"no_results", true, "rewrite_query"}},
        {{"not found", "no such file", "does not exist", "404"}, {"not_found", true, "rewrite_query"}},
        {{"unexpected error", "internal error", "500"}, {"internal", false, "stop"}},
    };
    return rules;
}

bool isWordCharacter(QChar c)
{
    return c.isLetterOrNumber() || c == u'_';
}

/// All-digit keywords need word borders ("took 500ms" is no status).
bool holds(const QString &text, const QString &keyword)
{
    const bool digits = std::all_of(keyword.begin(), keyword.end(), [](QChar c) { return c.isDigit(); });
    if (!digits)
        return text.contains(keyword);
    for (qsizetype at = text.indexOf(keyword); at >= 0; at = text.indexOf(keyword, at + 1)) {
        const qsizetype end = at + keyword.size();
        if ((at == 0 || !isWordCharacter(text.at(at - 1))) && (end == text.size() || !isWordCharacter(text.at(end))))
            return true;
    }
    return false;
}

ToolMeta errorMeta(const Attributes &attributes, const QString &source)
{
    return {QStringLiteral("error"), QString::fromLatin1(attributes.errorType), attributes.recoverable,
            QString::fromLatin1(attributes.action), source};
}

/// The `error` of a JSON object; nullopt when the content is none or its error says that there is none.
std::optional<QString> jsonErrorText(const Json &object)
{
    const Json &error = memberOf(object, "error");
    if (!isTruthy(error))
        return std::nullopt;
    if (!error.is_string())
        return QString::fromUtf8(dumpJson(error));
    static const QSet<QString> sentinels{QString(), QStringLiteral("none"), QStringLiteral("null"), QStringLiteral("false"),
                                         QStringLiteral("no"), QStringLiteral("ok"), QStringLiteral("success"),
                                         QStringLiteral("n/a")};
    const QString text = textOf(error);
    if (sentinels.contains(pythonStrip(text).toLower()))
        return std::nullopt;
    return text;
}

Json parsedObject(const QString &content)
{
    if (!pythonStrip(content).startsWith(u'{'))
        return {};
    const auto parsed = parseJson(content.toUtf8());
    return parsed && parsed->is_object() ? *parsed : Json();
}

// --- a fetched page that is only a status title (#4273) ---------------------------------------------------------------

QString firstLine(const QString &content)
{
    for (const QString &line : content.split(u'\n')) {
        if (!pythonStrip(line).isEmpty())
            return line;
    }
    return {};
}

bool isNoiseWord(const QString &word)
{
    static const QSet<QString> nouns{QStringLiteral("http"), QStringLiteral("error"), QStringLiteral("page"),
                                     QStringLiteral("the"), QStringLiteral("file"), QStringLiteral("or"),
                                     QStringLiteral("directory"), QStringLiteral("url"), QStringLiteral("resource")};
    bool isNumber = false;
    const int number = word.toInt(&isNumber);
    return nouns.contains(word) || (isNumber && number >= 400 && number <= 599);
}

std::optional<Attributes> attributesOf(const char *errorType)
{
    for (const TextRule &rule : textRules()) {
        if (qstrcmp(rule.attributes.errorType, errorType) == 0)
            return rule.attributes;
    }
    return std::nullopt;
}

std::optional<Attributes> statusTitle(const QString &content)
{
    static const std::vector<std::pair<const char *, const char *>> titles{
        {"unauthorized", "auth"}, {"proxy authentication required", "auth"},
        {"forbidden", "permission"}, {"access denied", "permission"}, {"permission denied", "permission"},
        {"not found", "not_found"}, {"too many requests", "rate_limited"},
        {"internal server error", "internal"}, {"not implemented", "internal"},
        {"bad gateway", "transient"}, {"service unavailable", "transient"},
        {"service temporarily unavailable", "transient"}, {"gateway timeout", "transient"}};
    QString line;
    for (const QChar c : firstLine(content).toLower()) {
        const bool kept = (c >= u'0' && c <= u'9') || (c >= u'a' && c <= u'z');
        line += kept ? c : QChar(u' ');
    }
    QStringList words = line.split(u' ', Qt::SkipEmptyParts);
    while (!words.isEmpty() && isNoiseWord(words.first()))
        words.removeFirst();
    const QString title = words.join(u' ');
    for (const auto &[text, errorType] : titles) {
        if (title == QLatin1String(text))
            return attributesOf(errorType);
    }
    return std::nullopt;
}

bool isPartial(const QString &content)
{
    const QString low = content.toLower();
    for (const char *phrase : {"partial results", "limited results", "truncated", "results may be incomplete",
                               "no results found", "no content found", "no images found"}) {
        if (low.contains(QLatin1String(phrase)))
            return true;
    }
    return false;
}

} // namespace

Json ToolMeta::toJson() const
{
    return Json{{"status", toUtf8(status)},
                {"error_type", errorType.isEmpty() ? Json() : Json(toUtf8(errorType))},
                {"recoverable_by_model", recoverable},
                {"recommended_next_action", toUtf8(action)},
                {"source", toUtf8(source)}};
}

ToolMeta ToolMeta::fromJson(const Json &meta)
{
    ToolMeta read;
    read.status = stringOf(meta, "status", read.status);
    read.errorType = stringOf(meta, "error_type");
    read.recoverable = boolOf(meta, "recoverable_by_model", read.recoverable);
    read.action = stringOf(meta, "recommended_next_action", read.action);
    read.source = stringOf(meta, "source");
    return read;
}

ToolMeta classifyErrorText(const QString &text, const QString &source)
{
    const QString low = text.toLower();
    for (const TextRule &rule : textRules()) {
        for (const char *keyword : rule.keywords) {
            if (holds(low, QString::fromLatin1(keyword)))
                return errorMeta(rule.attributes, source);
        }
    }
    return errorMeta({"unknown", true, "try_alternative"}, source);
}

ToolMeta classifyToolResult(const QString &content, ToolStatus status, const QString &tool)
{
    static const QString prefix = QStringLiteral("Error:");
    const QString toolReturn = QStringLiteral("tool_return");
    const QString analysis = QStringLiteral("content_analysis");
    if (content.startsWith(prefix))
        return classifyErrorText(content.mid(prefix.size()), toolReturn);
    const Json object = parsedObject(content);
    const std::optional<QString> errorText = jsonErrorText(object);
    if (errorText)
        return classifyErrorText(*errorText, toolReturn);
    if (status == ToolStatus::Error)
        return object.is_object() ? errorMeta({"unknown", true, "try_alternative"}, toolReturn)
                                  : classifyErrorText(content, toolReturn);
    if (tool == u"web_fetch") {
        if (const auto attributes = statusTitle(content))
            return errorMeta(*attributes, analysis);
    }
    if (isPartial(content))
        return {QStringLiteral("partial_success"), {}, true, QStringLiteral("rewrite_query"), analysis};
    return {QStringLiteral("success"), {}, true, QStringLiteral("continue"), analysis};
}

} // namespace paddock
