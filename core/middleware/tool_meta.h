// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/message/message.h"

namespace paddock {

/// What a tool result means for the loop and the guards: deerflow_tool_meta (middleware-base §16). Pure; any thread.
struct ToolMeta {
    QString status = QStringLiteral("success"); ///< success, error, partial_success
    QString errorType;                          ///< empty: null
    bool recoverable = true;
    QString action = QStringLiteral("continue"); ///< continue, rewrite_query, try_alternative, summarize, stop
    QString source;                              ///< exception, tool_return, content_analysis, progress_middleware

    Json toJson() const;
    /// Lenient: absent or odd members keep their defaults.
    static ToolMeta fromJson(const Json &meta);
};

inline constexpr auto toolMetaKey = "deerflow_tool_meta";

/// The attributes of an error text, first matching row of the table.
ToolMeta classifyErrorText(const QString &text, const QString &source);
/// `content` is the string content of the message, empty for any other kind.
ToolMeta classifyToolResult(const QString &content, ToolStatus status, const QString &tool);

} // namespace paddock
