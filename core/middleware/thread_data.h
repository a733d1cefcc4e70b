// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"
#include "core/sandbox/thread_paths.h"

namespace paddock {

/// The thread and the person a run belongs to; an error without a thread id.
Result<ThreadKey> threadOf(const RuntimeContext &runtime);

/// Publishes the thread's host directories (channel thread_data, never shown to a model) and stamps the turn's human
/// message with run_id and timestamp (middleware-base §7). A missing thread id ends the run.
class ThreadDataMiddleware : public Middleware
{
public:
    struct Options {
        QString baseDir;
        QString workspaceOverride; ///< a folder the person named
        bool lazyInit = true;      ///< false: create the directories
    };
    explicit ThreadDataMiddleware(Options options) : m_options(std::move(options)) {}

    QString name() const override { return QStringLiteral("ThreadDataMiddleware"); }
    Hooks hooks() const override { return Hook::BeforeAgent; }
    Task<Result<StateUpdate>> beforeAgent(AgentState state, RuntimePtr runtime) override;

private:
    const Options m_options;
};

} // namespace paddock
