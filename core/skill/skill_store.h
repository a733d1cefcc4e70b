// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/skill/skill.h"

#include <functional>
#include <memory>

namespace paddock {

struct SkillList {
    std::vector<Skill> skills; ///< sorted by name; one of each name
    QStringList problems;      ///< what was left out and why, a sentence each
};

/// Where an agent's skills come from. Both functions read the disk: call them on a pool thread. Thread-safe.
class SkillSource
{
public:
    virtual ~SkillSource() = default;
    /// Everything installed, switched off or not, as it is at this moment.
    virtual Result<SkillList> load() const = 0;
    /// The whole SKILL.md, if it still lies within the skills folder.
    virtual Result<QByteArray> read(const Skill &skill) const = 0;
};
using SkillSourcePtr = std::shared_ptr<const SkillSource>;

/// The skill with this name, or at this container path (normalized; never by name); nullptr when there is none.
const Skill *skillNamed(const SkillList &list, const QString &name);
const Skill *skillAt(const SkillList &list, const QString &containerPath);
/// An allowlist of null lets all pass.
bool isListed(const std::optional<QStringList> &allowlist, const QString &name);

/// Skills on disk (runtime §6.1): {root}/public, custom, integrations, legacy; a folder with SKILL.md is a skill and the
/// end of the walk. Hidden folders are passed over, links are followed, never in circles. Of equal names the later
/// category stays. Numbers, depths and sizes are bounded. Immutable.
class SkillStore : public SkillSource
{
public:
    struct Options {
        QString root;
        QString containerRoot = QStringLiteral("/mnt/skills");
        /// `skills` of extensions_config.json, read at each load; an Error fails the load. Null: all are on.
        std::function<Result<Json>()> states;
    };
    explicit SkillStore(Options options) : m_options(std::move(options)) {}

    Result<SkillList> load() const override;
    Result<QByteArray> read(const Skill &skill) const override;

    /// Whether the skill of a folder's name may not be read; what cannot be known counts as off. Reads one small file.
    bool isSwitchedOff(const QString &name) const;
    const QString &root() const { return m_options.root; }
    /// In the order in which they are loaded.
    static const QStringList &categories();

private:
    const Options m_options;
};

} // namespace paddock
