// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/json.h"

#include <QStringList>

namespace paddock {

// What a model put into `ask_clarification`, as something a person can be shown (runtime §5.9). Any shape comes in; pure.

/// Labels to choose from: JSON text parsed, leaves of an object taken, markup removed, trimmed, no blanks, each once.
QStringList clarificationOptions(const Json &raw);

/// The fields of a form as {name, label, type, required, options?, placeholder?}; any structural fault drops the whole form,
/// for a form that lacks a field would look complete.
Json clarificationFields(const Json &raw);

struct ClarificationRequest {
    QString id;   ///< "clarification:<call id>", or of a digest of the text
    QString text; ///< the question with its options or fields, for places that know no form
    Json payload; ///< human_input_request
};
ClarificationRequest clarificationRequest(const Json &args, const QString &callId);
/// The id of the tool message of a call; `text` serves when the call has none.
QString clarificationId(const QString &callId, const QString &text);

} // namespace paddock
