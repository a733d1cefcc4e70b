// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/config/lead_sections.h"

#include <QMap>
#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace paddock {

/// The keys of `sandbox:` that only `use: container` looks at (sandbox.md §7.4 to §7.6).
struct ContainerConfig {
    QString runtime = QStringLiteral("auto"); ///< auto, docker, podman, container
    QString image;                            ///< required by use: container
    int port = 8080;                          ///< the first one to try
    int replicas = 3;
    QString prefix;        ///< empty: the default of the backend
    int idleTimeout = 600; ///< seconds; 0: never
    QString ownershipType = QStringLiteral("memory");
    int renewalSeconds = 30;
    int ttlMultiplier = 4;
};

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
    ContainerConfig container;
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
    int maxTotalPerRun = 6; ///< delegations of one run
    int maxConcurrent = 3;  ///< delegations of one response; never more than may run at once
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

/// `read_before_write:` (middleware-base §14)
struct ReadBeforeWriteConfig {
    bool enabled = true;
    bool elideBlockedPayloads = true;
    qint64 elideMinChars = 0;
};

/// `llm_call:` (middleware-base §10)
struct LlmCallConfig {
    int maxConcurrentCalls = 0; ///< 0: no cap; start-up only
    int retryMaxAttempts = 3;
    int retryBaseDelayMs = 1000;
    int retryCapDelayMs = 8000;
    int burstRetryBaseDelayMs = 5000;
};

/// `circuit_breaker:` (middleware-base §10.5)
struct CircuitBreakerConfig {
    int failureThreshold = 5;
    int recoveryTimeoutSeconds = 60;
};

/// `tool_output:` (middleware-base §4); sizes in characters
struct ToolOutputConfig {
    bool enabled = true;
    qint64 externalizeMinChars = 12000; ///< 0: never
    qint64 previewHeadChars = 2000;
    qint64 previewTailChars = 1000;
    qint64 fallbackMaxChars = 30000; ///< 0: never
    qint64 fallbackHeadChars = 8000;
    qint64 fallbackTailChars = 3000;
    QString storageSubdir = QStringLiteral(".tool-results");
    QStringList exemptTools = {QStringLiteral("read_file"), QStringLiteral("read_file_tool")};
    QMap<QString, qint64> toolOverrides; ///< tool -> its own externalize_min_chars
    bool elideSupersededWrites = true;
    qint64 supersededWriteMinChars = 2000;
    int keepRecentWrites = 1;
};

/// `tool_progress:` (middleware-base §15)
struct ToolProgressConfig {
    bool enabled = false;
    int stagnationThreshold = 3;
    int warnEscalationCount = 2;
    bool injectAssessment = true;
    double jaccardSimilarityThreshold = 0.8;
    int minWordCountForSimilarity = 10;
    QStringList exemptTools{QStringLiteral("ask_clarification"), QStringLiteral("write_todos"), QStringLiteral("present_files"),
                            QStringLiteral("task")};
    int maxTrackedThreads = 100;
};

/// `verification:` (middleware-base §11)
struct VerificationConfig {
    bool receiptsEnabled = true;
    QString receiptsRenderMode = QStringLiteral("delegation_only"); ///< delegation_only, always; the lead's
};

/// `guardrails:` and `authorization:` (middleware-base §12); what the provider needs is checked where it is made.
struct GateConfig {
    bool enabled = false;
    bool failClosed = true;
    QString passport;                             ///< guardrails; null: none
    QString defaultRole = QStringLiteral("user"); ///< authorization
    QString providerUse;                          ///< empty: no provider
    Json providerConfig;
};

/// `pii_redaction:` (middleware-base §6)
struct PiiRedactionConfig {
    bool enabled = false;
    bool email = true;
    bool apiKey = true;
    bool creditCard = true;
    bool phone = true;
    bool nationalId = true;
    QString tokenSecret; ///< not blank when enabled; never shown
    bool failClosed = false;
};

/// `skills:` (runtime §6.1)
struct SkillsConfig {
    QString path; ///< empty: $DEER_FLOW_SKILLS_PATH, else the folder "skills" beside the configuration
    QString containerPath = QStringLiteral("/mnt/skills");
    bool deferredDiscovery = false;
};

/// `tool_search:` (runtime §4.5, §4.6)
struct ToolSearchConfig {
    bool enabled = false;
    int autoPromoteTopK = 3; ///< as given; the routing clamps it to 1..5
};

/// `terminal_logs:`, Paddock's own: what shells printed, under {data}/shells
struct TerminalLogsConfig {
    qint64 maxTotalBytes = 1024LL * 1024 * 1024; ///< of all runs together; 0: no limit
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
    TokenUsageConfig tokenUsage;
    TitleConfig title;
    SafetyConfig safety;
    SummarizationConfig summarization;
    MemoryConfig memory;
    ReadBeforeWriteConfig readBeforeWrite;
    LlmCallConfig llmCall;
    CircuitBreakerConfig circuitBreaker;
    ToolProgressConfig toolProgress;
    VerificationConfig verification;
    GateConfig guardrails;
    GateConfig authorization;
    ToolOutputConfig toolOutput;
    PiiRedactionConfig piiRedaction;
    SkillsConfig skills;
    ToolSearchConfig toolSearch;
    TerminalLogsConfig terminalLogs;
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
Result<SubagentRuntimeConfig> subagentRuntimeFromJson(const Json &value);
Result<SubagentsConfig> subagentsFromJson(const Json &value);
Result<LlmCallConfig> llmCallFromJson(const Json &value);
Result<CircuitBreakerConfig> circuitBreakerFromJson(const Json &value);
Result<ToolProgressConfig> toolProgressFromJson(const Json &value);
Result<VerificationConfig> verificationFromJson(const Json &value);
Result<GateConfig> guardrailsFromJson(const Json &value);
Result<GateConfig> authorizationFromJson(const Json &value);
Result<ToolOutputConfig> toolOutputFromJson(const Json &value);
Result<PiiRedactionConfig> piiRedactionFromJson(const Json &value);
Result<SkillsConfig> skillsFromJson(const Json &value);
Result<ToolSearchConfig> toolSearchFromJson(const Json &value);
Result<TerminalLogsConfig> terminalLogsFromJson(const Json &value);

} // namespace paddock
