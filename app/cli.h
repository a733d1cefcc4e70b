// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QStringList>

namespace paddock::cli {

/// Exit codes of design.md §8.
enum ExitCode { Done = 0, Failed = 1, Usage = 2, CancelledByPerson = 130 };

/// One subcommand; `arguments` are those after its name. Runs its own event loop when it needs one; returns the exit code.
int run(const QStringList &arguments);
int show(const QStringList &arguments);
int exportRun(const QStringList &arguments);
int scenario(const QStringList &arguments);
int sandbox(const QStringList &arguments);
int doctor(const QStringList &arguments);

/// Writes a line to standard error / standard output (UTF-8).
void say(const QString &line);
void print(const QString &line);

} // namespace paddock::cli
