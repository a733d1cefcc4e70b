// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/backend/engine_process.h"

#include "core/base/async.h"

#include <QProcess>

#include <csignal>
#include <memory>

#include <unistd.h>

namespace paddock {

namespace {

constexpr std::chrono::seconds engineReapLimit{5}; ///< for the kernel to end what was killed

enum class EngineEnd { Finished, NotStarted, TooMuch };

/// Lives on one thread. A child that does not die stays until it does; nobody waits for it.
class EngineProcess final
{
public:
    explicit EngineProcess(const EngineCall &call)
    {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        for (auto it = call.environment.cbegin(); it != call.environment.cend(); ++it)
            environment.insert(it.key(), it.value());
        m_process->setProcessEnvironment(environment);
        m_process->setProgram(call.command.value(0));
        m_process->setArguments(call.command.sliced(1));
        m_process->setStandardInputFile(QProcess::nullDevice());
        // A group of its own: a Ctrl-C in our terminal is ours to handle, and a kill reaches the program's helpers.
        // vfork: a forked child waits for a word of its parent first, for ever when the parent is killed before it.
        m_process->setUnixProcessParameters(QProcess::UnixProcessFlag::UseVFork);
        m_process->setChildProcessModifier([] { ::setsid(); });
    }
    EngineProcess(const EngineProcess &) = delete;
    EngineProcess &operator=(const EngineProcess &) = delete;
    ~EngineProcess()
    {
        QProcess *process = m_process.release();
        process->disconnect();
        if (process->state() == QProcess::NotRunning) {
            process->deleteLater();
            return;
        }
        QObject::connect(process, &QProcess::finished, process, &QObject::deleteLater);
    }

    void start()
    {
        QProcess *process = m_process.get();
        QObject::connect(process, &QProcess::readyReadStandardOutput, process, [this] { readOut(); });
        QObject::connect(process, &QProcess::readyReadStandardError, process, [this] { readErr(); });
        QObject::connect(process, &QProcess::errorOccurred, process, [this](QProcess::ProcessError error) {
            if (error == QProcess::FailedToStart)
                m_end.complete(EngineEnd::NotStarted);
        });
        QObject::connect(process, &QProcess::finished, process, [this] {
            readOut();
            readErr();
            m_gone.complete(true);
            m_end.complete(EngineEnd::Finished);
        });
        process->start();
    }
    const Completion<EngineEnd> &end() const { return m_end; }
    const Completion<bool> &gone() const { return m_gone; }
    void kill()
    {
        if (const qint64 pid = m_process->processId(); pid > 0)
            ::kill(-pid_t(pid), SIGKILL);
        m_process->kill(); // it may not have made its group yet
    }
    bool crashed() const { return m_process->exitStatus() == QProcess::CrashExit; }
    QString startError() const { return m_process->errorString(); }
    EngineOutput takeOutput() { return {m_process->exitCode(), std::move(m_out), std::move(m_err)}; }

private:
    void readOut()
    {
        m_out += m_process->readAllStandardOutput();
        if (m_out.size() > maxEngineOutput)
            m_end.complete(EngineEnd::TooMuch);
    }
    void readErr()
    {
        m_err += m_process->readAllStandardError();
        if (m_err.size() > maxEngineErrors)
            m_err = m_err.last(maxEngineErrors);
    }

    std::unique_ptr<QProcess> m_process = std::make_unique<QProcess>();
    QByteArray m_out;
    QByteArray m_err;
    Completion<EngineEnd> m_end;
    Completion<bool> m_gone;
};

} // namespace

Task<Result<EngineOutput>> runEngineProgram(EngineCall call, std::stop_token stop)
{
    if (stop.stop_requested())
        co_return cancelled();
    const QString program = call.command.value(0);
    const QString verb = program + u' ' + call.command.value(1);
    EngineProcess process(call);
    process.start();
    const std::optional<EngineEnd> end = co_await waitFor(process.end(), stop, call.timeout);
    if (end == EngineEnd::NotStarted)
        co_return fail(ErrorCode::Unavailable, QStringLiteral("The container engine '%1' could not be started: %2").arg(program, process.startError()));
    if (end != EngineEnd::Finished) {
        process.kill();
        (void)co_await waitFor(process.gone(), {}, engineReapLimit);
        if (end)
            co_return fail(ErrorCode::ResourceExhausted, QStringLiteral("'%1' wrote more than %2 bytes.").arg(verb).arg(maxEngineOutput));
        if (stop.stop_requested())
            co_return cancelled();
        co_return fail(ErrorCode::Timeout, QStringLiteral("'%1' did not end within %2 seconds.").arg(verb).arg(double(call.timeout.count()) / 1000.0));
    }
    if (process.crashed())
        co_return fail(ErrorCode::Unavailable, QStringLiteral("'%1' was killed.").arg(verb));
    co_return process.takeOutput();
}

} // namespace paddock
