// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/message/message.h"
#include "core/message/message_list.h"

#include <QString>
#include <QStringList>

#include <optional>

namespace paddock {

/// model.request
struct ModelRequested {
    int turn = 0;
    QString model;
    int messages = 0;
    QStringList tools;
    QStringList messageHashes; ///< what the model saw, by content hash, in order
};

/// model.delta: a piece of a streaming reply; may be coalesced
struct ModelDelta {
    int turn = 0;
    QString text;
    bool reasoning = false;
};

/// model.response
struct ModelResponded {
    int turn = 0;
    Usage usage;
    QString finishReason;
    qint64 durationMs = 0;
    MessagePtr message; ///< the reply; the JSONL form carries text and tool calls
};

/// model.error; `willRetryIn` is absent when the call is given up
struct ModelFailed {
    int turn = 0;
    QString errorClass;
    QString error;
    int attempt = 1;
    std::optional<qint64> willRetryInMs;
};

} // namespace paddock
