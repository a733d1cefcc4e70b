// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QString>

#include <functional>
#include <vector>

namespace paddock {

/// One finding of `paddock doctor`: what was looked at, how it stands, and what to do when it does not stand well.
struct DoctorFinding {
    enum class State { Good, Note, Bad } state = State::Good;
    QString what;
    QString found;
    QString advice; ///< empty when there is nothing to do
};

/// Looks at this machine: bubblewrap and namespaces (by really starting one), the sandbox server, the filter of system calls
/// (by really loading it), data directory, journal, configuration, container engines. Blocking, bounded to some seconds; for the command line and a pool thread.
std::vector<DoctorFinding> examineMachine(const QString &configPath, const QString &dataDir);

} // namespace paddock
