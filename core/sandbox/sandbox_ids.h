// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/lease/lease_registry.h"

#include <QString>

#include <optional>

namespace paddock {

// Identifier rules of sandbox.md §1.2, §3.1, §7.2. Pure. A violated rule is InvalidArgument with the spec's text.

Result<void> checkThreadId(const QString &id);
Result<void> checkUserId(const QString &id);
/// An external identity as a user id that is safe as a folder name; the same input gives the same id.
Result<QString> safeUserId(const QString &raw);

/// "local", or it starts with "local:".
bool isLocalSandboxId(const QString &id);
/// "local:<user>:<thread>", or "local" without a thread.
QString localSandboxId(const ThreadKey &key);
std::optional<ThreadKey> parseLocalSandboxId(const QString &id);
/// The deterministic id of an AIO sandbox: 16 hex digits of SHA-256("<user>:<thread>").
QString deterministicSandboxId(const QString &user, const QString &thread);
/// Two threads with one deterministic id: the sandbox of the one is never handed to the other (§7.2).
Error sandboxIdCollision(const SandboxId &id, const ThreadKey &tracked, const ThreadKey &requested);

} // namespace paddock
