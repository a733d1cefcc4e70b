// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/base/task.h"
#include "core/message/message_list.h"
#include "core/message/tool_spec.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace paddock {

/// Who asks; scripted models choose their agent by it, real ones ignore it.
struct ModelCaller {
    QString run;
    QString agent;         ///< "lead" or "subagent:<task_id>"
    QString subagentType;  ///< empty for the lead
    QString prompt;        ///< the task message
    int turn = 1;          ///< 1-based model turn of this agent
};

struct ModelRequest {
    QString model;
    MessagePtr system; ///< kept apart; sent first; may be null
    MessageList messages;
    std::vector<ToolSpec> tools;
    Json toolChoice;
    Json settings = Json::object();
    ModelCaller caller;
    QString provider; ///< who serves the model; circuit key together with its name
};

struct ModelDeltaPiece {
    QString text;
    bool reasoning = false;
};
/// Called on the loop of the call, in order; must not block.
using DeltaSink = std::function<void(const ModelDeltaPiece &)>;

/// A chat model. Calls run on the caller's loop; several may be open at once. A failure is an Error whose details carry
/// {cls, status?, code?, body?, headers?} (middleware-base §10.1). The reply is one ai message with `usage` when known and
/// responseMetadata {model_name, finish_reason}.
class ChatModel
{
public:
    virtual ~ChatModel() = default;
    virtual QString name() const = 0;
    virtual QString provider() const = 0; ///< circuit key together with the name
    virtual Task<Result<MessagePtr>> complete(ModelRequest request, DeltaSink onDelta, std::stop_token stop) = 0;
};

} // namespace paddock
