// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/chain_build.h"
#include "tests/core/middleware/chain_fixture.h"

namespace paddock::test {

inline QString utf8(const char *text)
{
    return QString::fromUtf8(text);
}

inline MessagePtr withId(const MessagePtr &message, const QString &id)
{
    return edited(message, [&id](Message &m) { m.id = id; });
}

inline MessagePtr named(const MessagePtr &message, const char *id)
{
    return withId(message, utf8(id));
}

inline MessagePtr withKwarg(const MessagePtr &message, const char *key, Json value)
{
    return edited(message, [&](Message &m) { m.kwargs[key] = std::move(value); });
}

inline MessagePtr calling(const QString &id, const QStringList &calls, const char *tool = "bash")
{
    std::vector<ToolCall> list;
    for (const QString &call : calls)
        list.push_back({utf8(tool), Json::object(), call});
    return withId(aiMessage(QString(), list), id);
}

/// A model that answers what a function says; remembers what it was asked.
class AnsweringModel : public ChatModel
{
public:
    using Answer = std::function<Result<MessagePtr>(const ModelRequest &)>;
    explicit AnsweringModel(Answer answer) : m_answer(std::move(answer)) {}

    QString name() const override { return utf8("answering"); }
    QString provider() const override { return utf8("test"); }
    Task<Result<MessagePtr>> complete(ModelRequest request, DeltaSink, std::stop_token) override
    {
        asked.push_back(request);
        co_return m_answer(request);
    }

    std::vector<ModelRequest> asked;

private:
    const Answer m_answer;
};
using AnsweringPtr = std::shared_ptr<AnsweringModel>;

inline AnsweringPtr saying(const char *text)
{
    return std::make_shared<AnsweringModel>([text](const ModelRequest &) -> Result<MessagePtr> { return aiMessage(utf8(text)); });
}

inline ModelMaker always(const AnsweringPtr &model)
{
    return [model](const QString &) -> Result<std::shared_ptr<ChatModel>> { return std::static_pointer_cast<ChatModel>(model); };
}

inline SummarizationOptions options(const AnsweringPtr &model, double trigger = 6, double keep = 3)
{
    using Unit = ContextSize::Unit;
    SummarizationOptions made;
    made.policy = {{{Unit::Messages, trigger}}, {Unit::Messages, keep}};
    made.model = always(model);
    return made;
}

inline RuntimePtr running(const std::shared_ptr<EventBus> &bus, std::stop_token stop = {})
{
    RuntimePtr runtime = runtimeOn(bus, std::move(stop));
    runtime->values["model_name"] = "own";
    return runtime;
}

/// A task and `rounds` calls with their results.
inline AgentState workedState(int rounds)
{
    AgentState state;
    state.messages.append(named(systemMessage(utf8("role prompt")), "s"));
    state.messages.append(named(humanMessage(utf8("the task")), "u"));
    for (int i = 0; i < rounds; ++i) {
        const QString call = QStringLiteral("c%1").arg(i);
        state.messages.append(calling(QStringLiteral("a%1").arg(i), {call}));
        state.messages.append(withId(toolMessage(call, utf8("bash"), QStringLiteral("result %1").arg(i)), QStringLiteral("t%1").arg(i)));
    }
    return state;
}

inline QStringList idsOf(const MessageList &messages)
{
    QStringList ids;
    for (const MessagePtr &message : messages)
        ids.append(message->id);
    return ids;
}

inline std::vector<MiddlewareActed> actsOf(EventQueue &queue, QStringList *warnings = nullptr)
{
    std::vector<MiddlewareActed> acts;
    for (const auto &event : queue.drain()) {
        if (const auto *act = std::get_if<MiddlewareActed>(&event->body))
            acts.push_back(*act);
        const auto *log = std::get_if<LogRecorded>(&event->body);
        if (log && warnings && log->level == u"warning")
            warnings->append(log->text);
    }
    return acts;
}

inline Result<AgentState> beforeModel(const MiddlewarePtr &member, const AgentState &state, const RuntimePtr &runtime)
{
    auto after = awaited(compiled({member})->runNode(Hook::BeforeModel, state, runtime));
    if (!after)
        return fail(after.error());
    return after->state;
}

} // namespace paddock::test
