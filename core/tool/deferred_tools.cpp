// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/tool/deferred_tools.h"

#include "core/base/name_search.h"
#include "core/base/text.h"

#include <algorithm>

namespace paddock {

namespace {

constexpr int mostRouted = 5;
constexpr qsizetype maxKeywords = 200;     ///< of one tool
constexpr qsizetype maxKeywordChars = 200;

/// Immutable and shared by the calls of one agent.
struct Catalogue {
    std::vector<ToolSpec> specs;
    std::vector<NamedText> texts;
    QString hash;
};

class ToolSearch : public Tool
{
public:
    explicit ToolSearch(std::shared_ptr<const Catalogue> catalogue) : m_catalogue(std::move(catalogue)) {}

    ToolSpec spec() const override
    {
        const Json query{{"type", "string"}, {"description", "What to look for; see above for the three forms."}};
        return {toolSearchName.toString(),
                QStringLiteral("Get the full schemas of deferred tools. The system prompt lists such tools by name only, in "
                               "<available-deferred-tools>; one that this search returned can be called from the next step on.\n\n"
                               "Queries:\n"
                               "- `select:one,two`: exactly these tools.\n"
                               "- `+part words`: names that contain `part`, ordered by hits of `words`.\n"
                               "- anything else: a regular expression over names and descriptions. At most five tools are returned."),
                Json{{"type", "object"}, {"properties", {{"query", query}}}, {"required", Json::array({"query"})}}};
    }

    Task<Result<ToolOutcome>> call(ToolCallContext context) override
    {
        const auto catalogue = m_catalogue;
        const QString query = stringOf(context.call.args, "query");
        Json names = Json::array();
        Json schemas = Json::array();
        for (const std::size_t index : searchNames(catalogue->texts, query)) {
            names.push_back(toUtf8(catalogue->specs[index].name));
            schemas.push_back(schemaOf(catalogue->specs[index]));
        }
        const QString text = names.empty() ? QStringLiteral("No tools found matching: ") + pythonStrip(query)
                                           : QString::fromUtf8(dumpJsonPretty(schemas));
        Command command;
        command.update.channels["promoted"] = Json{{"catalog_hash", toUtf8(catalogue->hash)}, {"names", std::move(names)}};
        command.update.messages.push_back(toolMessage(context.call.id, toolSearchName.toString(), text));
        co_return ToolOutcome(std::move(command));
    }

private:
    const std::shared_ptr<const Catalogue> m_catalogue;
};

/// As Python's int() takes it: whole numbers, cut fractions, text of a whole number; 0 for all else.
int priorityOf(const Json &value)
{
    double number = 0;
    if (value.is_number())
        number = value.get<double>();
    else if (value.is_boolean())
        number = value.get<bool>() ? 1 : 0;
    else if (value.is_string())
        number = double(pythonStrip(textOf(value)).toInt());
    return number > -1e9 && number < 1e9 ? int(number) : 0;
}

QStringList keywordsOf(const Json &value)
{
    QStringList words;
    if (!value.is_array())
        return words;
    for (const Json &item : value) {
        const QString word = pythonStrip(textOf(item));
        if (!word.isEmpty() && word.size() <= maxKeywordChars && words.size() < maxKeywords)
            words.append(word);
    }
    return words;
}

/// Folded as Python's casefold does it: a letter whose capital is two letters becomes those two.
QString foldedCase(const QString &text)
{
    constexpr char16_t firstWide = 0xdf;
    QString out;
    out.reserve(text.size());
    for (const QChar c : text) {
        const QString capital = c.unicode() < firstWide || c.isSurrogate() ? QString() : QString(c).toUpper();
        if (capital.size() > 1)
            out += capital;
        else
            out += c;
    }
    return out.toCaseFolded();
}

QStringList byPriority(const RoutingIndex &index)
{
    QStringList names = index.keys(); // sorted by name
    std::ranges::stable_sort(names, [&](const QString &a, const QString &b) { return index[a].priority > index[b].priority; });
    return names;
}

} // namespace

Json schemaOf(const ToolSpec &spec)
{
    return Json{{"name", toUtf8(spec.name)}, {"description", toUtf8(spec.description)}, {"parameters", spec.parameters}};
}

QString catalogHashOf(const std::vector<ToolSpec> &specs)
{
    std::vector<ToolSpec> sorted = specs;
    std::ranges::sort(sorted, {}, &ToolSpec::name);
    Json canonical = Json::array();
    for (const ToolSpec &spec : sorted)
        canonical.push_back(Json{{"name", toUtf8(spec.name)}, {"schema", schemaOf(spec)}});
    return sha256Hex(dumpJsonPythonSorted(canonical)).first(16);
}

RoutingIndex routingIndexFrom(const Json &index)
{
    RoutingIndex read;
    if (!index.is_object())
        return read;
    for (const auto &[name, hint] : index.items()) {
        const QStringList words = keywordsOf(memberOf(hint, "keywords"));
        if (!words.isEmpty())
            read.insert(QString::fromStdString(name), {priorityOf(memberOf(hint, "priority")), words});
    }
    return read;
}

QStringList routedTools(const RoutingIndex &index, const QString &text, int topK)
{
    const QString folded = foldedCase(text);
    QStringList names;
    if (pythonStrip(folded).isEmpty())
        return names;
    for (const QString &name : byPriority(index)) {
        if (names.size() == std::clamp(topK, 1, mostRouted))
            break;
        const QStringList &words = index[name].keywords;
        if (std::ranges::any_of(words, [&](const QString &word) { return folded.contains(foldedCase(word)); }))
            names.append(name);
    }
    return names;
}

Result<ToolSet> deferTools(std::vector<ToolPtr> tools, bool enabled)
{
    ToolSet set{std::move(tools), {}};
    if (!enabled)
        return set;
    auto catalogue = std::make_shared<Catalogue>();
    Json routing = Json::object();
    for (const ToolPtr &tool : set.tools) {
        const auto origin = tool->mcp();
        if (!origin)
            continue;
        ToolSpec spec = tool->spec();
        if (spec.name.isEmpty())
            return fail(ErrorCode::FailedPrecondition, QStringLiteral("A tool of the MCP server %1 has no name and cannot be deferred").arg(origin->server));
        if (stringOf(origin->routing, "mode") == u"prefer")
            routing[toUtf8(spec.name)] = origin->routing;
        set.deferred.names.insert(spec.name);
        catalogue->texts.push_back({spec.name, spec.description});
        catalogue->specs.push_back(std::move(spec));
    }
    if (catalogue->specs.empty())
        return set;
    catalogue->hash = catalogHashOf(catalogue->specs);
    set.deferred.catalogHash = catalogue->hash;
    set.deferred.routing = routingIndexFrom(routing);
    set.deferred.preferred = byPriority(set.deferred.routing);
    set.tools.push_back(std::make_shared<ToolSearch>(std::move(catalogue)));
    return set;
}

} // namespace paddock
