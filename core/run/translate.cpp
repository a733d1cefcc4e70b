// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/run/translate.h"

#include "core/run/server_binary.h"
#include "core/run/skill_wiring.h"
#include "core/sandbox/aio/aio_provider.h"
#include "core/sandbox/backend/embedded_backend.h"
#include "core/sandbox/backend/session_capacity.h"
#include "core/sandbox/local/local_provider.h"
#include "core/sandbox/thread_paths.h"

namespace paddock {

AdmissionOptions admissionOptions(const SubagentRuntimeConfig &config)
{
    AdmissionOptions options;
    options.maxRunning = config.maxRunning;
    options.maxQueued = config.maxQueued;
    options.reject = config.admissionPolicy == u"reject";
    options.queueTimeout = std::chrono::seconds(config.queueTimeoutSeconds);
    return options;
}

namespace {

OutputBudgetOptions outputBudgetOptions(const ToolOutputConfig &config)
{
    OutputBudgetOptions options;
    options.enabled = config.enabled;
    options.externalizeMinChars = config.externalizeMinChars;
    options.previewHeadChars = config.previewHeadChars;
    options.previewTailChars = config.previewTailChars;
    options.fallbackMaxChars = config.fallbackMaxChars;
    options.fallbackHeadChars = config.fallbackHeadChars;
    options.fallbackTailChars = config.fallbackTailChars;
    options.storageSubdir = config.storageSubdir;
    options.exemptTools = config.exemptTools;
    options.toolOverrides = config.toolOverrides;
    options.elideSupersededWrites = config.elideSupersededWrites;
    options.supersededWriteMinChars = config.supersededWriteMinChars;
    options.keepRecentWrites = config.keepRecentWrites;
    return options;
}

PiiOptions piiOptions(const PiiRedactionConfig &config)
{
    PiiOptions options;
    options.email = config.email;
    options.apiKey = config.apiKey;
    options.creditCard = config.creditCard;
    options.phone = config.phone;
    options.nationalId = config.nationalId;
    options.tokenSecret = config.tokenSecret;
    options.failClosed = config.failClosed;
    return options;
}

ContextSize contextSize(const SummarizationConfig::Size &size)
{
    using Unit = ContextSize::Unit;
    return {size.type == u"tokens" ? Unit::Tokens : size.type == u"fraction" ? Unit::Fraction : Unit::Messages, size.value};
}

/// What is known of a configured model; the provider is what answers call it.
CompactionModel compactionModel(const ModelConfig &config)
{
    const QString by = config.use + QLatin1Char(' ') + config.model;
    CompactionModel model;
    model.name = config.name;
    if (by.contains(u"anthropic", Qt::CaseInsensitive) || by.contains(u"claude", Qt::CaseInsensitive))
        model.provider = QStringLiteral("anthropic");
    else if (by.contains(u"openai", Qt::CaseInsensitive))
        model.provider = QStringLiteral("openai");
    model.contextWindow = std::max<qint64>(0, intOf(config.settings, "context_window"));
    return model;
}

SummarizationOptions summarizationOptions(const Config &config)
{
    SummarizationOptions options;
    for (const SummarizationConfig::Size &size : config.summarization.trigger)
        options.policy.trigger.push_back(contextSize(size));
    options.policy.keep = contextSize(config.summarization.keep);
    options.trimTokens = config.summarization.trimTokens;
    options.promptTemplate = config.summarization.summaryPrompt;
    options.modelName = config.summarization.modelName;
    QHash<QString, CompactionModel> models;
    for (const ModelConfig &model : config.models) {
        if (!models.contains(model.name)) // the first of equal names wins
            models.insert(model.name, compactionModel(model));
    }
    options.facts = [models](const QString &name) { return models.value(name, CompactionModel{name, {}, 0}); };
    return options;
}

} // namespace

ChainOptions chainOptions(const Config &config, const QString &dataDir, const QString &workspace, BlobSink blobs)
{
    ChainOptions options;
    options.dataDir = dataDir;
    options.workspaceOverride = workspace;
    options.readBeforeWrite = config.readBeforeWrite.enabled;
    options.elideBlockedPayloads = config.readBeforeWrite.elideBlockedPayloads;
    options.elideMinChars = int(config.readBeforeWrite.elideMinChars);
    options.loopDetection = config.loopDetection.enabled;
    options.loopWarnThreshold = config.loopDetection.warnThreshold;
    options.loopHardLimit = config.loopDetection.hardLimit;
    options.loopWindow = config.loopDetection.windowSize;
    options.loopMaxScopes = config.loopDetection.maxTrackedThreads;
    options.toolFreqWarn = config.loopDetection.toolFreqWarn;
    options.toolFreqHardLimit = config.loopDetection.toolFreqHardLimit;
    options.toolFreqOverrides = config.loopDetection.toolFreqOverrides;
    options.llmRetry = {config.llmCall.retryMaxAttempts, std::chrono::milliseconds(config.llmCall.retryBaseDelayMs),
                        std::chrono::milliseconds(config.llmCall.retryCapDelayMs),
                        std::chrono::milliseconds(config.llmCall.burstRetryBaseDelayMs)};
    options.llmCircuit = {config.circuitBreaker.failureThreshold, std::chrono::seconds(config.circuitBreaker.recoveryTimeoutSeconds)};
    options.llmMaxConcurrentCalls = config.llmCall.maxConcurrentCalls;
    options.outputBudget = outputBudgetOptions(config.toolOutput);
    options.piiRedaction = config.piiRedaction.enabled;
    options.pii = piiOptions(config.piiRedaction);
    options.toolProgress = config.toolProgress.enabled;
    options.progress = {config.toolProgress.stagnationThreshold, config.toolProgress.warnEscalationCount,
                        config.toolProgress.injectAssessment, config.toolProgress.jaccardSimilarityThreshold,
                        config.toolProgress.minWordCountForSimilarity,
                        QSet<QString>(config.toolProgress.exemptTools.begin(), config.toolProgress.exemptTools.end()),
                        config.toolProgress.maxTrackedThreads};
    options.toolReceipts = config.verification.receiptsEnabled;
    options.receiptRenderMode = config.verification.receiptsRenderMode == u"always" ? ReceiptRenderMode::Always
                                                                                    : ReceiptRenderMode::DelegationOnly;
    options.guardrails = config.guardrails.enabled;
    options.guardrailGate = {config.guardrails.failClosed, config.guardrails.passport, config.guardrails.providerUse,
                             config.guardrails.providerConfig, nullptr};
    options.authorization = config.authorization.enabled;
    options.authorizationGate = {config.authorization.failClosed, config.authorization.defaultRole,
                                 config.authorization.providerUse, config.authorization.providerConfig, nullptr};
    options.safetyFinishReason = config.safety.enabled;
    options.safetyDetectorList = config.safety.detectors;
    options.skills.containerRoot = config.skills.containerPath;
    options.summarization = config.summarization.enabled;
    options.summaries = summarizationOptions(config);
    options.skillReadTools = config.summarization.skillReadTools;
    options.deferred.autoPromoteTopK = config.toolSearch.autoPromoteTopK;
    options.dateTimezone = qEnvironmentVariable("DEER_FLOW_DATE_TIMEZONE");
    options.trace.blobSink = std::move(blobs);
    return options;
}

ChainOptions leadChainOptions(ChainOptions options, const Config &config, bool scripted)
{
    options.tokenBudget = config.tokenBudget.enabled;
    options.budget = {config.tokenBudget.maxTokens, config.tokenBudget.maxInputTokens, config.tokenBudget.maxOutputTokens,
                      config.tokenBudget.warnThreshold, config.tokenBudget.hardStopThreshold};
    options.delegation = DelegationLimits::within(config.subagents.maxConcurrent, config.subagents.maxTotalPerRun,
                                                  config.subagentRuntime.maxRunning);
    if (scripted) {
        const Json &set = memberOf(config.raw, "subagents");
        if (!set.contains("max_concurrent"))
            options.delegation.perResponse = DelegationLimits::unlimited;
        if (!set.contains("max_total_per_run"))
            options.delegation.perRun = DelegationLimits::unlimited;
    }
    options.tokenUsage = config.tokenUsage.enabled;
    options.title = config.title.enabled;
    options.titles.maxWords = config.title.maxWords;
    options.titles.maxChars = config.title.maxChars;
    options.titles.modelName = config.title.modelName;
    if (!config.title.promptTemplate.isEmpty())
        options.titles.promptTemplate = config.title.promptTemplate;
    options.injectMemory = config.memory.injectionEnabled;
    return options;
}

ChainOptions subagentChainOptions(ChainOptions options, const std::optional<SubagentTokenBudget> &budget)
{
    options.receiptRenderMode = ReceiptRenderMode::Always; // as the row of its chain makes it, whatever the lead's is
    options.tokenBudget = budget.has_value();
    if (budget)
        options.budget = {budget->maxTokens, budget->maxInputTokens, budget->maxOutputTokens, budget->warn, budget->hard};
    return options;
}

ChainOptions chainOptionsFor(ChainOptions options, const ChainRequest &request)
{
    options.skills.available = request.skills;
    options.deferred.tools = request.deferred;
    options.deferredTools = !request.deferred.names.isEmpty();
    options.mcpRouting = !request.deferred.routing.isEmpty();
    options.vision = request.vision;
    return options;
}

QStringList modelsThatSee(const Config &config)
{
    QStringList names;
    for (const ModelConfig &model : config.models) {
        if (boolOf(model.settings, "supports_vision"))
            names.append(model.name);
    }
    return names;
}

std::shared_ptr<FaultPlan> faultPlan(const Scenario &scenario)
{
    using Point = FaultPlan::Point;
    static const std::pair<const char16_t *, Point> points[] = {
        {u"shell.exec", Point::ShellExec}, {u"shell.create", Point::ShellCreate}, {u"bash.exec", Point::BashExec},
        {u"file.op", Point::FileOp}, {u"provider.acquire", Point::ProviderAcquire}, {u"provider.release", Point::ProviderRelease}};
    std::vector<FaultPlan::Rule> rules;
    for (const ScenarioEnvFault &fault : scenario.faults) {
        FaultPlan::Rule rule{};
        for (const auto &[name, point] : points) {
            if (fault.at == QStringView(name))
                rule.point = point;
        }
        rule.scope = fault.scope;
        rule.nth = fault.nth;
        rule.message = fault.message;
        rule.delay = fault.delay;
        switch (fault.action) {
        case ScenarioEnvFault::Action::SessionNotFound: rule.action = FaultPlan::Action::SessionNotFound; break;
        case ScenarioEnvFault::Action::ErrorObservation: rule.action = FaultPlan::Action::ErrorObservation; break;
        case ScenarioEnvFault::Action::Fail: rule.action = FaultPlan::Action::Fail; break;
        case ScenarioEnvFault::Action::Latency: rule.action = FaultPlan::Action::Latency; break;
        }
        rules.push_back(std::move(rule));
    }
    return std::make_shared<FaultPlan>(std::move(rules));
}

Result<int> shellSessionLimit(const Config &config)
{
    auto capacity = resolveSessionCapacity(config.subagentRuntime.maxRunning, config.sandbox.maxShellSessions);
    if (!capacity)
        return fail(capacity.error());
    return capacity->limit();
}

SandboxToolOptions sandboxToolOptions(const Config &config, bool local, bool hostBash)
{
    SandboxToolOptions options;
    options.offerBash = !local || hostBash;
    options.bashTimeout = std::chrono::seconds(config.sandbox.bashCommandTimeout);
    options.bashOutputChars = config.sandbox.bashOutputMaxChars;
    options.lsOutputChars = config.sandbox.lsOutputMaxChars;
    options.readFileChars = config.sandbox.readFileOutputMaxChars;
    options.skillsRoot = config.skills.containerPath;
    options.truncation = config.sandbox.lineTruncation ? Truncation::ByLine : Truncation::Classic;
    return options;
}

Result<std::shared_ptr<SandboxProvider>> makeEmbeddedProvider(const Config &config, const QString &dataDir, WorkspaceLookup workspaces)
{
    auto limit = shellSessionLimit(config);
    if (!limit)
        return fail(limit.error());
    EmbeddedOptions options;
    options.serverProgram = serverBinary();
    // What is missing is said before a run starts, not by a tool in the middle of it.
    if (auto bubblewrap = findBubblewrap({}); !bubblewrap)
        return fail(ErrorCode::Unavailable, bubblewrap.error().message);
    if (auto server = findServerProgram(options.serverProgram); !server)
        return fail(ErrorCode::Unavailable, server.error().message);
    options.sessionLimit = *limit;
    options.hostNetwork = config.sandbox.network == u"host";
    options.environment = config.sandbox.environment;
    options.folders = [dataDir, workspaces, config](const ThreadKey &key) -> Result<SandboxFolders> {
        auto paths = ThreadPaths::make(dataDir, key, workspaces(key));
        if (!paths)
            return fail(paths.error());
        if (auto made = paths->create(); !made)
            return fail(made.error());
        auto skills = skillMounts(config, dataDir, key.user);
        if (!skills)
            return fail(skills.error());
        SandboxFolders folders = SandboxFolders::of(*paths);
        folders.extra = std::move(*skills);
        return folders;
    };
    aio::ShellOptions shells;
    shells.defaultTimeout = config.sandbox.bashCommandTimeout;
    return std::make_shared<AioProvider>(std::make_shared<EmbeddedBackend>(std::move(options)), shells);
}

Result<std::shared_ptr<SandboxProvider>> makeLocalProvider(const Config &config, const QString &dataDir, WorkspaceLookup workspaces)
{
    LocalSandboxProvider::Options options;
    options.dataDir = dataDir;
    options.workspaceOf = std::move(workspaces);
    options.skillsRoot = config.skills.containerPath;
    options.sandbox.hostBashAllowed = [allowed = config.sandbox.allowHostBash] { return allowed; };
    options.sandbox.commandTimeout = std::chrono::seconds(config.sandbox.bashCommandTimeout);
    return std::make_shared<LocalSandboxProvider>(std::move(options));
}

} // namespace paddock
