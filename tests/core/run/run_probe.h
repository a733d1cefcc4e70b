// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/run/run_service.h"
#include "tests/support/spin.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QProcess>

#include <algorithm>

namespace paddock::test {

/// Long enough that only a hang reaches it.
inline constexpr int runLimitMs = 120'000;

inline bool canIsolate()
{
    QProcess probe;
    probe.start(QStringLiteral("bwrap"), {QStringLiteral("--unshare-user"), QStringLiteral("--unshare-pid"), QStringLiteral("--unshare-net"),
                                          QStringLiteral("--ro-bind"), QStringLiteral("/"), QStringLiteral("/"), QStringLiteral("--proc"),
                                          QStringLiteral("/proc"), QStringLiteral("--dev"), QStringLiteral("/dev"), QStringLiteral("true")});
    return probe.waitForFinished(20'000) && probe.exitStatus() == QProcess::NormalExit && probe.exitCode() == 0;
}
inline constexpr const char *cannotIsolate = "this machine cannot start an isolated process: nested sandbox tests are skipped";

/// Processes whose command line holds `text`, except this one.
inline int processesWith(const QByteArray &text)
{
    int count = 0;
    QDirIterator it(QStringLiteral("/proc"), QDir::Dirs | QDir::NoDotAndDotDot);
    while (it.hasNext()) {
        it.next();
        bool isPid = false;
        const qint64 pid = it.fileName().toLongLong(&isPid);
        if (!isPid || pid == QCoreApplication::applicationPid())
            continue;
        QFile file(it.filePath() + QStringLiteral("/cmdline"));
        if (file.open(QIODevice::ReadOnly) && file.readAll().replace('\0', ' ').contains(text))
            ++count;
    }
    return count;
}

/// A length of sleep that no other process of this machine uses.
inline QByteArray ownSleep(int seconds)
{
    return "sleep " + QByteArray::number(seconds) + '.' + QByteArray::number(QCoreApplication::applicationPid());
}

inline QString writeFile(const QString &path, const QByteArray &bytes)
{
    QDir().mkpath(QFileInfo(path).path());
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
        qFatal("cannot write %ls", qUtf16Printable(path));
    return path;
}

/// A scenario of a lead alone: each command is a turn of its own, then "All said.".
inline QByteArray leadScenario(const QByteArrayList &commands, const QByteArray &lastTurn = "      - say: All said.\n")
{
    QByteArray text = "scenario: 1\nname: probe\ndescription: For tests\ntask: Say hello\nagents:\n  - match: {agent: lead}\n    turns:\n";
    int call = 0;
    for (const QByteArray &command : commands) {
        text += "      - say: Working.\n        calls:\n          - tool: bash\n            id: c" + QByteArray::number(++call)
            + "\n            args:\n              description: Run it\n              command: |-\n                " + command + "\n";
    }
    return text + lastTurn;
}

/// A service of its own with everything it said.
class RunProbe
{
public:
    explicit RunProbe(const QString &dataDir)
    {
        auto opened = RunService::open({.configPath = {}, .dataDir = dataDir, .maxRunning = {}, .readOnly = false});
        if (!opened) {
            problem = opened.error().fullMessage();
            return;
        }
        service = std::move(*opened);
        m_queue = service->bus()->subscribe();
    }
    ~RunProbe() { close(); }
    RunProbe(const RunProbe &) = delete;
    RunProbe &operator=(const RunProbe &) = delete;

    void take()
    {
        for (auto &event : m_queue->drain())
            events.push_back(std::move(event));
    }
    bool wait(const std::function<bool()> &condition)
    {
        return spinUntil([&] {
            take();
            return condition();
        }, runLimitMs);
    }
    template<typename T>
    std::vector<const T *> of(const RunId &run)
    {
        take();
        std::vector<const T *> found;
        for (const auto &event : events) {
            if (event->run == run) {
                if (const T *body = std::get_if<T>(&event->body))
                    found.push_back(body);
            }
        }
        return found;
    }
    /// Its status, once it is over and nothing of it is live.
    QString end(const RunId &run)
    {
        if (!wait([&] { return !of<RunFinished>(run).empty() && !service->isLive(run); }))
            return QStringLiteral("still running");
        return of<RunFinished>(run).back()->status;
    }
    std::vector<RunSummary> list()
    {
        std::optional<std::vector<RunSummary>> got;
        service->list([&](std::vector<RunSummary> runs) { got = std::move(runs); });
        spinUntil([&] { return got.has_value(); });
        return got.value_or(std::vector<RunSummary>());
    }
    std::vector<std::shared_ptr<const Event>> load(const RunId &run)
    {
        std::vector<std::shared_ptr<const Event>> all;
        bool over = false;
        service->load(run, [&](std::vector<std::shared_ptr<const Event>> page, bool last) {
            all.insert(all.end(), page.begin(), page.end());
            over = last;
        });
        spinUntil([&] { return over; });
        return all;
    }
    /// False when quitting did not end.
    bool close()
    {
        if (!service)
            return true;
        bool done = false;
        service->shutdown([&] { done = true; });
        const bool ended = spinUntil([&] { return done; }, runLimitMs);
        service.reset();
        return ended;
    }

    std::unique_ptr<RunService> service;
    std::vector<std::shared_ptr<const Event>> events;
    QString problem;

private:
    std::shared_ptr<EventQueue> m_queue;
};

} // namespace paddock::test
