// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/json.h"

#include <QString>

namespace paddock {

/// tool.started
struct ToolStarted {
    QString call;
    QString name;
    Json args;
    int turn = 0;
};

/// tool.finished
struct ToolFinished {
    QString call;
    QString name;
    QString status;  ///< success, error, cancelled
    qint64 durationMs = 0;
    qint64 bytes = 0; ///< of the result's text in UTF-8
    QString preview;  ///< the first part of the result for folded views, or who or what cancelled it; at most 400 code points
    QString message;  ///< content hash of the whole result message, when the journal keeps it
};

} // namespace paddock
