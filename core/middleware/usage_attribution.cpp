// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/usage_attribution.h"

#include "core/base/text.h"
#include "core/middleware/message_edits.h"

#include <QHash>

#include <deque>
#include <optional>
#include <vector>

namespace paddock {

namespace {

/// Trimmed; null when it is no text or blank.
Json label(const Json &value)
{
    const QString text = pythonStrip(textOf(value));
    return text.isEmpty() ? Json() : toJson(text);
}

struct Item {
    QString content;
    QString status; ///< empty: none of the known ones
};

std::vector<Item> itemsOf(const Json &todos)
{
    std::vector<Item> items;
    if (!todos.is_array())
        return items;
    for (const Json &todo : todos) {
        if (!todo.is_object())
            continue;
        const QString status = stringOf(todo, "status");
        const bool known = status == u"pending" || status == u"in_progress" || status == u"completed";
        items.push_back({pythonStrip(stringOf(todo, "content")), known ? status : QString()});
    }
    return items;
}

/// What became of the items of one list in the next: found again by their words, else by their place.
class TodoChanges
{
public:
    TodoChanges(std::vector<Item> before, std::vector<Item> after)
        : m_before(std::move(before)), m_after(std::move(after)), m_matched(m_before.size(), false)
    {
        for (std::size_t i = 0; i < m_before.size(); ++i) {
            if (!m_before[i].content.isEmpty())
                m_places[m_before[i].content].push_back(i);
        }
    }

    Json actions()
    {
        Json list = Json::array();
        for (std::size_t i = 0; i < m_after.size(); ++i) {
            const Item &now = m_after[i];
            if (now.content.isEmpty())
                continue;
            const auto was = matchOf(i);
            if (was && m_before[*was].content == now.content && m_before[*was].status == now.status)
                continue;
            const bool renamed = was && m_before[*was].content != now.content;
            const char *kind = renamed ? "todo_update"
                : now.status == u"completed" ? "todo_complete"
                : now.status == u"in_progress" ? "todo_start"
                                               : "todo_update";
            list.push_back(Json{{"kind", kind}, {"content", toUtf8(now.content)}});
        }
        for (std::size_t i = 0; i < m_before.size(); ++i) {
            if (!m_matched[i] && !m_before[i].content.isEmpty())
                list.push_back(Json{{"kind", "todo_remove"}, {"content", toUtf8(m_before[i].content)}});
        }
        return list;
    }

private:
    std::optional<std::size_t> matchOf(std::size_t place)
    {
        // Only words that were never there may be a new name of what stood in their place.
        const auto known = m_places.find(m_after[place].content);
        if (known == m_places.end())
            return place < m_before.size() && !m_matched[place] ? take(place) : std::nullopt;
        while (!known->empty()) {
            const std::size_t i = known->front();
            known->pop_front();
            if (!m_matched[i])
                return take(i);
        }
        return std::nullopt;
    }
    std::optional<std::size_t> take(std::size_t i)
    {
        m_matched[i] = true;
        return i;
    }

    const std::vector<Item> m_before;
    const std::vector<Item> m_after;
    std::vector<bool> m_matched;
    QHash<QString, std::deque<std::size_t>> m_places; ///< of the words in the list before
};

Json actionsOf(const ToolCall &call, const Json &todos)
{
    const QString name = pythonStrip(call.name).isEmpty() ? QStringLiteral("unknown") : pythonStrip(call.name);
    const Json id = label(toJson(call.id));
    const auto arg = [&call](const char *key) { return label(memberOf(call.args, key)); };
    if (name == u"write_todos") {
        Json actions = TodoChanges(itemsOf(todos), itemsOf(memberOf(call.args, "todos"))).actions();
        for (Json &action : actions)
            action["tool_call_id"] = id;
        if (actions.empty())
            actions.push_back(Json{{"kind", "tool"}, {"tool_name", toUtf8(name)}, {"tool_call_id", id}});
        return actions;
    }
    if (name == u"task")
        return Json::array({Json{{"kind", "subagent"}, {"description", arg("description")}, {"subagent_type", arg("subagent_type")},
                                 {"tool_call_id", id}}});
    if (name == u"web_search" || name == u"image_search")
        return Json::array({Json{{"kind", "search"}, {"tool_name", toUtf8(name)}, {"query", arg("query")}, {"tool_call_id", id}}});
    if (name == u"present_files")
        return Json::array({Json{{"kind", "present_files"}, {"tool_call_id", id}}});
    if (name == u"ask_clarification")
        return Json::array({Json{{"kind", "clarification"}, {"tool_call_id", id}}});
    return Json::array({Json{{"kind", "tool"}, {"tool_name", toUtf8(name)}, {"description", arg("description")}, {"tool_call_id", id}}});
}

const char *kindOf(const Message &ai, const Json &actions)
{
    if (actions.empty())
        return isTruthy(ai.content) ? "final_answer" : "thinking";
    if (actions.size() > 1)
        return "tool_batch";
    const QString only = stringOf(actions.front(), "kind");
    return only.startsWith(QLatin1String("todo_")) ? "todo_update" : only == u"subagent" ? "subagent_dispatch" : "tool_batch";
}

} // namespace

Json usageAttribution(const Message &ai, const Json &todos)
{
    Json actions = Json::array();
    Json ids = Json::array();
    Json current = todos;
    for (const ToolCall &call : ai.toolCalls) {
        for (Json &action : actionsOf(call, current))
            actions.push_back(std::move(action));
        if (call.name == u"write_todos")
            current = memberOf(call.args, "todos");
        if (const Json id = label(toJson(call.id)); !id.is_null())
            ids.push_back(id);
    }
    return Json{{"version", 1},
                {"kind", kindOf(ai, actions)},
                {"shared_attribution", actions.size() > 1},
                {"tool_call_ids", ids},
                {"actions", actions}};
}

} // namespace paddock
