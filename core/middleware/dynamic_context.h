// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"

namespace paddock {

/// The date, and what is remembered of the person, in front of the newest message of a conversation, once (runtime §5.1). On
/// another day the date again, alone. The message itself moves behind them under a new id.
class DynamicContextMiddleware : public Middleware
{
public:
    struct Options {
        QString timezone;         ///< IANA name; empty or invalid: local
        bool injectMemory = true; ///< memory.injection_enabled
        /// The block of what is remembered, "" for nothing. Absent: there is no memory.
        std::function<Task<Result<QString>>(RuntimePtr, std::stop_token)> memory;
    };
    explicit DynamicContextMiddleware(Options options) : m_options(std::move(options)) {}

    QString name() const override { return QStringLiteral("DynamicContextMiddleware"); }
    Hooks hooks() const override { return Hook::BeforeAgent; }
    Task<Result<StateUpdate>> beforeAgent(AgentState state, RuntimePtr runtime) override;

    /// The messages that replace the target, or none. `memory` counts only when no date was given yet.
    static std::vector<MessagePtr> replacement(const MessageList &messages, const MessagePtr &reminder, const QString &memory);
    /// The date that the conversation was told last; empty when none.
    static QString lastDate(const MessageList &messages);

private:
    const Options m_options;
};

} // namespace paddock
