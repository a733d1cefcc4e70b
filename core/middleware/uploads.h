// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"

namespace paddock {

/// Tells the model which files came with the newest message (runtime §5.10). The person's own words stay in
/// kwargs.original_user_content.
class UploadsMiddleware : public Middleware
{
public:
    struct Options {
        QString baseDir; ///< {base} of thread data
        QString workspaceOverride;
    };
    explicit UploadsMiddleware(Options options) : m_options(std::move(options)) {}

    QString name() const override { return QStringLiteral("UploadsMiddleware"); }
    Hooks hooks() const override { return Hook::BeforeAgent; }
    Task<Result<StateUpdate>> beforeAgent(AgentState state, RuntimePtr runtime) override;

private:
    const Options m_options;
};

} // namespace paddock
