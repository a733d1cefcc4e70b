// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/sandbox_facts.h"

#include <QFile>
#include <QTimeZone>

#include <pwd.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>

extern char **environ;

namespace paddock::sandboxd {

namespace {

const QString serverVersion = QStringLiteral("1.11.0+paddock." PADDOCK_VERSION);

QString userName()
{
    passwd entry;
    passwd *found = nullptr;
    char buffer[4096];
    if (::getpwuid_r(::getuid(), &entry, buffer, sizeof buffer, &found) == 0 && found)
        return QString::fromLocal8Bit(found->pw_name);
    return QString::number(::getuid());
}

/// "12 (bookworm)" from os-release, else the kernel's release.
QString osVersion(const utsname &kernel)
{
    QFile file(QStringLiteral("/etc/os-release"));
    if (file.open(QIODevice::ReadOnly)) {
        for (const QByteArray &line : file.read(16 * 1024).split('\n')) {
            if (line.startsWith("PRETTY_NAME=")) {
                QByteArray name = line.mid(12).trimmed();
                if (name.startsWith('"') && name.endsWith('"') && name.size() >= 2)
                    name = name.sliced(1, name.size() - 2);
                return QString::fromUtf8(name);
            }
        }
    }
    return QString::fromLocal8Bit(kernel.release);
}

QByteArray findProgram(const QByteArray &name)
{
    const QByteArray path = qEnvironmentVariableIsSet("PATH") ? qgetenv("PATH") : QByteArray("/usr/local/bin:/usr/bin:/bin");
    for (const QByteArray &directory : path.split(':')) {
        const QByteArray candidate = directory + '/' + name;
        if (!directory.isEmpty() && ::access(candidate.constData(), X_OK) == 0)
            return candidate;
    }
    return {};
}

QList<wire::ToolSpec> runtimes(const QByteArrayList &names)
{
    QList<wire::ToolSpec> out;
    for (const QByteArray &name : names) {
        const QByteArray path = findProgram(name);
        if (path.isEmpty())
            continue;
        char resolved[4096];
        // The version is in the name that the link leads to ("python3.13"): no program is started for it.
        const ssize_t length = ::readlink(path.constData(), resolved, sizeof resolved);
        QString version;
        if (length > 0) {
            const QString target = QString::fromLocal8Bit(resolved, length);
            qsizetype at = target.size();
            while (at > 0 && (target.at(at - 1).isDigit() || target.at(at - 1) == u'.'))
                --at;
            version = target.mid(at);
        }
        wire::ToolSpec spec;
        if (!version.isEmpty())
            spec.ver = version;
        spec.bin = QString::fromLocal8Bit(path);
        spec.alias = QStringList{QString::fromLatin1(name)};
        out.append(spec);
    }
    return out;
}

QList<wire::UtilityCategory> utilities()
{
    struct Group {
        const char *category;
        QByteArrayList names;
    };
    const Group groups[] = {
        {"text", {"grep", "sed", "awk", "rg", "jq", "diff"}},
        {"files", {"find", "tar", "gzip", "unzip", "file", "tree"}},
        {"network", {"curl", "wget", "ssh"}},
        {"development", {"git", "make", "gcc", "cmake"}},
    };
    QList<wire::UtilityCategory> out;
    for (const Group &group : groups) {
        wire::UtilityCategory category;
        category.category = QString::fromLatin1(group.category);
        for (const QByteArray &name : group.names) {
            if (!findProgram(name).isEmpty())
                category.tools.append({QString::fromLatin1(name), std::nullopt});
        }
        out.append(category);
    }
    return out;
}

} // namespace

QStringList occupiedPorts()
{
    QList<int> ports;
    for (const QString &table : {QStringLiteral("/proc/net/tcp"), QStringLiteral("/proc/net/tcp6")}) {
        QFile file(table);
        if (!file.open(QIODevice::ReadOnly))
            continue;
        for (const QByteArray &line : file.readAll().split('\n')) {
            const auto words = line.simplified().split(' ');
            // sl local_address rem_address st …; 0A = listening
            if (words.size() < 4 || words[3] != "0A")
                continue;
            bool ok = false;
            const int port = words[1].mid(words[1].lastIndexOf(':') + 1).toInt(&ok, 16);
            if (ok && !ports.contains(port))
                ports << port;
        }
    }
    std::sort(ports.begin(), ports.end());
    QStringList out;
    for (const int port : ports)
        out << QString::number(port);
    return out;
}

wire::SandboxContext sandboxContext(const QByteArray &home, const QByteArray &workspace)
{
    utsname kernel{};
    ::uname(&kernel);
    wire::SandboxDetail detail;
    detail.system.os = QString::fromLocal8Bit(kernel.sysname);
    detail.system.osVersion = osVersion(kernel);
    detail.system.arch = QString::fromLocal8Bit(kernel.machine);
    detail.system.user = userName();
    detail.system.homeDir = QString::fromUtf8(home);
    detail.system.workspace = QString::fromUtf8(workspace);
    const QByteArray zone = QTimeZone::systemTimeZoneId();
    detail.system.timezone = zone.isEmpty() ? QStringLiteral("UTC") : QString::fromUtf8(zone);
    detail.system.occupiedPorts = occupiedPorts();
    detail.python = runtimes({"python3", "python"});
    detail.nodejs = runtimes({"node", "nodejs"});
    detail.utils = utilities();

    wire::SandboxContext context;
    context.data = QStringLiteral("%1 %2 (%3), user %4, home %5, workspace %6. Shells, files and processes only: no browser, no notebooks.")
                       .arg(detail.system.os, detail.system.osVersion, detail.system.arch, detail.system.user, detail.system.homeDir,
                            QString::fromUtf8(workspace));
    context.homeDir = detail.system.homeDir;
    context.workspace = detail.system.workspace;
    context.version = serverVersion;
    context.detail = std::move(detail);
    return context;
}

QList<QByteArray> sessionEnvironment(const QByteArray &home)
{
    // What is about the server or about one shell must not reach a session.
    static const QByteArrayList dropped{"SANDBOX_API_KEY", "MAX_SHELL_SESSIONS", "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID",
                                        "LISTEN_FDNAMES", "BASH_ENV", "ENV", "HISTFILE", "PS1", "PS2", "PROMPT_COMMAND", "PWD",
                                        "OLDPWD", "SHLVL", "_", "TERM", "SHELL", "HOME", "COLUMNS", "LINES", "INPUTRC", "TMOUT"};
    QList<QByteArray> out;
    bool path = false, language = false;
    for (char **entry = environ; *entry; ++entry) {
        const QByteArray text(*entry);
        const QByteArray name = text.left(text.indexOf('='));
        if (dropped.contains(name) || name.startsWith("BASH_FUNC_") || name.startsWith("PADDOCK_"))
            continue;
        path = path || name == "PATH";
        language = language || name == "LANG" || name == "LC_ALL" || name == "LC_CTYPE";
        out.append(text);
    }
    if (!path)
        out.append("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    if (!language)
        out.append("LANG=C.UTF-8");
    out.append({"HOME=" + home, "TERM=xterm-256color", "SHELL=/bin/bash"});
    return out;
}

Json openApiDocument(const QList<std::pair<QByteArray, QByteArray>> &routes)
{
    Json paths = Json::object();
    for (const auto &[method, pattern] : routes) {
        Json operation{{"responses", {{"200", {{"description", "The reply envelope"}}}}}};
        if (pattern.contains("{id}"))
            operation["parameters"] = Json::array({{{"name", "id"}, {"in", "path"}, {"required", true}, {"schema", {{"type", "string"}}}}});
        paths[pattern.toStdString()][method.toLower().toStdString()] = std::move(operation);
    }
    return {{"openapi", "3.1.0"}, {"info", {{"title", "Paddock sandbox"}, {"version", serverVersion.toStdString()}}}, {"paths", std::move(paths)}};
}

} // namespace paddock::sandboxd
