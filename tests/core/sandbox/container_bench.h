// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandbox/aio/aio_provider.h"
#include "core/sandbox/backend/container_backend.h"
#include "core/sandbox/sandbox_ids.h"
#include "tests/support/spin.h"

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>

#include <csignal>

#include <sys/types.h>
#include <unistd.h>

namespace paddock::test {

/// The stand-in of an engine with a state of its own; whatever it started ends with it.
class StandInEngine
{
public:
    StandInEngine()
    {
        qputenv("STAND_IN_STATE", QFile::encodeName(path()));
        qputenv("STAND_IN_SERVER", PADDOCK_BIN_DIR "/paddock-sandboxd");
        QDir().mkpath(path() + QStringLiteral("/faults"));
    }
    ~StandInEngine()
    {
        for (const QString &name : containers())
            kill(name);
    }
    static QString program() { return QStringLiteral(PADDOCK_SOURCE_DIR "/tests/support/container_engine_stand_in.sh"); }
    QString path() const { return m_dir.path() + QStringLiteral("/engine"); }

    /// One line of faults for the next calls of a verb.
    void fault(const QString &verb, const QByteArray &what) const
    {
        QFile file(path() + QStringLiteral("/faults/") + verb);
        if (file.open(QIODevice::Append))
            file.write(what + '\n');
    }
    void noFaults(const QString &verb) const { QFile::remove(path() + QStringLiteral("/faults/") + verb); }
    QByteArray calls() const { return read(QStringLiteral("/calls")); }
    int callsOf(const QByteArray &verb) const
    {
        int count = 0;
        for (const QByteArray &line : calls().split('\n'))
            count += line.startsWith(verb + ' ') ? 1 : 0;
        return count;
    }
    QStringList containers() const { return QDir(path() + QStringLiteral("/containers")).entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Name); }
    QByteArray read(const QString &file) const
    {
        QFile in(path() + file);
        return in.open(QIODevice::ReadOnly) ? in.readAll() : QByteArray();
    }
    qint64 pidOf(const QString &name) const { return read(QStringLiteral("/containers/%1/pid").arg(name)).trimmed().toLongLong(); }
    bool runs(const QString &name) const
    {
        QFile stat(QStringLiteral("/proc/%1/stat").arg(pidOf(name)));
        return stat.open(QIODevice::ReadOnly) && stat.readAll().split(' ').value(2) != "Z"; // not reaped is not running
    }
    /// As if the container had died.
    void kill(const QString &name) const
    {
        if (const qint64 pid = pidOf(name); pid > 0)
            ::kill(pid_t(pid), SIGKILL);
    }
    /// As if somebody else had started it.
    bool startByHand(const QStringList &arguments) const
    {
        QProcess process;
        process.start(program(), QStringList{QStringLiteral("run"), QStringLiteral("-d"), QStringLiteral("--rm")} + arguments);
        return process.waitForFinished(20000) && process.exitCode() == 0;
    }

private:
    QTemporaryDir m_dir;
};

/// A port range that other runs of this test do not use, below those that the kernel gives away by itself.
inline int freshBasePort()
{
    static int next = 10000 + int(::getpid() % 120) * 100;
    return next += 10;
}

/// A provider over the container backend over the stand-in.
struct ContainerBench {
    StandInEngine engine;
    QTemporaryDir dir;
    ContainerOptions options;
    std::shared_ptr<EventBus> bus = std::make_shared<EventBus>();
    std::shared_ptr<EventQueue> queue = bus->subscribe();
    std::shared_ptr<AioProvider> provider;

    ContainerBench()
    {
        options.runtime = QStringLiteral("docker");
        options.engineProgram = StandInEngine::program();
        options.image = QStringLiteral("all-in-one-sandbox:1.11.0");
        options.basePort = freshBasePort();
        options.checkInterval = std::chrono::minutes(10);
        options.readyPause = std::chrono::milliseconds(50);
        options.capacity.required = 4;
        options.folders = [root = dir.path()](const ThreadKey &key, const SandboxId &id) -> Result<ContainerFolders> {
            const QString thread = root + u'/' + key.thread.value();
            QDir().mkpath(thread + QStringLiteral("/work"));
            return ContainerFolders{{{thread + QStringLiteral("/work"), QStringLiteral("/mnt/user-data/workspace"), false}}, thread + u'/' + id.value() + QStringLiteral(".lock")};
        };
    }
    ~ContainerBench() { shutdown(); }

    void begin() { provider = std::make_shared<AioProvider>(std::make_shared<ContainerBackend>(options)); }
    void shutdown()
    {
        if (provider)
            spin(provider->shutdown());
        provider.reset();
    }
    static ThreadKey key(const char *thread = "t") { return {UserId(QStringLiteral("u")), ThreadId(QString::fromLatin1(thread))}; }
    static QString idOf(const char *thread = "t") { return deterministicSandboxId(QStringLiteral("u"), QString::fromLatin1(thread)); }
    QString nameOf(const char *thread = "t") const { return options.prefix + u'-' + idOf(thread); }

    /// Empty, or why it failed.
    QString acquire(const char *thread = "t", std::stop_token stop = {})
    {
        if (!provider)
            begin();
        const auto got = spin(provider->acquire(key(thread), EventSink(bus, RunId(QStringLiteral("r")), leadAgent()), stop));
        if (!got)
            return QStringLiteral("it never ended");
        return *got ? QString() : (*got).error().message;
    }
    bool release(const char *thread = "t")
    {
        const auto done = spin(provider->release(SandboxId(idOf(thread))));
        return done && *done;
    }
    QString run(const QString &text, const char *thread = "t") const
    {
        const SandboxPtr sandbox = provider->get(SandboxId(idOf(thread)));
        if (!sandbox)
            return QStringLiteral("(no sandbox)");
        CommandRequest request;
        request.command = text;
        request.scope = ScopeId(QStringLiteral("run:r"));
        request.timeout = std::chrono::seconds(20);
        request.events = EventSink(bus, RunId(QStringLiteral("r")), leadAgent());
        const auto result = spin(sandbox->execute(request, {}));
        if (!result)
            return QStringLiteral("(never ended)");
        return *result ? (*result)->text : QStringLiteral("Error: ") + result->error().message;
    }
};

} // namespace paddock::test
