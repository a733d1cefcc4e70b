// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/wire/sandbox_api.h"

#include <QByteArray>
#include <QList>

// What GET /v1/sandbox tells (aio-api.md §1.7), and the environment that sessions start with.
namespace paddock::sandboxd {

/// Gathered once; runs no program, so it costs some milliseconds at most.
wire::SandboxContext sandboxContext(const QByteArray &home, const QByteArray &workspace);
/// The listening TCP ports of this network namespace, as text.
QStringList occupiedPorts();

/// The server's environment without what belongs to the server (keys, descriptors), completed for a shell.
QList<QByteArray> sessionEnvironment(const QByteArray &home);

/// Our OpenAPI document: the routes and little more.
Json openApiDocument(const QList<std::pair<QByteArray, QByteArray>> &routes);

} // namespace paddock::sandboxd
