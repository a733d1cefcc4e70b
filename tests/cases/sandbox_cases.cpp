// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Areas of sandbox.json that are rules about paths, commands and environments: path, local, bash, hostbash.allowed, channel,
// env, secret, id; and identity of runtime.json.
#include "core/sandbox/bash_guard.h"
#include "core/sandbox/channel_identity.h"
#include "core/sandbox/env_policy.h"
#include "core/sandbox/host_bash.h"
#include "core/sandbox/masking.h"
#include "core/sandbox/sandbox_ids.h"
#include "core/sandbox/secrets.h"
#include "core/tool/sandbox_tools.h"
#include "tests/cases/sandbox_case_support.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>

#include <algorithm>

namespace paddock::cases::sandbox_cases {

namespace {

using namespace sandbox;

// ---- path

Verdict pathTranslate(const Json &c)
{
    return compareValue(c, toJson(replaceVirtualPath(text(c.at("input"), "path"), threadOf(c.at("input")))));
}

Verdict commandTranslate(const Json &c)
{
    return compareValue(c, toJson(replaceVirtualPathsInCommand(text(c.at("input"), "command"), threadOf(c.at("input")))));
}

Verdict pathValidate(const Json &c)
{
    const Json &in = c.at("input");
    return compareResult(c, okOf(validateLocalToolPath(text(in, "path"), threadOf(in), boolOf(in, "read_only"),
                                                       stringOf(in, "skills_root", QStringLiteral("/mnt/skills")), mountsOf(in))));
}

Verdict pathContain(const Json &c)
{
    const Json &in = c.at("input");
    const QTemporaryDir dir;
    const QString root = QFileInfo(dir.path()).canonicalFilePath();
    const QString userData = root + QStringLiteral("/user-data/");
    const auto filled = [&](QString value) { return value.replace(QStringLiteral("{T}"), root); };
    ThreadDirs thread;
    for (const QString &name : stringsOf(memberOf(in, "dirs"))) {
        QDir().mkpath(userData + name);
        if (name == u"workspace")
            thread.workspace = userData + name;
        else if (name == u"uploads")
            thread.uploads = userData + name;
        else if (name == u"outputs")
            thread.outputs = userData + name;
    }
    for (const QString &name : stringsOf(memberOf(in, "files"))) {
        const QString path = QDir::cleanPath(userData + name);
        QDir().mkpath(QFileInfo(path).path());
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly))
            return failed(file.errorString());
    }
    const Json &links = memberOf(in, "symlinks_under_user_data");
    if (links.is_object()) {
        for (const auto &[name, target] : links.items())
            QFile::link(filled(textOf(target)), userData + QString::fromStdString(name));
    }
    const auto resolved = resolveUserDataPath(text(in, "path"), thread);
    Json filledCase = c;
    if (c.at("expect").contains("value"))
        filledCase["expect"]["value"] = toUtf8(filled(text(c.at("expect"), "value")));
    return compareResult(filledCase, textOfResult(resolved));
}

Verdict pathMask(const Json &c)
{
    const Json &in = c.at("input");
    const QString skills = stringOf(in, "skills_root", QStringLiteral("/mnt/skills"));
    std::vector<MaskSource> sources;
    const auto add = [&](const QString &host, const QString &base) {
        if (!host.isEmpty())
            sources.push_back({host, base});
    };
    add(text(in, "skills_host"), skills);
    add(text(in, "acp_host"), virtualAcp.toString());
    if (const auto thread = threadOf(in)) {
        add(thread->workspace, virtualWorkspace.toString());
        add(thread->uploads, virtualUploads.toString());
        add(thread->outputs, virtualOutputs.toString());
        add(replaceVirtualPath(virtualRoot.toString(), thread), virtualRoot.toString());
    }
    const HostPathMasker masker(sources);
    const QString masked = masker.mask(text(in, "output"));
    if (masker.mask(masked) != masked)
        return failed(QStringLiteral("masking again changed the text: ") + masker.mask(masked));
    return compareValue(c, toJson(masked));
}

Verdict pathSkillName(const Json &c)
{
    const auto name = skillNameOf(text(c.at("input"), "path"), text(c.at("input"), "skills_root"));
    return compareValue(c, name ? toJson(*name) : Json());
}

// ---- local

Verdict localResolve(const Json &c)
{
    return compareResult(c, textOfResult(mapOf(c.at("input")).resolve(text(c.at("input"), "path"))));
}

Verdict localReverse(const Json &c)
{
    return compareValue(c, toJson(mapOf(c.at("input")).reverse(text(c.at("input"), "path"))));
}

Verdict localCommandMap(const Json &c)
{
    return compareValue(c, toJson(mapOf(c.at("input")).mapCommand(text(c.at("input"), "command"))));
}

Verdict localContentMap(const Json &c)
{
    return compareValue(c, toJson(mapOf(c.at("input")).mapContent(text(c.at("input"), "content"))));
}

Verdict localReadOnly(const Json &c)
{
    return compareValue(c, mapOf(c.at("input")).isReadOnly(text(c.at("input"), "path")));
}

Verdict localComposeOutput(const Json &c)
{
    const Json &in = c.at("input");
    LocalOutput output;
    output.out = text(in, "stdout");
    output.err = text(in, "stderr");
    output.exitCode = int(intOf(in, "exit_code"));
    output.timedOut = boolOf(in, "timed_out");
    output.cancelled = boolOf(in, "cancelled");
    output.timeoutSeconds = doubleOf(in, "timeout");
    return compareValue(c, toJson(composeLocalOutput(output)));
}

Verdict localTimeoutNoticeCase(const Json &c)
{
    return compareValue(c, toJson(localTimeoutNotice(doubleOf(c.at("input"), "timeout"))));
}

// ---- bash

Verdict bashCompose(const Json &c)
{
    const Json &in = c.at("input");
    const QString prefix = text(in, "identity_prefix");
    return compareValue(c, toJson(text(in, "sandbox") == u"local"
                                      ? composeLocalCommand(prefix, text(in, "workspace_host"), text(in, "command"))
                                      : composeAioCommand(prefix, text(in, "command"))));
}

Verdict bashGuard(const Json &c)
{
    const Json &in = c.at("input");
    BashGuardOptions options;
    options.hasThreadData = !(in.contains("thread") && in.at("thread").is_null())
        && !(in.contains("thread_data") && in.at("thread_data").is_null()) && boolOf(in, "has_thread_data", true);
    options.skillsRoot = stringOf(in, "skills_root", options.skillsRoot);
    options.mounts = stringsOf(memberOf(in, "mounts"));
    options.mcpRoots = stringsOf(memberOf(in, "mcp_roots"));
    return compareResult(c, okOf(guardHostCommand(text(in, "command"), options)));
}

Verdict hostbashAllowed(const Json &c)
{
    const bool allowed = isHostBashAllowed(memberOf(c.at("input"), "sandbox"));
    SandboxToolOptions options;
    options.offerBash = allowed;
    const auto tools = sandboxTools(options);
    const bool offered = std::any_of(tools.begin(), tools.end(), [](const ToolPtr &tool) { return tool->spec().name == u"bash"; });
    return compare(c.at("expect"), Json{{"value", allowed}, {"bash_tool_offered", offered}, {"bash_subagent_listed", allowed}});
}

// ---- channel, environment, secrets, ids

Json prefixJson(const Json &context)
{
    const QString prefix = channelPrefix(context);
    return prefix.isNull() ? Json() : toJson(prefix);
}

Verdict channelPrefixCase(const Json &c)
{
    return compareValue(c, prefixJson(memberOf(c.at("input"), "context")));
}

Verdict channelForward(const Json &c)
{
    Json child = Json::object();
    forwardChannelIdentity(memberOf(c.at("input"), "parent_context"), child);
    return compare(c.at("expect"), Json{{"child_context_has_key", child.contains(channelUserIdKey)}, {"child_prefix", prefixJson(child)}});
}

Verdict identityPrefix(const Json &c)
{
    Json context = memberOf(c.at("input"), "context");
    if (boolOf(c.at("input"), "delegated")) {
        Json child = Json::object();
        forwardChannelIdentity(context, child);
        context = child;
    }
    return compare(c.at("expect"), Json{{"prefix", prefixJson(context)}});
}

Verdict envBlocked(const Json &c)
{
    return compareValue(c, isSecretEnvName(text(c.at("input"), "name")));
}

Verdict envBuild(const Json &c)
{
    return compareValue(c, jsonOf(buildCommandEnv(mapOfStrings(memberOf(c.at("input"), "host")),
                                                  mapOfStrings(memberOf(c.at("input"), "injected")))));
}

Verdict envName(const Json &c)
{
    return compareResult(c, okOf(checkEnvName(text(c.at("input"), "name"))));
}

Verdict secretMask(const Json &c)
{
    return compareValue(c, toJson(maskSecrets(text(c.at("input"), "output"), mapOfStrings(memberOf(c.at("input"), "env")))));
}

Verdict secretOverlayCase(const Json &c)
{
    const Json &in = c.at("input");
    SecretSources sources;
    sources.integrationEnv = mapOfStrings(memberOf(in, "integration_env"));
    const auto env = secretOverlay(memberOf(in, "context"), text(in, "command"), sources);
    return compare(c.at("expect"), Json{{"env", env.isEmpty() ? Json() : jsonOf(env)}});
}

Verdict secretRedact(const Json &c)
{
    const QString problem = strictMismatch(c.at("expect"), Json{{"value", redactContext(memberOf(c.at("input"), "context"))}});
    return problem.isEmpty() ? passed() : failed(problem);
}

Verdict idThread(const Json &c)
{
    const QString id = text(c.at("input"), "thread_id");
    const auto ok = checkThreadId(id);
    return compareResult(c, ok ? Result<Json>(toJson(id)) : std::unexpected(ok.error()));
}

Verdict idSafeUser(const Json &c)
{
    return compareResult(c, textOfResult(safeUserId(text(c.at("input"), "raw"))));
}

Verdict idSandbox(const Json &c)
{
    const Json &in = c.at("input");
    const QString id = deterministicSandboxId(text(in, "user_id"), text(in, "thread_id"));
    return compare(c.at("expect"), Json{{"sandbox_id", toUtf8(id)}, {"container_name", toUtf8(text(in, "prefix") + u'-' + id)}});
}

Verdict idIsLocal(const Json &c)
{
    return compareValue(c, isLocalSandboxId(text(c.at("input"), "sandbox_id")));
}

const Registrar registrars[] = {
    {"path.translate", pathTranslate},
    {"path.command_translate", commandTranslate},
    {"path.validate", pathValidate},
    {"path.contain", pathContain},
    {"path.mask", pathMask},
    {"path.skill_name", pathSkillName},
    {"local.resolve", localResolve},
    {"local.reverse", localReverse},
    {"local.command_map", localCommandMap},
    {"local.content_map", localContentMap},
    {"local.read_only", localReadOnly},
    {"local.compose_output", localComposeOutput},
    {"local.timeout_notice", localTimeoutNoticeCase},
    {"bash.compose", bashCompose},
    {"bash.guard", bashGuard},
    {"hostbash.allowed", hostbashAllowed},
    {"channel.prefix", channelPrefixCase},
    {"channel.forward", channelForward},
    {"identity", identityPrefix},
    {"env.blocked", envBlocked},
    {"env.build", envBuild},
    {"env.name", envName},
    {"secret.mask", secretMask},
    {"secret.overlay", secretOverlayCase},
    {"secret.redact_context", secretRedact},
    {"id.thread", idThread},
    {"id.safe_user", idSafeUser},
    {"id.sandbox", idSandbox},
    {"id.is_local", idIsLocal},
};

} // namespace

} // namespace paddock::cases::sandbox_cases
