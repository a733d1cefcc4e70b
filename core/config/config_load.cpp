// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/nearest.h"
#include "core/base/text.h"
#include "core/base/yaml.h"
#include "core/config/config.h"
#include "core/config/section_reader.h"

#include <QFile>
#include <QFileInfo>

namespace paddock {

namespace {

constexpr qint64 maxConfigBytes = 4 * 1024 * 1024;

const QStringList &topLevelKeys()
{
    static const QStringList keys = QStringLiteral(
        "config_version log_level logging token_usage token_budget max_recursion_limit models tool_groups tools "
        "tool_search tool_output suggestions input_polish loop_detection tool_progress read_before_write "
        "safety_finish_reason verification uploads sandbox subagents subagent_runtime skills skill_scan skill_evolution "
        "title summarization memory agents_api acp_agents guardrails authorization circuit_breaker llm_call database "
        "run_events stream_bridge checkpointer scheduler mcp_tasks run_ownership extensions plugins channels auth "
        "pii_redaction sandbox_audit channel_connections agent_storage dedupe_storage terminal_logs").split(QLatin1Char(' '));
    return keys;
}

QString suggestion(const QString &key, const QStringList &known)
{
    const QString best = nearestWord(key, known);
    return best.isEmpty() ? QString() : QStringLiteral("; did you mean '%1'?").arg(best);
}

/// The node that a dotted key names, as deep as it exists, for the place of a complaint.
const YamlNode *nodeAt(const YamlNode &root, const QString &dotted)
{
    const YamlNode *node = &root;
    const QStringList parts = dotted.split(QLatin1Char('.'));
    for (const QString &part : parts) {
        const YamlNode *next = node->find(part);
        if (!next)
            break;
        node = next;
    }
    return node;
}

struct Loader {
    QString name;
    const YamlNode &root;
    Config config;

    std::unexpected<Error> placed(const Error &error) const
    {
        const QString key = stringOf(error.details, "key");
        const YamlNode *node = nodeAt(root, key);
        Error out = error;
        out.message = QStringLiteral("%1:%2:%3: %4").arg(name).arg(node->line).arg(node->column).arg(error.message);
        return std::unexpected(std::move(out));
    }

    void warnUnknown(const QString &section, const QStringList &unknown, const QStringList &known)
    {
        const YamlNode *parent = section.isEmpty() ? &root : root.find(section);
        for (const QString &key : unknown) {
            int line = 0, column = 0;
            if (parent) {
                for (const YamlNode::Entry &entry : parent->entries) {
                    if (entry.key == key) {
                        line = entry.line;
                        column = entry.column;
                    }
                }
            }
            const QString full = section.isEmpty() ? key : section + QLatin1Char('.') + key;
            config.warnings.append(QStringLiteral("%1:%2:%3: unknown key '%4'%5")
                                       .arg(name).arg(line).arg(column).arg(full, suggestion(key, known)));
        }
    }

    Result<void> readSandbox(const Json &value)
    {
        SandboxConfig &c = config.sandbox;
        SectionReader reader(QStringLiteral("sandbox"), value);
        reader.string("use", c.use);
        reader.boolean("allow_host_bash", c.allowHostBash);
        reader.oneOf("network", c.network, {QStringLiteral("none"), QStringLiteral("host")});
        reader.integer("bash_command_timeout", c.bashCommandTimeout, 1, 7 * 86400);
        reader.integer("bash_output_max_chars", c.bashOutputMaxChars, 0, 100000000);
        reader.integer("read_file_output_max_chars", c.readFileOutputMaxChars, 0, 100000000);
        reader.integer("ls_output_max_chars", c.lsOutputMaxChars, 0, 100000000);
        reader.boolean("line_truncation", c.lineTruncation);
        const Json &environment = reader.take("environment");
        if (environment.is_object()) {
            for (auto it = environment.begin(); it != environment.end(); ++it) {
                const QString text = it.value().is_string() ? textOf(it.value())
                    : it.value().is_null() ? QString() : QString::fromUtf8(dumpJson(it.value()));
                const QString key = QString::fromStdString(it.key());
                c.environment.insert(key, text);
                if (key == u"MAX_SHELL_SESSIONS")
                    c.maxShellSessions = text;
            }
        } else if (!environment.is_null()) {
            reader.complain("environment", QStringLiteral("must be a mapping of names to values"));
        }
        const Json &mounts = reader.take("mounts");
        if (mounts.is_array()) {
            for (const Json &mount : mounts) {
                SandboxConfig::Mount m{stringOf(mount, "host_path"), stringOf(mount, "container_path"), boolOf(mount, "read_only")};
                if (m.hostPath.isEmpty() || m.containerPath.isEmpty())
                    reader.complain("mounts", QStringLiteral("each mount needs host_path and container_path"));
                c.mounts.push_back(std::move(m));
            }
        } else if (!mounts.is_null()) {
            reader.complain("mounts", QStringLiteral("must be a list"));
        }
        readContainerKeys(reader, c.container);
        for (const char *key : {"thread_data_mounts", "provisioner_url", "provisioner_api_key", "audit"})
            reader.take(key);
        if (auto done = reader.finish(0); !done)
            return placed(done.error());
        warnUnknown(QStringLiteral("sandbox"), reader.unknownKeys(), reader.knownKeys());
        return {};
    }

    Result<void> readModels(const Json &value)
    {
        if (value.is_null())
            return {};
        if (!value.is_array())
            return placed(Error{ErrorCode::InvalidArgument, QStringLiteral("models: must be a list"), Json{{"key", "models"}}, nullptr});
        for (const Json &entry : value) {
            ModelConfig model{stringOf(entry, "name"), stringOf(entry, "use"), stringOf(entry, "model"), entry};
            if (model.name.isEmpty())
                return placed(Error{ErrorCode::InvalidArgument, QStringLiteral("models: each entry needs a name"), Json{{"key", "models"}}, nullptr});
            config.models.push_back(std::move(model));
        }
        return {};
    }

    template<typename T>
    Result<void> section(const char *key, Result<T> (*read)(const Json &), T &into)
    {
        auto value = read(memberOf(config.raw, key));
        if (!value)
            return placed(value.error());
        into = *value;
        return {};
    }

    Result<void> readLeadSections()
    {
        if (auto r = section("token_budget", tokenBudgetFromJson, config.tokenBudget); !r)
            return r;
        if (auto r = section("token_usage", tokenUsageFromJson, config.tokenUsage); !r)
            return r;
        if (auto r = section("title", titleFromJson, config.title); !r)
            return r;
        if (auto r = section("safety_finish_reason", safetyFromJson, config.safety); !r)
            return r;
        if (auto r = section("summarization", summarizationFromJson, config.summarization); !r)
            return r;
        return section("memory", memoryFromJson, config.memory);
    }

    Result<Config> run()
    {
        if (auto r = readSandbox(memberOf(config.raw, "sandbox")); !r)
            return fail(r.error());
        if (auto r = section("subagent_runtime", subagentRuntimeFromJson, config.subagentRuntime); !r)
            return fail(r.error());
        if (auto r = section("subagents", subagentsFromJson, config.subagents); !r)
            return fail(r.error());
        if (auto r = section("loop_detection", loopDetectionFromJson, config.loopDetection); !r)
            return fail(r.error());
        if (auto r = readLeadSections(); !r)
            return fail(r.error());
        if (auto r = section("llm_call", llmCallFromJson, config.llmCall); !r)
            return fail(r.error());
        if (auto r = section("circuit_breaker", circuitBreakerFromJson, config.circuitBreaker); !r)
            return fail(r.error());
        if (auto r = section("tool_output", toolOutputFromJson, config.toolOutput); !r)
            return fail(r.error());
        if (auto r = section("pii_redaction", piiRedactionFromJson, config.piiRedaction); !r)
            return fail(r.error());
        if (auto r = section("tool_progress", toolProgressFromJson, config.toolProgress); !r)
            return fail(r.error());
        if (auto r = section("verification", verificationFromJson, config.verification); !r)
            return fail(r.error());
        if (auto r = section("guardrails", guardrailsFromJson, config.guardrails); !r)
            return fail(r.error());
        if (auto r = section("authorization", authorizationFromJson, config.authorization); !r)
            return fail(r.error());
        if (auto r = section("skills", skillsFromJson, config.skills); !r)
            return fail(r.error());
        if (auto r = section("tool_search", toolSearchFromJson, config.toolSearch); !r)
            return fail(r.error());
        if (auto r = section("terminal_logs", terminalLogsFromJson, config.terminalLogs); !r)
            return fail(r.error());
        if (auto r = readModels(memberOf(config.raw, "models")); !r)
            return fail(r.error());
        SectionReader rbw(QStringLiteral("read_before_write"), memberOf(config.raw, "read_before_write"));
        rbw.boolean("enabled", config.readBeforeWrite.enabled);
        rbw.boolean("elide_blocked_payloads", config.readBeforeWrite.elideBlockedPayloads);
        rbw.integer("elide_min_chars", config.readBeforeWrite.elideMinChars, 0, 100000000);
        if (auto r = rbw.finish(0); !r)
            return placed(r.error());
        SectionReader top(QString(), config.raw);
        top.integer("max_recursion_limit", config.maxRecursionLimit, 1, 100000);
        for (const QString &key : topLevelKeys())
            top.take(key.toLatin1().constData());
        if (auto r = top.finish(0); !r)
            return placed(r.error());
        warnUnknown(QString(), top.unknownKeys(), topLevelKeys());
        return config;
    }
};

} // namespace

Result<Json> resolveReferences(const Json &value, const QMap<QString, QString> &environment, bool lenient)
{
    if (value.is_string()) {
        const QString text = textOf(value);
        if (!text.startsWith(QLatin1Char('$')) || text.size() < 2)
            return value;
        const QString name = text.mid(1);
        const auto found = environment.constFind(name);
        if (found != environment.constEnd())
            return toJson(*found);
        if (lenient)
            return Json("");
        return fail(ErrorCode::InvalidArgument,
                    QStringLiteral("the environment variable %1 is not set; set it or remove the reference '%2'").arg(name, text));
    }
    if (value.is_object()) {
        Json out = Json::object();
        for (auto it = value.begin(); it != value.end(); ++it) {
            auto inner = resolveReferences(it.value(), environment, lenient);
            if (!inner)
                return inner;
            out[it.key()] = std::move(*inner);
        }
        return out;
    }
    if (value.is_array()) {
        Json out = Json::array();
        for (const Json &item : value) {
            auto inner = resolveReferences(item, environment, lenient);
            if (!inner)
                return inner;
            out.push_back(std::move(*inner));
        }
        return out;
    }
    return value;
}

Result<Config> parseConfig(const QByteArray &yaml, const QString &name, const QMap<QString, QString> &environment)
{
    auto root = parseYaml(yaml, name);
    if (!root)
        return fail(root.error());
    if (!root->isMapping() && !root->isNull())
        return fail(ErrorCode::InvalidArgument, QStringLiteral("%1:%2:%3: the file must be a mapping of sections")
                                                    .arg(name).arg(root->line).arg(root->column));
    Json raw = root->isNull() ? Json::object() : root->toJson();
    // An unset MAX_SHELL_SESSIONS reference must reach the capacity check as an empty value (sandbox.md §6 row 7).
    Json sessions;
    if (raw.contains("sandbox") && raw["sandbox"].is_object() && raw["sandbox"].contains("environment")
        && raw["sandbox"]["environment"].is_object()) {
        Json &env = raw["sandbox"]["environment"];
        if (env.contains("MAX_SHELL_SESSIONS")) {
            sessions = *resolveReferences(env["MAX_SHELL_SESSIONS"], environment, true);
            env["MAX_SHELL_SESSIONS"] = sessions;
        }
    }
    auto resolved = resolveReferences(raw, environment, false);
    if (!resolved) {
        Error error = resolved.error();
        error.message = QStringLiteral("%1: %2").arg(name, error.message);
        return fail(std::move(error));
    }
    Loader loader{name, *root, {}};
    loader.config.raw = std::move(*resolved);
    loader.config.sha256 = sha256Hex(yaml);
    return loader.run();
}

Result<Config> loadConfig(const QString &path, const QMap<QString, QString> &environment)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return fail(ErrorCode::NotFound, QStringLiteral("Cannot read the configuration %1: %2").arg(path, file.errorString()));
    const QByteArray bytes = file.read(maxConfigBytes + 1);
    if (bytes.size() > maxConfigBytes)
        return fail(ErrorCode::InvalidArgument, QStringLiteral("The configuration %1 is larger than 4 MiB").arg(path));
    auto config = parseConfig(bytes, QFileInfo(path).fileName(), environment);
    if (config)
        config->path = path;
    return config;
}

Result<QString> findConfig(const QString &explicitPath, const QMap<QString, QString> &environment, const QString &configDir)
{
    for (const auto &[path, what] : {std::pair(explicitPath, QStringLiteral("--config")),
                                     std::pair(environment.value(QStringLiteral("DEER_FLOW_CONFIG_PATH")),
                                               QStringLiteral("DEER_FLOW_CONFIG_PATH"))}) {
        if (path.isEmpty())
            continue;
        const QFileInfo info(path);
        if (info.isDir())
            return fail(ErrorCode::InvalidArgument, QStringLiteral("%1, named by %2, is a folder; name the configuration file in it").arg(path, what));
        if (info.exists() && !info.isFile())
            return fail(ErrorCode::InvalidArgument, QStringLiteral("%1, named by %2, is not a file").arg(path, what));
        if (!info.isFile())
            return fail(ErrorCode::NotFound, QStringLiteral("The configuration file %1 named by %2 does not exist").arg(path, what));
        return path;
    }
    for (const QString &path : {QStringLiteral("config.yaml"), configDir + QStringLiteral("/config.yaml")}) {
        if (QFileInfo(path).isFile())
            return path;
    }
    return QString();
}

} // namespace paddock
