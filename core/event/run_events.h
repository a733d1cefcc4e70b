// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/message/message.h"

#include <QString>

#include <optional>

namespace paddock {

/// run.started
struct RunStarted {
    QString thread;
    QString task;
    QString model;
    QString sandbox;   ///< "embedded", "local", "container", "provisioner"
    QString workspace; ///< the folder as the person named it; shown to people, never to models
    std::optional<QString> channelUserId;
};

/// run.finished
struct RunFinished {
    QString status; ///< completed, failed, cancelled, interrupted
    QString answer;
    std::optional<QString> error;
    Usage usage;
};

} // namespace paddock
