// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/message/message.h"

#include <QStringList>

#include <optional>
#include <vector>

namespace paddock {

/// One way in which a provider says that it cut an answer short: a field of the metadata and the values that count, in any
/// case (runtime §4.10, §5.8).
struct TerminationDetector {
    QString name;
    QString field;        ///< finish_reason or stop_reason
    QStringList values;
    QString extras;       ///< a field of the metadata that says more; may be empty
};

struct Termination {
    QString detector;
    QString field;
    QString value; ///< as the provider wrote it
    Json extras = Json::object();
};

/// The first detector that matches. Metadata is read from response_metadata, then from kwargs; only non-empty strings.
std::optional<Termination> detectTermination(const Message &ai, const std::vector<TerminationDetector> &detectors);

/// The provider's safety filter ended the answer.
const std::vector<TerminationDetector> &safetyDetectors();
/// The answer hit the output limit.
const std::vector<TerminationDetector> &lengthDetectors();

/// `safety_finish_reason.detectors`: null gives the built-in ones; a list of names or of {use, config}, where `use` is a name
/// or an upstream class path and `config` may give {finish_reasons} or {stop_reasons}. An empty list is an error.
Result<std::vector<TerminationDetector>> safetyDetectorsFrom(const Json &list);

} // namespace paddock
