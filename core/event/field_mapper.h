// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/event/event.h"

namespace paddock {

/// Visits the fields of every event struct by their JSONL names, in one place for both directions (design.md §4). The
/// visitor has operator()(const char *name, T &field) for QString, QStringList, int, qint64, bool, Json, Usage,
/// std::optional of these, MessagePtr and std::vector<SpanChange>. Private to this room.
template<typename V> void mapFields(V &v, RunStarted &e)
{
    v("thread", e.thread); v("task", e.task); v("model", e.model); v("sandbox", e.sandbox); v("workspace", e.workspace);
    v("channel_user_id", e.channelUserId);
}
template<typename V> void mapFields(V &v, RunFinished &e)
{
    v("status", e.status); v("answer", e.answer); v("error", e.error); v("usage", e.usage);
}
template<typename V> void mapFields(V &v, AgentQueued &e) { v("position", e.position); }
template<typename V> void mapFields(V &v, AgentStarted &e)
{
    v("parent", e.parent); v("subagent_type", e.subagentType); v("description", e.description); v("model", e.model);
    v("max_turns", e.maxTurns); v("call", e.call);
}
template<typename V> void mapFields(V &v, AgentFinished &e)
{
    v("status", e.status); v("turns", e.turns); v("usage", e.usage); v("error", e.error); v("stop_reason", e.stopReason);
    v("cause", e.cause);
}
template<typename V> void mapFields(V &v, LeaseAcquired &e) { v("sandbox", e.sandbox); v("owner", e.owner); v("owners", e.owners); }
template<typename V> void mapFields(V &v, LeaseDraining &e) { v("sandbox", e.sandbox); v("owner", e.owner); v("owners", e.owners); }
template<typename V> void mapFields(V &v, LeaseReleased &e)
{
    v("sandbox", e.sandbox); v("owner", e.owner); v("owners", e.owners); v("last", e.last);
}
template<typename V> void mapFields(V &v, SandboxAcquired &e)
{
    v("sandbox", e.sandbox); v("provider", e.provider); v("backend", e.backend); v("source", e.source);
    v("session_limit", e.sessionLimit); v("duration_ms", e.durationMs);
}
template<typename V> void mapFields(V &v, SandboxReleased &e)
{
    v("sandbox", e.sandbox); v("provider", e.provider); v("backend", e.backend);
}
template<typename V> void mapFields(V &v, SandboxFailed &e) { v("sandbox", e.sandbox); v("reason", e.reason); v("during", e.during); }
template<typename V> void mapFields(V &v, ShellSessionCreated &e) { v("scope", e.scope); v("session", e.session); v("reason", e.reason); }
template<typename V> void mapFields(V &v, ShellSessionLost &e) { v("scope", e.scope); v("session", e.session); v("reason", e.reason); }
template<typename V> void mapFields(V &v, ShellSessionClosed &e) { v("scope", e.scope); v("session", e.session); v("reason", e.reason); }
template<typename V> void mapFields(V &v, ShellCommandStarted &e)
{
    v("scope", e.scope); v("session", e.session); v("command_id", e.commandId); v("command", e.command);
}
template<typename V> void mapFields(V &v, ShellCommandFinished &e)
{
    v("scope", e.scope); v("session", e.session); v("command_id", e.commandId); v("exit_code", e.exitCode);
    v("status", e.status); v("duration_ms", e.durationMs); v("bytes", e.bytes); v("cwd", e.cwd); v("retried", e.retried);
}
template<typename V> void mapFields(V &v, ShellTakeoverStarted &e) { v("scope", e.scope); v("session", e.session); }
template<typename V> void mapFields(V &v, ShellTakeoverEnded &e) { v("scope", e.scope); v("session", e.session); }
template<typename V> void mapFields(V &v, ToolStarted &e) { v("call", e.call); v("name", e.name); v("args", e.args); v("turn", e.turn); }
template<typename V> void mapFields(V &v, ToolFinished &e)
{
    v("call", e.call); v("name", e.name); v("status", e.status); v("duration_ms", e.durationMs); v("bytes", e.bytes);
    v("preview", e.preview); v("message", e.message);
}
template<typename V> void mapFields(V &v, ModelRequested &e)
{
    v("turn", e.turn); v("model", e.model); v("messages", e.messages); v("tools", e.tools); v("message_hashes", e.messageHashes);
}
template<typename V> void mapFields(V &v, ModelDelta &e) { v("turn", e.turn); v("text", e.text); v("reasoning", e.reasoning); }
template<typename V> void mapFields(V &v, ModelResponded &e)
{
    v("turn", e.turn); v("usage", e.usage); v("finish_reason", e.finishReason); v("duration_ms", e.durationMs); v("message", e.message);
}
template<typename V> void mapFields(V &v, ModelFailed &e)
{
    v("turn", e.turn); v("class", e.errorClass); v("error", e.error); v("attempt", e.attempt); v("retry_in_ms", e.willRetryInMs);
}
template<typename V> void mapFields(V &v, FileChanged &e)
{
    v("path", e.path); v("owner", e.owner); v("certainty", e.certainty); v("op", e.op); v("renamed_from", e.renamedFrom);
    v("size", e.size); v("sha256", e.sha256); v("before_sha256", e.beforeSha256); v("added", e.addedLines);
    v("removed", e.removedLines); v("call", e.call); v("via", e.via);
}
template<typename V> void mapFields(V &v, AuditRecorded &e)
{
    v("call", e.call); v("command", e.command); v("verdict", e.verdict); v("rule", e.rule); v("reason", e.reason);
}
template<typename V> void mapFields(V &v, ApprovalRequested &e)
{
    v("approval", e.approval); v("call", e.call); v("command", e.command); v("verdict", e.verdict); v("rule", e.rule);
}
template<typename V> void mapFields(V &v, ApprovalDecided &e)
{
    v("approval", e.approval); v("decision", e.decision); v("by", e.by); v("reason", e.reason);
}
template<typename V> void mapFields(V &v, TrustChanged &e) { v("host_bash", e.hostBash); v("scope", e.scope); v("by", e.by); }
template<typename V> void mapFields(V &v, ConfigLoaded &e) { v("path", e.path); v("sha256", e.sha256); v("warnings", e.warnings); }
template<typename V> void mapFields(V &v, LogRecorded &e) { v("level", e.level); v("text", e.text); v("by_person", e.madeByPerson); }
template<typename V> void mapFields(V &v, MiddlewareActed &e)
{
    v("tag", e.tag); v("name", e.name); v("hook", e.hook); v("action", e.action); v("changes", e.changes);
}

} // namespace paddock
