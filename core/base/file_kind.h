// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QString>

#include <sys/types.h>

namespace paddock {

/// What a file is that is neither a regular file nor a folder nor a link, for a sentence: "a named pipe (FIFO)", "a socket",
/// "a character device", "a block device"; empty for the others. Reading one of these may wait for ever or never end.
QString specialFileKind(mode_t mode);

} // namespace paddock
