// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/local/local_sandbox.h"

#include "core/base/run_on.h"
#include "core/sandbox/bash_guard.h"
#include "core/sandbox/env_policy.h"
#include "core/sandbox/host_bash.h"
#include "core/sandbox/secrets.h"
#include "core/sandbox/virtual_paths.h"

#include <QElapsedTimer>

namespace paddock {

namespace {

const QString hostSession = QStringLiteral("host");

/// Tells the start and the end of one command.
class CommandReport
{
public:
    explicit CommandReport(const CommandRequest &request)
        : m_events(request.events), m_scope(request.scope.value()), m_id(newUuid())
    {
        m_clock.start();
        m_events.emitEvent(ShellCommandStarted{m_scope, hostSession, m_id, maskSecrets(request.command, request.env)});
    }
    void finish(const QString &status, std::optional<int> exitCode, qint64 bytes) const
    {
        ShellCommandFinished end;
        end.scope = m_scope;
        end.session = hostSession;
        end.commandId = m_id;
        end.exitCode = exitCode;
        end.status = status;
        end.durationMs = m_clock.elapsed();
        end.bytes = bytes;
        end.cwd = virtualWorkspace.toString(); // each command is a shell of its own, and the next one begins there
        m_events.emitEvent(end);
    }

private:
    EventSink m_events;
    QString m_scope;
    QString m_id;
    QElapsedTimer m_clock;
};

} // namespace

LocalSandbox::LocalSandbox(SandboxId id, std::shared_ptr<LocalFiles> files, std::shared_ptr<HostProcesses> processes,
                           Options options)
    : m_id(std::move(id))
    , m_files(std::move(files))
    , m_processes(std::move(processes))
    , m_options(std::move(options))
{
}

Result<HostCommand> LocalSandbox::prepare(const LocalFiles &files, const Options &options, const CommandRequest &request)
{
    if (!options.hostBashAllowed || !options.hostBashAllowed())
        return fail(ErrorCode::PermissionDenied, hostBashDisabledText());
    if (const auto ok = checkEnvNames(request.env); !ok)
        return std::unexpected(ok.error());
    if (const auto ok = files.paths().create(); !ok)
        return fail(ok.error().code, files.mask(ok.error().message));
    BashGuardOptions guard;
    guard.skillsRoot = files.skillsRoot();
    guard.mcpRoots = options.mcpRoots;
    for (const MountRule &mount : files.mounts())
        guard.mounts << mount.containerPath;
    if (const auto ok = guardHostCommand(request.command, guard); !ok)
        return std::unexpected(ok.error());
    const auto shell = findHostShell();
    if (!shell)
        return std::unexpected(shell.error());
    HostCommand command;
    command.argv = {*shell, QStringLiteral("-c"),
                    composeLocalCommand(request.identityPrefix, files.paths().workspace,
                                        files.hostCommand(request.command))};
    command.env = buildCommandEnv(processEnv(), request.env);
    command.timeout = request.timeout.count() > 0 ? std::chrono::milliseconds(request.timeout) : options.commandTimeout;
    return command;
}

Task<Result<CommandResult>> LocalSandbox::execute(CommandRequest request, std::stop_token stop)
{
    const auto files = m_files;
    const auto processes = m_processes;
    const auto command = co_await runOnPool([files, options = m_options, request] { return prepare(*files, options, request); });
    if (!command)
        co_return std::unexpected(command.error());
    const CommandReport report(request);
    const auto done = co_await processes->run(*command, stop);
    if (!done) {
        report.finish(QStringLiteral("failed"), std::nullopt, 0);
        co_return std::unexpected(done.error());
    }
    LocalOutput output;
    output.out = hostOutputText(done->out, done->outTotal);
    output.err = hostOutputText(done->err, done->errTotal);
    output.exitCode = done->exitCode;
    output.timedOut = done->timedOut;
    output.cancelled = done->cancelled;
    output.timeoutSeconds = double(command->timeout.count()) / 1000;
    CommandResult result;
    result.text = files->mask(composeLocalOutput(output));
    result.status = done->timedOut ? QStringLiteral("hard_timeout")
        : done->cancelled          ? QStringLiteral("terminated")
                                   : QStringLiteral("completed");
    if (!done->timedOut && !done->cancelled)
        result.exitCode = done->exitCode;
    report.finish(result.status, result.exitCode, done->outTotal + done->errTotal);
    co_return result;
}

// The pool functions below own what they use: the coroutine may be detached, the files object may not die under it.

Task<Result<QString>> LocalSandbox::readFile(QString path, std::stop_token stop)
{
    if (stop.stop_requested())
        co_return cancelled();
    co_return co_await runOnPool([files = m_files, path] { return files->readFile(path); });
}

Task<Result<QByteArray>> LocalSandbox::readBytes(QString path, qint64 maxBytes, std::stop_token stop)
{
    if (stop.stop_requested())
        co_return cancelled();
    co_return co_await runOnPool([files = m_files, path, maxBytes] { return files->readBytes(path, maxBytes); });
}

Task<Result<FileWritten>> LocalSandbox::writeFile(QString path, QString content, bool append, std::stop_token stop)
{
    if (stop.stop_requested())
        co_return cancelled();
    co_return co_await runOnPool([files = m_files, path, content, append] { return files->writeFile(path, content, append); });
}

Task<Result<FileWritten>> LocalSandbox::writeBytes(QString path, QByteArray content, std::stop_token stop)
{
    if (stop.stop_requested())
        co_return cancelled();
    co_return co_await runOnPool([files = m_files, path, content] { return files->writeBytes(path, content); });
}

Task<Result<QStringList>> LocalSandbox::listDir(QString path, int depth, std::stop_token stop)
{
    co_return co_await runOnPool([files = m_files, path, depth, stop] { return files->listDir(path, depth, stop); });
}

Task<Result<GlobResult>> LocalSandbox::glob(QString path, QString pattern, bool includeDirs, int maxResults,
                                            std::stop_token stop)
{
    co_return co_await runOnPool([files = m_files, path, pattern, includeDirs, maxResults, stop] {
        return files->glob(path, pattern, includeDirs, maxResults, stop);
    });
}

Task<Result<GrepResult>> LocalSandbox::grep(GrepQuery query, std::stop_token stop)
{
    co_return co_await runOnPool([files = m_files, query, stop] { return files->grep(query, stop); });
}

Task<QString> LocalSandbox::lockPath(QString path)
{
    co_return co_await runOnPool([files = m_files, path] { return files->lockPath(path); });
}

Task<> LocalSandbox::releaseCommandScope(ScopeId)
{
    co_return;
}

} // namespace paddock
