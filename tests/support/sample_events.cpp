// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "tests/support/sample_events.h"

#include <algorithm>
#include <cmath>

namespace paddock::test {

namespace {

QString text(const char *utf8)
{
    return QString::fromUtf8(utf8);
}

const char *const chainNames[] = {
    "input_sanitization", "knowledge_scope", "tool_output_budget", "remote_content_sanitization", "thread_data", "sandbox",
    "dangling_tool_call", "llm_error_handling", "tool_receipts", "sandbox_audit", "read_before_write", "tool_progress",
    "tool_error_handling", "skill_activation", "loop_detection", "token_budget", "durable_context", "summarization",
    "subagent_date_context", "system_message_coalescing"};

class Writer
{
public:
    Writer(const QString &id, Seq seq, qint64 start) : m_seq(seq), m_start(start) { sample.run = RunId(id); }

    /// Seconds from the beginning of the run.
    void at(double seconds, const QString &agent, EventBody body, SpanId span = 0)
    {
        auto event = std::make_shared<Event>();
        event->mono = std::chrono::microseconds(m_start + std::llround(seconds * 1e6));
        event->time = Clock::Wall(std::chrono::microseconds(1'796'000'000'000'000 + std::llround(seconds * 1e6)));
        event->run = sample.run;
        event->agent = AgentId(agent);
        event->span = span;
        event->body = std::move(body);
        m_pending.push_back(std::move(event));
    }

    QString keep(const MessagePtr &message)
    {
        const QString hash = contentHash(*message);
        sample.messages.insert(hash, message);
        return hash;
    }

    void hook(double seconds, double length, const QString &agent, int chain, const char *name, int turn)
    {
        at(seconds + length, agent, hookBody(seconds, length, chain, name, turn));
    }

    MiddlewareSpan hookBody(double seconds, double length, int chain, const char *name, int turn) const
    {
        MiddlewareSpan span;
        span.name = text(chainNames[chain]);
        span.hook = text(name);
        span.turn = turn;
        span.index = chain;
        span.startUs = m_start + std::llround(seconds * 1e6);
        span.durationUs = std::llround(length * 1e6);
        return span;
    }

    /// One turn: hooks before and around, the model call, its reply.
    void model(double from, double to, const QString &agent, int turn, const QString &say, qint64 tokens,
               std::vector<ToolCall> calls = {})
    {
        for (int chain : {4, 5, 6, 13, 16, 17, 18})
            hook(from - 0.02 + chain * 0.0005, 0.0004, agent, chain, "before_model", turn);
        ModelRequested request;
        request.turn = turn;
        request.model = text("scripted");
        request.tools = {text("bash"), text("read_file"), text("write_file"), text("task")};
        request.messageHashes = m_seen[agent];
        request.messages = int(request.messageHashes.size());
        at(from, agent, request);
        const int pieces = std::max(1, int(say.size() / 24));
        for (int i = 0; i < pieces; ++i) {
            const qsizetype begin = say.size() * i / pieces;
            at(from + (to - from) * (0.2 + 0.7 * i / pieces), agent, ModelDelta{turn, say.mid(begin, say.size() * (i + 1) / pieces - begin), false});
        }
        if (to <= 0)
            return;
        ModelResponded reply;
        reply.turn = turn;
        reply.usage = Usage{tokens * 4 / 5, tokens / 5, tokens};
        reply.finishReason = calls.empty() ? text("stop") : text("tool_calls");
        reply.durationMs = qint64((to - from) * 1000);
        reply.message = aiMessage(say, std::move(calls));
        m_seen[agent].append(keep(reply.message));
        at(to, agent, reply);
        for (int chain : {14, 15})
            hook(to + 0.001, 0.0003, agent, chain, "after_model", turn);
    }

    void see(const QString &agent, const MessagePtr &message) { m_seen[agent].append(keep(message)); }

    void tool(double from, double to, const QString &agent, int turn, const QString &call, const QString &name, Json args,
              const QString &result, const QString &status = QStringLiteral("success"))
    {
        ToolStarted started{call, name, std::move(args), turn};
        at(from, agent, started);
        if (to <= 0)
            return;
        for (int chain : {2, 9, 10, 12})
            hook(from, to - from - 0.001 * chain, agent, chain, "wrap_tool_call", turn);
        const MessagePtr message = toolMessage(call, name, result, status == u"error" ? ToolStatus::Error : ToolStatus::Success);
        ToolFinished finished{call, name, status, qint64((to - from) * 1000), result.toUtf8().size(), result.left(400), keep(message)};
        m_seen[agent].append(finished.message);
        at(to, agent, finished);
    }

    void shell(double from, double to, const QString &scope, const QString &session, const QString &id, const QString &command,
               std::optional<int> exitCode, const QString &agent)
    {
        at(from, agent, ShellCommandStarted{scope, session, id, command});
        if (to <= 0)
            return;
        ShellCommandFinished finished;
        finished.scope = scope;
        finished.session = session;
        finished.commandId = id;
        finished.exitCode = exitCode;
        finished.status = text("completed");
        finished.durationMs = qint64((to - from) * 1000);
        finished.bytes = 512;
        finished.cwd = text("/mnt/user-data/workspace");
        at(to, agent, finished);
    }

    SampleRun take()
    {
        std::stable_sort(m_pending.begin(), m_pending.end(), [](const auto &a, const auto &b) { return a->mono < b->mono; });
        for (auto &event : m_pending) {
            event->seq = m_seq++;
            sample.events.push_back(std::move(event));
        }
        return std::move(sample);
    }

    SampleRun sample;

private:
    std::vector<std::shared_ptr<Event>> m_pending;
    QHash<QString, QStringList> m_seen;
    Seq m_seq;
    qint64 m_start;
};

Json command(const char *line)
{
    return Json{{"description", "run a command"}, {"command", line}};
}

void startAgent(Writer &w, double queued, double started, const char *agent, const char *call, const char *what)
{
    const QString id = text(agent);
    w.at(queued, id, AgentQueued{1});
    AgentStarted body;
    body.parent = text("lead");
    body.subagentType = text("general-purpose");
    body.description = text(what);
    body.model = text("scripted");
    body.maxTurns = 60;
    body.call = text(call);
    w.at(started, id, body);
}

/// A long result cut down: what the inspector shows best.
void budgetHook(Writer &w, const QString &agent)
{
    QString longText = text("src/lex.c:118: memcpy(tok->text, p, n);\nsrc/lex.c:203: memcpy(buf, s, strlen(s));\n");
    for (int i = 1; i <= 600; ++i)
        longText += text("src/gen/tables.c:%1: static const uint8_t t%1[] = {0};\n").arg(i);
    const QString tail = text("src/util/str.c:44: memcpy(dst, src, len + 1);");
    const QString shortText = text("src/lex.c:118: memcpy(tok->text, p, n);\nsrc/lex.c:203: memcpy(buf, s, strlen(s));\n"
                                   "[600 lines left out; whole output saved in\n outputs/.tool-results/bash-14.txt]\n")
        + tail;
    const MessagePtr before = toolMessage(text("call_14"), text("bash"), longText + tail);
    const MessagePtr after = toolMessage(text("call_14"), text("bash"), shortText);
    MiddlewareSpan span = w.hookBody(215.0, 3.0, 2, "wrap_tool_call", 6);
    span.call = text("call_14");
    span.edited = 1;
    span.tokens = -61'204;
    span.changes.push_back({text("edited"), 14, 14, text("m14"), w.keep(before), w.keep(after)});
    w.at(218.0, agent, span);
    MiddlewareSpan audit = w.hookBody(220.0, 1.2, 9, "wrap_tool_call", 6);
    audit.stateKeys = {text("audit")};
    w.at(221.2, agent, audit);
    MiddlewareSpan summary = w.hookBody(236.0, 1.1, 17, "before_model", 6);
    summary.added = 1;
    summary.removed = 9;
    summary.tokens = -4'120;
    summary.changes.push_back({text("added"), -1, 1, text("s1"), QString(), w.keep(humanMessage(text("Summary of the work so far: …")))});
    w.at(237.1, agent, summary);
}

void writeLead(Writer &w)
{
    const QString lead = text("lead");
    RunStarted run;
    run.thread = text("thread-1");
    run.task = text("Audit the parser for overflow");
    run.model = text("scripted");
    run.sandbox = text("embedded");
    run.workspace = text("/home/me/parser");
    w.at(0, lead, run);
    AgentStarted started;
    started.description = run.task;
    started.model = run.model;
    started.maxTurns = 100;
    w.at(0.05, lead, started);
    w.see(lead, systemMessage(text("You are the lead agent. Divide the work, check it, report.")));
    w.see(lead, humanMessage(run.task));
    w.at(2.1, lead, SandboxAcquired{text("embedded-7f3a"), text("aio"), text("embedded"), text("created"), 11, 1900});
    w.at(2.2, lead, LeaseAcquired{text("embedded-7f3a"), text("run:r1"), {text("run:r1")}});
    w.at(3.0, lead, ShellSessionCreated{text("run:r1"), text("0a11-lead"), text("first_use")});
    w.model(0.5, 5.9, lead, 1, text("I look at the history first, then send three agents over the parser."), 4200,
            {{text("bash"), command("git log --oneline | head -3"), text("call_1")}});
    w.tool(6.0, 6.4, lead, 1, text("call_1"), text("bash"), command("git log --oneline | head -3"),
           text("9f1c2aa lexer: grow token buffer\n1b40e77 add corpus\n77e0c1d initial import"));
    w.shell(6.05, 6.35, text("run:r1"), text("0a11-lead"), text("1"), text("git log --oneline | head -3"), 0, lead);
    w.model(180.0, 197.0, lead, 4,
            text("Three looks at once:\n\n- **lexer**: every copy into a fixed buffer, with a fuzz run\n- **utilities**: string helpers\n"
                 "- **build**: can it be built with `-fsanitize=address`?\n\n| part | files | risk |\n| --- | ---: | --- |\n| lexer | 4 | high |\n| util | 7 | some |\n\nI wait for all of them."),
            9800);
    const std::pair<const char *, const char *> children[] = {
        {"call_a", "Audit the lexer"}, {"call_b", "Audit the string helpers"}, {"call_c", "Check the build"}, {"call_d", "Read the corpus"}};
    for (const auto &[call, what] : children)
        w.tool(198.0, -1, lead, 4, text(call), text("task"),
               Json{{"description", what}, {"prompt", std::string(what) + ". Report file, line and a proof for each finding."}, {"subagent_type", "general-purpose"}}, {});
}

void writeLexer(Writer &w)
{
    const QString id = text(sampleC41f);
    startAgent(w, 198.1, 198.3, sampleC41f, "call_a", "Audit the lexer");
    w.see(id, humanMessage(text("Audit the lexer. Report file, line and a proof for each finding.")));
    w.at(199.0, id, LeaseAcquired{text("embedded-7f3a"), id, {text("run:r1"), id}});
    w.model(200.0, 207.9, id, 5, text("I search for raw copies."), 3100, {{text("bash"), command("rg -n memcpy src"), text("call_14")}});
    w.at(209.8, id, ShellSessionCreated{id, text("c41f-1"), text("first_use")});
    w.tool(210.0, 220.0, id, 5, text("call_14"), text("bash"), command("rg -n memcpy src"),
           text("src/lex.c:118: memcpy(tok->text, p, n);\nsrc/lex.c:203: memcpy(buf, s, strlen(s));\nsrc/util/str.c:44: memcpy(dst, src, len + 1);"));
    w.shell(210.1, 219.0, id, text("c41f-1"), text("1"), text("rg -n memcpy src"), 0, id);
    budgetHook(w, id);
    w.model(221.5, 231.7, id, 6, text("Line 203 copies without a limit. I write a fuzz target and prove it."), 6300,
            {{text("bash"), command("make fuzz && ./fuzz -runs=1000000"), text("call_15")}});
    FileChanged fuzz{text("/mnt/user-data/workspace/fuzz/fuzz_lex.c"), id, text("tool"), text("created"), {}, 812, {}, {}, 31, 0, text("call_16")};
    w.at(233.0, id, fuzz);
    w.tool(232.5, -1, id, 6, text("call_15"), text("bash"), command("make fuzz && ./fuzz -runs=1000000"), {});
    w.shell(233.5, -1, id, text("c41f-1"), text("2"), text("make fuzz && ./fuzz -runs=1000000"), {}, id);
    w.at(245.0, id, FileChanged{text("/mnt/user-data/workspace/fuzz/crash-5d1f"), id, text("probably"), text("created"), {}, 61, {}, {}, 0, 0, {}});
    w.at(250.0, id, FileChanged{text("/mnt/user-data/workspace/src/lex.c"), id, text("tool"), text("modified"), {}, 9120, {}, {}, 3, 1, text("call_15")});
}

void writeHelpers(Writer &w)
{
    const QString id = text(sample77ab);
    startAgent(w, 198.2, 204.0, sample77ab, "call_b", "Audit the string helpers");
    w.at(205.0, id, LeaseAcquired{text("embedded-7f3a"), id, {text("run:r1"), text(sampleC41f), id}});
    w.at(204.2, id, ModelRequested{1, text("scripted"), 2, {text("bash")}, {}});
    w.at(205.0, id, ModelFailed{1, text("overloaded"), text("529 from the provider"), 1, 1000});
    w.model(206.0, 222.3, id, 2, text("One helper writes `len + 1` bytes. I count its callers."), 4400,
            {{text("bash"), command("grep -rn \"sprintf(\" src | wc -l"), text("call_21")}});
    w.at(222.5, id, ShellSessionCreated{id, text("3b0e-77ab"), text("first_use")});
    w.tool(222.6, 224.2, id, 2, text("call_20"), text("ls"), Json{{"path", "/mnt/user-data/workspace/src"}}, text("lex.c\nlex.h\nutil/"));
    w.tool(225.0, 229.5, id, 3, text("call_21"), text("bash"), command("cat /nonexistent"), text("cat: /nonexistent: No such file"), text("error"));
    w.at(226.0, id, ShellSessionLost{id, text("3b0e-77ab"), text("not_found")});
    w.at(226.2, id, ShellSessionCreated{id, text("91d2-77ab"), text("not_found")});
    w.tool(230.0, 238.0, id, 3, text("call_22"), text("bash"), command("grep -rn \"sprintf(\" src | wc -l"), text("14"));
    w.shell(230.2, 237.8, id, text("91d2-77ab"), text("1"), text("grep -rn \"sprintf(\" src | wc -l"), 0, id);
    w.at(239.0, id, FileChanged{text("/mnt/user-data/outputs/findings-util.md"), id, text("tool"), text("created"), {}, 1210, {}, {}, 24, 0, text("call_23")});
    w.at(240.0, id, ModelRequested{3, text("scripted"), 9, {text("bash")}, {}});
    w.at(246.0, id, ModelDelta{3, text("There are 14 callers; two of them pass "), false});
}

void writeOthers(Writer &w, double end)
{
    const QString waiting = text(sample90de);
    startAgent(w, 198.3, 212.0, sample90de, "call_c", "Check the build");
    w.model(213.0, 224.7, waiting, 1, text("The linter is missing. I ask to install it."), 3000,
            {{text("bash"), command("pip install --user ruff"), text("call_31")}});
    w.at(224.8, waiting, AuditRecorded{text("call_31"), text("pip install --user ruff"), text("warn"), text("pip-install"), text("installs software")});
    w.at(224.9, waiting, ApprovalRequested{text("ap1"), text("call_31"), text("pip install --user ruff"), text("warn"), text("installs software")});

    const QString gone = text(sample31b9);
    startAgent(w, 198.4, 200.2, sample31b9, "call_d", "Read the corpus");
    w.at(200.8, gone, LeaseAcquired{text("embedded-7f3a"), gone, {text("run:r1"), text(sampleC41f), gone}});
    w.model(201.0, 206.0, gone, 1, text("The corpus has 412 files."), 900);
    w.at(219.0, gone, AgentFinished{text("completed"), 3, Usage{2000, 400, 2400}, {}, {}});
    w.at(219.1, gone, LeaseDraining{text("embedded-7f3a"), gone, {text("run:r1"), text(sampleC41f), text(sample77ab), gone}});
    w.at(221.0, gone, LeaseReleased{text("embedded-7f3a"), gone, {text("run:r1"), text(sampleC41f), text(sample77ab)}, false});
    w.at(240.5, text(sampleE2c0), AgentQueued{1});
    w.at(150.0, text("lead"), FileChanged{text("/mnt/user-data/outputs/report.md"), text("lead"), text("tool"), text("created"), {}, 2210, {}, {}, 41, 0, text("call_3")});
    w.at(end, text("lead"), LogRecorded{text("debug"), text("The sample ends here."), false});
}

void finish(Writer &w)
{
    const QString lead = text("lead");
    double t = 253;
    w.at(t, text(sample90de), ApprovalDecided{text("ap1"), text("deny"), text("person"), text("not needed")});
    w.at(t + 0.1, text(sampleE2c0), AgentStarted{lead, text("bash"), text("Count"), text("scripted"), 10, {}});
    for (const char *agent : {sampleC41f, sample77ab, sample90de, sampleE2c0}) {
        const QString id = text(agent);
        const bool failed = id == text(sample90de);
        AgentFinished end{failed ? text("failed") : text("completed"), 7, Usage{5000, 900, 5900}, {}, {}};
        if (failed)
            end.error = text("The linter could not be installed");
        w.at(t + 1, id, end);
        w.at(t + 1.1, id, LeaseDraining{text("embedded-7f3a"), id, {text("run:r1"), id}});
        w.at(t + 1.5, id, LeaseReleased{text("embedded-7f3a"), id, {text("run:r1")}, false});
        t += 1;
    }
    w.at(t + 1, lead, AgentFinished{text("completed"), 6, Usage{22000, 4100, 26100}, {}, {}});
    w.at(t + 1.1, lead, ShellSessionClosed{text("run:r1"), text("0a11-lead"), text("lease_released")});
    w.at(t + 1.2, lead, LeaseReleased{text("embedded-7f3a"), text("run:r1"), {}, true});
    w.at(t + 1.4, lead, SandboxReleased{text("embedded-7f3a"), text("aio"), text("embedded")});
    w.at(t + 1.5, lead, RunFinished{text("completed"), text("Two overflows found; see report.md."), {}, Usage{30000, 6000, 36000}});
}

} // namespace

SampleRun makeSampleRun(const QString &id, Seq firstSeq, qint64 start, bool finished)
{
    Writer writer(id, firstSeq, start);
    writeLead(writer);
    writeLexer(writer);
    writeHelpers(writer);
    writeOthers(writer, SampleRun::length / 1e6);
    if (finished)
        finish(writer);
    return writer.take();
}

SampleRun makeLargeRun(const QString &id, int turns, int hooksPerTurn)
{
    Writer writer(id, 1, 1'000'000);
    RunStarted run;
    run.task = text("A long run");
    writer.at(0, text("lead"), run);
    double t = 0.001;
    for (int turn = 1; turn <= turns; ++turn) {
        writer.at(t, text("lead"), ModelRequested{turn, text("scripted"), turn, {}, {}});
        for (int hook = 0; hook < hooksPerTurn; ++hook) {
            writer.hook(t, 0.0005, text("lead"), hook % int(std::size(chainNames)), "before_model", turn);
            t += 0.001;
        }
        ModelResponded reply;
        reply.turn = turn;
        writer.at(t, text("lead"), reply);
        t += 0.001;
    }
    return writer.take();
}

} // namespace paddock::test
