// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"

namespace paddock {

/// Innermost: one system message per request, since strict providers take no second one (runtime §4.14). Request only;
/// the state is never changed.
class SystemMessageCoalescingMiddleware : public Middleware
{
public:
    QString name() const override { return QStringLiteral("SystemMessageCoalescingMiddleware"); }
    Hooks hooks() const override { return Hook::WrapModelCall; }
    Task<Result<ModelResponse>> wrapModelCall(ModelCall call, ModelNext next) override;

    /// False when nothing was to do; then the request is untouched.
    static bool coalesce(ModelRequest &request);
};

} // namespace paddock
