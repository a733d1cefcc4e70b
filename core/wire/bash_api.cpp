// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/wire/bash_api.h"

#include "core/wire/shell_api.h"

namespace paddock::wire {

namespace {

std::map<QString, QString> readEnvironment(FieldReader &in)
{
    std::map<QString, QString> env;
    const Json &table = in.value("env");
    if (table.is_null())
        return env;
    if (!table.is_object()) {
        in.fail("env", QStringLiteral("value is not a valid dict"), QStringLiteral("type_error.dict"));
        return env;
    }
    for (auto it = table.begin(); it != table.end(); ++it) {
        const QString name = QString::fromStdString(it.key());
        if (!isEnvironmentName(name))
            in.failValue("env", QStringLiteral("invalid environment variable name"));
        else if (!it->is_string())
            in.fail("env", QStringLiteral("str type expected"), QStringLiteral("type_error.str"));
        else if (textOf(*it).contains(QChar(u'\0')))
            in.failValue("env", QStringLiteral("environment value must not contain NUL"));
        else
            env.emplace(name, textOf(*it));
    }
    return env;
}

} // namespace

bool isEnvironmentName(const QString &name)
{
    const auto letter = [](QChar c) { return (c >= u'A' && c <= u'Z') || (c >= u'a' && c <= u'z') || c == u'_'; };
    if (name.isEmpty() || !letter(name.front()))
        return false;
    return std::all_of(name.begin(), name.end(), [&](QChar c) { return letter(c) || (c >= u'0' && c <= u'9'); });
}

BashExecRequest BashExecRequest::read(FieldReader &in)
{
    BashExecRequest r;
    r.command = in.string("command");
    if (r.command.contains(QChar(u'\0')))
        in.failValue("command", QStringLiteral("command must not contain NUL"));
    r.sessionId = in.optionalString("session_id");
    r.execDir = in.optionalString("exec_dir");
    checkAbsolute(in, "exec_dir", r.execDir);
    r.env = readEnvironment(in);
    r.asyncMode = in.boolOr("async_mode", false);
    r.timeout = in.optionalPositive("timeout");
    r.hardTimeout = in.optionalPositive("hard_timeout");
    r.maxOutputLength = in.integerOr("max_output_length", 50000, 0);
    return r;
}

Json BashExecRequest::write() const
{
    Json out = Json::object();
    putIf(out, "session_id", sessionId);
    out["command"] = paddock::toJson(command);
    putIf(out, "exec_dir", execDir);
    if (!env.empty()) {
        Json table = Json::object();
        for (const auto &[name, value] : env)
            table[name.toStdString()] = paddock::toJson(value);
        out["env"] = std::move(table);
    }
    if (asyncMode)
        out["async_mode"] = true;
    putIf(out, "timeout", timeout);
    putIf(out, "hard_timeout", hardTimeout);
    if (maxOutputLength != 50000)
        out["max_output_length"] = maxOutputLength;
    return out;
}

BashExecResult BashExecResult::read(FieldReader &in)
{
    BashExecResult r;
    r.sessionId = in.string("session_id");
    r.commandId = in.string("command_id");
    r.command = in.string("command");
    r.status = in.string("status");
    r.standardOutput = in.stringOr("stdout");
    r.standardError = in.stringOr("stderr");
    r.exitCode = in.optionalInteger("exit_code");
    r.offset = in.integerOr("offset", 0);
    r.stderrOffset = in.integerOr("stderr_offset", 0);
    return r;
}

Json BashExecResult::write() const
{
    return {{"session_id", paddock::toJson(sessionId)},
            {"command_id", paddock::toJson(commandId)},
            {"command", paddock::toJson(command)},
            {"status", paddock::toJson(status)},
            {"stdout", paddock::toJson(standardOutput)},
            {"stderr", stderrOffset == 0 ? Json(nullptr) : paddock::toJson(standardError)},
            {"exit_code", orNull(exitCode)},
            {"offset", offset},
            {"stderr_offset", stderrOffset}};
}

BashOutputRequest BashOutputRequest::read(FieldReader &in)
{
    BashOutputRequest r;
    r.sessionId = in.string("session_id");
    r.commandId = in.optionalString("command_id");
    r.offset = in.integerOr("offset", 0, 0);
    r.stderrOffset = in.integerOr("stderr_offset", 0, 0);
    r.wait = in.boolOr("wait", false);
    r.waitTimeout = in.optionalNumber("wait_timeout").value_or(30);
    return r;
}

Json BashOutputRequest::write() const
{
    Json out{{"session_id", paddock::toJson(sessionId)}};
    putIf(out, "command_id", commandId);
    out["offset"] = offset;
    out["stderr_offset"] = stderrOffset;
    out["wait"] = wait;
    out["wait_timeout"] = waitTimeout == double(qint64(waitTimeout)) ? Json(qint64(waitTimeout)) : Json(waitTimeout);
    return out;
}

BashCommandState BashCommandState::read(FieldReader &in)
{
    return {in.string("command_id"), in.string("command"), in.string("status"), in.optionalInteger("exit_code")};
}

Json BashCommandState::write() const
{
    return {{"command_id", paddock::toJson(commandId)},
            {"command", paddock::toJson(command)},
            {"status", paddock::toJson(status)},
            {"exit_code", orNull(exitCode)}};
}

BashOutputResult BashOutputResult::read(FieldReader &in)
{
    BashOutputResult r;
    r.sessionId = in.string("session_id");
    r.standardOutput = in.stringOr("stdout");
    r.standardError = in.stringOr("stderr");
    r.offset = in.integerOr("offset", 0);
    r.stderrOffset = in.integerOr("stderr_offset", 0);
    if (!in.value("command").is_null()) {
        FieldReader command = in.child("command");
        r.command = BashCommandState::read(command);
    }
    return r;
}

Json BashOutputResult::write() const
{
    return {{"session_id", paddock::toJson(sessionId)},
            {"stdout", paddock::toJson(standardOutput)},
            {"stderr", paddock::toJson(standardError)},
            {"offset", offset},
            {"stderr_offset", stderrOffset},
            {"command", command ? command->write() : Json(nullptr)}};
}

BashWriteRequest BashWriteRequest::read(FieldReader &in)
{
    return {in.string("session_id"), in.optionalString("command_id"), in.string("input")};
}

Json BashWriteRequest::write() const
{
    Json out{{"session_id", paddock::toJson(sessionId)}};
    putIf(out, "command_id", commandId);
    out["input"] = paddock::toJson(input);
    return out;
}

BashKillRequest BashKillRequest::read(FieldReader &in)
{
    BashKillRequest r;
    r.sessionId = in.string("session_id");
    r.signal = in.stringOr("signal", QStringLiteral("SIGTERM"));
    if (r.signal != u"SIGTERM" && r.signal != u"SIGKILL" && r.signal != u"SIGINT")
        in.fail("signal", QStringLiteral("unexpected value; permitted: 'SIGTERM', 'SIGKILL', 'SIGINT'"),
                QStringLiteral("value_error.const"));
    return r;
}

Json BashKillRequest::write() const
{
    return {{"session_id", paddock::toJson(sessionId)}, {"signal", paddock::toJson(signal)}};
}

BashCreateRequest BashCreateRequest::read(FieldReader &in)
{
    BashCreateRequest r;
    r.sessionId = in.optionalString("session_id");
    if (r.sessionId && !r.sessionId->isEmpty()) {
        if (const auto why = invalidSessionId(*r.sessionId))
            in.failValue("session_id", *why);
    }
    r.execDir = in.optionalString("exec_dir");
    checkAbsolute(in, "exec_dir", r.execDir);
    r.snapshotPath = in.optionalString("snapshot_path");
    checkAbsolute(in, "snapshot_path", r.snapshotPath);
    return r;
}

Json BashCreateRequest::write() const
{
    Json out = Json::object();
    putIf(out, "session_id", sessionId);
    putIf(out, "exec_dir", execDir);
    putIf(out, "snapshot_path", snapshotPath);
    return out;
}

BashSession BashSession::read(FieldReader &in)
{
    BashSession r;
    r.sessionId = in.string("session_id");
    r.status = in.string("status");
    r.workingDir = in.string("working_dir");
    r.createdAt = in.timestamp("created_at");
    r.lastUsedAt = in.timestamp("last_used_at");
    r.currentCommand = in.optionalString("current_command");
    r.commandCount = in.integerOr("command_count", 0);
    return r;
}

Json BashSession::write() const
{
    return {{"session_id", paddock::toJson(sessionId)},
            {"status", paddock::toJson(status)},
            {"working_dir", paddock::toJson(workingDir)},
            {"created_at", paddock::toJson(formatTimestamp(createdAt))},
            {"last_used_at", paddock::toJson(formatTimestamp(lastUsedAt))},
            {"current_command", orNull(currentCommand)},
            {"command_count", commandCount}};
}

} // namespace paddock::wire
