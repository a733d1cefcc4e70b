// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

// The only file that includes libmicrohttpd.
#include <microhttpd.h>

#include <memory>

namespace paddock::sandboxd {

struct MhdDaemonDeleter {
    void operator()(MHD_Daemon *daemon) const { MHD_stop_daemon(daemon); }
};
using MhdDaemonPtr = std::unique_ptr<MHD_Daemon, MhdDaemonDeleter>;

/// The library counts references to replies: queueing adds one, this drops ours.
struct MhdResponseDeleter {
    void operator()(MHD_Response *response) const { MHD_destroy_response(response); }
};
using MhdResponsePtr = std::unique_ptr<MHD_Response, MhdResponseDeleter>;

} // namespace paddock::sandboxd
