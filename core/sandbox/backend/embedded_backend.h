// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandbox/backend/bwrap_args.h"
#include "core/sandbox/backend/sandbox_backend.h"

#include <functional>

namespace paddock {

struct EmbeddedOptions {
    QString serverProgram;  ///< paddock-sandboxd; empty: beside our own program, else in ../lib/paddock, else in PATH
    QString bubblewrap;     ///< empty: "bwrap" in PATH
    QString runtimeDir;     ///< for sockets; empty: $XDG_RUNTIME_DIR/paddock, else a private folder in the temporary one
    int sessionLimit = 10;  ///< MAX_SHELL_SESSIONS in force (session_capacity.h)
    bool hostNetwork = false;
    SandboxLimits limits;
    QMap<QString, QString> environment; ///< sandbox.environment; values may be secrets
    /// The host folders of a thread, created and checked. Called on the backend's loop.
    std::function<Result<SandboxFolders>(const ThreadKey &key)> folders;
};

/// One paddock-sandboxd inside one bubblewrap per sandbox (sandbox.md §7, design.md §6). Killing the namespace's first
/// process kills everything in the sandbox, so stop() leaves nothing, and a supervisor that dies takes it along: the guard
/// around bubblewrap sees a pipe close and kills what there is. Never falls back to less isolation.
class EmbeddedBackend final : public SandboxBackend
{
public:
    explicit EmbeddedBackend(EmbeddedOptions options);
    ~EmbeddedBackend() override;

    QString name() const override { return QStringLiteral("embedded"); }
    int sessionLimit() const override;
    Task<Result<std::shared_ptr<SandboxInstance>>> start(SandboxId id, ThreadKey key, LoopRef loop, std::stop_token stop) override;

    struct State;

private:
    std::shared_ptr<State> m_state;
};

/// Starts and ends an empty sandbox: says whether this system can isolate, and if not why and what to do. For `doctor`.
Task<Result<void>> checkIsolation(QString bubblewrap, std::stop_token stop);
/// "bwrap" in PATH or a sentence that names the package.
Result<QString> findBubblewrap(const QString &configured);
Result<QString> findServerProgram(const QString &configured);

} // namespace paddock
