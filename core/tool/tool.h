// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/event/event_bus.h"
#include "core/message/state.h"
#include "core/message/tool_spec.h"
#include "core/sandbox/sandbox_access.h"

#include <functional>
#include <memory>
#include <optional>
#include <variant>

namespace paddock {

/// What one execution (lead or subagent) carries besides its state; made per execution, shared by its hooks and tools.
/// Lives on the execution's loop and is touched only there.
struct RuntimeContext {
    Json values = Json::object(); ///< thread_id, user_id, run_id, channel_user_id, is_subagent, agent_id, … (runtime §1.5)
    EventSink events;
    std::shared_ptr<SandboxAccess> sandbox;
    std::shared_ptr<const Clock> clock = Clock::system();
    std::stop_token stop;
    int turn = 0; ///< current model turn, 1-based
    /// A model call that a member of the chain made for itself ("middleware:title") has ended; may be empty.
    std::function<void(const QString &caller, const MessagePtr &reply)> onSideReply = {};
};
using RuntimePtr = std::shared_ptr<RuntimeContext>;

/// A state update that a tool returns instead of a plain message (middleware-base §1.8); `end` stops the run after the batch.
struct Command {
    StateUpdate update;
    bool end = false;
};

/// What comes out of a tool call: its message, or a command that carries it.
using ToolOutcome = std::variant<MessagePtr, Command>;

/// In the kwargs of a tool's message: how many characters the tool had to leave out of its text.
inline constexpr auto missingCharsKey = "missing_chars";

struct ToolCallContext {
    RuntimePtr runtime;
    AgentState state; ///< as of the start of the tool step
    ToolCall call;
    std::stop_token stop;
};

/// That a tool comes from an MCP server; only such a tool can be deferred (runtime §4.6).
struct McpOrigin {
    QString server;
    Json routing = Json::object(); ///< {mode: off | prefer, priority, keywords}
};

/// One tool. Shared by all executions of a process; must be stateless or guard its state. A failure that the model may
/// act on is a normal outcome with status Error and a text that starts "Error: "; an Error result is for what ends
/// the call otherwise (cancellation, internal faults).
class Tool
{
public:
    virtual ~Tool() = default;
    virtual ToolSpec spec() const = 0;
    virtual bool returnsDirectly() const { return false; }
    virtual std::optional<McpOrigin> mcp() const { return std::nullopt; }
    virtual Task<Result<ToolOutcome>> call(ToolCallContext context) = 0;
};

using ToolPtr = std::shared_ptr<Tool>;

/// Checks `args` against the JSON Schema subset our tools use (type, properties, required, enum, items, minimum, maximum,
/// additionalProperties) and fills defaults. The error text is the validation part of middleware-base §1.9.
Result<Json> checkArguments(const ToolSpec &spec, const Json &args);

} // namespace paddock
