// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/message/state.h"

#include "core/base/ids.h"
#include "core/base/text.h"

#include <QHash>
#include <QSet>

namespace paddock {

namespace {

constexpr std::size_t maxDelegations = 50;
constexpr std::size_t maxSkillEntries = 8;
constexpr qsizetype maxSkillDescription = 500;

MessagePtr withId(const MessagePtr &message, const std::function<QString()> &newId)
{
    if (!message->id.isEmpty())
        return message;
    return edited(message, [&](Message &m) { m.id = newId(); });
}

Result<Json> reduceSandbox(const Json &old, const Json &update)
{
    if (update.is_object() && update.contains("overwrite")) // a fork-restored value bypasses the reducer
        return update["overwrite"];
    if (update.is_null())
        return old;
    if (old.is_null())
        return update;
    const QString a = stringOf(old, "sandbox_id");
    const QString b = stringOf(update, "sandbox_id");
    if (a == b)
        return old;
    return fail(ErrorCode::FailedPrecondition, QStringLiteral("Conflicting sandbox state updates: '%1' != '%2'").arg(a, b));
}

Json reduceArtifacts(const Json &old, const Json &update)
{
    Json out = Json::array();
    for (const Json *list : {&old, &update}) {
        if (!list->is_array())
            continue;
        for (const Json &item : *list) {
            if (std::find(out.begin(), out.end(), item) == out.end())
                out.push_back(item);
        }
    }
    return out;
}

Json reduceViewedImages(const Json &old, const Json &update)
{
    if (update.is_null())
        return old.is_null() ? Json::object() : old;
    if (update.is_object() && update.empty())
        return Json::object();
    Json out = old.is_object() ? old : Json::object();
    for (auto it = update.begin(); it != update.end(); ++it)
        out[it.key()] = it.value();
    return out;
}

Json reducePromoted(const Json &old, const Json &update)
{
    if (!update.is_object() || update.empty())
        return old;
    if (!old.is_object() || stringOf(old, "catalog_hash") != stringOf(update, "catalog_hash")) {
        Json out = update;
        out["names"] = reduceArtifacts(Json::array(), memberOf(update, "names"));
        return out;
    }
    Json out = old;
    out["names"] = reduceArtifacts(memberOf(old, "names"), memberOf(update, "names"));
    return out;
}

bool isTerminal(const Json &entry)
{
    static const QSet<QString> terminal{QStringLiteral("completed"), QStringLiteral("failed"), QStringLiteral("cancelled"),
                                        QStringLiteral("timed_out"), QStringLiteral("polling_timed_out"), QStringLiteral("interrupted")};
    return terminal.contains(stringOf(entry, "status"));
}

Json reduceDelegations(const Json &old, const Json &update)
{
    std::vector<Json> out;
    for (const Json *list : {&old, &update}) {
        if (!list->is_array())
            continue;
        for (const Json &entry : *list) {
            const auto key = [](const Json &e) { return std::pair(stringOf(e, "run_id"), stringOf(e, "id")); };
            const auto known = std::find_if(out.begin(), out.end(), [&](const Json &e) {
                return memberOf(e, "id") == memberOf(entry, "id")
                    && (key(e).first == key(entry).first || memberOf(entry, "run_id").is_null() || memberOf(e, "run_id").is_null());
            });
            if (known == out.end()) {
                out.push_back(entry);
                continue;
            }
            if (isTerminal(*known) && !isTerminal(entry))
                continue;
            Json merged = entry;
            for (const char *first : {"created_at", "run_id"}) {
                if (known->contains(first) && !(*known)[first].is_null())
                    merged[first] = (*known)[first];
            }
            *known = std::move(merged);
        }
    }
    if (out.size() > maxDelegations)
        out.erase(out.begin(), out.end() - qsizetype(maxDelegations));
    return Json(out);
}

Json reduceSkillContext(const Json &old, const Json &update)
{
    std::vector<Json> out;
    for (const Json *list : {&old, &update}) {
        if (!list->is_array())
            continue;
        for (Json entry : *list) {
            if (entry.is_object() && entry.contains("description"))
                entry["description"] = toUtf8(firstCodePoints(stringOf(entry, "description").simplified(), maxSkillDescription));
            const QString path = stringOf(entry, "path");
            std::erase_if(out, [&](const Json &e) { return stringOf(e, "path") == path; });
            out.push_back(std::move(entry));
        }
    }
    if (out.size() > maxSkillEntries)
        out.erase(out.begin(), out.end() - qsizetype(maxSkillEntries));
    return Json(out);
}

} // namespace

Result<MessageList> reduceMessages(const MessageList &old, const std::vector<MessagePtr> &update,
                                   const std::function<QString()> &newId)
{
    const std::function<QString()> makeId = newId ? newId : std::function<QString()>(newUuid);
    std::size_t from = 0;
    bool removeAll = false;
    for (std::size_t i = 0; i < update.size(); ++i) {
        if (!update[i])
            return fail(ErrorCode::InvalidArgument, QStringLiteral("A message update must not be null"));
        if (update[i]->role == Role::Remove && update[i]->id == removeAllId()) {
            removeAll = true;
            from = i + 1;
        }
    }
    if (removeAll) {
        std::vector<MessagePtr> rest;
        for (std::size_t i = from; i < update.size(); ++i)
            rest.push_back(withId(update[i], makeId));
        return MessageList(rest);
    }
    if (update.empty())
        return old;
    MessageList merged = old;
    QHash<QString, qsizetype> index;
    for (qsizetype i = 0; i < merged.size(); ++i) {
        if (merged.at(i)->id.isEmpty())
            merged.replace(i, withId(merged.at(i), makeId));
        index.insert(merged.at(i)->id, i);
    }
    QSet<QString> toRemove;
    for (const MessagePtr &raw : update) {
        const MessagePtr message = withId(raw, makeId);
        const auto known = index.constFind(message->id);
        if (message->role == Role::Remove) {
            if (known == index.constEnd())
                return fail(ErrorCode::FailedPrecondition,
                            QStringLiteral("Attempting to delete a message with an ID that doesn't exist ('%1')").arg(message->id));
            toRemove.insert(message->id);
        } else if (known != index.constEnd()) {
            toRemove.remove(message->id);
            merged.replace(*known, message);
        } else {
            index.insert(message->id, merged.size());
            merged.append(message);
        }
    }
    if (!toRemove.isEmpty()) {
        for (qsizetype i = merged.size() - 1; i >= 0; --i) {
            if (toRemove.contains(merged.at(i)->id))
                merged.remove(i);
        }
    }
    return merged;
}

Result<Json> reduceChannel(const QString &name, const Json &old, const Json &update)
{
    if (name == u"sandbox")
        return reduceSandbox(old, update);
    if (name == u"artifacts")
        return reduceArtifacts(old, update);
    if (name == u"viewed_images")
        return reduceViewedImages(old, update);
    if (name == u"promoted")
        return reducePromoted(old, update);
    if (name == u"delegations")
        return reduceDelegations(old, update);
    if (name == u"skill_context")
        return reduceSkillContext(old, update);
    if (name == u"todos" || name == u"goal")
        return update.is_null() ? old : update;
    return update;
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
        const QString name = QString::fromStdString(it.key());
        auto value = reduceChannel(name, memberOf(state.channels, it.key().c_str()), it.value());
        if (!value)
            return fail(value.error());
        next.channels[it.key()] = std::move(*value);
    }
    return next;
}

} // namespace paddock
