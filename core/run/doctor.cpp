// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/run/doctor.h"

#include "core/config/config.h"
#include "core/journal/journal_reader.h"
#include "core/run/environment.h"
#include "core/run/server_binary.h"
#include "core/run/translate.h"

#include <QDir>
#include <QFileInfo>
#include <QProcess>
#include <QStandardPaths>
#include <QStorageInfo>

#include <unistd.h>

namespace paddock {

namespace {

using State = DoctorFinding::State;
constexpr int probeMs = 5000;
constexpr qint64 lowSpaceBytes = 512LL * 1000 * 1000;
/// Below it not even the beginning of a run, its folders and its shells' logs find room.
constexpr qint64 leastSpaceBytes = 4LL * 1000 * 1000;

struct Probe {
    bool ok = false;
    QString text;
};

Probe probe(const QString &program, const QStringList &arguments)
{
    QProcess process;
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.start(program, arguments);
    if (!process.waitForFinished(probeMs)) {
        process.kill();
        process.waitForFinished(1000);
        return {false, process.error() == QProcess::FailedToStart ? process.errorString() : QStringLiteral("no answer within 5 seconds")};
    }
    const QString text = QString::fromLocal8Bit(process.readAll()).trimmed().section(QLatin1Char('\n'), 0, 0);
    return {process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0, text};
}

DoctorFinding bubblewrap()
{
    DoctorFinding f{State::Good, QStringLiteral("bubblewrap"), {}, {}};
    const QString path = QStandardPaths::findExecutable(QStringLiteral("bwrap"));
    if (path.isEmpty()) {
        f.state = State::Bad;
        f.found = QStringLiteral("not installed");
        f.advice = QStringLiteral("Install the package bubblewrap: the embedded sandbox is built on it.");
        return f;
    }
    f.found = path + QStringLiteral(", ") + probe(path, {QStringLiteral("--version")}).text;
    return f;
}

DoctorFinding namespaces()
{
    DoctorFinding f{State::Good, QStringLiteral("namespaces"), QStringLiteral("an isolated process could be started"), {}};
    const QString bwrap = QStandardPaths::findExecutable(QStringLiteral("bwrap"));
    if (bwrap.isEmpty()) {
        f.state = State::Bad;
        f.found = QStringLiteral("not tried, bubblewrap is missing");
        return f;
    }
    const Probe p = probe(bwrap, QStringLiteral("--unshare-user --unshare-pid --unshare-net --unshare-ipc --ro-bind / / --proc /proc --dev /dev true").split(QLatin1Char(' ')));
    if (!p.ok) {
        f.state = State::Bad;
        f.found = p.text.isEmpty() ? QStringLiteral("refused") : p.text;
        f.advice = QStringLiteral("Allow unprivileged user namespaces: sysctl kernel.unprivileged_userns_clone=1 (Debian), "
                                  "kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu), user.max_user_namespaces above 0; "
                                  "in a container, allow it to make namespaces and to mount proc.");
    }
    return f;
}

DoctorFinding server()
{
    DoctorFinding f{State::Good, QStringLiteral("sandbox server"), {}, {}};
    const QString path = serverBinary();
    if (path.isEmpty()) {
        f.state = State::Bad;
        f.found = QStringLiteral("paddock-sandboxd is not beside paddock");
        f.advice = QStringLiteral("Install or build both programs into one folder.");
        return f;
    }
    f.found = path;
    return f;
}

DoctorFinding filter()
{
    DoctorFinding f{State::Good, QStringLiteral("syscall filter"), {}, {}};
    const QString path = serverBinary();
    const Probe p = path.isEmpty() ? Probe{false, QStringLiteral("not tried, the sandbox server is missing")} : probe(path, {QStringLiteral("filter-check")});
    f.found = p.text.isEmpty() ? QStringLiteral("no answer") : p.text;
    if (!p.ok) {
        f.state = State::Bad;
        f.advice = QStringLiteral("The embedded sandbox does not start without it. The kernel needs CONFIG_SECCOMP_FILTER; in a container, allow the call "
                                  "seccomp (docker and podman: --security-opt seccomp=unconfined).");
    }
    return f;
}

/// The folder itself, or the nearest one above it that exists: only looked at, never made.
QString nearestThere(QString path)
{
    while (!QFileInfo::exists(path) && !QFileInfo(path).isSymLink()) {
        const QString above = QFileInfo(path).path();
        if (above == path)
            break;
        path = above;
    }
    return path;
}

DoctorFinding dataFolder(const QString &dataDir)
{
    DoctorFinding f{State::Good, QStringLiteral("data folder"), dataDir, {}};
    const QString base = nearestThere(dataDir);
    const bool isThere = base == dataDir;
    if (!QFileInfo(base).isDir() || ::access(QFile::encodeName(base).constData(), W_OK | X_OK) != 0) {
        f.state = State::Bad;
        f.found = dataDir + (isThere ? QStringLiteral(" cannot be written") : QStringLiteral(" is not there and cannot be made"));
        f.advice = QStringLiteral("Make it writable, or choose another one with --data-dir.");
        return f;
    }
    if (!isThere)
        f.found += QStringLiteral(", made with the first run");
    const qint64 free = QStorageInfo(base).bytesAvailable();
    if (free >= 0)
        f.found += QStringLiteral(", %1 MB free").arg(free / 1000000);
    if (free >= 0 && free < leastSpaceBytes) {
        f.state = State::Bad;
        f.advice = QStringLiteral("A run cannot be started with less than %1 MB; free some space, or choose another folder with --data-dir.")
                       .arg(leastSpaceBytes / 1000000);
    } else if (free >= 0 && free < lowSpaceBytes) {
        f.state = State::Note;
        f.advice = QStringLiteral("Less than 512 MB are left; runs stop being saved when the disk is full.");
    }
    return f;
}

DoctorFinding journal(const QString &dataDir)
{
    DoctorFinding f{State::Good, QStringLiteral("journal"), {}, {}};
    auto reader = JournalReader::open(dataDir);
    if (!reader) {
        if (reader.error().code == ErrorCode::NotFound) {
            f.found = QStringLiteral("none yet; it is made with the first run");
            return f;
        }
        f.state = State::Bad;
        f.found = reader.error().fullMessage();
        return f;
    }
    const auto runs = reader->runs();
    f.found = runs ? QStringLiteral("%1 runs").arg(runs->size()) : runs.error().fullMessage();
    f.state = runs ? State::Good : State::Bad;
    if (!runs)
        return f;
    if (const auto sound = reader->check(); !sound) {
        f.state = State::Bad;
        f.found = sound.error().fullMessage();
        f.advice = QStringLiteral("What can still be read: paddock export RUN. Then move the file away; the next run makes a new one.");
    }
    return f;
}

DoctorFinding configuration(const QString &configPath, std::optional<Config> &loaded)
{
    DoctorFinding f{State::Good, QStringLiteral("configuration"), {}, {}};
    auto found = readConfig(configPath);
    if (!found) {
        f.state = State::Bad;
        f.found = found.error().message;
        return f;
    }
    if (found->path.isEmpty()) {
        f.found = QStringLiteral("none; built-in defaults apply");
        return f;
    }
    const Config &config = found->config;
    if (auto sessions = shellSessionLimit(config); !sessions) {
        f.state = State::Bad;
        f.found = sessions.error().message;
        return f;
    }
    f.found = QStringLiteral("%1, %2 %3").arg(found->path).arg(config.warnings.size())
                  .arg(config.warnings.size() == 1 ? QStringLiteral("warning") : QStringLiteral("warnings"));
    if (!config.warnings.isEmpty()) {
        f.state = State::Note;
        f.advice = config.warnings.constFirst();
    }
    loaded = std::move(found->config);
    return f;
}

DoctorFinding models(const std::optional<Config> &config)
{
    DoctorFinding f{State::Note, QStringLiteral("models"), QStringLiteral("none configured; scripted scenarios work without one"), {}};
    if (config && !config->models.empty())
        f.found = QStringLiteral("%1 configured, but this version cannot use them yet; scripted scenarios work").arg(config->models.size());
    return f;
}

DoctorFinding hostBash(const std::optional<Config> &config)
{
    DoctorFinding f{State::Good, QStringLiteral("host bash"), QStringLiteral("off"), {}};
    if (config && config->sandbox.allowHostBash) {
        f.state = State::Note;
        f.found = QStringLiteral("allowed: with the local sandbox, commands run on this machine as you, outside any sandbox");
        f.advice = QStringLiteral("Leave sandbox.allow_host_bash on only in a fully trusted local environment.");
    }
    return f;
}

} // namespace

std::vector<DoctorFinding> examineMachine(const QString &configPath, const QString &dataDir)
{
    const QString folder = QDir(dataDir.isEmpty() ? defaultDataDir() : dataDir).absolutePath();
    std::optional<Config> config;
    std::vector<DoctorFinding> findings{bubblewrap(), namespaces(), server(), filter(), dataFolder(folder), journal(folder)};
    findings.push_back(configuration(configPath, config));
    findings.push_back(models(config));
    findings.push_back(hostBash(config));
    for (const char *engine : {"podman", "docker"}) {
        const QString path = QStandardPaths::findExecutable(QString::fromLatin1(engine));
        if (!path.isEmpty())
            findings.push_back({State::Note, QStringLiteral("container engine"), path,
                                QStringLiteral("Used when sandbox.use is container; the embedded sandbox needs none.")});
    }
    return findings;
}

} // namespace paddock
