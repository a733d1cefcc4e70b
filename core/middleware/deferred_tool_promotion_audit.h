// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/deferred_options.h"
#include "core/middleware/middleware.h"

namespace paddock {

/// Records which deferred tools a search made callable (runtime §4.2). Only looks: what passes is unchanged. Stands outside
/// the skill policy, so that names the policy took away are not reported. On its chain's loop.
class DeferredToolPromotionAuditMiddleware : public Middleware
{
public:
    explicit DeferredToolPromotionAuditMiddleware(DeferredOptions options);

    QString name() const override { return QStringLiteral("DeferredToolPromotionAuditMiddleware"); }
    Hooks hooks() const override { return Hook::WrapToolCall; }
    Task<Result<ToolOutcome>> wrapToolCall(ToolCallRequest request, ToolNext next) override;

private:
    const std::shared_ptr<const DeferredOptions> m_options;
};

} // namespace paddock
