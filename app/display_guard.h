// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QtLogging>

namespace paddock {

/// Stands around the making of the QApplication. A display that refuses us makes Qt report a fatal error and abort, with a
/// core dump; with this in place the program says in a sentence what to do instead and ends with exit code 1. Main thread,
/// one at a time.
class DisplayGuard
{
public:
    DisplayGuard();
    ~DisplayGuard();
    DisplayGuard(const DisplayGuard &) = delete;
    DisplayGuard &operator=(const DisplayGuard &) = delete;

private:
    QtMessageHandler m_previous;
};

} // namespace paddock
