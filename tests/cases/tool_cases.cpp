// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Areas that go through the real tools on a real local sandbox: str_replace, hostbash.tool_call, hostbash.delegate.
#include "core/agent/status_contract.h"
#include "core/agent/subagent_catalogue.h"
#include "core/sandbox/host_bash.h"
#include "core/sandbox/local/local_provider.h"
#include "core/tool/sandbox_tools.h"
#include "tests/cases/case_registry.h"

#include <QCoroTask>
#include <QFile>
#include <QTemporaryDir>

#include <algorithm>

namespace paddock::cases::tool_cases {

namespace {

/// One agent on one local sandbox in a temporary folder.
class ToolBench
{
public:
    explicit ToolBench(bool hostBash)
    {
        LocalSandboxProvider::Options options;
        options.dataDir = m_dir.path();
        options.sandbox.hostBashAllowed = [hostBash] { return hostBash; };
        m_provider = std::make_shared<LocalSandboxProvider>(options);
        m_leases = std::make_shared<SandboxLeases>(m_provider);
        const ThreadKey key{UserId(QStringLiteral("u1")), ThreadId(QStringLiteral("t1"))};
        m_paths = *ThreadPaths::make(m_dir.path(), key);
        (void)m_paths.create();
        m_runtime = std::make_shared<RuntimeContext>();
        m_runtime->sandbox = std::make_shared<SandboxAccess>(m_leases, runOwner(RunId(QStringLiteral("r1"))), key, EventSink());
        m_tools = sandboxTools(SandboxToolOptions());
    }
    ~ToolBench() { QCoro::waitFor(m_runtime->sandbox->release()); }

    QString hostPath(const QString &virtualPath) const
    {
        return m_paths.workspace + virtualPath.mid(QStringLiteral("/mnt/user-data/workspace").size());
    }
    QString call(const QString &name, const Json &args) const
    {
        const auto tool = std::find_if(m_tools.begin(), m_tools.end(), [&](const ToolPtr &t) { return t->spec().name == name; });
        ToolCallContext context;
        context.runtime = m_runtime;
        context.call = {name, args, QStringLiteral("c1")};
        const auto outcome = QCoro::waitFor((*tool)->call(context));
        if (!outcome)
            return QStringLiteral("<") + outcome.error().message + u'>';
        return textOf(std::get<MessagePtr>(*outcome));
    }

private:
    QTemporaryDir m_dir;
    std::shared_ptr<LocalSandboxProvider> m_provider;
    std::shared_ptr<SandboxLeases> m_leases;
    ThreadPaths m_paths;
    RuntimePtr m_runtime;
    std::vector<ToolPtr> m_tools;
};

Verdict compare(const Json &expect, const Json &actual)
{
    const QString problem = mismatch(expect, actual);
    return problem.isEmpty() ? passed() : failed(problem);
}

Verdict strReplace(const Json &c)
{
    const Json &in = c.at("input");
    const ToolBench bench(false);
    const QString host = bench.hostPath(stringOf(in, "path"));
    if (in.contains("content") && !in.at("content").is_null()) {
        QFile file(host);
        if (!file.open(QIODevice::WriteOnly))
            return failed(file.errorString());
        file.write(stringOf(in, "content").toUtf8());
    }
    Json args = in;
    args["description"] = "test";
    const QString result = bench.call(QStringLiteral("str_replace"), args);
    QFile file(host);
    Json actual{{"result", toUtf8(result)}, {"content", Json()}};
    if (file.open(QIODevice::ReadOnly))
        actual["content"] = toUtf8(QString::fromUtf8(file.readAll()));
    return compare(c.at("expect"), actual);
}

Verdict hostbashToolCall(const Json &c)
{
    const Json &in = c.at("input");
    const ToolBench bench(isHostBashAllowed(memberOf(in, "sandbox")));
    const QString marker = QStringLiteral("/mnt/user-data/workspace/ran");
    const QString text = bench.call(QStringLiteral("bash"), Json{{"description", "test"},
                                                                 {"command", toUtf8(stringOf(in, "command") + QStringLiteral("; touch ran"))}});
    return compare(c.at("expect"), Json{{"value", toUtf8(text)}, {"executed", QFile::exists(bench.hostPath(marker))}});
}

Verdict hostbashDelegate(const Json &c)
{
    const Json &in = c.at("input");
    const bool allowed = isHostBashAllowed(memberOf(in, "sandbox"));
    QStringList visible = availableSubagents(SubagentOptions(), allowed, std::nullopt);
    if (in.contains("visible_names")) {
        visible.clear();
        for (const Json &name : in.at("visible_names"))
            visible << textOf(name);
    }
    const auto refusal = refuseDelegation(stringOf(memberOf(in, "task"), "subagent_type"), allowed, visible, false);
    if (!refusal)
        return compare(c.at("expect"), Json{{"status", "runs"}});
    SubagentReport report;
    report.status = QStringLiteral("failed");
    report.error = *refusal;
    const auto said = reportText(report);
    if (!said)
        return failed(said.error().message);
    return compare(c.at("expect"), Json{{"status", "failed"}, {"content", toUtf8(said->content)}, {"error", toUtf8(*refusal)},
                                        {"leases_created", 0}, {"subagent_events", 0}});
}

const Registrar registrars[] = {
    {"str_replace", strReplace},
    {"hostbash.tool_call", hostbashToolCall},
    {"hostbash.delegate", hostbashDelegate},
};

} // namespace

} // namespace paddock::cases::tool_cases
