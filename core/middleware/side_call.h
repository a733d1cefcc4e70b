// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"

namespace paddock {

/// How a member gets a model by its configured name.
using ModelMaker = std::function<Result<std::shared_ptr<ChatModel>>(const QString &name)>;

/// A model call that a member makes for itself, beside the agent's own: not in the message stream, no turn of the agent.
struct SideCall {
    QString member; ///< "title", "summarize": the caller is "middleware:<member>"
    QString model;  ///< as configured
    QString prompt;
    std::chrono::seconds limit{20};
};

/// The text of the answer. Ends at the limit and on runtime->stop; what a model throws becomes an error.
Task<Result<QString>> askAside(ModelMaker maker, SideCall call, RuntimePtr runtime);

} // namespace paddock
