// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/run/environment.h"

#include "core/run/container_provider.h"
#include "core/run/log_limit.h"
#include "core/run/skill_wiring.h"
#include "core/run/translate.h"

#include <QDir>
#include <QFile>
#include <QProcessEnvironment>
#include <QStandardPaths>

#include <pwd.h>
#include <unistd.h>

namespace paddock {

namespace {

QMap<QString, QString> processEnvironment()
{
    QMap<QString, QString> map;
    const QProcessEnvironment env = QProcessEnvironment::systemEnvironment();
    const QStringList keys = env.keys();
    for (const QString &key : keys)
        map.insert(key, env.value(key));
    return map;
}

/// Qt takes / for the home of a process without HOME (cron, services); the user database knows better.
QString ownFolder(const char *variable, QStandardPaths::StandardLocation location, const QString &below)
{
    const passwd *user = qEnvironmentVariableIsEmpty("HOME") && qEnvironmentVariableIsEmpty(variable) ? ::getpwuid(::getuid()) : nullptr;
    const QString base = user ? QFile::decodeName(user->pw_dir) + below : QStandardPaths::writableLocation(location);
    return base + QStringLiteral("/paddock");
}

} // namespace

QString defaultDataDir()
{
    return ownFolder("XDG_DATA_HOME", QStandardPaths::GenericDataLocation, QStringLiteral("/.local/share"));
}

QString defaultConfigDir()
{
    return ownFolder("XDG_CONFIG_HOME", QStandardPaths::GenericConfigLocation, QStringLiteral("/.config"));
}

Result<FoundConfig> readConfig(const QString &explicitPath)
{
    const auto variables = processEnvironment();
    auto path = findConfig(explicitPath, variables, defaultConfigDir());
    if (!path)
        return fail(path.error());
    FoundConfig found;
    found.path = *path;
    if (path->isEmpty())
        return found;
    auto config = loadConfig(*path, variables);
    if (!config)
        return fail(config.error());
    found.config = std::move(*config);
    return found;
}

Result<std::shared_ptr<SandboxProvider>> Environment::makeProvider(const QString &kind)
{
    const auto workspaces = [this](const ThreadKey &key) { return workspaceOf(key); };
    if (kind == u"embedded")
        return makeEmbeddedProvider(config, dataDir, workspaces);
    if (kind == u"local")
        return makeLocalProvider(config, dataDir, workspaces);
    if (kind == u"container")
        return makeContainerProvider(config, dataDir, workspaces);
    return fail(ErrorCode::Unsupported,
                QStringLiteral("There is no sandbox '%1' in this version; use embedded, container, or local for a trusted machine").arg(kind));
}

Result<std::shared_ptr<SandboxLeases>> Environment::leasesFor(const QString &kind)
{
    const std::lock_guard lock(m_mutex);
    const auto known = m_leases.find(kind);
    if (known != m_leases.end())
        return known->second;
    auto provider = makeProvider(kind);
    if (!provider)
        return fail(provider.error());
    auto leases = std::make_shared<SandboxLeases>(std::move(*provider));
    m_leases.emplace(kind, leases);
    return leases;
}

std::vector<std::shared_ptr<SandboxLeases>> Environment::allLeases()
{
    const std::lock_guard lock(m_mutex);
    std::vector<std::shared_ptr<SandboxLeases>> all;
    for (const auto &[kind, leases] : m_leases)
        all.push_back(leases);
    return all;
}

void Environment::setWorkspace(const ThreadKey &key, const QString &folder)
{
    const std::lock_guard lock(m_mutex);
    m_workspaces[{key.user.value(), key.thread.value()}] = folder;
}

QString Environment::workspaceOf(const ThreadKey &key) const
{
    const std::lock_guard lock(m_mutex);
    const auto found = m_workspaces.find({key.user.value(), key.thread.value()});
    return found == m_workspaces.end() ? QString() : found->second;
}

Result<std::shared_ptr<Environment>> openEnvironment(const RunService::Options &options)
{
    auto environment = std::make_shared<Environment>();
    auto found = readConfig(options.configPath);
    if (!found)
        return fail(found.error());
    environment->config = std::move(found->config);
    if (options.maxRunning)
        environment->config.subagentRuntime.maxRunning = *options.maxRunning;
    if (auto sessions = shellSessionLimit(environment->config); !sessions)
        return fail(sessions.error());
    auto skills = makeSkillStore(environment->config, processEnvironment(), defaultConfigDir());
    if (!skills)
        return fail(skills.error());
    environment->skills = std::move(*skills);
    environment->dataDir = QDir(options.dataDir.isEmpty() ? defaultDataDir() : options.dataDir).absolutePath();
    if (!QDir().mkpath(environment->dataDir))
        return fail(ErrorCode::PermissionDenied,
                    QStringLiteral("The data folder %1 cannot be made; choose another one with --data-dir").arg(environment->dataDir));
    auto journal = Journal::open({.folder = environment->dataDir});
    if (!journal)
        return fail(journal.error());
    environment->journal = std::move(*journal);
    environment->bus = std::make_shared<EventBus>(Clock::system(), environment->journal->nextSeq());
    environment->journal->attach(environment->bus);
    environment->admission = std::make_shared<AdmissionQueue>(admissionOptions(environment->config.subagentRuntime));
    environment->subagents = std::make_shared<SubagentRegistry>();
    environment->gateway = std::make_unique<EventLoop>(QStringLiteral("gateway"));
    environment->bus->append({}, {}, ConfigLoaded{environment->config.path, environment->config.sha256, int(environment->config.warnings.size())});
    for (const QString &warning : environment->config.warnings)
        environment->bus->append({}, {}, LogRecorded{QStringLiteral("warning"), warning, false});
    limitTerminalLogsLater(environment->dataDir, environment->config.terminalLogs.maxTotalBytes);
    return environment;
}

} // namespace paddock
