// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandbox/aio/env_exec.h"
#include "core/sandbox/aio/scoped_shells.h"
#include "core/sandbox/sandbox.h"

#include <atomic>

namespace paddock::aio {

/// A sandbox behind the AIO API, whatever backend started it. Thread-safe; shared by the lead and all subagents of a thread.
class AioSandbox final : public Sandbox
{
public:
    AioSandbox(SandboxId id, AioClient client, ShellOptions options);
    ~AioSandbox() override;

    SandboxId id() const override { return m_id; }
    bool isLocal() const override { return false; }
    Task<Result<CommandResult>> execute(CommandRequest request, std::stop_token stop) override;
    Task<Result<QString>> readFile(QString path, std::stop_token stop) override;
    Task<Result<QByteArray>> readBytes(QString path, qint64 maxBytes, std::stop_token stop) override;
    Task<Result<FileWritten>> writeFile(QString path, QString content, bool append, std::stop_token stop) override;
    Task<Result<FileWritten>> writeBytes(QString path, QByteArray content, std::stop_token stop) override;
    Task<Result<QStringList>> listDir(QString path, int depth, std::stop_token stop) override;
    Task<Result<GlobResult>> glob(QString path, QString pattern, bool includeDirs, int maxResults, std::stop_token stop) override;
    Task<Result<GrepResult>> grep(GrepQuery query, std::stop_token stop) override;
    Task<> releaseCommandScope(ScopeId scope) override;
    bool isSuspect() const override { return m_client.isSuspect(); }
    Task<bool> isThere(std::stop_token stop) override;

    SessionId sessionOf(const ScopeId &scope) const override;
    std::unique_ptr<ShellObserver> observeShell(const SessionId &session) override;
    Task<Result<void>> typeIntoShell(SessionId session, QByteArray bytes, std::stop_token stop) override;
    Task<Result<void>> resizeShell(SessionId session, int columns, int rows, std::stop_token stop) override;
    Task<Result<void>> interruptShell(SessionId session, std::stop_token stop) override;
    void noteForNextResult(const ScopeId &scope, const QString &line) override;

    /// Ends all scopes and closes the connections; afterwards every call fails with "sandbox client is closed".
    Task<> close();
    bool quarantined() const { return m_shells.quarantined(); }
    /// isThere() came to no.
    bool isLost() const { return *m_lost; }
    ScopeNotes notesForSuccessor() const { return m_shells.notesForSuccessor(); }
    /// It takes the place of one that is gone: whoever had a shell there is told with its next result.
    void inherit(ScopeNotes notes) { m_shells.inherit(std::move(notes)); }
    void setFaults(std::shared_ptr<FaultPlan> faults) { m_faults->set(std::move(faults)); }

private:
    struct Typing;
    const SandboxId m_id;
    const AioClient m_client;
    const std::shared_ptr<FaultSlot> m_faults;
    ScopedShells m_shells;
    EnvExec m_envExec;
    const std::shared_ptr<Typing> m_typing;
    const std::shared_ptr<std::atomic<bool>> m_lost = std::make_shared<std::atomic<bool>>(false);
};

} // namespace paddock::aio
