// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QString>

namespace paddock {

/// trust.changed
struct TrustChanged {
    bool hostBash = false;
    QString scope; ///< run, session, folder
    QString by;
};

/// config.loaded
struct ConfigLoaded {
    QString path; ///< empty for built-in defaults
    QString sha256;
    int warnings = 0;
};

/// log
struct LogRecorded {
    QString level; ///< debug, info, warning, error
    QString text;
    bool madeByPerson = false; ///< e.g. an edit at a breakpoint
};

} // namespace paddock
