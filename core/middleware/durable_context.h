// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"
#include "core/middleware/skill_context.h"

namespace paddock {

struct DurableContextOptions {
    QString skillsRoot = QStringLiteral("/mnt/skills");
    QStringList skillReadTools = defaultSkillReadTools();
    std::function<QString(const QString &)> redact; ///< over the summary, before it is cut; absent: as it is
};

/// Keeps what compaction would lose (runtime §4.11): notes delegations and loaded skills in the state, and shows them with the
/// summary to the model in every request, behind the leading system messages. What is shown is data of this request only; the
/// state's messages never hold it. Without state of its own.
class DurableContextMiddleware : public Middleware
{
public:
    explicit DurableContextMiddleware(DurableContextOptions options = {}) : m_options(std::move(options)) {}

    QString name() const override { return QStringLiteral("DurableContextMiddleware"); }
    Hooks hooks() const override { return Hook::BeforeModel | Hook::WrapModelCall | Hook::AfterModel; }
    Task<Result<StateUpdate>> beforeModel(AgentState state, RuntimePtr runtime) override;
    Task<Result<ModelResponse>> wrapModelCall(ModelCall call, ModelNext next) override;
    Task<Result<StateUpdate>> afterModel(AgentState state, RuntimePtr runtime) override;

    /// What a request shows of the state's channels; the same list when that is nothing.
    static MessageList inject(const MessageList &messages, const Json &channels, const DurableContextOptions &options);

private:
    const DurableContextOptions m_options;
};

} // namespace paddock
