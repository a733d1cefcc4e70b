// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/tool/task_tool.h"

#include "core/base/text.h"

namespace paddock {

namespace {

QString taskDescription(const QStringList &available)
{
    return QStringLiteral(
               "Delegate one self-contained assignment to a subagent and wait for its report.\n\n"
               "Work directly by default. Delegate only for a clear net benefit: independent parts that run in parallel, a "
               "specialist's capability, or keeping bulky material out of your own context. A task being long or complex is no "
               "reason by itself.\n\n"
               "- Put everything the subagent must know into `prompt`: it sees nothing of this conversation.\n"
               "- Parallel tasks share this thread's files; give them no overlapping files or state.\n"
               "- A subagent cannot talk to the user.\n"
               "- The result is the subagent's own report: check what matters before you rely on it.\n"
               "- `acceptance_criteria` are completion requirements that can be checked, e.g. \"file "
               "/mnt/user-data/outputs/report.md exists\", \"command `make test` exits 0\".\n\n"
               "Available subagent types: ")
        + (available.isEmpty() ? QStringLiteral("none") : available.join(QStringLiteral(", ")));
}

class TaskTool : public Tool
{
public:
    explicit TaskTool(std::shared_ptr<SubagentDispatcher> dispatcher) : m_dispatcher(std::move(dispatcher)) {}

    ToolSpec spec() const override
    {
        const Json properties{
            {"description", {{"type", "string"}, {"description", "A label of three to five words for this task."}}},
            {"prompt", {{"type", "string"}, {"description", "The whole assignment."}}},
            {"subagent_type", {{"type", "string"}, {"description", "The subagent to use."}}},
            {"acceptance_criteria", {{"type", "array"},
                                     {"items", {{"type", "string"}}},
                                     {"description", "Completion requirements."}}}};
        return {QStringLiteral("task"), taskDescription(m_dispatcher->available()),
                Json{{"type", "object"}, {"properties", properties}, {"required", Json::array({"prompt", "subagent_type"})}}};
    }

    Task<Result<ToolOutcome>> call(ToolCallContext context) override
    {
        const auto dispatcher = m_dispatcher; // it may be replaced while we wait
        co_return co_await dispatcher->dispatch(subagentRequestOf(std::move(context)));
    }

private:
    const std::shared_ptr<SubagentDispatcher> m_dispatcher;
};

} // namespace

SubagentRequest subagentRequestOf(ToolCallContext context)
{
    SubagentRequest request;
    const Json &args = context.call.args;
    request.prompt = stringOf(args, "prompt");
    request.subagentType = pythonStrip(stringOf(args, "subagent_type"));
    request.description = pythonStrip(stringOf(args, "description"));
    if (request.description.isEmpty())
        request.description = request.prompt;
    const Json &criteria = memberOf(args, "acceptance_criteria");
    if (criteria.is_array()) {
        for (const Json &one : criteria) {
            const QString text = pythonStrip(textOf(one));
            if (!text.isEmpty())
                request.acceptanceCriteria << text;
        }
    }
    request.parent = std::move(context);
    return request;
}

ToolPtr makeTaskTool(std::shared_ptr<SubagentDispatcher> dispatcher)
{
    return std::make_shared<TaskTool>(std::move(dispatcher));
}

} // namespace paddock
