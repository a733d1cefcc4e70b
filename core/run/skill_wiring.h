// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/config/config.h"
#include "core/lease/lease_registry.h"
#include "core/sandbox/backend/bwrap_args.h"
#include "core/skill/skill_store.h"

#include <functional>
#include <memory>

namespace paddock {

/// The skills that the configuration names, with their switches in extensions_config.json, both read anew at each load. An
/// error when a file that is named outright does not exist. `configDir` is where a configuration would be when there is none.
Result<std::shared_ptr<const SkillStore>> makeSkillStore(const Config &config, const QMap<QString, QString> &environment,
                                                         const QString &configDir);

/// `skills` of extensions_config.json, with what `extensions:` of the configuration sets over it.
std::function<Result<Json>()> skillStates(const Config &config, const QString &extensionsFile);

/// The folders that a user's sandboxes show under the skills root; made when missing.
Result<std::vector<SandboxMount>> skillMounts(const Config &config, const QString &dataDir, const UserId &user);
/// Copies the switched-on skills into these folders; what could not be loaded or copied, a sentence each. Blocking.
QStringList projectUserSkills(const SkillStore &store, const QString &dataDir, const UserId &user);

} // namespace paddock
