// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"

#include <QByteArray>
#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace paddock {

/// A secret that a skill asks for by name; the value comes with the request only.
struct SkillSecret {
    QString name;
    bool optional = false;
};

/// One skill: what the head of its SKILL.md says, and where it was found. A value.
struct Skill {
    QString name;
    QString description;
    std::optional<QString> license;
    std::optional<QStringList> allowedTools; ///< null: not declared; empty: declared as none
    std::vector<SkillSecret> secrets;
    bool secretsAutonomous = true; ///< its secrets may be bound without a slash command

    QString category;      ///< public, custom, integrations, legacy
    QString folder;        ///< below its category: "x", "provider/x"
    QString containerPath; ///< "/mnt/skills/public/x/SKILL.md": what agents know it by
    QString file;          ///< SKILL.md on the host; never shown to an agent
    bool enabled = true;
    bool outside = false;  ///< a link leads out of the skills folder: listed, but its contents are given to nobody
};

inline constexpr qsizetype maxSkillBytes = 1024 * 1024;
/// The file that makes a folder a skill.
inline constexpr QLatin1StringView skillFileName("SKILL.md");

/// Reads a SKILL.md (runtime §6.1). Untrusted; the error says why it does not load. The place is left empty. Pure.
Result<Skill> parseSkill(const QByteArray &text);
/// What an installation asks beyond that (known keys, lengths, a strict name). Pure.
Result<void> checkInstallable(const QByteArray &text);
/// `states` is `skills` of extensions_config.json; a skill is on unless it is switched off there. Pure.
bool isSkillEnabled(const Json &states, const QString &category, const QString &name);

} // namespace paddock
