// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/sandbox.h"

#include "core/sandbox/virtual_paths.h"

namespace paddock {

namespace {

std::unexpected<Error> noShells()
{
    return fail(ErrorCode::Unsupported, QStringLiteral("This sandbox has no shell sessions to attach to."));
}

} // namespace

Task<QString> Sandbox::lockPath(QString path)
{
    co_return normalizeVirtualPath(path);
}

bool Sandbox::isSuspect() const
{
    return false;
}

Task<bool> Sandbox::isThere(std::stop_token)
{
    co_return true;
}

SessionId Sandbox::sessionOf(const ScopeId &) const
{
    return {};
}

std::unique_ptr<ShellObserver> Sandbox::observeShell(const SessionId &)
{
    return nullptr;
}

Task<Result<void>> Sandbox::typeIntoShell(SessionId, QByteArray, std::stop_token)
{
    co_return noShells();
}

Task<Result<void>> Sandbox::resizeShell(SessionId, int, int, std::stop_token)
{
    co_return noShells();
}

Task<Result<void>> Sandbox::interruptShell(SessionId, std::stop_token)
{
    co_return noShells();
}

void Sandbox::noteForNextResult(const ScopeId &, const QString &) {}

void SandboxProvider::setFaults(const ThreadKey &, std::shared_ptr<FaultPlan>) {}

} // namespace paddock
