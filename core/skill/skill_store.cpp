// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/skill/skill_store.h"

#include "core/sandbox/beneath.h"
#include "core/sandbox/virtual_paths.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>

namespace paddock {

namespace {

constexpr int maxWalkDepth = 12;
constexpr int maxFolders = 10000;
constexpr std::size_t maxSkills = 1000;
constexpr qsizetype maxProblems = 50;

/// One walk over all categories.
class Walk
{
public:
    Walk(const SkillStore::Options &options, Json states)
        : m_options(options), m_states(std::move(states)), m_root(resolveLinks(QFile::encodeName(QDir(options.root).absolutePath())))
    {
    }

    void category(const QString &name)
    {
        m_category = name;
        m_ancestors.clear();
        folder(m_options.root + u'/' + name, QString(), 0);
    }

    SkillList finish()
    {
        for (auto &[name, skill] : m_byName)
            m_list.skills.push_back(std::move(skill));
        return std::move(m_list);
    }

private:
    void complain(const QString &what)
    {
        if (m_list.problems.size() < maxProblems)
            m_list.problems.append(what);
    }

    void folder(const QString &path, const QString &relative, int depth)
    {
        struct stat info {};
        if (::stat(QFile::encodeName(path).constData(), &info) != 0 || !S_ISDIR(info.st_mode))
            return;
        const std::pair id(info.st_dev, info.st_ino);
        if (std::ranges::find(m_ancestors, id) != m_ancestors.end())
            return; // a link that leads back up
        if (depth > maxWalkDepth || ++m_folders > maxFolders)
            return complain(QStringLiteral("The skills folder has too many folders or too deep ones; %1/%2 was passed over").arg(m_category, relative));
        const QString file = path + u'/' + skillFileName;
        if (!relative.isEmpty() && QFileInfo(file).isFile())
            return found(file, relative);
        m_ancestors.push_back(id);
        const QStringList names = QDir(path).entryList(QDir::Dirs | QDir::NoDotAndDotDot, QDir::Unsorted);
        QStringList sorted;
        for (const QString &name : names) {
            if (!name.startsWith(u'.'))
                sorted.append(name);
        }
        sorted.sort(Qt::CaseSensitive);
        for (const QString &name : std::as_const(sorted))
            folder(path + u'/' + name, relative.isEmpty() ? name : relative + u'/' + name, depth + 1);
        m_ancestors.pop_back();
    }

    void found(const QString &file, const QString &relative)
    {
        const QString shown = m_category + u'/' + relative;
        Result<Skill> skill = read(file);
        if (!skill)
            return complain(QStringLiteral("The skill %1 was not loaded: %2").arg(shown, skill.error().message));
        skill->category = m_category;
        skill->folder = relative;
        skill->containerPath = m_options.containerRoot + u'/' + shown + u'/' + skillFileName;
        skill->file = file;
        skill->enabled = isSkillEnabled(m_states, m_category, skill->name);
        skill->outside = !isBelow(resolveLinks(QFile::encodeName(QFileInfo(file).absoluteFilePath())), m_root);
        if (skill->outside)
            complain(QStringLiteral("The skill %1 is a link out of the skills folder, so its contents are not used").arg(shown));
        if (m_byName.size() >= maxSkills && !m_byName.contains(skill->name))
            return complain(QStringLiteral("There are more than %1 skills; %2 was not loaded").arg(maxSkills).arg(shown));
        m_byName.insert_or_assign(skill->name, std::move(*skill));
    }

    static Result<Skill> read(const QString &file)
    {
        const UniqueFd fd(::open(QFile::encodeName(file).constData(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
        if (!fd)
            return fail(errnoError(errno, QStringLiteral("SKILL.md cannot be opened")));
        const auto text = readAll(fd.get(), maxSkillBytes);
        return text ? parseSkill(*text) : fail(text.error());
    }

    const SkillStore::Options &m_options;
    const Json m_states;
    const QByteArray m_root;
    QString m_category;
    std::vector<std::pair<dev_t, ino_t>> m_ancestors;
    int m_folders = 0;
    std::map<QString, Skill> m_byName;
    SkillList m_list;
};

} // namespace

const Skill *skillNamed(const SkillList &list, const QString &name)
{
    const auto at = std::ranges::find(list.skills, name, &Skill::name);
    return at == list.skills.end() ? nullptr : &*at;
}

const Skill *skillAt(const SkillList &list, const QString &containerPath)
{
    const QString path = normalizeVirtualPath(containerPath);
    const auto at = std::ranges::find_if(list.skills, [&](const Skill &skill) { return normalizeVirtualPath(skill.containerPath) == path; });
    return at == list.skills.end() ? nullptr : &*at;
}

bool isListed(const std::optional<QStringList> &allowlist, const QString &name)
{
    return !allowlist || allowlist->contains(name);
}

const QStringList &SkillStore::categories()
{
    static const QStringList names{QStringLiteral("public"), QStringLiteral("custom"), QStringLiteral("integrations"), QStringLiteral("legacy")};
    return names;
}

bool SkillStore::isSwitchedOff(const QString &name) const
{
    if (!m_options.states)
        return false;
    const auto states = m_options.states();
    return !states || !isSkillEnabled(*states, categories().first(), name);
}

Result<SkillList> SkillStore::load() const
{
    Json states = Json::object();
    if (m_options.states) {
        auto read = m_options.states();
        if (!read)
            return fail(read.error());
        states = std::move(*read);
    }
    Walk walk(m_options, std::move(states));
    for (const QString &category : categories())
        walk.category(category);
    return walk.finish();
}

Result<QByteArray> SkillStore::read(const Skill &skill) const
{
    if (QFileInfo(skill.file).fileName() != skillFileName)
        return fail(ErrorCode::InvalidArgument, QStringLiteral("A skill is read from its SKILL.md only"));
    const HostRoot root{QFile::encodeName(QDir(m_options.root).absolutePath()), true};
    const auto place = locate(QFile::encodeName(QFileInfo(skill.file).absoluteFilePath()), {root});
    if (!place)
        return fail(place.error());
    const auto folder = openRoot(place->rootPath);
    if (!folder)
        return fail(folder.error());
    const auto file = openBeneath(folder->get(), place->relative, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (!file)
        return fail(file.error());
    auto text = readAll(file->get(), maxSkillBytes);
    if (text && !QUtf8StringView(*text).isValidUtf8())
        return fail(ErrorCode::InvalidArgument, QStringLiteral("SKILL.md is not UTF-8 text"));
    return text;
}

} // namespace paddock
