// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

namespace paddock::sandboxd {

/// From now on this process and its children, for good, reach only those abstract Unix sockets that they made: a sandbox with
/// the host's network would otherwise reach the desktop's X server and message bus. Before any thread is started. False where
/// the kernel has no Landlock with scopes (before 6.12).
bool scopeAbstractSockets();

} // namespace paddock::sandboxd
