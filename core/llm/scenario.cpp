// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/llm/scenario.h"

#include "core/llm/scenario_reader.h"
#include "core/llm/scenario_text.h"

#include <QFileInfo>
#include <QSet>

namespace paddock {

namespace {

constexpr int formatVersion = 1;
constexpr int maxRepeat = 10000;
constexpr int maxTurns = 100000;
constexpr int maxCount = 1000000;

/// What a later turn of the same agent may refer to.
struct Known {
    QSet<QString> results;
    QSet<QString> captures;
};

class Parser
{
public:
    explicit Parser(const QString &file) : m_read(file) {}

    Result<std::shared_ptr<const Scenario>> parse(const YamlNode &root, const QString &file);

private:
    ScenarioAgent agent(const YamlNode &node);
    std::shared_ptr<ScenarioTurn> turn(const YamlNode &node, int firstTurn, int repeat, Known &known);
    void turnContent(const YamlNode &node, ScenarioTurn &turn, const Known &known);
    ScenarioCall call(const YamlNode &node, const Known &known);
    ScenarioExpect expect(const YamlNode &node, const Known &known);
    ScenarioFault fault(const YamlNode &node);
    ScenarioEnvFault envFault(const YamlNode &node);
    void envAction(const YamlNode &node, ScenarioEnvFault &fault);
    ScenarioCancel cancel(const YamlNode &node);
    void references(const YamlNode &at, const QStringList &names, const Known &known);
    QString filled(const YamlNode &mapping, const char16_t *key, const Known &known);

    ScenarioReader m_read;
};

Result<std::shared_ptr<const Scenario>> Parser::parse(const YamlNode &root, const QString &file)
{
    auto scenario = std::make_shared<Scenario>();
    if (root.isNull())
        m_read.complain(root, QStringLiteral("the file is empty; for a start of your own see: paddock scenario show survey"));
    // The version first: a file of another version may well have other keys.
    if (root.isMapping()) {
        if (const YamlNode *version = root.find(u"scenario")) {
            const Json value = version->toJson();
            if (value.is_string() && version->scalar == QString::number(formatVersion))
                m_read.complain(*version, QStringLiteral("the format version must be the number %1, without quotes").arg(formatVersion));
            else if (!value.is_number_integer() || value.get<qint64>() != formatVersion)
                m_read.complain(*version, QStringLiteral("scenario format version '%1' is not supported; this program reads version %2")
                                              .arg(version->scalar)
                                              .arg(formatVersion));
        } else {
            m_read.complain(root, QStringLiteral("'scenario: %1' (the format version) is missing").arg(formatVersion));
        }
    }
    if (m_read.mapping(root, u"the scenario", {u"scenario", u"name", u"description", u"task", u"agents", u"faults", u"cancel"})) {
        scenario->name = m_read.text(root, u"name", false);
        if (scenario->name.isEmpty())
            scenario->name = QFileInfo(file).completeBaseName();
        scenario->description = m_read.text(root, u"description", false);
        scenario->task = m_read.text(root, u"task", false);
        const YamlNode *agents = root.find(u"agents");
        if (!agents || (agents->isSequence() && agents->items.empty()))
            m_read.complain(agents ? *agents : root, QStringLiteral("'agents' is missing"));
        else if (m_read.sequence(*agents, u"agents")) {
            for (const YamlNode &node : agents->items)
                scenario->agents.push_back(agent(node));
        }
        if (const YamlNode *faults = root.find(u"faults"); faults && m_read.sequence(*faults, u"faults")) {
            for (const YamlNode &node : faults->items)
                scenario->faults.push_back(envFault(node));
        }
        if (const YamlNode *node = root.find(u"cancel"); node && !m_read.failed())
            scenario->cancel = cancel(*node);
    }
    if (m_read.failed())
        return fail(*m_read.error());
    return scenario;
}

ScenarioAgent Parser::agent(const YamlNode &node)
{
    ScenarioAgent agent;
    if (!m_read.mapping(node, u"an agent", {u"match", u"turns"}))
        return agent;
    if (const YamlNode *match = node.find(u"match");
        match && !match->isNull() && m_read.mapping(*match, u"match", {u"agent", u"type", u"prompt"})) {
        agent.agent = m_read.text(*match, u"agent", false);
        agent.type = m_read.text(*match, u"type", false);
        if (const YamlNode *prompt = match->find(u"prompt")) {
            const QString pattern = m_read.pattern(*prompt, u"prompt");
            if (!m_read.failed())
                agent.prompt = scenarioRegex(pattern);
        }
    }
    const YamlNode *turns = node.find(u"turns");
    if (!turns) {
        m_read.complain(node, QStringLiteral("'turns' is missing"));
        return agent;
    }
    if (!m_read.sequence(*turns, u"turns"))
        return agent;
    Known known;
    for (const YamlNode &item : turns->items) {
        int repeat = 1;
        if (const YamlNode *n = item.isMapping() ? item.find(u"repeat") : nullptr)
            repeat = m_read.number(*n, u"repeat", 1, maxRepeat);
        const auto parsed = turn(item, int(agent.turns.size()) + 1, repeat, known);
        if (m_read.failed())
            return agent;
        agent.turns.insert(agent.turns.end(), std::size_t(repeat), parsed);
        if (agent.turns.size() > std::size_t(maxTurns)) {
            m_read.complain(item, QStringLiteral("more than %1 turns").arg(maxTurns));
            return agent;
        }
    }
    return agent;
}

std::shared_ptr<ScenarioTurn> Parser::turn(const YamlNode &node, int firstTurn, int repeat, Known &known)
{
    auto turn = std::make_shared<ScenarioTurn>();
    if (!m_read.mapping(node, u"a turn",
                        {u"say", u"reasoning", u"calls", u"expect", u"delay", u"stream", u"usage", u"finish", u"fault",
                         u"capture", u"repeat"}))
        return turn;
    turnContent(node, *turn, known);
    QSet<QString> ids;
    for (int r = 0; r < repeat && !m_read.failed(); ++r) {
        for (std::size_t n = 0; n < turn->calls.size(); ++n) {
            const QString &own = turn->calls[n].id;
            const QString id = own.isEmpty() ? QStringLiteral("call_%1_%2").arg(firstTurn + r).arg(n + 1) : own;
            if (r == 0 && ids.contains(id))
                m_read.complain(node, QStringLiteral("two calls of one turn have the id '%1'").arg(id));
            ids.insert(id);
            known.results.insert(id);
        }
    }
    for (const auto &[name, pattern] : turn->capture)
        known.captures.insert(name);
    return turn;
}

QString Parser::filled(const YamlNode &mapping, const char16_t *key, const Known &known)
{
    const YamlNode *node = mapping.find(key);
    if (!node)
        return {};
    const QString value = m_read.text(*node, key);
    references(*node, referencesIn(value), known);
    return value;
}

void Parser::references(const YamlNode &at, const QStringList &names, const Known &known)
{
    static const QSet<QString> builtIn{QStringLiteral("workspace"), QStringLiteral("outputs"), QStringLiteral("task"),
                                       QStringLiteral("turn")};
    for (const QString &name : names) {
        if (name.startsWith(u"result.")) {
            const QString id = name.sliced(7);
            if (!known.results.contains(id))
                m_read.complain(at, QStringLiteral("${%1} refers to a call id that no earlier turn of this agent has").arg(name));
        } else if (!builtIn.contains(name) && !known.captures.contains(name)) {
            m_read.complain(at, QStringLiteral("${%1} is not captured by an earlier turn of this agent (write $${ for a literal ${)")
                                    .arg(name));
        }
    }
}

void Parser::turnContent(const YamlNode &node, ScenarioTurn &turn, const Known &known)
{
    turn.say = filled(node, u"say", known);
    turn.reasoning = filled(node, u"reasoning", known);
    turn.finish = m_read.text(node, u"finish", false);
    if (const YamlNode *calls = node.find(u"calls"); calls && m_read.sequence(*calls, u"calls")) {
        for (const YamlNode &item : calls->items)
            turn.calls.push_back(call(item, known));
    }
    if (const YamlNode *item = node.find(u"expect"))
        turn.expect = expect(*item, known);
    if (const YamlNode *item = node.find(u"delay"))
        turn.delay = m_read.duration(*item, u"delay");
    if (const YamlNode *item = node.find(u"stream"); item && m_read.mapping(*item, u"stream", {u"chunk", u"every"})) {
        const YamlNode *chunk = item->find(u"chunk");
        const YamlNode *every = item->find(u"every");
        turn.chunk = chunk ? m_read.number(*chunk, u"chunk", 1, maxCount) : 12;
        turn.every = every ? m_read.duration(*every, u"every") : std::chrono::milliseconds(0);
    }
    if (const YamlNode *item = node.find(u"usage"); item && m_read.mapping(*item, u"usage", {u"input", u"output"})) {
        if (const YamlNode *input = item->find(u"input"))
            turn.usageInput = m_read.number(*input, u"input", 0, std::numeric_limits<int>::max());
        if (const YamlNode *output = item->find(u"output"))
            turn.usageOutput = m_read.number(*output, u"output", 0, std::numeric_limits<int>::max());
    }
    if (const YamlNode *item = node.find(u"fault"))
        turn.fault = fault(*item);
    if (const YamlNode *item = node.find(u"capture"); item && !m_read.failed()) {
        if (!item->isMapping())
            m_read.complain(*item, QStringLiteral("capture must be a mapping of names to regular expressions"));
        for (const YamlNode::Entry &entry : item->entries) {
            const QString pattern = m_read.pattern(entry.value, u"a capture");
            references(entry.value, referencesIn(pattern), known);
            turn.capture.emplace_back(entry.key, pattern);
        }
        if (turn.calls.empty())
            m_read.complain(*item, QStringLiteral("capture needs calls in the same turn: it reads their results"));
    }
}

ScenarioCall Parser::call(const YamlNode &node, const Known &known)
{
    ScenarioCall call;
    if (!m_read.mapping(node, u"a call", {u"tool", u"id", u"args"}))
        return call;
    call.tool = m_read.text(node, u"tool", true);
    call.id = m_read.text(node, u"id", false);
    const YamlNode *args = node.find(u"args");
    if (!args || args->isNull() || m_read.failed())
        return call;
    if (args->isMapping()) {
        call.args = args->toJson();
        references(*args, referencesIn(call.args), known);
    } else if (args->isScalar()) {
        call.rawArgs = args->scalar;
        references(*args, referencesIn(args->scalar), known);
    } else {
        m_read.complain(*args, QStringLiteral("args must be a mapping, or a string that is sent as it is"));
    }
    return call;
}

ScenarioExpect Parser::expect(const YamlNode &node, const Known &known)
{
    ScenarioExpect expect;
    if (!m_read.mapping(node, u"expect",
                        {u"system", u"not_system", u"last_user", u"last_message", u"tool_result", u"tools", u"not_tools",
                         u"messages_min", u"messages_max"}))
        return expect;
    const auto pattern = [&](const char16_t *key) -> std::optional<QString> {
        const YamlNode *item = node.find(key);
        if (!item)
            return std::nullopt;
        const QString source = m_read.pattern(*item, key);
        references(*item, referencesIn(source), known);
        return source;
    };
    expect.system = pattern(u"system");
    expect.notSystem = pattern(u"not_system");
    expect.lastUser = pattern(u"last_user");
    expect.lastMessage = pattern(u"last_message");
    if (const YamlNode *results = node.find(u"tool_result"); results && !m_read.failed()) {
        if (!results->isMapping())
            m_read.complain(*results, QStringLiteral("tool_result must be a mapping of call ids to regular expressions"));
        for (const YamlNode::Entry &entry : results->entries) {
            if (!known.results.contains(entry.key))
                m_read.complain(entry.line, entry.column,
                                QStringLiteral("no earlier turn of this agent has a call with the id '%1'").arg(entry.key));
            const QString source = m_read.pattern(entry.value, u"tool_result");
            references(entry.value, referencesIn(source), known);
            expect.toolResults.emplace_back(entry.key, source);
        }
    }
    if (const YamlNode *item = node.find(u"tools"))
        expect.tools = m_read.names(*item, u"tools");
    if (const YamlNode *item = node.find(u"not_tools"))
        expect.notTools = m_read.names(*item, u"not_tools");
    if (const YamlNode *item = node.find(u"messages_min"))
        expect.messagesMin = m_read.number(*item, u"messages_min", 0, maxCount);
    if (const YamlNode *item = node.find(u"messages_max"))
        expect.messagesMax = m_read.number(*item, u"messages_max", 0, maxCount);
    return expect;
}

ScenarioFault Parser::fault(const YamlNode &node)
{
    ScenarioFault fault;
    if (!m_read.mapping(node, u"fault",
                        {u"http", u"retry_after", u"times", u"drop_after", u"hang", u"malformed", u"reset"}))
        return fault;
    int kinds = 0;
    const auto flag = [&](const char16_t *key, ScenarioFault::Kind kind) {
        const YamlNode *item = node.find(key);
        if (item && m_read.flag(*item, key)) {
            fault.kind = kind;
            ++kinds;
        }
    };
    if (const YamlNode *item = node.find(u"http")) {
        fault.kind = ScenarioFault::Kind::Http;
        fault.status = m_read.number(*item, u"http", 400, 599);
        ++kinds;
    }
    flag(u"hang", ScenarioFault::Kind::Hang);
    flag(u"malformed", ScenarioFault::Kind::Malformed);
    flag(u"reset", ScenarioFault::Kind::Reset);
    if (const YamlNode *item = node.find(u"drop_after")) {
        fault.afterChunks = m_read.number(*item, u"drop_after", 0, maxCount);
        if (kinds == 0) { // with another kind it says when that one strikes
            fault.kind = ScenarioFault::Kind::Drop;
            ++kinds;
        }
    }
    if (const YamlNode *item = node.find(u"retry_after")) {
        fault.retryAfter = m_read.duration(*item, u"retry_after");
        if (fault.kind != ScenarioFault::Kind::Http)
            m_read.complain(*item, QStringLiteral("retry_after goes with http only"));
    }
    if (const YamlNode *item = node.find(u"times"))
        fault.times = m_read.number(*item, u"times", 1, maxCount);
    if (kinds != 1)
        m_read.complain(node, QStringLiteral("a fault is one of http, drop_after, hang, malformed, reset"));
    return fault;
}

ScenarioEnvFault Parser::envFault(const YamlNode &node)
{
    ScenarioEnvFault fault;
    if (!m_read.mapping(node, u"a fault", {u"at", u"scope", u"nth", u"do"}))
        return fault;
    static const QSet<QString> places{QStringLiteral("shell.exec"), QStringLiteral("shell.create"), QStringLiteral("bash.exec"),
                                      QStringLiteral("file.op"), QStringLiteral("provider.acquire"),
                                      QStringLiteral("provider.release")};
    fault.at = m_read.text(node, u"at", true);
    if (!m_read.failed() && !places.contains(fault.at))
        m_read.complain(*node.find(u"at"), QStringLiteral("'%1' is no place for a fault; places: shell.exec, shell.create, bash.exec, "
                                                          "file.op, provider.acquire, provider.release").arg(fault.at));
    fault.scope = m_read.text(node, u"scope", false);
    if (const YamlNode *item = node.find(u"nth"))
        fault.nth = m_read.number(*item, u"nth", 1, maxCount);
    const YamlNode *action = node.find(u"do");
    if (!action)
        m_read.complain(node, QStringLiteral("'do' is missing"));
    else
        envAction(*action, fault);
    return fault;
}

void Parser::envAction(const YamlNode &node, ScenarioEnvFault &fault)
{
    using Action = ScenarioEnvFault::Action;
    if (m_read.failed())
        return;
    if (node.isScalar()) {
        if (node.scalar == u"session_not_found")
            fault.action = Action::SessionNotFound;
        else if (node.scalar == u"error_observation")
            fault.action = Action::ErrorObservation;
        else
            m_read.complain(node, QStringLiteral("unknown fault '%1'; faults: session_not_found, error_observation, {fail: text}, "
                                                 "{latency: time}").arg(node.scalar));
        if (fault.at != u"shell.exec")
            m_read.complain(node, QStringLiteral("%1 happens at shell.exec only").arg(node.scalar));
        return;
    }
    if (!m_read.mapping(node, u"do", {u"fail", u"latency"}))
        return;
    const YamlNode *latency = node.find(u"latency");
    if (node.entries.size() != 1) {
        m_read.complain(node, QStringLiteral("'do' takes one of fail and latency"));
    } else if (latency) {
        fault.action = Action::Latency;
        fault.delay = m_read.duration(*latency, u"latency");
    } else {
        fault.action = Action::Fail;
        fault.message = m_read.text(node, u"fail", true);
    }
}

ScenarioCancel Parser::cancel(const YamlNode &node)
{
    ScenarioCancel cancel;
    if (!m_read.mapping(node, u"cancel", {u"after", u"at", u"agent", u"type", u"nth", u"scope"}))
        return cancel;
    if (const YamlNode *item = node.find(u"after"))
        cancel.after = m_read.duration(*item, u"after");
    cancel.at = m_read.text(node, u"at", false);
    cancel.agent = m_read.text(node, u"agent", false);
    cancel.type = m_read.text(node, u"type", false);
    if (const YamlNode *item = node.find(u"nth"))
        cancel.nth = m_read.number(*item, u"nth", 1, maxCount);
    if (cancel.after.has_value() != cancel.at.isEmpty())
        m_read.complain(node, QStringLiteral("cancel takes one of 'after' and 'at'"));
    static const QRegularExpression eventName(QStringLiteral("^[a-z]+(\\.[a-z_]+)?$"));
    if (!cancel.at.isEmpty() && !eventName.match(cancel.at).hasMatch())
        m_read.complain(*node.find(u"at"), QStringLiteral("'%1' is no event type").arg(cancel.at));
    const YamlNode *scope = node.find(u"scope");
    const QString name = scope ? m_read.text(*scope, u"scope") : QStringLiteral("run");
    cancel.wholeRun = name != u"agent";
    if (scope && name != u"run" && name != u"agent")
        m_read.complain(*scope, QStringLiteral("scope must be run or agent"));
    else if (!cancel.wholeRun && cancel.at.isEmpty())
        m_read.complain(node, QStringLiteral("scope: agent needs 'at': the event tells which agent"));
    return cancel;
}

} // namespace

Result<std::shared_ptr<const Scenario>> parseScenario(const QByteArray &yaml, const QString &name)
{
    auto root = parseYaml(yaml, name);
    if (!root)
        return fail(root.error());
    return Parser(name).parse(*root, name);
}

} // namespace paddock
