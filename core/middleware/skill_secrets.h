// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/skill_options.h"
#include "core/tool/tool.h"

namespace paddock {

/// Which of the secrets that came with the request the active skills get (runtime §4.1, sandbox.md §10): those that the
/// skill of the slash command declares, and those of loaded skills that take secrets without one.
struct SecretBinding {
    QMap<QString, QString> values;
    QStringList skills; ///< that get any
};

/// Pure. `list` is the registry as it is now; null when it cannot be read: then nothing is bound.
SecretBinding bindSecrets(const Json &contextSecrets, const SkillList *list, const QString &slashPath, const QStringList &loadedPaths,
                          const std::optional<QStringList> &available);
/// Puts the binding in place of the earlier one and tells of it, by names, when it changed.
void applyBinding(RuntimeContext &runtime, const SecretBinding &binding);

} // namespace paddock
