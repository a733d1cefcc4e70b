// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/skill_options.h"

#include "core/sandbox/virtual_paths.h"

#include <QRandomGenerator>

#include <array>

namespace paddock {

QString newOwnerToken()
{
    std::array<quint32, 8> words{};
    QRandomGenerator::system()->fillRange(words.data(), qsizetype(words.size()));
    const QByteArray bytes(reinterpret_cast<const char *>(words.data()), sizeof words);
    return QString::fromLatin1(bytes.toBase64(QByteArray::Base64UrlEncoding | QByteArray::OmitTrailingEquals));
}

QString slashSkillPath(const Json &values, const QString &ownerToken)
{
    const Json &source = memberOf(values, slashSourceKey);
    if (ownerToken.isEmpty() || stringOf(source, "owner_token") != ownerToken)
        return {};
    const QString path = stringOf(source, "path");
    return path.isEmpty() ? QString() : normalizeVirtualPath(path);
}

QStringList loadedSkillPaths(const AgentState &state)
{
    QStringList paths;
    const Json &entries = memberOf(state.channels, "skill_context");
    if (!entries.is_array())
        return paths;
    for (const Json &entry : entries) {
        const QString path = stringOf(entry, "path");
        const QString normal = path.isEmpty() ? QString() : normalizeVirtualPath(path);
        if (!normal.isEmpty() && !paths.contains(normal))
            paths.append(normal);
    }
    return paths;
}

const Skill *usableSkillAt(const SkillList &list, const QString &path, const std::optional<QStringList> &available)
{
    const Skill *skill = skillAt(list, path);
    return skill && skill->enabled && isListed(available, skill->name) ? skill : nullptr;
}

} // namespace paddock
