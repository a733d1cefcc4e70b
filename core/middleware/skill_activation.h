// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"
#include "core/middleware/skill_options.h"

namespace paddock {

/// "/name …" typed by a person puts that skill's text before the request (runtime §4.1); an unusable name is answered
/// without the model. The text lives in that one request, never in the state. Also binds the request's secrets to the
/// active skills, anew for each call. On its chain's loop; the disk is read on the pool.
class SkillActivationMiddleware : public Middleware
{
public:
    explicit SkillActivationMiddleware(SkillOptions options);

    QString name() const override { return QStringLiteral("SkillActivationMiddleware"); }
    Hooks hooks() const override { return Hook::WrapModelCall; }
    Task<Result<ModelResponse>> wrapModelCall(ModelCall call, ModelNext next) override;

    struct State;

private:
    const std::shared_ptr<State> m_state;
};

} // namespace paddock
