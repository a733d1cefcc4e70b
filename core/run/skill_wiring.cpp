// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/run/skill_wiring.h"

#include "core/sandbox/path_map.h"
#include "core/skill/skill_projection.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

namespace paddock {

namespace {

constexpr qint64 maxExtensionsBytes = 4LL * 1024 * 1024;

/// Where the project is: beside its configuration.
QString projectFolder(const Config &config, const QString &configDir)
{
    return config.path.isEmpty() ? configDir : QFileInfo(config.path).absolutePath();
}

Result<QString> extensionsFile(const QMap<QString, QString> &environment, const QString &project)
{
    const QString named = environment.value(QStringLiteral("DEER_FLOW_EXTENSIONS_CONFIG_PATH"));
    if (!named.isEmpty() && !QFileInfo(named).isFile())
        return fail(ErrorCode::NotFound, QStringLiteral("The file %1 named by DEER_FLOW_EXTENSIONS_CONFIG_PATH does not exist").arg(named));
    if (!named.isEmpty())
        return named;
    for (const QString &name : {QStringLiteral("/extensions_config.json"), QStringLiteral("/mcp_config.json")}) {
        if (QFileInfo(project + name).isFile())
            return project + name;
    }
    return project + QStringLiteral("/extensions_config.json"); // it may be written while we run
}

/// The member `skills`; absent when there is no file.
Result<Json> statesIn(const QString &path)
{
    QFile file(path);
    if (!file.exists())
        return Json::object();
    if (!file.open(QIODevice::ReadOnly))
        return fail(ErrorCode::Io, QStringLiteral("Cannot read %1: %2").arg(path, file.errorString()));
    const QByteArray text = file.read(maxExtensionsBytes + 1);
    if (text.size() > maxExtensionsBytes)
        return fail(ErrorCode::InvalidArgument, QStringLiteral("%1 is larger than 4 MiB").arg(path));
    const auto parsed = parseJson(text);
    if (!parsed)
        return fail(ErrorCode::InvalidArgument, QStringLiteral("%1 is not valid JSON: %2").arg(path, parsed.error().message));
    const Json &skills = memberOf(*parsed, "skills");
    return skills.is_object() ? skills : Json::object();
}

/// Category and folder for each part of a user's view.
QMap<QString, QString> viewFolders(const QString &dataDir, const UserId &user)
{
    const SkillDirs dirs = SkillDirs::of(dataDir, user.value());
    return {{QStringLiteral("public"), dirs.publicDir}, {QStringLiteral("custom"), dirs.custom},
            {QStringLiteral("legacy"), dirs.legacy},    {QStringLiteral("integrations"), dirs.integrations}};
}

void project(const SkillProjection &projection, const SkillList &list, QStringList &problems)
{
    const auto done = projectSkills(projection, list);
    if (done)
        problems += *done;
    else
        problems.append(QStringLiteral("The skills could not be copied for the sandbox: ") + done.error().fullMessage());
}

} // namespace

std::function<Result<Json>()> skillStates(const Config &config, const QString &extensionsFile)
{
    const Json overrides = memberOf(memberOf(config.raw, "extensions"), "skills");
    return [overrides, extensionsFile]() -> Result<Json> {
        auto states = statesIn(extensionsFile);
        if (states && overrides.is_object()) {
            for (const auto &[name, state] : overrides.items())
                (*states)[name] = state;
        }
        return states;
    };
}

Result<std::shared_ptr<const SkillStore>> makeSkillStore(const Config &config, const QMap<QString, QString> &environment,
                                                         const QString &configDir)
{
    const QString project = projectFolder(config, configDir);
    auto extensions = extensionsFile(environment, project);
    if (!extensions)
        return fail(extensions.error());
    QString root = config.skills.path;
    if (root.isEmpty())
        root = environment.value(QStringLiteral("DEER_FLOW_SKILLS_PATH"));
    if (root.isEmpty())
        root = QStringLiteral("skills");
    SkillStore::Options options;
    options.root = QDir::cleanPath(QDir(project).absoluteFilePath(root));
    options.containerRoot = config.skills.containerPath;
    options.states = skillStates(config, *extensions);
    return std::make_shared<const SkillStore>(std::move(options));
}

Result<std::vector<SandboxMount>> skillMounts(const Config &config, const QString &dataDir, const UserId &user)
{
    std::vector<SandboxMount> mounts;
    const QMap<QString, QString> folders = viewFolders(dataDir, user);
    for (auto it = folders.cbegin(); it != folders.cend(); ++it) {
        if (!QDir().mkpath(it.value()))
            return fail(ErrorCode::Io, QStringLiteral("The folder %1 cannot be made").arg(it.value()));
        mounts.push_back({it.value(), config.skills.containerPath + u'/' + it.key(), true});
    }
    return mounts;
}

QStringList projectUserSkills(const SkillStore &store, const QString &dataDir, const UserId &user)
{
    const auto list = store.load();
    if (!list)
        return {QStringLiteral("The skills cannot be read: ") + list.error().fullMessage()};
    QStringList problems = list->problems;
    QMap<QString, QString> own = viewFolders(dataDir, user);
    const QString shared = own.take(QStringLiteral("public")); // of all users
    project({store.root(), {{QStringLiteral("public"), shared}}, QFileInfo(shared).path() + QStringLiteral("/state")}, *list, problems);
    const QString state = QFileInfo(own.value(QStringLiteral("custom"))).path() + QStringLiteral("/state");
    project({store.root(), own, state}, *list, problems);
    return problems;
}

} // namespace paddock
