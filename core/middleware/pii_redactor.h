// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"

#include <QMap>
#include <QString>

namespace paddock {

/// What is redacted and with which secret (middleware-base §6, `pii_redaction`). A value; never logged.
struct PiiOptions {
    bool email = true;
    bool apiKey = true;
    bool creditCard = true;
    bool phone = true;
    bool nationalId = true;
    QString tokenSecret;     ///< key of the placeholders; not blank when redaction is on
    bool failClosed = false; ///< what cannot be searched is withheld rather than passed on
};

/// A text without its personal data; counts by category, never values.
struct RedactedText {
    QString text;
    QMap<QString, int> counts; ///< category ("email", …) -> hits; empty: nothing was found
};

/// Replaces personal data and keys by placeholders (middleware-base §6): deterministic, irreversible, nothing is stored; the
/// same value has the same placeholder everywhere under one secret. Not covered: what agents write, system messages,
/// arguments of tool calls, and the output of local tools. An Error means that the text could not be searched to its
/// end. Pure; any thread.
Result<RedactedText> redactPii(const QString &text, const PiiOptions &options);

inline constexpr auto withheldText = "[content withheld: redaction failed]";
/// For texts that reach a model another way than as a message. What cannot be searched passes, or is withheld with `failClosed`.
QString redactedForModel(const QString &text, const PiiOptions &options);

} // namespace paddock
