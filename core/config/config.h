// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"

#include <QMap>
#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace paddock {

/// `sandbox:` (sandbox.md §13). Only the keys that this version acts on; the rest is kept in Config::raw.
struct SandboxConfig {
    QString use = QStringLiteral("embedded"); ///< embedded, local, container, provisioner, or an upstream class path
    bool allowHostBash = false;
    QString network = QStringLiteral("none"); ///< none, host
    std::optional<QString> maxShellSessions;  ///< sandbox.environment.MAX_SHELL_SESSIONS after "$VAR" resolution
    QMap<QString, QString> environment;
    int bashCommandTimeout = 600; ///< seconds
    qint64 bashOutputMaxChars = 20000;
    qint64 readFileOutputMaxChars = 50000;
    qint64 lsOutputMaxChars = 20000;
    bool lineTruncation = true;
    struct Mount {
        QString hostPath;
        QString containerPath;
        bool readOnly = false;
    };
    std::vector<Mount> mounts;
};

/// `subagent_runtime:` (runtime §1.4); start-up only.
struct SubagentRuntimeConfig {
    int maxRunning = 3;
    int maxQueued = 64;
    QString admissionPolicy = QStringLiteral("queue"); ///< queue, reject
    int queueTimeoutSeconds = 300;
};

/// `subagents:` (runtime §2.3)
struct SubagentsConfig {
    int timeoutSeconds = 1800;
    std::optional<int> maxTurns;
};

/// `loop_detection:` (runtime §4.7)
struct LoopDetectionConfig {
    bool enabled = true;
    int warnThreshold = 3;
    int hardLimit = 5;
    int windowSize = 20;
    int maxTrackedThreads = 100;
    int toolFreqWarn = 30;
    int toolFreqHardLimit = 50;
    QMap<QString, std::pair<int, int>> toolFreqOverrides; ///< tool -> (warn, hard_limit)
};

/// `token_budget:` (runtime §4.8)
struct TokenBudgetConfig {
    bool enabled = false;
    qint64 maxTokens = 200000;
    double warnThreshold = 0.8;
    double hardStopThreshold = 1.0;
};

/// `read_before_write:` (middleware-base §14)
struct ReadBeforeWriteConfig {
    bool enabled = true;
    bool elideBlockedPayloads = true;
    qint64 elideMinChars = 0;
};

/// One entry of `models:`; what a provider needs beyond the name stays in `settings`.
struct ModelConfig {
    QString name;
    QString use;
    QString model;
    Json settings = Json::object();
};

/// The whole configuration as values. Rooms get small options made from it by `run`.
struct Config {
    QString path;   ///< empty: built-in defaults
    QString sha256; ///< of the file
    SandboxConfig sandbox;
    SubagentRuntimeConfig subagentRuntime;
    SubagentsConfig subagents;
    LoopDetectionConfig loopDetection;
    TokenBudgetConfig tokenBudget;
    ReadBeforeWriteConfig readBeforeWrite;
    std::vector<ModelConfig> models;
    int maxRecursionLimit = 1000;
    Json raw = Json::object(); ///< the file as it is, references resolved; never shown unmasked
    QStringList warnings;      ///< unknown keys and the like, each with file, line and column
};

/// Reads and checks one file. The error names file, line, column and key, and suggests the nearest known key.
/// `environment` answers "$NAME" references.
Result<Config> loadConfig(const QString &path, const QMap<QString, QString> &environment);
Result<Config> parseConfig(const QByteArray &yaml, const QString &name, const QMap<QString, QString> &environment);

/// Search order: `explicitPath`, else $DEER_FLOW_CONFIG_PATH, else ./config.yaml, else {configDir}/config.yaml. A path given by either of the
/// first two must exist. An empty result means built-in defaults.
Result<QString> findConfig(const QString &explicitPath, const QMap<QString, QString> &environment, const QString &configDir);

/// "$NAME" as a whole value becomes the variable's value; an unset name is an error unless `lenient` (then empty).
Result<Json> resolveReferences(const Json &value, const QMap<QString, QString> &environment, bool lenient);

/// Checks of single sections, shared by the loader and the case files: an error says which key and why.
Result<LoopDetectionConfig> loopDetectionFromJson(const Json &value);
Result<TokenBudgetConfig> tokenBudgetFromJson(const Json &value);
Result<SubagentRuntimeConfig> subagentRuntimeFromJson(const Json &value);
Result<SubagentsConfig> subagentsFromJson(const Json &value);

} // namespace paddock
