// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/llm/chat_model.h"
#include "core/llm/scenario.h"
#include "core/llm/scenario_text.h"

namespace paddock {

/// A request that is not what the script foresaw: "expected …, got …".
struct Divergence {
    QString expected;
    QString got;
};

/// Does `request` contain what `expect` asks for? Patterns are filled in with escaped values first.
std::optional<Divergence> checkExpectations(const ScenarioExpect &expect, const ModelRequest &request, const NameLookup &lookup);

/// Searches `pattern` in the tool results with these call ids; the first group, or the whole match without groups.
Result<QString> captureFrom(const QString &pattern, const QStringList &callIds, const ModelRequest &request,
                            const NameLookup &lookup);

/// The text of the newest tool message with this call id.
std::optional<QString> toolResultText(const MessageList &messages, const QString &callId);

} // namespace paddock
