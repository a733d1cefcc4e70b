// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/tool/lead_tools.h"

namespace paddock {

namespace {

Json text(const char *description)
{
    return Json{{"type", "string"}, {"description", description}};
}

class ClarificationTool : public Tool
{
public:
    ToolSpec spec() const override
    {
        ToolSpec spec;
        spec.name = QStringLiteral("ask_clarification");
        spec.description = QStringLiteral("Ask the person before you go on: when information is missing, a request can be read in two ways, there are "
                                          "several ways to do it, or a step is risky. Ask one question at a time and make no other calls beside it; "
                                          "your turn ends with the question. Not for what you can find out yourself.");
        Json type = text("Why you ask.");
        type["enum"] = Json::array({"missing_info", "ambiguous_requirement", "approach_choice", "risk_confirmation", "suggestion"});
        Json options{{"type", "array"}, {"items", {{"type", "string"}}}, {"description", "Answers to choose from."}};
        Json field{{"type", "object"},
                   {"properties",
                    {{"name", text("Unique, without blanks.")},
                     {"label", text("What the person reads.")},
                     {"type", text("text, textarea, number, select, multi_select, checkbox or date.")},
                     {"required", {{"type", "boolean"}}},
                     {"options", {{"type", "array"}, {"items", {{"type", "string"}}}}},
                     {"placeholder", text("An example.")}}},
                   {"required", Json::array({"name"})}};
        Json fields{{"type", "array"}, {"items", field}, {"description", "A form, when several values are needed at once; at most 16 fields."}};
        spec.parameters = Json{{"type", "object"},
                               {"properties",
                                {{"question", text("The question, as the person will read it.")},
                                 {"clarification_type", type},
                                 {"context", text("Why the answer matters, in a sentence.")},
                                 {"options", options},
                                 {"fields", fields}}},
                               {"required", Json::array({"question", "clarification_type"})}};
        return spec;
    }

    Task<Result<ToolOutcome>> call(ToolCallContext context) override
    {
        co_return ToolOutcome(toolMessage(context.call.id, context.call.name,
                                          QStringLiteral("Error: nobody can be asked here. Decide with your best judgement."), ToolStatus::Error));
    }
};

class TodoTool : public Tool
{
public:
    ToolSpec spec() const override
    {
        ToolSpec spec;
        spec.name = QStringLiteral("write_todos");
        spec.description = QStringLiteral("Write the list of what is to be done for a larger task, and keep it up to date. Each call replaces the whole "
                                          "list. Have one item in_progress; mark items completed as soon as they are.");
        Json status = text("State of the item.");
        status["enum"] = Json::array({"pending", "in_progress", "completed"});
        const Json item{{"type", "object"},
                        {"properties", {{"content", text("What is to be done.")}, {"status", status}}},
                        {"required", Json::array({"content", "status"})}};
        spec.parameters = Json{{"type", "object"},
                               {"properties", {{"todos", {{"type", "array"}, {"items", item}, {"description", "The whole list."}}}}},
                               {"required", Json::array({"todos"})}};
        return spec;
    }

    Task<Result<ToolOutcome>> call(ToolCallContext context) override
    {
        const Json &todos = memberOf(context.call.args, "todos");
        Command command;
        command.update.channels["todos"] = todos.is_array() ? todos : Json::array();
        command.update.messages.push_back(toolMessage(context.call.id, context.call.name,
                                                      QStringLiteral("Updated the todo list: ") + QString::fromUtf8(dumpJson(todos))));
        co_return ToolOutcome(command);
    }
};

} // namespace

ToolPtr makeClarificationTool()
{
    return std::make_shared<ClarificationTool>();
}

ToolPtr makeTodoTool()
{
    return std::make_shared<TodoTool>();
}

} // namespace paddock
