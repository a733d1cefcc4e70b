// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/json.h"

namespace paddock {

// What the message of a `task` call says in its kwargs, as everyone may read it (runtime §2.6). Pure functions.

/// A validated reading: {status, result_brief?, result_sha256?, error?, stop_reason?, model_name?, token_usage?}, or null.
Json readReport(const Json &kwargs);

/// What is said of each status when there is no detail; empty: not a status.
QString reportDefault(const QString &status);
/// The words for a stop reason; empty: not one.
QString reportCapLabel(const QString &reason);
/// The three counts, or null when they are not all counts.
Json reportUsage(const Json &usage);

} // namespace paddock
