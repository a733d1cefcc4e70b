// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/workspace_watch.h"

#include "core/base/completion.h"
#include "core/base/loop.h"
#include "core/sandbox/watch_core.h"

#include <future>

namespace paddock {

/// The core, made and destroyed on its loop.
class WorkspaceWatch::Core
{
public:
    std::unique_ptr<WatchCore> work;
};

WorkspaceWatch::WorkspaceWatch(WorkspaceWatchOptions options)
    : m_loop(std::make_unique<EventLoop>(QStringLiteral("workspace-watch")))
    , m_core(std::make_shared<Core>())
{
    m_loop->ref().post([core = m_core, options = std::move(options)] { core->work = std::make_unique<WatchCore>(options); });
}

WorkspaceWatch::~WorkspaceWatch()
{
    const auto gone = std::make_shared<std::promise<void>>();
    const bool posted = m_loop->ref().post([core = m_core, gone] {
        core->work.reset();
        gone->set_value();
    });
    if (posted)
        gone->get_future().wait();
}

template<typename Call>
void WorkspaceWatch::post(Call call)
{
    m_loop->ref().post([core = m_core, call = std::move(call)] {
        if (core->work)
            call(*core->work);
    });
}

Task<Result<void>> WorkspaceWatch::start()
{
    Completion<Result<void>> done;
    post([done](WatchCore &core) { done.complete(core.start()); });
    co_return co_await done;
}

void WorkspaceWatch::note(const Event &event)
{
    if (const auto *started = std::get_if<ShellCommandStarted>(&event.body)) {
        noteCommandStarted(event.agent, ScopeId(started->scope), started->commandId, started->command, event.mono);
    } else if (const auto *finished = std::get_if<ShellCommandFinished>(&event.body)) {
        noteCommandFinished(finished->commandId, event.mono);
    } else if (const auto *tool = std::get_if<ToolStarted>(&event.body)) {
        if (tool->name == u"write_file" || tool->name == u"str_replace")
            post([call = tool->call, path = stringOf(tool->args, "path")](WatchCore &core) { core.toolStarted(call, path); });
    } else if (const auto *ended = std::get_if<ToolFinished>(&event.body)) {
        post([call = ended->call](WatchCore &core) { core.toolFinished(call); });
    } else if (const auto *file = std::get_if<FileChanged>(&event.body)) {
        if (file->certainty == u"tool")
            noteToolWrite(file->path, file->sha256, file->size, AgentId(file->owner));
    }
}

void WorkspaceWatch::noteCommandStarted(AgentId agent, ScopeId scope, QString commandId, QString command,
                                        std::chrono::microseconds mono)
{
    Q_UNUSED(scope);
    post([=](WatchCore &core) { core.commandStarted(commandId, agent, command, mono); });
}

void WorkspaceWatch::noteCommandFinished(QString commandId, std::chrono::microseconds mono)
{
    post([=](WatchCore &core) { core.commandFinished(commandId, mono); });
}

void WorkspaceWatch::noteToolWrite(QString virtualPath, QString sha256, qint64 size, AgentId agent)
{
    Q_UNUSED(agent);
    post([=](WatchCore &core) { core.toolWrote(virtualPath, sha256, size); });
}

Task<> WorkspaceWatch::flush()
{
    Completion<void> done;
    post([done](WatchCore &core) {
        core.flush();
        done.complete();
    });
    co_await done;
}

Task<WorkspaceWatch::Counts> WorkspaceWatch::counts()
{
    Completion<Counts> done;
    post([done](WatchCore &core) { done.complete(core.counts()); });
    co_return co_await done;
}

} // namespace paddock
