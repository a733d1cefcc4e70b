// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/run/container_provider.h"

#include "core/run/skill_wiring.h"
#include "core/sandbox/aio/aio_provider.h"
#include "core/sandbox/backend/container_backend.h"
#include "core/sandbox/env_policy.h"
#include "core/sandbox/thread_paths.h"
#include "core/sandbox/virtual_paths.h"

#include <QRegularExpression>
#include <QStandardPaths>

namespace paddock {

namespace {

Result<ContainerFolders> containerFolders(const ThreadPaths &paths, const SandboxId &id, const QString &dataDir, const QString &hostBase,
                                          const std::vector<SandboxMount> &skills)
{
    if (auto made = paths.create(); !made)
        return fail(made.error());
    const auto mount = [&](const QString &host, QStringView inside, bool readOnly) {
        return ContainerMount{hostMountSource(host, dataDir, hostBase), inside.toString(), readOnly};
    };
    ContainerFolders folders;
    folders.mounts = {mount(paths.workspace, virtualWorkspace, false), mount(paths.uploads, virtualUploads, false),
                      mount(paths.outputs, virtualOutputs, false), mount(paths.acp(), virtualAcp, true)};
    for (const SandboxMount &skill : skills)
        folders.mounts.push_back(mount(skill.hostPath, skill.containerPath, true));
    folders.lockFile = paths.thread + u'/' + id.value() + QStringLiteral(".lock");
    return folders;
}

/// What is missing is said before a run starts, not by a tool in the middle of it.
Result<void> checkContainerStart(const ContainerConfig &config, const QMap<QString, QString> &environment)
{
    if (config.image.isEmpty())
        return fail(ErrorCode::InvalidArgument,
                    QStringLiteral("sandbox.use: container needs sandbox.image, and there is no default: name an AIO image (all-in-one-sandbox) that the "
                                   "engine has or can fetch, with a tag of 1.9.3 or newer, as in \"image: REGISTRY/all-in-one-sandbox:1.11.0\"."));
    if (config.ownershipType != u"memory")
        return fail(ErrorCode::Unsupported, QStringLiteral("sandbox.ownership.type '%1' is not in this version; use memory.").arg(config.ownershipType));
    if (auto hardening = ContainerHardening::fromEnvironment(environment); !hardening)
        return fail(hardening.error());
    const QStringList names = config.runtime == u"auto" ? QStringList{QStringLiteral("docker"), QStringLiteral("podman")} : QStringList{config.runtime};
    for (const QString &name : names) {
        if (!QStandardPaths::findExecutable(name).isEmpty())
            return {};
    }
    return fail(ErrorCode::Unavailable, QStringLiteral("The container sandbox needs a container engine, and no program %1 was found. Install one, or set sandbox.use: embedded.")
                                            .arg(names.join(QStringLiteral(" or "))));
}

} // namespace

QString hostMountSource(const QString &path, const QString &dataDir, const QString &hostBase)
{
    QString own = dataDir;
    while (own.size() > 1 && own.endsWith(u'/'))
        own.chop(1);
    if (hostBase.isEmpty() || own.isEmpty() || !isUnder(path, own))
        return path;
    static const QRegularExpression drive(QStringLiteral("\\A[A-Za-z]:[\\\\/]"));
    const bool windows = drive.match(hostBase).hasMatch() || hostBase.contains(u'\\');
    const QChar separator = windows && hostBase.contains(u'\\') ? QChar(u'\\') : QChar(u'/');
    QString base = hostBase;
    while (base.size() > 1 && (base.endsWith(u'/') || (windows && base.endsWith(u'\\'))))
        base.chop(1);
    QString rest = path.sliced(own.size());
    return base + rest.replace(u'/', separator);
}

Result<std::shared_ptr<SandboxProvider>> makeContainerProvider(const Config &config, const QString &dataDir, WorkspaceLookup workspaces)
{
    const ContainerConfig &container = config.sandbox.container;
    auto capacity = resolveSessionCapacity(config.subagentRuntime.maxRunning, config.sandbox.maxShellSessions);
    if (!capacity)
        return fail(capacity.error());
    ContainerOptions options;
    options.hostEnvironment = processEnv();
    if (auto right = checkContainerStart(container, options.hostEnvironment); !right)
        return fail(right.error());
    options.runtime = container.runtime;
    options.image = container.image;
    if (!container.prefix.isEmpty())
        options.prefix = container.prefix;
    options.basePort = container.port;
    options.replicas = container.replicas;
    options.idleTimeout = std::chrono::seconds(container.idleTimeout);
    options.ownership = {std::chrono::seconds(container.renewalSeconds), container.ttlMultiplier};
    options.capacity = *capacity;
    options.environment = config.sandbox.environment;
    for (const SandboxConfig::Mount &mount : config.sandbox.mounts)
        options.mounts.push_back({mount.hostPath, mount.containerPath, mount.readOnly});
    options.folders = [dataDir, workspaces, config, hostBase = options.hostEnvironment.value(QStringLiteral("DEER_FLOW_HOST_BASE_DIR"))](
                          const ThreadKey &key, const SandboxId &id) -> Result<ContainerFolders> {
        auto paths = ThreadPaths::make(dataDir, key, workspaces(key));
        if (!paths)
            return fail(paths.error());
        const auto skills = skillMounts(config, dataDir, key.user);
        if (!skills)
            return fail(skills.error());
        return containerFolders(*paths, id, dataDir, hostBase, *skills);
    };
    aio::ShellOptions shells;
    shells.defaultTimeout = config.sandbox.bashCommandTimeout;
    return std::make_shared<AioProvider>(std::make_shared<ContainerBackend>(std::move(options)), shells);
}

} // namespace paddock
