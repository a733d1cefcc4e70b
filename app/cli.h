// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"

#include <QCommandLineParser>
#include <QStringList>

#include <optional>

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
int chain(const QStringList &arguments);

/// What the person named or configured wrongly is usage; what the machine or the stored data refuses is a failure.
int exitCodeOf(const Error &error);

/// Writes a line to standard error / standard output (UTF-8).
void say(const QString &line);
void print(const QString &line);
/// Why standard output took no more lines; empty while it works, and when a reader just went away (`| head`).
QString outputProblem();

/// What the help of a subcommand needs besides its options.
struct CommandForm {
    QString command;              ///< "paddock run"
    int fewestArguments = 0;      ///< besides options
    int mostArguments = 0;
    QString examples;             ///< lines, indented by two
    QList<QCommandLineOption> options;
};
/// Parses the arguments of a subcommand. Nothing: go on. Else the exit code: the help was asked for and is printed, or
/// the complaint is said, with the nearest option where one is near.
std::optional<int> parseOptions(QCommandLineParser &parser, const CommandForm &form, const QStringList &arguments);

/// Options that several commands have.
QCommandLineOption helpOption();
QCommandLineOption configOption();
QCommandLineOption dataDirOption();
/// What is wrong with how often, or with what, an option was given: one value is one value, and an empty name is no file or
/// folder. Empty when nothing is.
QString complaintOfValues(const QCommandLineParser &parser, const QList<QCommandLineOption> &options);

} // namespace paddock::cli
