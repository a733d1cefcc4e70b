// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QString>

namespace paddock {

/// The sandbox server program: $PADDOCK_SANDBOXD, else beside this program, else in the search path; empty when there is none.
QString serverBinary();

} // namespace paddock
