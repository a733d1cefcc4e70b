// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandboxd/http_server.h"
#include "core/sandboxd/shell_table.h"

namespace paddock::sandboxd {

/// GET /v1/shell/ws (aio-api.md §6): upgrades the connection and attaches it to a session, new or known.
void openTerminalSocket(Reactor &reactor, ShellTable &shells, const ExchangePtr &exchange);

} // namespace paddock::sandboxd
