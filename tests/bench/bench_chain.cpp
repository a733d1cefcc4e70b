// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
//
// What the whole chain of a subagent costs in one turn when nothing is to be done, beside the bare call of the model.
#include "core/middleware/chain_build.h"
#include "tests/bench/bench.h"

#include <QCoroTask>
#include <QTemporaryDir>

namespace paddock::bench {
namespace {

constexpr int messageCount = 100;

AgentState conversation()
{
    AgentState state;
    const auto add = [&](const MessagePtr &message) {
        state.messages.append(edited(message, [&](Message &m) { m.id = QStringLiteral("m%1").arg(state.messages.size()); }));
    };
    add(humanMessage(QStringLiteral("Find what is slow in this folder and say why.")));
    while (state.messages.size() < messageCount - 1) {
        const QString call = QStringLiteral("call_%1").arg(state.messages.size());
        add(aiMessage(QStringLiteral("I look at the next file."),
                      {{QStringLiteral("bash"), Json{{"description", "look"}, {"command", "sed -n 1,40p src/" + toUtf8(call) + ".cpp"}}, call}}));
        add(toolMessage(call, QStringLiteral("bash"), QStringLiteral("int answer = 42; // a line of some source\n").repeated(40)));
    }
    add(humanMessage(QStringLiteral("Go on.")));
    return state;
}

Task<Result<ModelResponse>> answer(MessagePtr message)
{
    co_return ModelResponse{{message}, {}};
}

Task<Result<void>> turns(std::shared_ptr<Chain> chain, AgentState first, RuntimePtr runtime, ModelNext model, int count)
{
    for (int i = 0; i < count; ++i) {
        AgentState state = first;
        if (chain->has(Hook::BeforeModel)) {
            auto before = co_await chain->runNode(Hook::BeforeModel, state, runtime);
            if (!before)
                co_return fail(before.error());
            state = std::move(before->state);
        }
        ModelCall call;
        call.request.messages = state.messages;
        call.state = state;
        call.runtime = runtime;
        auto response = co_await chain->runModel(std::move(call), model);
        if (!response)
            co_return fail(response.error());
        StateUpdate update;
        update.messages = std::move(response->messages);
        auto next = applyUpdate(state, update);
        if (!next)
            co_return fail(next.error());
        if (chain->has(Hook::AfterModel)) {
            auto after = co_await chain->runNode(Hook::AfterModel, std::move(*next), runtime);
            if (!after)
                co_return fail(after.error());
        }
    }
    co_return Result<void>();
}

Task<Result<void>> bareTurns(AgentState first, RuntimePtr runtime, ModelNext model, int count)
{
    for (int i = 0; i < count; ++i) {
        ModelCall call;
        call.request.messages = first.messages;
        call.state = first;
        call.runtime = runtime;
        auto response = co_await model(std::move(call));
        StateUpdate update;
        update.messages = std::move(response->messages);
        if (auto next = applyUpdate(first, update); !next)
            co_return fail(next.error());
    }
    co_return Result<void>();
}

} // namespace

Readings subagentChain(const Scale &scale)
{
    const QTemporaryDir folder;
    ChainOptions options;
    options.dataDir = folder.path();
    auto chain = buildSubagentChain(options);
    if (!chain)
        return fail(chain.error());
    const auto bus = std::make_shared<EventBus>();
    const auto seen = bus->subscribe(); // somebody listens, as always: the journal
    auto runtime = std::make_shared<RuntimeContext>();
    runtime->values = Json{{"thread_id", "t"}, {"user_id", "u"}, {"run_id", "r"}, {"is_subagent", true}};
    runtime->events = EventSink(bus, RunId(QStringLiteral("r")), subagentAgent(QStringLiteral("t1")));
    runtime->turn = 1;
    const MessagePtr reply = edited(aiMessage(QStringLiteral("It is the third loop.")), [](Message &m) { m.id = QStringLiteral("reply"); });
    const ModelNext model = [reply](ModelCall) { return answer(reply); };
    const AgentState state = conversation();

    const int count = scale.of(300, 2);
    std::vector<double> ours;
    std::vector<double> peers;
    for (int round = 0; round < scale.of(9, 1); ++round) {
        Result<void> ran;
        ours.push_back(cpuSecondsOf([&] { ran = QCoro::waitFor(turns(*chain, state, runtime, model, count)); }) / count);
        if (!ran)
            return fail(ran.error());
        peers.push_back(cpuSecondsOf([&] { ran = QCoro::waitFor(bareTurns(state, runtime, model, count)); }) / count);
        (void)seen->drain();
    }
    const double mine = median(ours) * 1e6;
    const double peer = median(peers) * 1e6;
    return QList<Reading>{{QStringLiteral("whole subagent chain, one turn at %1 messages, nothing to do").arg(messageCount),
                           QStringLiteral("%1 us of processor, %2 members").arg(mine, 0, 'f', 1).arg((*chain)->members().size()),
                           QStringLiteral("the model alone %1 us").arg(peer, 0, 'f', 1), mine - peer, 100, QStringLiteral("us of our own")}};
}

} // namespace paddock::bench
