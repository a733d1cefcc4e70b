// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// middleware-base §1.5 and runtime §1.9.
#include "core/base/ids.h"
#include "core/base/text.h"
#include "core/message/state.h"

#include <QHash>
#include <QSet>

#include <algorithm>

namespace paddock {

namespace {

constexpr std::size_t maxDelegations = 50;
constexpr std::size_t maxSkills = 8;
constexpr qsizetype maxSkillDescription = 500;

MessagePtr withId(const MessagePtr &message, const std::function<QString()> &newId)
{
    if (!message->id.isEmpty())
        return message;
    return edited(message, [&newId](Message &copy) { copy.id = newId ? newId() : newUuid(); });
}

/// Where an id stands in a list. Few look-ups scan from the end; many build a table.
class IdIndex
{
public:
    IdIndex(const MessageList &list, std::size_t lookups) : m_list(list)
    {
        static constexpr std::size_t scanLimit = 8;
        m_useTable = lookups > scanLimit;
        if (m_useTable) {
            for (qsizetype i = 0; i < list.size(); ++i)
                m_table.insert(list.at(i)->id, i);
        }
    }
    qsizetype find(const QString &id) const
    {
        if (m_useTable)
            return m_table.value(id, -1);
        for (qsizetype i = m_list.size() - 1; i >= 0; --i) {
            if (m_list.at(i)->id == id)
                return i;
        }
        return -1;
    }
    void added(const QString &id, qsizetype index)
    {
        if (m_useTable)
            m_table.insert(id, index);
    }

private:
    const MessageList &m_list;
    bool m_useTable = false;
    QHash<QString, qsizetype> m_table;
};

MessageList withAllIds(const MessageList &old, const std::function<QString()> &newId)
{
    MessageList list = old;
    qsizetype index = 0;
    for (const MessagePtr &message : old) {
        if (message->id.isEmpty())
            list.replace(index, withId(message, newId));
        ++index;
    }
    return list;
}

MessageList without(const MessageList &list, const QSet<QString> &ids)
{
    MessageList kept = list;
    for (qsizetype i = list.size() - 1; i >= 0; --i) {
        if (ids.contains(list.at(i)->id))
            kept.remove(i);
    }
    return kept;
}

QString idOf(const Json &object, const char *key)
{
    return stringOf(object, key);
}

std::vector<Json> itemsOf(const Json &list)
{
    return list.is_array() ? std::vector<Json>(list.begin(), list.end()) : std::vector<Json>();
}

/// Both lists, each value once, at its first place.
Json orderedUnion(const Json &first, const Json &second)
{
    Json out = Json::array();
    QSet<QByteArray> seen;
    for (const Json *list : {&first, &second}) {
        if (!list->is_array())
            continue;
        for (const Json &item : *list) {
            const QByteArray key = dumpJson(item);
            if (seen.contains(key))
                continue;
            seen.insert(key);
            out.push_back(item);
        }
    }
    return out;
}

Result<Json> reduceSandbox(const Json &old, const Json &update)
{
    if (update.is_null())
        return old;
    if (old.is_null())
        return update;
    const QString before = idOf(old, "sandbox_id");
    const QString after = idOf(update, "sandbox_id");
    if (before == after)
        return old;
    return fail(ErrorCode::FailedPrecondition,
                QStringLiteral("Conflicting sandbox state updates: '%1' != '%2'").arg(before, after));
}

Result<Json> reduceArtifacts(const Json &old, const Json &update)
{
    if (update.is_null() && !old.is_null())
        return old;
    return orderedUnion(old, update);
}

Result<Json> reduceReplaceNonNull(const Json &old, const Json &update)
{
    return update.is_null() ? old : update;
}

Result<Json> reduceViewedImages(const Json &old, const Json &update)
{
    if (update.is_null())
        return old.is_null() ? Json::object() : old;
    if (update.empty() || !old.is_object() || !update.is_object())
        return update;
    Json merged = old;
    for (auto it = update.begin(); it != update.end(); ++it)
        merged[it.key()] = it.value();
    return merged;
}

Result<Json> reducePromoted(const Json &old, const Json &update)
{
    if (!update.is_object() || update.empty())
        return old;
    const bool same = old.is_object() && memberOf(old, "catalog_hash") == memberOf(update, "catalog_hash");
    return Json{{"catalog_hash", memberOf(update, "catalog_hash")},
                {"names", orderedUnion(same ? memberOf(old, "names") : Json::array(), memberOf(update, "names"))}};
}

bool isTerminalDelegation(const Json &entry)
{
    const QString status = stringOf(entry, "status");
    return status == u"completed" || status == u"failed" || status == u"cancelled" || status == u"timed_out"
        || status == u"polling_timed_out";
}

/// Call ids repeat between runs; entries of two known runs are two delegations (runtime §4.11).
bool isSameDelegation(const Json &a, const Json &b)
{
    const Json &runA = memberOf(a, "run_id");
    const Json &runB = memberOf(b, "run_id");
    return idOf(a, "id") == idOf(b, "id") && (runA.is_null() || runB.is_null() || runA == runB);
}

Result<Json> reduceDelegations(const Json &old, const Json &update)
{
    if (update.is_null())
        return old.is_null() ? Json::array() : old;
    std::vector<Json> entries = itemsOf(old);
    for (const Json &next : itemsOf(update)) {
        const auto place = std::find_if(entries.begin(), entries.end(),
                                        [&next](const Json &entry) { return isSameDelegation(entry, next); });
        if (place == entries.end()) {
            entries.push_back(next);
            continue;
        }
        Json &known = *place;
        if (isTerminalDelegation(known) && !isTerminalDelegation(next))
            continue;
        Json merged = next;
        for (const char *first : {"created_at", "run_id"}) { // what the first writer said stays
            if (!memberOf(known, first).is_null())
                merged[first] = known[first];
        }
        known = std::move(merged);
    }
    const std::size_t from = entries.size() > maxDelegations ? entries.size() - maxDelegations : 0;
    return Json(std::vector<Json>(entries.begin() + static_cast<std::ptrdiff_t>(from), entries.end()));
}

QString collapsed(const QString &text)
{
    QString out;
    bool gap = false;
    for (const QChar c : text) {
        if (pythonStrip(QString(c)).isEmpty()) {
            gap = !out.isEmpty();
            continue;
        }
        if (gap)
            out += QLatin1Char(' ');
        gap = false;
        out += c;
    }
    return out;
}

Result<Json> reduceSkillContext(const Json &old, const Json &update)
{
    if (update.is_null())
        return old.is_null() ? Json::array() : old;
    std::vector<Json> entries = itemsOf(old);
    for (Json next : itemsOf(update)) {
        const QString path = idOf(next, "path");
        std::erase_if(entries, [&path](const Json &entry) { return idOf(entry, "path") == path; });
        if (memberOf(next, "description").is_string()) {
            next["description"] =
                toJson(firstCodePoints(collapsed(stringOf(next, "description")), maxSkillDescription));
        }
        entries.push_back(std::move(next));
    }
    const std::size_t from = entries.size() > maxSkills ? entries.size() - maxSkills : 0;
    return Json(std::vector<Json>(entries.begin() + static_cast<std::ptrdiff_t>(from), entries.end()));
}

} // namespace

Result<MessageList> reduceMessages(const MessageList &old, const std::vector<MessagePtr> &update,
                                   const std::function<QString()> &newId)
{
    for (const MessagePtr &message : update) {
        if (!message)
            return fail(ErrorCode::InvalidArgument, QStringLiteral("An update of the messages holds no message"));
    }
    const auto isRemoveAll = [](const MessagePtr &m) { return m->role == Role::Remove && m->id == removeAllId(); };
    const auto lastMarker = std::find_if(update.rbegin(), update.rend(), isRemoveAll);
    if (lastMarker != update.rend()) {
        std::vector<MessagePtr> rest;
        for (auto it = lastMarker.base(); it != update.end(); ++it) {
            if ((*it)->role != Role::Remove) // nothing is left that it could remove
                rest.push_back(withId(*it, newId));
        }
        return MessageList(rest);
    }
    MessageList merged = withAllIds(old, newId);
    IdIndex index(merged, update.size());
    QSet<QString> removals;
    for (const MessagePtr &given : update) {
        const MessagePtr message = withId(given, newId);
        const qsizetype known = index.find(message->id);
        if (message->role == Role::Remove) {
            if (known < 0) {
                return fail(ErrorCode::NotFound,
                            QStringLiteral("Attempting to delete a message with an ID that doesn't exist ('%1')")
                                .arg(message->id));
            }
            removals.insert(message->id);
        } else if (known >= 0) {
            removals.remove(message->id);
            merged.replace(known, message);
        } else {
            index.added(message->id, merged.size());
            merged.append(message);
        }
    }
    return removals.isEmpty() ? merged : without(merged, removals);
}

Result<Json> reduceChannel(const QString &name, const Json &old, const Json &update)
{
    // The Overwrite wrapper bypasses the reducer (a state restored from a fork).
    if (update.is_object() && update.size() == 1) {
        for (const char *wrapper : {"overwrite", "__overwrite__", "$overwrite"}) {
            if (update.contains(wrapper))
                return update[wrapper];
        }
    }
    using Reducer = Result<Json> (*)(const Json &, const Json &);
    static const QHash<QString, Reducer> reducers = {
        {QStringLiteral("sandbox"), reduceSandbox},
        {QStringLiteral("artifacts"), reduceArtifacts},
        {QStringLiteral("todos"), reduceReplaceNonNull},
        {QStringLiteral("goal"), reduceReplaceNonNull},
        {QStringLiteral("viewed_images"), reduceViewedImages},
        {QStringLiteral("promoted"), reducePromoted},
        {QStringLiteral("delegations"), reduceDelegations},
        {QStringLiteral("skill_context"), reduceSkillContext},
    };
    const auto reducer = reducers.constFind(name);
    return reducer == reducers.constEnd() ? Result<Json>(update) : (*reducer)(old, update);
}

Result<AgentState> applyUpdate(const AgentState &state, const StateUpdate &update)
{
    AgentState next = state;
    if (!update.messages.empty()) {
        auto messages = reduceMessages(state.messages, update.messages);
        if (!messages)
            return fail(messages.error());
        next.messages = std::move(*messages);
    }
    for (auto it = update.channels.begin(); it != update.channels.end(); ++it) {
        auto value = reduceChannel(QString::fromStdString(it.key()), memberOf(next.channels, it.key().c_str()), it.value());
        if (!value)
            return fail(value.error());
        next.channels[it.key()] = std::move(*value);
    }
    return next;
}

} // namespace paddock
