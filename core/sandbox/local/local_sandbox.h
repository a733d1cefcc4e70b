// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandbox/local/host_process.h"
#include "core/sandbox/local/local_files.h"
#include "core/sandbox/sandbox.h"

#include <functional>
#include <memory>

namespace paddock {

/// A sandbox that is none: files and commands of the host itself (sandbox.md §3). Commands run only while the person allows
/// them, behind the path guard, which is no boundary. Each command is a fresh shell; nothing survives into the next one.
/// Thread-safe; shared. The processes object must outlive its commands.
class LocalSandbox : public Sandbox
{
public:
    struct Options {
        std::function<bool()> hostBashAllowed; ///< asked at each command, from any thread; null: never
        std::chrono::milliseconds commandTimeout{600000};
        QStringList mcpRoots;
    };

    LocalSandbox(SandboxId id, std::shared_ptr<LocalFiles> files, std::shared_ptr<HostProcesses> processes, Options options);

    SandboxId id() const override { return m_id; }
    bool isLocal() const override { return true; }
    Task<Result<CommandResult>> execute(CommandRequest request, std::stop_token stop) override;
    Task<Result<QString>> readFile(QString path, std::stop_token stop) override;
    Task<Result<QByteArray>> readBytes(QString path, qint64 maxBytes, std::stop_token stop) override;
    Task<Result<FileWritten>> writeFile(QString path, QString content, bool append, std::stop_token stop) override;
    Task<Result<FileWritten>> writeBytes(QString path, QByteArray content, std::stop_token stop) override;
    Task<Result<QStringList>> listDir(QString path, int depth, std::stop_token stop) override;
    Task<Result<GlobResult>> glob(QString path, QString pattern, bool includeDirs, int maxResults,
                                  std::stop_token stop) override;
    Task<Result<GrepResult>> grep(GrepQuery query, std::stop_token stop) override;
    Task<QString> lockPath(QString path) override;
    /// There is no session to end.
    Task<> releaseCommandScope(ScopeId scope) override;

private:
    /// Everything up to the process: permission, guard, translation. Blocking.
    static Result<HostCommand> prepare(const LocalFiles &files, const Options &options, const CommandRequest &request);

    const SandboxId m_id;
    const std::shared_ptr<LocalFiles> m_files;
    const std::shared_ptr<HostProcesses> m_processes;
    const Options m_options;
};

} // namespace paddock
