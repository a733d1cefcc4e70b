// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/knowledge_scope_rules.h"

#include "core/base/text.h"

#include <QHash>
#include <QSet>

#include <algorithm>

namespace paddock::knowledge_scope {

namespace {

constexpr std::size_t maxDatasets = 100; ///< and filters
constexpr std::size_t maxDocuments = 1000; ///< of one filter, and of all
constexpr std::size_t maxShownDatasets = 20;
constexpr std::size_t maxShownDocuments = 50; ///< of one dataset, and of all
constexpr qsizetype maxIdChars = 256;
constexpr qsizetype maxNameChars = 256;
constexpr qsizetype maxScopeBytes = 65536;

std::unexpected<Error> refused(const QString &what)
{
    return fail(ErrorCode::InvalidArgument, QStringLiteral("knowledge_scope: ") + what);
}

Result<void> checkKeys(const Json &object, std::initializer_list<const char *> allowed, const char *what)
{
    if (!object.is_object())
        return refused(QString::fromLatin1(what) + QStringLiteral(" must be an object"));
    for (const auto &[key, value] : object.items()) {
        if (std::none_of(allowed.begin(), allowed.end(), [&key](const char *name) { return key == name; }))
            return refused(QString::fromLatin1(what) + QStringLiteral(" has an unknown key"));
    }
    return {};
}

/// A list of at most `most` members; null and absence are an empty one.
Result<Json> listOf(const Json &object, const char *key, std::size_t most)
{
    const Json &list = memberOf(object, key);
    if (list.is_null())
        return Json::array();
    if (!list.is_array())
        return refused(QString::fromLatin1(key) + QStringLiteral(" must be a list"));
    if (list.size() > most)
        return refused(QString::fromLatin1(key) + QStringLiteral(" has %1 members, at most %2 are allowed").arg(list.size()).arg(most));
    return list;
}

Result<QString> scopeId(const Json &value)
{
    const QString id = pythonStrip(textOf(value));
    if (!value.is_string() || id.isEmpty() || codePointCount(id) > maxIdChars)
        return refused(QStringLiteral("an id must have 1 to %1 characters").arg(maxIdChars));
    return id;
}

Result<QString> shownName(const Json &value)
{
    const QString name = textOf(value);
    if (!value.is_string() || pythonStrip(name).isEmpty() || codePointCount(name) > maxNameChars)
        return refused(QStringLiteral("a name must have 1 to %1 characters and not be blank").arg(maxNameChars));
    return name;
}

/// Trimmed, without repetition, in their first order.
Result<QStringList> idsOf(const Json &list)
{
    QStringList ids;
    QSet<QString> seen;
    for (const Json &value : list) {
        const auto id = scopeId(value);
        if (!id)
            return std::unexpected(id.error());
        if (seen.contains(*id))
            continue;
        seen.insert(*id);
        ids.append(*id);
    }
    return ids;
}

/// What `selected` names, checked part by part.
class Selection
{
public:
    Result<void> read(const Json &scope)
    {
        if (auto done = readDatasets(scope); !done)
            return done;
        if (auto done = readFilters(scope); !done)
            return done;
        return readDisplay(memberOf(scope, "display"));
    }
    bool isEmpty() const { return m_datasets.isEmpty() && m_filters.empty() && m_display.is_null(); }
    Result<void> checkSelected() const
    {
        if (m_datasets.isEmpty())
            return refused(QStringLiteral("selected needs at least one dataset id"));
        for (auto it = m_documents.cbegin(); it != m_documents.cend(); ++it) {
            if (!m_datasets.contains(it.key()))
                return refused(QStringLiteral("a filter must belong to a selected dataset"));
        }
        for (const QString &id : m_shownDatasets) {
            if (!m_datasets.contains(id))
                return refused(QStringLiteral("a shown dataset must be selected"));
        }
        return {};
    }
    void writeTo(Json &canonical) const
    {
        canonical["dataset_ids"] = namesToJson(m_datasets);
        if (!m_filters.empty())
            canonical["document_filters"] = m_filters;
        if (!m_display.is_null())
            canonical["display"] = m_display;
    }

private:
    Result<void> readDatasets(const Json &scope)
    {
        const auto list = listOf(scope, "dataset_ids", maxDatasets);
        if (!list)
            return std::unexpected(list.error());
        const auto ids = idsOf(*list);
        if (!ids)
            return std::unexpected(ids.error());
        m_datasets = *ids;
        return {};
    }

    Result<void> readFilters(const Json &scope)
    {
        const auto list = listOf(scope, "document_filters", maxDatasets);
        if (!list)
            return std::unexpected(list.error());
        std::size_t total = 0;
        for (const Json &filter : *list) {
            if (auto known = checkKeys(filter, {"dataset_id", "document_ids"}, "a filter"); !known)
                return known;
            const auto dataset = scopeId(memberOf(filter, "dataset_id"));
            if (!dataset)
                return std::unexpected(dataset.error());
            const auto documents = listOf(filter, "document_ids", maxDocuments);
            if (!documents)
                return std::unexpected(documents.error());
            const auto ids = idsOf(*documents);
            if (!ids)
                return std::unexpected(ids.error());
            if (ids->isEmpty())
                return refused(QStringLiteral("a filter needs at least one document id"));
            if (m_documents.contains(*dataset))
                return refused(QStringLiteral("a dataset may have one filter only"));
            total += std::size_t(ids->size());
            m_documents.insert(*dataset, QSet<QString>(ids->begin(), ids->end()));
            m_filters.push_back(Json{{"dataset_id", toUtf8(*dataset)}, {"document_ids", namesToJson(*ids)}});
        }
        if (total > maxDocuments)
            return refused(QStringLiteral("%1 document ids, at most %2 are allowed").arg(total).arg(maxDocuments));
        return {};
    }

    Result<void> readDisplay(const Json &display)
    {
        if (display.is_null())
            return {};
        if (auto known = checkKeys(display, {"datasets"}, "display"); !known)
            return known;
        if (!memberOf(display, "datasets").is_array())
            return refused(QStringLiteral("display needs its datasets"));
        const auto list = listOf(display, "datasets", maxShownDatasets);
        if (!list)
            return std::unexpected(list.error());
        Json datasets = Json::array();
        for (const Json &dataset : *list) {
            auto shown = shownDataset(dataset);
            if (!shown)
                return std::unexpected(shown.error());
            datasets.push_back(std::move(*shown));
        }
        if (m_shownDocuments > maxShownDocuments)
            return refused(QStringLiteral("%1 shown documents, at most %2 are allowed").arg(m_shownDocuments).arg(maxShownDocuments));
        m_display = Json{{"datasets", datasets}};
        return {};
    }

    Result<Json> shownDataset(const Json &dataset)
    {
        if (auto known = checkKeys(dataset, {"id", "name", "documents"}, "a shown dataset"); !known)
            return std::unexpected(known.error());
        auto shown = identified(dataset);
        if (!shown)
            return shown;
        const QString id = stringOf(*shown, "id");
        if (m_shownDatasets.contains(id))
            return refused(QStringLiteral("a dataset may be shown once only"));
        m_shownDatasets.insert(id);
        const auto documents = listOf(dataset, "documents", maxShownDocuments);
        if (!documents)
            return std::unexpected(documents.error());
        if (!documents->empty() && !m_documents.contains(id))
            return refused(QStringLiteral("shown documents need a filter of their dataset"));
        Json out = Json::array();
        QSet<QString> seen;
        for (const Json &document : *documents) {
            if (auto known = checkKeys(document, {"id", "name"}, "a shown document"); !known)
                return std::unexpected(known.error());
            auto named = identified(document);
            if (!named)
                return named;
            const QString documentId = stringOf(*named, "id");
            if (seen.contains(documentId) || !m_documents.value(id).contains(documentId))
                return refused(QStringLiteral("a shown document must be in its filter, and once only"));
            seen.insert(documentId);
            out.push_back(std::move(*named));
        }
        m_shownDocuments += out.size();
        if (!memberOf(dataset, "documents").is_null())
            (*shown)["documents"] = std::move(out);
        return shown;
    }
    static Result<Json> identified(const Json &object)
    {
        const auto id = scopeId(memberOf(object, "id"));
        if (!id)
            return std::unexpected(id.error());
        const auto name = shownName(memberOf(object, "name"));
        if (!name)
            return std::unexpected(name.error());
        return Json{{"id", toUtf8(*id)}, {"name", toUtf8(*name)}};
    }

    QStringList m_datasets;
    Json m_filters = Json::array();
    QHash<QString, QSet<QString>> m_documents; ///< dataset -> ids of its filter
    Json m_display;
    QSet<QString> m_shownDatasets;
    std::size_t m_shownDocuments = 0;
};

bool carriesScope(const Message &message)
{
    return !memberOf(message.kwargs, messageKey).is_null();
}

QSet<QString> textsOf(const Json &list)
{
    QSet<QString> texts;
    for (const Json &item : list)
        texts.insert(textOf(item));
    return texts;
}

} // namespace

Result<Json> canonical(const Json &scope)
{
    if (auto known = checkKeys(scope, {"version", "mode", "dataset_ids", "document_filters", "display"}, "the scope"); !known)
        return std::unexpected(known.error());
    const Json &version = memberOf(scope, "version");
    if (!version.is_number_integer() || version != 1)
        return refused(QStringLiteral("version must be 1"));
    const QString mode = stringOf(scope, "mode");
    if (mode != u"all" && mode != u"selected" && mode != u"disabled")
        return refused(QStringLiteral("mode must be all, selected or disabled"));
    Selection selection;
    if (auto done = selection.read(scope); !done)
        return std::unexpected(done.error());
    Json out{{"version", 1}, {"mode", toUtf8(mode)}};
    if (mode == u"selected") {
        if (auto done = selection.checkSelected(); !done)
            return std::unexpected(done.error());
        selection.writeTo(out);
    } else if (!selection.isEmpty()) {
        return refused(mode + QStringLiteral(" must not carry a selection or a display"));
    }
    if (const qsizetype bytes = dumpJson(out).size(); bytes > maxScopeBytes)
        return refused(QStringLiteral("%1 bytes, at most %2 are allowed").arg(bytes).arg(maxScopeBytes));
    return out;
}

Result<Json> execution(const Json &scope)
{
    Result<Json> out = canonical(scope);
    if (out)
        out->erase("display");
    return out;
}

Result<std::optional<Json>> ofTurn(const MessageList &messages, const Json &earlierIds)
{
    std::vector<MessagePtr> carriers;
    if (earlierIds.is_array()) {
        const QSet<QString> earlier = textsOf(earlierIds);
        for (const MessagePtr &message : messages) {
            if (carriesScope(*message) && !earlier.contains(message->id))
                carriers.push_back(message);
        }
    } else if (!messages.isEmpty() && carriesScope(*messages.last())) {
        carriers.push_back(messages.last());
    }
    if (carriers.empty())
        return std::optional<Json>();
    if (std::any_of(carriers.begin(), carriers.end(), [](const MessagePtr &m) { return m->role != Role::Human; }))
        return fail(ErrorCode::InvalidArgument, QStringLiteral("knowledge_scope is allowed only on a current HumanMessage"));
    if (carriers.size() > 1)
        return fail(ErrorCode::InvalidArgument, QStringLiteral("only one current HumanMessage may carry knowledge_scope"));
    Result<Json> scope = execution(memberOf(carriers.front()->kwargs, messageKey));
    if (!scope)
        return std::unexpected(scope.error());
    return std::optional<Json>(std::move(*scope));
}

bool isGovernedTool(const QString &name)
{
    return name == u"knowledge_search" || name == u"list_knowledge_documents" || name == u"read_knowledge_document";
}

bool isDisabled(const Json &context)
{
    return stringOf(memberOf(context, contextKey), "mode") == u"disabled";
}

MessageList withoutScopes(const MessageList &messages)
{
    MessageList out = messages;
    for (qsizetype i = 0; i < messages.size(); ++i) {
        const MessagePtr &message = messages.at(i);
        if (!message->kwargs.is_object() || (!message->kwargs.contains(messageKey) && !message->kwargs.contains(contextKey)))
            continue;
        out.replace(i, edited(message, [](Message &m) {
            m.kwargs.erase(messageKey);
            m.kwargs.erase(contextKey);
        }));
    }
    return out;
}

} // namespace paddock::knowledge_scope
