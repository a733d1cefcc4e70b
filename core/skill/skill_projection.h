// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/skill/skill_store.h"

#include <QMap>

namespace paddock {

/// Where the copies of each category go: the folders that sandboxes show under the skills root.
struct SkillProjection {
    QString root;                    ///< the skills folder that copies are made of
    QMap<QString, QString> folders;  ///< category -> host folder; made when missing, never replaced, for it may be mounted
    QString state;                   ///< a folder for lock and manifests, not shown to agents; on the same file system
};

/// Makes the folders hold copies (never links) of the switched-on skills and nothing else (runtime §6.1). One process at a
/// time; what is already there is left alone, and what changes is swapped in whole. Blocking: call on a pool thread. The
/// result lists what could not be copied.
Result<QStringList> projectSkills(const SkillProjection &projection, const SkillList &skills);

} // namespace paddock
