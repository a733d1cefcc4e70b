// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/base/ids.h"
#include "core/base/task.h"
#include "core/event/event_bus.h"
#include "core/lease/lease_registry.h"
#include "core/sandbox/fault_plan.h"
#include "core/sandbox/shell_observer.h"

#include <QByteArray>
#include <QMap>
#include <QString>
#include <QStringList>

#include <chrono>
#include <memory>
#include <optional>

namespace paddock {

struct CommandRequest {
    QString command;
    QString identityPrefix;             ///< read by local sandboxes only (sandbox.md §2.4, §8): put first, after the guard
    QMap<QString, QString> env;         ///< not empty: a one-off execution that bypasses the session (sandbox.md §5.6)
    std::chrono::seconds timeout{0};    ///< 0: the sandbox's default
    ScopeId scope;                      ///< whose shell session; empty: the default shell
    EventSink events;                   ///< who speaks in the events of this command
};

/// What a write came to.
struct FileWritten {
    QString realPath; ///< virtual; where the links of the path led. Empty: at the path itself, or the sandbox does not say
};

struct CommandResult {
    QString text;   ///< rendered as sandbox.md §5.7 says, virtual paths only
    std::optional<int> exitCode;
    QString status; ///< completed, hard_timeout, no_change_timeout, terminated, failed
    bool sessionRecreated = false;
};

struct GrepMatch {
    QString path;
    int line = 0;
    QString text;
};
struct GrepResult {
    std::vector<GrepMatch> matches;
    bool truncated = false;
};
struct GlobResult {
    QStringList paths;
    bool truncated = false;
};
struct GrepQuery {
    QString pattern;
    QString path;
    QString glob;
    bool literal = false;
    bool caseSensitive = false;
    int maxResults = 100;
};

/// Member of Error::details of file operations: why, where the code alone does not say it. Values below.
inline constexpr const char *fileErrorReasonKey = "reason";
inline constexpr const char *reasonIsDirectory = "is_directory";   ///< a file was needed
inline constexpr const char *reasonNotDirectory = "not_directory"; ///< a directory was needed
inline constexpr const char *reasonBinary = "binary";              ///< not UTF-8 text
/// Member of Error::details of file operations on a pipe, a socket or a device: the words of specialFileKind().
inline constexpr const char *fileErrorKindKey = "file_kind";

/// One live sandbox. Paths are virtual. Every method may be called from any thread with an event loop and resumes there;
/// errors are values whose messages are fit for the model. Shared by the lead and all subagents of a thread.
class Sandbox
{
public:
    virtual ~Sandbox() = default;
    virtual SandboxId id() const = 0;
    virtual bool isLocal() const = 0; ///< commands run on the host itself

    virtual Task<Result<CommandResult>> execute(CommandRequest request, std::stop_token stop) = 0;
    /// The whole file as text; decode errors are errors.
    virtual Task<Result<QString>> readFile(QString path, std::stop_token stop) = 0;
    virtual Task<Result<QByteArray>> readBytes(QString path, qint64 maxBytes, std::stop_token stop) = 0;
    virtual Task<Result<FileWritten>> writeFile(QString path, QString content, bool append, std::stop_token stop) = 0;
    virtual Task<Result<FileWritten>> writeBytes(QString path, QByteArray content, std::stop_token stop) = 0;
    /// Entries as the `ls` tool shows them (sandbox.md §2.5): absolute virtual paths, directories with a trailing "/".
    virtual Task<Result<QStringList>> listDir(QString path, int depth, std::stop_token stop) = 0;
    virtual Task<Result<GlobResult>> glob(QString path, QString pattern, bool includeDirs, int maxResults,
                                          std::stop_token stop) = 0;
    virtual Task<Result<GrepResult>> grep(GrepQuery query, std::stop_token stop) = 0;
    /// The path under which file locks of this sandbox are kept (sandbox.md §9.4): normalised; resolved where it is cheap.
    virtual Task<QString> lockPath(QString path);
    /// A call found nobody at the other end, and none has been answered since. A guess; memory only.
    virtual bool isSuspect() const;
    /// Asks. False: it is lost for good, and its provider will not hand it out again.
    virtual Task<bool> isThere(std::stop_token stop);
    /// Ends the scope and its session: waits for its running command, cleans up (sandbox.md §5.8). Never fails.
    virtual Task<> releaseCommandScope(ScopeId scope) = 0;

    // What a terminal panel needs; sandboxes without server-side shells keep the defaults.

    /// The live session of a scope; empty when it has none. Memory only.
    virtual SessionId sessionOf(const ScopeId &scope) const;
    /// One more observer of a live session, made on and living on the calling thread; null without sessions.
    virtual std::unique_ptr<ShellObserver> observeShell(const SessionId &session);
    /// Raw keystrokes; calls for one session arrive in the order they were made.
    virtual Task<Result<void>> typeIntoShell(SessionId session, QByteArray bytes, std::stop_token stop);
    virtual Task<Result<void>> resizeShell(SessionId session, int columns, int rows, std::stop_token stop);
    /// Ends the running command, not the session.
    virtual Task<Result<void>> interruptShell(SessionId session, std::stop_token stop);
    /// A line that the next command result of the scope starts with, e.g. that a person typed into its shell.
    virtual void noteForNextResult(const ScopeId &scope, const QString &line);
};

using SandboxPtr = std::shared_ptr<Sandbox>;

/// Member of Error::details of execute(), true: no server took the command, so it may be given to another sandbox. Never set
/// when there is a doubt.
inline constexpr const char *notDeliveredKey = "not_delivered";

/// Owns sandboxes (sandbox.md §7.1). Callable from any loop.
class SandboxProvider
{
public:
    virtual ~SandboxProvider() = default;
    virtual Task<Result<SandboxId>> acquire(ThreadKey key, EventSink events, std::stop_token stop) = 0;
    /// Memory only, no I/O; null when unknown or dead.
    virtual SandboxPtr get(const SandboxId &id) = 0;
    virtual Task<Result<void>> release(SandboxId id) = 0;
    /// Ends everything; waits. Idempotent.
    virtual Task<> shutdown() = 0;
    virtual QString providerName() const = 0; ///< aio, local
    virtual QString backendName() const = 0;  ///< embedded, container, provisioner, host
    virtual int sessionLimit() const = 0;     ///< MAX_SHELL_SESSIONS in force; 0 when it has no sessions
    /// Faults that a scenario injects into the sandbox of one thread; null ends them.
    virtual void setFaults(const ThreadKey &key, std::shared_ptr<FaultPlan> faults);
};

} // namespace paddock
