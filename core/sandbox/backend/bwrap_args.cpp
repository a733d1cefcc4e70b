// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/backend/bwrap_args.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

namespace paddock {

namespace {

/// Of /etc: what programs need to run, nothing that says who or where the host is.
const QStringList &etcEntries()
{
    static const QStringList entries{
        QStringLiteral("alternatives"),     QStringLiteral("bash.bashrc"),     QStringLiteral("ca-certificates"),
        QStringLiteral("ca-certificates.conf"), QStringLiteral("crypto-policies"), QStringLiteral("debian_version"),
        QStringLiteral("fonts"),            QStringLiteral("gai.conf"),        QStringLiteral("gtk-3.0"),
        QStringLiteral("inputrc"),          QStringLiteral("java-17-openjdk"), QStringLiteral("java-21-openjdk"),
        QStringLiteral("ld.so.cache"),      QStringLiteral("ld.so.conf"),      QStringLiteral("ld.so.conf.d"),
        QStringLiteral("localtime"),        QStringLiteral("magic"),           QStringLiteral("mime.types"),
        QStringLiteral("os-release"),       QStringLiteral("perl"),            QStringLiteral("pki"),
        QStringLiteral("profile.d"),        QStringLiteral("protocols"),       QStringLiteral("python3"),
        QStringLiteral("python3.11"),       QStringLiteral("python3.12"),      QStringLiteral("python3.13"),
        QStringLiteral("rpc"),              QStringLiteral("services"),        QStringLiteral("ssl/certs"),
        QStringLiteral("ssl/openssl.cnf"),  QStringLiteral("terminfo"),        QStringLiteral("timezone"),
    };
    return entries;
}

void addNamespaces(QStringList &args, const BwrapPlan &plan)
{
    args << QStringLiteral("--unshare-user") << QStringLiteral("--unshare-pid") << QStringLiteral("--unshare-ipc")
         << QStringLiteral("--unshare-uts") << QStringLiteral("--unshare-cgroup-try");
    if (!plan.hostNetwork)
        args << QStringLiteral("--unshare-net");
    args << QStringLiteral("--uid") << QString::number(sandbox_inside::uid) << QStringLiteral("--gid")
         << QString::number(sandbox_inside::uid) << QStringLiteral("--hostname") << QStringLiteral("paddock")
         << QStringLiteral("--die-with-parent") << QStringLiteral("--new-session") << QStringLiteral("--cap-drop")
         << QStringLiteral("ALL");
}

void addTmpfs(QStringList &args, const char *mode, qint64 bytes, const QString &path)
{
    args << QStringLiteral("--perms") << QString::fromLatin1(mode) << QStringLiteral("--size") << QString::number(bytes)
         << QStringLiteral("--tmpfs") << path;
}

/// /usr and the old top-level links into it, whichever way this distribution has them.
void addSystem(QStringList &args)
{
    args << QStringLiteral("--ro-bind") << QStringLiteral("/usr") << QStringLiteral("/usr");
    for (const char *name : {"bin", "sbin", "lib", "lib32", "lib64", "libx32"}) {
        const QString path = QLatin1Char('/') + QString::fromLatin1(name);
        const QFileInfo info(path);
        if (info.isSymLink())
            args << QStringLiteral("--symlink") << QFile::symLinkTarget(path).sliced(1) << path;
        else if (info.isDir())
            args << QStringLiteral("--ro-bind") << path << path;
    }
}

void addEtc(QStringList &args, const BwrapPlan &plan)
{
    for (const QString &entry : etcEntries()) {
        const QString path = QStringLiteral("/etc/") + entry;
        args << QStringLiteral("--ro-bind-try") << path << path;
    }
    if (plan.hostNetwork)
        args << QStringLiteral("--ro-bind-try") << QStringLiteral("/etc/resolv.conf") << QStringLiteral("/etc/resolv.conf");
    for (const char *name : {"passwd", "group", "hosts", "nsswitch.conf"})
        args << QStringLiteral("--ro-bind") << plan.etcDir + QLatin1Char('/') + QString::fromLatin1(name)
             << QStringLiteral("/etc/") + QString::fromLatin1(name);
}

/// Of /proc: no entry about the machine that Paddock's user could read or write and others could not. The kernel goes by that
/// user, who is root's owner of files when root runs Paddock, and capabilities are not asked. And nothing in it can be written:
/// not the kernel's settings, not the readiness to be ended when memory runs out.
void addProc(QStringList &args)
{
    args << QStringLiteral("--proc") << QStringLiteral("/proc");
    for (const char *name : {"config.gz", "iomem", "ioports", "kallsyms", "kcore", "key-users", "keys", "kmsg", "kpagecgroup", "kpagecount", "kpageflags",
                             "latency_stats", "mtrr", "pagetypeinfo", "sched_debug", "slabinfo", "sysrq-trigger", "timer_list", "vmallocinfo"}) {
        const QString path = QStringLiteral("/proc/") + QString::fromLatin1(name);
        if (QFileInfo::exists(path)) // else bubblewrap would try to make it
            args << QStringLiteral("--ro-bind") << QStringLiteral("/dev/null") << path;
    }
    constexpr qint64 nothing = 4096;
    for (const char *name : {"acpi", "asound", "bus", "driver", "irq", "scsi"}) {
        const QString path = QStringLiteral("/proc/") + QString::fromLatin1(name);
        if (!QFileInfo(path).isDir())
            continue;
        addTmpfs(args, "0555", nothing, path);
        args << QStringLiteral("--remount-ro") << path;
    }
    args << QStringLiteral("--remount-ro") << QStringLiteral("/proc");
}

/// /dev itself is memory without a limit, so only what has one is writable; terminals are a file system of their own.
void addDev(QStringList &args, const SandboxLimits &limits)
{
    args << QStringLiteral("--dev") << QStringLiteral("/dev");
    addTmpfs(args, "1777", limits.shmBytes, QStringLiteral("/dev/shm"));
    args << QStringLiteral("--remount-ro") << QStringLiteral("/dev");
}

void addBind(QStringList &args, const QString &host, const QString &inside, bool readOnly)
{
    if (!host.isEmpty())
        args << (readOnly ? QStringLiteral("--ro-bind") : QStringLiteral("--bind")) << host << inside;
}

void addFolders(QStringList &args, const SandboxFolders &folders)
{
    addBind(args, folders.workspace, QString(sandbox_inside::workspace), false);
    addBind(args, folders.uploads, QStringLiteral("/mnt/user-data/uploads"), false);
    addBind(args, folders.outputs, QStringLiteral("/mnt/user-data/outputs"), false);
    addBind(args, folders.acp, QStringLiteral("/mnt/acp-workspace"), true);
    addBind(args, folders.skills, QStringLiteral("/mnt/skills"), true);
    for (const SandboxMount &mount : folders.extra)
        addBind(args, mount.hostPath, mount.containerPath, mount.readOnly);
}

Result<void> writeFile(const QString &path, const QByteArray &content)
{
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly | QIODevice::Truncate) || file.write(content) != content.size())
        return fail(ErrorCode::Io, QStringLiteral("Cannot write %1: %2").arg(path, file.errorString()));
    return {};
}

QString sysctl(const QString &name)
{
    QString path = name;
    QFile file(QStringLiteral("/proc/sys/") + path.replace(QLatin1Char('.'), QLatin1Char('/')));
    return file.open(QIODevice::ReadOnly) ? QString::fromLatin1(file.readAll()).trimmed() : QString();
}

} // namespace

SandboxFolders SandboxFolders::of(const ThreadPaths &paths)
{
    SandboxFolders folders;
    folders.workspace = paths.workspace;
    folders.uploads = paths.uploads;
    folders.outputs = paths.outputs;
    folders.acp = paths.acp();
    return folders;
}

QStringList bwrapOptions(const BwrapPlan &plan)
{
    QStringList args;
    addNamespaces(args, plan);
    addSystem(args);
    addEtc(args, plan);
    addProc(args);
    addDev(args, plan.limits);
    addTmpfs(args, "1777", plan.limits.tmpBytes, QStringLiteral("/tmp"));
    addTmpfs(args, "1777", plan.limits.tmpBytes, QStringLiteral("/var/tmp"));
    addTmpfs(args, "0755", plan.limits.runBytes, QStringLiteral("/run"));
    addTmpfs(args, "0755", plan.limits.homeBytes, QString(sandbox_inside::home));
    args << QStringLiteral("--ro-bind") << plan.serverProgram << QString(sandbox_inside::server);
    addFolders(args, plan.folders);
    // The root of the namespace is a tmpfs of its own; nothing may be kept there.
    args << QStringLiteral("--remount-ro") << QStringLiteral("/") << QStringLiteral("--chdir")
         << QString(sandbox_inside::workspace);
    if (plan.infoFd >= 0)
        args << QStringLiteral("--info-fd") << QString::number(plan.infoFd);
    return args;
}

QStringList bwrapCommand(const BwrapPlan &plan)
{
    QStringList args;
    // bash sets the process limit inside the user namespace, where it counts this sandbox alone and not the whole account.
    args << QStringLiteral("--") << QStringLiteral("/bin/bash") << QStringLiteral("--noprofile") << QStringLiteral("--norc")
         << QStringLiteral("-c")
         << QStringLiteral("ulimit -u %1 2>/dev/null; exec \"$0\" \"$@\"").arg(plan.limits.processes) << QString(sandbox_inside::server);
    if (plan.hostNetwork) // otherwise its network namespace keeps abstract sockets apart
        args << QStringLiteral("--scoped");
    return args + plan.serverArguments;
}

QMap<QString, QString> sandboxEnvironment(const QMap<QString, QString> &host, const QMap<QString, QString> &configured, int sessionLimit)
{
    QMap<QString, QString> env = configured;
    const QString lang = host.value(QStringLiteral("LANG"));
    const QMap<QString, QString> fixed{
        {QStringLiteral("PATH"), QStringLiteral("/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")},
        {QStringLiteral("HOME"), QString(sandbox_inside::home)},
        {QStringLiteral("USER"), QStringLiteral("gem")},
        {QStringLiteral("LOGNAME"), QStringLiteral("gem")},
        {QStringLiteral("SHELL"), QStringLiteral("/bin/bash")},
        {QStringLiteral("TMPDIR"), QStringLiteral("/tmp")},
        {QStringLiteral("TERM"), QStringLiteral("xterm-256color")},
        {QStringLiteral("LANG"), lang.isEmpty() || lang == QLatin1String("C") ? QStringLiteral("C.UTF-8") : lang},
        {QStringLiteral("WORKSPACE"), QString(sandbox_inside::workspace)},
    };
    for (auto it = fixed.cbegin(); it != fixed.cend(); ++it) {
        if (!env.contains(it.key()))
            env.insert(it.key(), it.value());
    }
    if (const QString zone = host.value(QStringLiteral("TZ")); !zone.isEmpty() && !env.contains(QStringLiteral("TZ")))
        env.insert(QStringLiteral("TZ"), zone);
    env.insert(QStringLiteral("MAX_SHELL_SESSIONS"), QString::number(sessionLimit));
    return env;
}

Result<void> writeEtcFiles(const QString &dir, bool hostNetwork)
{
    const QByteArray id = QByteArray::number(sandbox_inside::uid);
    const QList<std::pair<QString, QByteArray>> files{
        {QStringLiteral("passwd"), "root:x:0:0:root:/root:/bin/bash\ngem:x:" + id + ':' + id
             + ":gem:/home/gem:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"},
        {QStringLiteral("group"), "root:x:0:\ngem:x:" + id + ":\nnogroup:x:65534:\n"},
        {QStringLiteral("hosts"), "127.0.0.1 localhost paddock\n::1 localhost\n"},
        {QStringLiteral("nsswitch.conf"),
         QByteArray("passwd: files\ngroup: files\nshadow: files\nhosts: files") + (hostNetwork ? " dns\n" : "\n") + "networks: files\nservices: files\n"},
    };
    if (!QDir().mkpath(dir))
        return fail(ErrorCode::Io, QStringLiteral("Cannot create %1").arg(dir));
    for (const auto &[name, content] : files) {
        if (const auto written = writeFile(dir + QLatin1Char('/') + name, content); !written)
            return written;
    }
    return {};
}

QMap<QString, QString> isolationFacts()
{
    QMap<QString, QString> facts;
    for (const char *name : {"kernel.unprivileged_userns_clone", "kernel.apparmor_restrict_unprivileged_userns", "user.max_user_namespaces"})
        facts.insert(QString::fromLatin1(name), sysctl(QString::fromLatin1(name)));
    return facts;
}

QString explainBwrapFailure(const QString &stderrText, const QMap<QString, QString> &facts)
{
    const QString said = stderrText.simplified().left(300);
    const auto has = [&](const char *text) { return stderrText.contains(QLatin1String(text), Qt::CaseInsensitive); };
    if (has("Can't mount proc"))
        return QStringLiteral("The sandbox could not be started, because the kernel does not let it have a /proc of its own (bubblewrap: %1). "
                              "This happens inside a container that hides parts of /proc; Paddock does not fall back to the host's /proc, "
                              "which would show the host's processes. Start the container with an unmasked /proc "
                              "(podman: --security-opt unmask=ALL, docker: --security-opt systempaths=unconfined).")
            .arg(said);
    const bool namespaces = has("namespace") || has("uid map") || has("setting up uid") || has("loopback") || has("unshare");
    if (namespaces) {
        QString advice = QStringLiteral("Inside a container, allow user namespaces for it (docker and podman: --security-opt seccomp=unconfined).");
        if (facts.value(QStringLiteral("kernel.unprivileged_userns_clone")) == QLatin1String("0"))
            advice = QStringLiteral("Enable them: sysctl -w kernel.unprivileged_userns_clone=1.");
        else if (facts.value(QStringLiteral("kernel.apparmor_restrict_unprivileged_userns")) == QLatin1String("1"))
            advice = QStringLiteral("AppArmor restricts them here: install an AppArmor profile that allows bwrap, or "
                                    "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0.");
        else if (facts.value(QStringLiteral("user.max_user_namespaces")) == QLatin1String("0"))
            advice = QStringLiteral("Enable them: sysctl -w user.max_user_namespaces=15000.");
        return QStringLiteral("The sandbox could not be started, because this system refuses user namespaces (bubblewrap: %1). %2").arg(said, advice);
    }
    return QStringLiteral("The sandbox could not be started: %1").arg(said.isEmpty() ? QStringLiteral("it ended without a word") : said);
}

} // namespace paddock
