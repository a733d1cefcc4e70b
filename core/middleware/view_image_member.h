// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"

namespace paddock {

/// Shows a model that sees the images it viewed: after a finished view_image call one hidden message with their bytes
/// joins the request, never the state (runtime §4.4, D4). On its chain's loop; files are read on the pool.
class ViewImageMiddleware : public Middleware
{
public:
    QString name() const override { return QStringLiteral("ViewImageMiddleware"); }
    Hooks hooks() const override { return Hook::WrapModelCall; }
    Task<Result<ModelResponse>> wrapModelCall(ModelCall call, ModelNext next) override;
};

} // namespace paddock
