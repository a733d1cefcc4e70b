// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
//
// A command in a warm session, through client, socket and server, beside the same shell on a bare pty of this process.
#include "core/base/loop.h"
#include "core/sandbox/aio/scoped_shells.h"
#include "tests/bench/bench.h"
#include "tests/support/sandboxd_process.h"

#include <QCoroTask>

#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace paddock::bench {
namespace {

/// bash behind a terminal, with nothing around it.
class BarePty
{
public:
    BarePty()
    {
        m_pid = ::forkpty(&m_fd, nullptr, nullptr, nullptr);
        if (m_pid == 0) {
            ::execlp("bash", "bash", "--norc", "--noprofile", "-c",
                     "stty -echo -onlcr; echo ready; while IFS= read -r line; do eval \"$line\"; echo \"$?\"; done", nullptr);
            ::_exit(127);
        }
    }
    ~BarePty()
    {
        if (m_pid <= 0)
            return;
        ::close(m_fd);
        ::kill(m_pid, SIGKILL);
        ::waitpid(m_pid, nullptr, 0);
    }
    BarePty(const BarePty &) = delete;
    BarePty &operator=(const BarePty &) = delete;

    bool waitReady() const { return m_pid > 0 && readLine(); }
    bool roundTrip() const { return ::write(m_fd, "true\n", 5) == 5 && readLine(); }

private:
    bool readLine() const
    {
        char byte[64];
        ssize_t got = 0;
        do
            got = ::read(m_fd, byte, sizeof byte);
        while (got > 0 && byte[got - 1] != '\n');
        return got > 0;
    }

    int m_fd = -1;
    pid_t m_pid = -1;
};

Task<Result<void>> runCommands(aio::ScopedShells *shells, int count)
{
    for (int i = 0; i < count; ++i) {
        CommandRequest request;
        request.command = QStringLiteral("true");
        request.scope = ScopeId(QStringLiteral("run:bench"));
        const auto done = co_await shells->execute(std::move(request), {});
        if (!done)
            co_return fail(done.error());
        if (done->exitCode != 0)
            co_return fail(ErrorCode::Internal, QStringLiteral("`true` ended with: ") + done->text);
    }
    co_return Result<void>();
}

Result<Reading> measure(aio::ScopedShells &shells, const BarePty &bare, const Scale &scale)
{
    const int trips = scale.of(200, 3);
    std::vector<double> ours;
    std::vector<double> peers;
    if (auto warm = QCoro::waitFor(runCommands(&shells, 3)); !warm)
        return fail(warm.error());
    for (int round = 0; round < scale.of(9, 1); ++round) { // in turns, so that both meet the same machine
        Result<void> ran;
        ours.push_back(secondsOf([&] { ran = QCoro::waitFor(runCommands(&shells, trips)); }) / trips);
        if (!ran)
            return fail(ran.error());
        bool alive = true;
        peers.push_back(secondsOf([&] {
            for (int i = 0; i < trips; ++i)
                alive = alive && bare.roundTrip();
        }) / trips);
        if (!alive)
            return fail(ErrorCode::Unavailable, QStringLiteral("the shell on the bare terminal ended"));
    }
    const double mine = median(ours);
    const double peer = median(peers);
    return Reading{QStringLiteral("shell round trip, `true` in a warm session"), QStringLiteral("%1 ms").arg(mine * 1e3, 0, 'f', 3),
                   QStringLiteral("a bare pty %1 ms").arg(peer * 1e3, 0, 'f', 3), mine / peer, 3, QStringLiteral("x the bare pty")};
}

} // namespace

Readings shellRoundTrip(const Scale &scale)
{
    test::SandboxdProcess server(QStringLiteral(PADDOCK_BIN_DIR "/paddock-sandboxd"));
    if (!server.start())
        return fail(ErrorCode::Unavailable, server.error);
    const BarePty bare;
    if (!bare.waitReady())
        return fail(ErrorCode::Unavailable, QStringLiteral("no shell on a bare terminal"));
    EventLoop loop(QStringLiteral("sandbox-io"));
    const aio::AioClient client(loop.ref(), aio::Endpoint::unixSocket(server.address().sliced(5)));
    aio::ScopedShells shells(client, {}, std::make_shared<aio::FaultSlot>());
    const auto reading = measure(shells, bare, scale);
    QCoro::waitFor(shells.close());
    QCoro::waitFor(client.close());
    if (!reading)
        return fail(reading.error());
    return QList<Reading>{*reading};
}

} // namespace paddock::bench
