// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/json.h"

#include <QMap>
#include <QString>

#include <functional>

namespace paddock {

// Secrets of a run on their way into a command and never out of it (sandbox.md §10). Pure.

inline constexpr qsizetype minMaskedSecretChars = 8; ///< shorter values are too likely to be ordinary text

/// Where the overlay's values may come from besides the run context.
struct SecretSources {
    /// Instead of the context's `github_token` string; a failing one returns nothing and logs without the value.
    std::function<QString()> githubToken;
    QMap<QString, QString> integrationEnv; ///< for commands that call lark-cli as a word
};

/// The environment that one command gets on top: active skill secrets, then GitHub tokens, then integration variables;
/// later wins. Empty when there is none.
QMap<QString, QString> secretOverlay(const Json &context, const QString &command, const SecretSources &sources = {});
/// Every value of at least minMaskedSecretChars replaced by "[redacted]", the longest first.
QString maskSecrets(const QString &text, const QMap<QString, QString> &env);
/// The context without the keys that must never be serialised.
Json redactContext(const Json &context);

} // namespace paddock
