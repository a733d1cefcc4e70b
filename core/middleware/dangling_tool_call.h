// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"

#include <functional>

namespace paddock {

/// Rebuilds the history that a model is sent so that strict providers accept it: every tool call answered directly
/// behind its ai message, no orphan results, usable ids, names and arguments (middleware-base §9). Request only; an
/// internal error passes the original.
class DanglingToolCallMiddleware : public Middleware
{
public:
    QString name() const override { return QStringLiteral("DanglingToolCallMiddleware"); }
    Hooks hooks() const override { return Hook::WrapModelCall; }
    Task<Result<ModelResponse>> wrapModelCall(ModelCall call, ModelNext next) override;

    /// The repaired list; the same list (isSameAs) when nothing was wrong.
    static MessageList patch(const MessageList &messages);
};

} // namespace paddock
