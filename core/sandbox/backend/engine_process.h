// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/base/task.h"

#include <QByteArray>
#include <QMap>
#include <QStringList>

#include <chrono>
#include <stop_token>

namespace paddock {

/// One call of a container engine's program.
struct EngineCall {
    QStringList command;                 ///< program and arguments; no secrets in it
    QMap<QString, QString> environment;  ///< in addition to our own; values may be secrets
    std::chrono::milliseconds timeout{0};
};

struct EngineOutput {
    int exitCode = 0;
    QByteArray out;
    QByteArray err; ///< the last bytes
    QString errText() const { return QString::fromUtf8(err).trimmed(); }
};

inline constexpr qsizetype maxEngineOutput = 4 * 1024 * 1024; ///< more than that ends the call with an error
inline constexpr qsizetype maxEngineErrors = 16 * 1024;       ///< the last ones are kept

/// Runs the program on the calling thread's loop without ever blocking it. At the time limit, at too much output and when
/// stop is requested the program and its process group are killed; it is gone when this returns. A program that ended by
/// itself is a result whatever its exit code. Errors: Unavailable (cannot be started, or died of a signal), Timeout,
/// ResourceExhausted, Cancelled.
Task<Result<EngineOutput>> runEngineProgram(EngineCall call, std::stop_token stop);

} // namespace paddock
