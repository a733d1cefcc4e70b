// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/message/message_list.h"

#include <QString>
#include <QStringList>

#include <optional>

namespace paddock {

/// One edit that a hook made to the messages; contents by hash, kept in the journal's blobs.
struct SpanChange {
    QString kind; ///< added, removed, edited, moved
    int before = -1;
    int after = -1;
    QString messageId;
    QString beforeHash; ///< empty when added
    QString afterHash;  ///< empty when removed
};

/// middleware.span: one hook of one middleware ran (traced from outside, design.md §5)
struct MiddlewareSpan {
    QString name;  ///< snake_case name of the middleware, e.g. "tool_output_budget"
    QString hook;  ///< before_agent, before_model, wrap_model_call, after_model, wrap_tool_call, after_agent
    int turn = 0;
    int index = 0; ///< place in the chain, outermost first
    qint64 startUs = 0; ///< monotonic
    qint64 durationUs = 0;
    QString call;  ///< tool call id for wrap_tool_call
    int added = 0;
    int removed = 0;
    int edited = 0;
    QStringList stateKeys;
    qint64 tokens = 0; ///< estimated tokens added (positive) or removed
    bool persistent = true; ///< false: a request-only edit, what the model saw rather than what is stored
    std::vector<SpanChange> changes;
    std::optional<QString> error;
};

} // namespace paddock
