// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/thread_data.h"

#include "core/base/run_on.h"

namespace paddock {

namespace {

/// The first non-empty of: context key, then config.configurable key.
QString idFrom(const Json &values, const char *key)
{
    const QString own = stringOf(values, key);
    return own.isEmpty() ? stringOf(memberOf(values, "configurable"), key) : own;
}

QString userIdFrom(const Json &values)
{
    const Json &configurable = memberOf(values, "configurable");
    for (const QString &id : {stringOf(values, "auth_user_id"), stringOf(configurable, "auth_user_id"),
                              stringOf(configurable, "langgraph_auth_user_id"), stringOf(values, "user_id"),
                              stringOf(values, "ambient_user_id")}) {
        if (!id.isEmpty())
            return id;
    }
    return QStringLiteral("default");
}

MessagePtr stamped(const MessagePtr &human, const RuntimeContext &runtime)
{
    return edited(human, [&runtime](Message &message) {
        if (message.name.isEmpty())
            message.name = QStringLiteral("user-input");
        if (!message.kwargs.is_object())
            message.kwargs = Json::object();
        message.kwargs["run_id"] = memberOf(runtime.values, "run_id");
        message.kwargs["timestamp"] = toUtf8(formatWall(runtime.clock->wall()));
    });
}

} // namespace

Result<ThreadKey> threadOf(const RuntimeContext &runtime)
{
    const QString thread = idFrom(runtime.values, "thread_id");
    if (thread.isEmpty())
        return fail(ErrorCode::InvalidArgument,
                    QStringLiteral("Thread ID is required in runtime context or config.configurable"));
    return ThreadKey{UserId(userIdFrom(runtime.values)), ThreadId(thread)};
}

Task<Result<StateUpdate>> ThreadDataMiddleware::beforeAgent(AgentState state, RuntimePtr runtime)
{
    const Result<ThreadKey> key = threadOf(*runtime);
    if (!key)
        co_return std::unexpected(key.error());
    const Result<ThreadPaths> paths = ThreadPaths::make(m_options.baseDir, *key, m_options.workspaceOverride);
    if (!paths)
        co_return std::unexpected(paths.error());
    if (!m_options.lazyInit) {
        const ThreadPaths made = *paths;
        const Result<void> created = co_await runOnPool([made] { return made.create(); });
        if (!created)
            co_return std::unexpected(created.error());
    }
    StateUpdate update;
    update.channels["thread_data"] = Json{{"workspace_path", toUtf8(paths->workspace)},
                                          {"uploads_path", toUtf8(paths->uploads)},
                                          {"outputs_path", toUtf8(paths->outputs)}};
    if (!state.messages.isEmpty() && state.messages.last()->role == Role::Human)
        update.messages.push_back(stamped(state.messages.last(), *runtime));
    co_return update;
}

} // namespace paddock
