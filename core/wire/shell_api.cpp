// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/wire/shell_api.h"

namespace paddock::wire {

namespace {

constexpr qsizetype maxSessionIdBytes = 128;

} // namespace

bool isKnownShellStatus(const QString &status)
{
    using namespace shell_status;
    return status == running || status == completed || status == noChangeTimeout || status == hardTimeout || status == terminated;
}

std::optional<QString> invalidSessionId(const QString &id)
{
    if (id.isEmpty() || id.toUtf8().size() > maxSessionIdBytes)
        return QStringLiteral("session id must have 1 to 128 bytes");
    for (const QChar c : id) {
        if (c.unicode() < 0x20 || (c.unicode() >= 0x7f && c.unicode() < 0xa0) || QStringView(u"/?#").contains(c))
            return QStringLiteral("session id must not contain control characters, '/', '?' or '#'");
    }
    return std::nullopt;
}

ShellExecRequest ShellExecRequest::read(FieldReader &in)
{
    ShellExecRequest r;
    r.command = in.string("command");
    if (r.command.contains(QChar(u'\0')))
        in.failValue("command", QStringLiteral("command must not contain NUL"));
    r.id = in.optionalString("id");
    r.execDir = in.optionalString("exec_dir");
    checkAbsolute(in, "exec_dir", r.execDir);
    r.asyncMode = in.boolOr("async_mode", false);
    r.timeout = in.optionalPositive("timeout");
    r.strict = in.optionalBool("strict");
    r.noChangeTimeout = in.optionalInteger("no_change_timeout", 1);
    r.hardTimeout = in.optionalPositive("hard_timeout");
    r.preserveSymlinks = in.optionalBool("preserve_symlinks");
    r.truncate = in.boolOr("truncate", true);
    return r;
}

Json ShellExecRequest::write() const
{
    Json out{{"command", paddock::toJson(command)}};
    putIf(out, "id", id);
    putIf(out, "exec_dir", execDir);
    if (asyncMode)
        out["async_mode"] = true;
    putIf(out, "timeout", timeout);
    putIf(out, "strict", strict);
    putIf(out, "no_change_timeout", noChangeTimeout);
    putIf(out, "hard_timeout", hardTimeout);
    putIf(out, "preserve_symlinks", preserveSymlinks);
    if (!truncate)
        out["truncate"] = false;
    return out;
}

ConsoleRecord ConsoleRecord::read(FieldReader &in)
{
    return {in.string("ps1"), in.string("command"), in.stringOr("output")};
}

Json ConsoleRecord::write() const
{
    return {{"ps1", paddock::toJson(ps1)}, {"command", paddock::toJson(command)}, {"output", paddock::toJson(output)}};
}

namespace {

Json writeConsole(const QList<ConsoleRecord> &console)
{
    Json out = Json::array();
    for (const ConsoleRecord &record : console)
        out.push_back(record.write());
    return out;
}

} // namespace

ShellExecResult ShellExecResult::read(FieldReader &in)
{
    ShellExecResult r;
    r.sessionId = in.string("session_id");
    r.command = in.string("command");
    r.status = in.string("status");
    r.output = in.stringOr("output");
    r.hasConsole = in.value("console").is_array();
    r.console = in.list<ConsoleRecord>("console");
    r.exitCode = in.optionalInteger("exit_code");
    if (in.value("working_dir").is_string()) // nobody else's field: what it holds elsewhere is no fault
        r.workingDir = in.string("working_dir");
    return r;
}

Json ShellExecResult::write() const
{
    Json out{{"session_id", paddock::toJson(sessionId)},
             {"command", paddock::toJson(command)},
             {"status", paddock::toJson(status)},
             {"output", paddock::toJson(output)},
             {"console", hasConsole ? writeConsole(console) : Json(nullptr)},
             {"exit_code", orNull(exitCode)}};
    putIf(out, "working_dir", workingDir);
    return out;
}

ShellIdRequest ShellIdRequest::read(FieldReader &in) { return {in.string("id")}; }
Json ShellIdRequest::write() const { return {{"id", paddock::toJson(id)}}; }

std::optional<QString> ShellView::lastOutput() const
{
    return console.isEmpty() ? std::nullopt : std::optional(console.last().output);
}

ShellView ShellView::read(FieldReader &in)
{
    ShellView r;
    r.output = in.string("output");
    r.sessionId = in.string("session_id");
    r.status = in.string("status");
    r.command = in.optionalString("command");
    r.exitCode = in.optionalInteger("exit_code");
    r.console = in.list<ConsoleRecord>("console");
    return r;
}

Json ShellView::write() const
{
    return {{"output", paddock::toJson(output)},
            {"session_id", paddock::toJson(sessionId)},
            {"console", writeConsole(console)},
            {"status", paddock::toJson(status)},
            {"command", orNull(command)},
            {"exit_code", orNull(exitCode)}};
}

ShellWaitRequest ShellWaitRequest::read(FieldReader &in)
{
    return {in.string("id"), in.optionalInteger("seconds"), in.optionalInteger("max_wait_seconds")};
}

Json ShellWaitRequest::write() const
{
    Json out{{"id", paddock::toJson(id)}};
    putIf(out, "seconds", seconds);
    putIf(out, "max_wait_seconds", maxWaitSeconds);
    return out;
}

ShellStatusResult ShellStatusResult::read(FieldReader &in) { return {in.string("status")}; }
Json ShellStatusResult::write() const { return {{"status", paddock::toJson(status)}}; }

ShellWriteRequest ShellWriteRequest::read(FieldReader &in)
{
    return {in.string("id"), in.string("input"), in.boolean("press_enter")};
}

Json ShellWriteRequest::write() const
{
    return {{"id", paddock::toJson(id)}, {"input", paddock::toJson(input)}, {"press_enter", pressEnter}};
}

ShellKillResult ShellKillResult::read(FieldReader &in)
{
    ShellKillResult r;
    r.status = in.string("status");
    r.exitCode = in.optionalInteger("exit_code");
    if (!r.exitCode)
        r.exitCode = in.optionalInteger("returncode");
    return r;
}

Json ShellKillResult::write() const
{
    return {{"status", paddock::toJson(status)}, {"exit_code", orNull(exitCode)}, {"returncode", orNull(exitCode)}};
}

ShellCreateRequest ShellCreateRequest::read(FieldReader &in)
{
    ShellCreateRequest r;
    r.id = in.optionalString("id");
    if (r.id) {
        if (const auto why = invalidSessionId(*r.id))
            in.failValue("id", *why);
    }
    r.execDir = in.optionalString("exec_dir");
    checkAbsolute(in, "exec_dir", r.execDir);
    r.noChangeTimeout = in.optionalInteger("no_change_timeout", 1);
    r.preserveSymlinks = in.optionalBool("preserve_symlinks");
    return r;
}

Json ShellCreateRequest::write() const
{
    Json out = Json::object();
    putIf(out, "id", id);
    putIf(out, "exec_dir", execDir);
    putIf(out, "no_change_timeout", noChangeTimeout);
    putIf(out, "preserve_symlinks", preserveSymlinks);
    return out;
}

ShellCreateResult ShellCreateResult::read(FieldReader &in) { return {in.string("session_id"), in.string("working_dir")}; }

Json ShellCreateResult::write() const
{
    return {{"session_id", paddock::toJson(sessionId)}, {"working_dir", paddock::toJson(workingDir)}};
}

ShellUpdateRequest ShellUpdateRequest::read(FieldReader &in)
{
    return {in.string("id"), in.optionalInteger("no_change_timeout", 1)};
}

Json ShellUpdateRequest::write() const
{
    Json out{{"id", paddock::toJson(id)}};
    putIf(out, "no_change_timeout", noChangeTimeout);
    return out;
}

ShellSessionEntry ShellSessionEntry::read(FieldReader &in)
{
    ShellSessionEntry r;
    r.workingDir = in.string("working_dir");
    r.createdAt = in.timestamp("created_at");
    r.lastUsedAt = in.timestamp("last_used_at");
    r.ageSeconds = in.integer("age_seconds");
    r.status = in.string("status");
    r.currentCommand = in.optionalString("current_command");
    return r;
}

Json ShellSessionEntry::write() const
{
    return {{"working_dir", paddock::toJson(workingDir)},
            {"created_at", paddock::toJson(formatTimestamp(createdAt))},
            {"last_used_at", paddock::toJson(formatTimestamp(lastUsedAt))},
            {"age_seconds", ageSeconds},
            {"status", paddock::toJson(status)},
            {"current_command", orNull(currentCommand)}};
}

ShellSessions ShellSessions::read(FieldReader &in)
{
    ShellSessions r;
    in.child("sessions");
    const Json &table = in.value("sessions");
    if (!table.is_object())
        return r;
    for (auto it = table.begin(); it != table.end(); ++it) {
        FieldReader entry = in.nested(it.value(), "sessions");
        r.sessions.emplace(QString::fromStdString(it.key()), ShellSessionEntry::read(entry));
    }
    return r;
}

Json ShellSessions::write() const
{
    Json table = Json::object();
    for (const auto &[id, entry] : sessions)
        table[id.toStdString()] = entry.write();
    return {{"sessions", std::move(table)}};
}

ShellStats ShellStats::read(FieldReader &in)
{
    return {in.integer("total_sessions"), in.integer("active_sessions"), in.integer("idle_sessions"),
            in.integer("max_sessions"),   in.integer("session_timeout"), in.number("usage_ratio")};
}

Json ShellStats::write() const
{
    return {{"total_sessions", totalSessions}, {"active_sessions", activeSessions}, {"idle_sessions", idleSessions},
            {"max_sessions", maxSessions},     {"session_timeout", sessionTimeout}, {"usage_ratio", usageRatio}};
}

ShellResizeRequest ShellResizeRequest::read(FieldReader &in)
{
    return {in.string("id"), in.integer("cols", 1, 1000), in.integer("rows", 1, 500)};
}

Json ShellResizeRequest::write() const
{
    return {{"id", paddock::toJson(id)}, {"cols", cols}, {"rows", rows}};
}

} // namespace paddock::wire
