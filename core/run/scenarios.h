// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"

#include <QString>
#include <QStringList>

#include <memory>
#include <vector>

namespace paddock {

struct Scenario;

struct ScenarioEntry {
    QString name;
    QString description;
    QString task;
    QStringList remarks; ///< what is allowed and yet perhaps not meant, each with file, line and column
};

/// The scenarios that come along (scenario.md), in the order a person should try them.
std::vector<ScenarioEntry> builtinScenarios();
/// Reads a built-in scenario by name or a file by path and checks it wholly; the error names file, line and column.
Result<ScenarioEntry> checkScenario(const QString &nameOrPath);
/// The checked scenario itself.
Result<std::shared_ptr<const Scenario>> loadScenario(const QString &nameOrPath);
/// The text of a scenario; for `paddock scenario show` and as a start for one's own.
Result<QByteArray> scenarioText(const QString &nameOrPath);

} // namespace paddock
