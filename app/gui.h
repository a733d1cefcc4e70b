// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QSize>
#include <QString>
#include <QStringList>

#include <optional>

namespace paddock {

/// What the window is asked for on the command line.
struct GuiOptions {
    QString openRun;      ///< id, its beginning, or "last"
    bool sample = false;  ///< starts the sample run at once
    QString scenario;     ///< starts this scenario at once
    QString task;
    QString workspace;
    QString configPath;
    QString dataDir;
    QString theme;        ///< dark, light, or empty for the kept choice
    std::optional<QSize> size;
    QString screenshot;   ///< writes a PNG of the window or of `panel` and quits; layout and settings stay untouched
    QString panel;        ///< runs, approvals, conversation, trace, messages, leases, inspector, shells, workspace
    int momentMs = -1;    ///< screenshot so long after the run began; -1: when it has ended
};

/// Shows the window and runs until it is closed; returns the exit code. Makes the QApplication. Call on the main thread.
int runGui(int &argc, char **argv, const GuiOptions &options);

/// The same from command-line words (`--open RUN`, `--sample`, `--screenshot OUT.png`, …); usage errors are exit code 2.
int runWindow(int &argc, char **argv, const QStringList &arguments);

} // namespace paddock
