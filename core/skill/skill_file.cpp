// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/text.h"
#include "core/base/yaml.h"
#include "core/skill/skill.h"

#include <QRegularExpression>
#include <QSet>
#include <QUtf8StringView>

#include <algorithm>

namespace paddock {

namespace {

constexpr YamlLimits headLimits{.maxBytes = 64 * 1024, .maxDepth = 16, .maxNodes = 2000};
constexpr qsizetype maxInstalledName = 64;
constexpr qsizetype maxInstalledDescription = 1024;
constexpr int maxListed = 256; ///< tools, and secrets, of one skill

std::unexpected<Error> unfit(const QString &why)
{
    return fail(ErrorCode::InvalidArgument, why);
}

/// The text between the two fences at the very start.
Result<QByteArray> headOf(const QByteArray &file)
{
    static const QRegularExpression fences(QStringLiteral("\\A---[\\s\\x1c-\\x1f]*\\n(.*?)\\n---"),
                                           QRegularExpression::DotMatchesEverythingOption | QRegularExpression::UseUnicodePropertiesOption);
    if (file.size() > maxSkillBytes)
        return fail(ErrorCode::ResourceExhausted, QStringLiteral("SKILL.md is larger than %1 bytes").arg(maxSkillBytes));
    if (!QUtf8StringView(file).isValidUtf8())
        return unfit(QStringLiteral("SKILL.md is not UTF-8 text"));
    if (!file.startsWith("---"))
        return unfit(QStringLiteral("SKILL.md does not begin with ---"));
    // The head is looked for where it may be, so that the whole of a long file is no work.
    QString text = QString::fromUtf8(file.first(std::min(file.size(), headLimits.maxBytes + 16)));
    text.replace(QLatin1String("\r\n"), QLatin1String("\n"));
    text.replace(u'\r', u'\n');
    const auto match = fences.match(text);
    if (!match.hasMatch())
        return unfit(QStringLiteral("the head of SKILL.md has no closing ---"));
    return match.captured(1).toUtf8();
}

Result<YamlNode> mappingOf(const QByteArray &file)
{
    const auto head = headOf(file);
    if (!head)
        return fail(head.error());
    auto root = parseYaml(*head, QStringLiteral("SKILL.md"), headLimits);
    if (!root)
        return fail(root.error());
    if (!root->isMapping())
        return unfit(QStringLiteral("the head of SKILL.md is not a mapping"));
    return root;
}

bool isBoolWord(const QString &word)
{
    static const QSet<QString> words{QStringLiteral("yes"), QStringLiteral("no"), QStringLiteral("on"),
                                     QStringLiteral("off"), QStringLiteral("true"), QStringLiteral("false")};
    return words.contains(word.toLower());
}

/// Authors write these heads for readers of YAML 1.1, where more plain words are no strings.
bool isPlainOther(const QString &scalar)
{
    static const QRegularExpression other(QStringLiteral(
        "\\A(?:[-+]?0b[01_]+|[-+]?0x[0-9a-fA-F_]+|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])*(?:\\.[0-9_]*)?|[-+]?(?:[0-9][0-9_]*)?\\.[0-9_]+"
        "(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*\\.[0-9_]*[eE][-+][0-9]+|[-+]?\\.(?:inf|Inf|INF)|\\.(?:nan|NaN|NAN)"
        "|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \\t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}.*)?)\\z"));
    static const QSet<QString> nulls{QString(), QStringLiteral("~"), QStringLiteral("null"), QStringLiteral("Null"), QStringLiteral("NULL")};
    return nulls.contains(scalar) || isBoolWord(scalar) || other.match(scalar).hasMatch();
}

bool isAbsent(const YamlNode *node)
{
    static const QSet<QString> nulls{QStringLiteral("~"), QStringLiteral("null"), QStringLiteral("Null"), QStringLiteral("NULL"), QString()};
    return !node || node->isNull() || (node->isScalar() && !node->quoted && nulls.contains(node->scalar));
}

/// The trimmed text of a string; nullopt for every other kind of value.
std::optional<QString> stringIn(const YamlNode *node)
{
    if (!node || !node->isScalar() || (!node->quoted && isPlainOther(node->scalar)))
        return std::nullopt;
    return pythonStrip(node->scalar);
}

std::optional<bool> boolIn(const YamlNode *node)
{
    if (!node || !node->isScalar() || node->quoted || !isBoolWord(node->scalar))
        return std::nullopt;
    const QString word = node->scalar.toLower();
    return word == u"yes" || word == u"on" || word == u"true";
}

Result<QString> requiredText(const YamlNode &head, const char16_t *key)
{
    const QString name = QString::fromUtf16(key);
    const auto text = stringIn(head.find(name));
    if (!text || text->isEmpty())
        return unfit(QStringLiteral("the head of SKILL.md needs '%1' as text").arg(name));
    return *text;
}

Result<std::optional<QStringList>> allowedToolsIn(const YamlNode *node)
{
    if (isAbsent(node))
        return std::nullopt;
    if (!node->isSequence() || node->items.size() > maxListed)
        return unfit(QStringLiteral("'allowed-tools' must be a list of at most %1 names").arg(maxListed));
    QStringList tools;
    for (const YamlNode &item : node->items) {
        const auto tool = stringIn(&item);
        if (!tool || tool->isEmpty())
            return unfit(QStringLiteral("'allowed-tools' must hold names of tools only"));
        tools.append(*tool);
    }
    return tools;
}

Result<std::vector<SkillSecret>> secretsIn(const YamlNode *node)
{
    static const QRegularExpression usable(QStringLiteral("\\A[A-Za-z_][A-Za-z0-9_]*\\z"));
    std::vector<SkillSecret> secrets;
    if (isAbsent(node))
        return secrets;
    if (!node->isSequence() || node->items.size() > maxListed)
        return unfit(QStringLiteral("'required-secrets' must be a list of at most %1 names").arg(maxListed));
    QSet<QString> seen;
    for (const YamlNode &item : node->items) {
        const auto name = stringIn(item.isMapping() ? item.find(u"name") : &item);
        if (!name || !usable.match(*name).hasMatch() || seen.contains(*name))
            continue;
        seen.insert(*name);
        secrets.push_back({*name, item.isMapping() && boolIn(item.find(u"optional")).value_or(false)});
    }
    return secrets;
}

bool isKnownKey(const QString &key)
{
    static const QSet<QString> known{QStringLiteral("name"), QStringLiteral("description"), QStringLiteral("license"),
                                     QStringLiteral("allowed-tools"), QStringLiteral("required-secrets"), QStringLiteral("secrets-autonomous"),
                                     QStringLiteral("metadata"), QStringLiteral("compatibility"), QStringLiteral("version"),
                                     QStringLiteral("author")};
    return known.contains(key);
}

} // namespace

Result<Skill> parseSkill(const QByteArray &text)
{
    const auto head = mappingOf(text);
    if (!head)
        return fail(head.error());
    auto name = requiredText(*head, u"name");
    if (!name)
        return fail(name.error());
    auto description = requiredText(*head, u"description");
    if (!description)
        return fail(description.error());
    auto tools = allowedToolsIn(head->find(u"allowed-tools"));
    if (!tools)
        return fail(tools.error());
    auto secrets = secretsIn(head->find(u"required-secrets"));
    if (!secrets)
        return fail(secrets.error());
    Skill skill;
    skill.name = std::move(*name);
    skill.description = std::move(*description);
    if (const auto license = stringIn(head->find(u"license")); license && !license->isEmpty())
        skill.license = *license;
    skill.allowedTools = std::move(*tools);
    skill.secrets = std::move(*secrets);
    const YamlNode *autonomous = head->find(u"secrets-autonomous");
    skill.secretsAutonomous = !autonomous || boolIn(autonomous).value_or(false); // what is unclear binds nothing
    return skill;
}

Result<void> checkInstallable(const QByteArray &text)
{
    static const QRegularExpression strictName(QStringLiteral("\\A[a-z0-9]+(?:-[a-z0-9]+)*\\z"));
    const auto skill = parseSkill(text);
    if (!skill)
        return fail(skill.error());
    const auto head = mappingOf(text);
    if (!head)
        return fail(head.error());
    for (const YamlNode::Entry &entry : head->entries) {
        if (!isKnownKey(entry.key))
            return unfit(QStringLiteral("the head of SKILL.md has the unknown key '%1'").arg(entry.key));
    }
    if (skill->name.size() > maxInstalledName || !strictName.match(skill->name).hasMatch())
        return unfit(QStringLiteral("the name '%1' must be at most %2 small letters, digits and single hyphens").arg(skill->name).arg(maxInstalledName));
    if (codePointCount(skill->description) > maxInstalledDescription || skill->description.contains(u'<') || skill->description.contains(u'>'))
        return unfit(QStringLiteral("the description must have at most %1 characters and no angle brackets").arg(maxInstalledDescription));
    const YamlNode *autonomous = head->find(u"secrets-autonomous");
    if (autonomous && !boolIn(autonomous))
        return unfit(QStringLiteral("'secrets-autonomous' must be true or false"));
    return {};
}

bool isSkillEnabled(const Json &states, const QString &category, const QString &name)
{
    const Json &entry = memberOf(states, name.toUtf8().constData());
    const Json &enabled = memberOf(entry, "enabled");
    if (enabled.is_boolean())
        return enabled.get<bool>();
    return category == u"public" || category == u"custom" || category == u"legacy" || category == u"integrations";
}

} // namespace paddock
