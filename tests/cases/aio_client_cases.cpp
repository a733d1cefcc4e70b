// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// client.shell, client.transport, client.bash (single calls), client.file, client.sandbox, client.readiness, client.netpolicy
// of aio-api.json: the client against a scripted server (aio-api.md §11).
#include "core/sandbox/aio/shell_text.h"
#include "core/wire/sandbox_api.h"
#include "tests/cases/aio_case_support.h"
#include "tests/support/sanitizer.h"

#include <QFile>
#include <QUrlQuery>

namespace paddock::cases {

FakeReply replyOf(const Json &step)
{
    FakeReply reply;
    reply.status = int(intOf(step, "status", 200));
    reply.fault = stringOf(step, "fault");
    if (step.contains("json"))
        reply.body = dumpJson(step["json"]);
    else if (step.contains("raw"))
        reply.body = stringOf(step, "raw").toUtf8();
    else if (step.contains("raw_hex"))
        reply.body = QByteArray::fromHex(stringOf(step, "raw_hex").toLatin1());
    if (const Json &headers = memberOf(step, "headers"); headers.is_object()) {
        for (auto it = headers.begin(); it != headers.end(); ++it)
            reply.headers.emplace_back(QByteArray::fromStdString(it.key()), textOf(it.value()).toUtf8());
    }
    reply.chunked = stringOf(step, "framing") == QLatin1String("chunked");
    reply.chunkBytes = int(intOf(step, "chunk_bytes", 4096));
    reply.omitLastChunk = boolOf(step, "omit_last_chunk");
    const Json &generate = memberOf(step, "generate");
    reply.generateMiB = intOf(generate, "json_string_mib", intOf(generate, "bytes_mib"));
    reply.generateJson = generate.is_object() && generate.contains("json_string_mib");
    return reply;
}

std::vector<FakeReply> repliesOf(const Json &response)
{
    std::vector<FakeReply> replies;
    if (response.is_array()) {
        for (const Json &step : response)
            replies.push_back(replyOf(step));
    } else if (response.is_object()) {
        replies.push_back(replyOf(response));
    }
    return replies;
}

Json factsOf(const wire::Failure &failure)
{
    Json out{{"error", toJson(wire::failureKindName(failure.kind))}};
    out["what"] = toJson(failure.message);
    out["definitely_not_executed"] = failure.definitelyNotExecuted();
    out["may_rerun"] = failure.definitelyNotExecuted();
    switch (failure.kind) {
    case wire::FailureKind::Transport:
        out["kind"] = toJson(wire::transportKindName(failure.transport));
        if (failure.transport == wire::TransportKind::TooLarge)
            out["reason"] = "body too large";
        break;
    case wire::FailureKind::Api: {
        out["status"] = failure.status;
        out["body_kind"] = failure.bodyIsJson ? "json" : "text";
        out["auth_problem"] = failure.status == 401 || failure.status == 403;
        if (failure.status == 409)
            out["kind"] = "Conflict";
        Json issues = Json::array();
        for (const wire::ValidationIssue &issue : failure.validation())
            issues.push_back({{"path", toJson(issue.path())}, {"msg", toJson(issue.message)}});
        out["validation"] = issues;
        break;
    }
    case wire::FailureKind::Operation:
        out["message"] = toJson(failure.message);
        for (const char *key : {"error_type", "errno", "retryable"}) {
            if (failure.data.is_object() && failure.data.contains(key))
                out[key] = failure.data[key];
        }
        break;
    case wire::FailureKind::Decode: out["field"] = toJson(failure.field); break;
    }
    return out;
}

Verdict judge(Json expect, const Json &actual, const QSet<QString> &judged)
{
    for (const QString &key : judged + QSet<QString>{QStringLiteral("note")})
        expect.erase(key.toStdString());
    const QString why = mismatch(expect, actual);
    return why.isEmpty() ? passed() : failed(why);
}

namespace {

constexpr std::chrono::milliseconds callTimeout{1500};

Json readBack(const wire::RawReply &reply, const Json &value)
{
    Json out{{"ok", value}};
    if (const auto envelope = wire::decodeEnvelope(reply)) {
        out["message"] = envelope->message ? toJson(*envelope->message) : Json(nullptr);
        out["hint"] = envelope->hint ? toJson(*envelope->hint) : Json(nullptr);
    }
    return out;
}

void addRendered(Json &out, const aio::RenderedCommand &rendered, bool known)
{
    out["rendered"] = toJson(rendered.text);
    out["session_invalidated"] = !rendered.sessionUsable;
    out["may_rerun"] = false;
    out["rerun"] = false;
    out["status_known"] = known;
    out["command_failed"] = rendered.exitCode && *rendered.exitCode != 0;
    out["outcome"] = rendered.status == QLatin1String("failed") ? "unknown" : "known";
    out["unknown_fields_ignored"] = true;
}

template<typename T>
Json decoded(const wire::RawReply &reply)
{
    const auto value = wire::decodeData<T>(reply);
    return value ? readBack(reply, value->write()) : factsOf(value.error());
}

Json decodedExec(const wire::RawReply &reply, const Json &request)
{
    const auto value = wire::decodeData<wire::ShellExecResult>(reply);
    if (!value)
        return factsOf(value.error());
    Json shown = value->write();
    if (shown["console"].is_null())
        shown["console"] = Json::array();
    Json out = readBack(reply, shown);
    addRendered(out, aio::renderShell(*value, aio::CommandTimes::of(doubleOf(request, "hard_timeout", 600))), wire::isKnownShellStatus(value->status));
    return out;
}

Json decodedBash(const wire::RawReply &reply, const Json &request)
{
    const auto value = wire::decodeData<wire::BashExecResult>(reply);
    if (!value)
        return factsOf(value.error());
    Json out = readBack(reply, value->write());
    addRendered(out, aio::renderBash(*value, aio::CommandTimes::of(doubleOf(request, "hard_timeout", 600))), true);
    return out;
}

Json decodedSessions(const wire::RawReply &reply)
{
    const auto value = wire::decodeData<wire::ShellSessions>(reply);
    if (!value)
        return factsOf(value.error());
    Json table = Json::object();
    for (const auto &[id, entry] : value->sessions) {
        Json shown = entry.write();
        shown["created_at_utc_ms"] = entry.createdAt.time_since_epoch().count();
        shown["last_used_at_utc_ms"] = entry.lastUsedAt.time_since_epoch().count();
        table[id.toStdString()] = shown;
    }
    return readBack(reply, table);
}

Json decodedContext(const wire::RawReply &reply)
{
    const auto value = wire::decodeSandboxContext(reply);
    if (!value)
        return factsOf(value.error());
    Json shown{{"home_dir", toJson(value->homeDir)}, {"version", toJson(value->version)}};
    if (value->detail)
        shown["os"] = toJson(value->detail->system.os);
    Json out{{"ok", shown}};
    out["capabilities"] = Json{{"bash", aio::bashSupport(value->version) == aio::BashSupport::Yes ? Json(true) : Json("unknown, probe by 404")}};
    return out;
}

Json decodedView(const wire::RawReply &reply)
{
    const auto value = wire::decodeData<wire::ShellView>(reply);
    if (!value)
        return factsOf(value.error());
    Json shown = value->write();
    shown["last_output"] = value->lastOutput() ? toJson(*value->lastOutput()) : Json(nullptr);
    return readBack(reply, shown);
}

Json decodedOutput(const wire::RawReply &reply)
{
    const auto value = wire::decodeData<wire::BashOutputResult>(reply);
    if (!value)
        return factsOf(value.error());
    Json shown = value->write();
    shown["running"] = value->command && value->command->running();
    return readBack(reply, shown);
}

Json decodedGrep(const wire::RawReply &reply)
{
    const auto value = wire::decodeData<wire::FileGrepResult>(reply);
    if (!value)
        return factsOf(value.error());
    Json shown = value->write();
    for (Json &match : shown["matches"]) {
        for (const char *key : {"context_before", "context_after"}) {
            if (memberOf(match, key).is_null())
                match[key] = Json::array();
        }
    }
    return readBack(reply, shown);
}

Json decodedBashSessions(const wire::RawReply &reply)
{
    const auto value = wire::decodeDataList<wire::BashSession>(reply);
    if (!value)
        return factsOf(value.error());
    Json list = Json::array();
    for (const wire::BashSession &session : *value)
        list.push_back(session.write());
    return readBack(reply, list);
}

/// The reply as the typed value of its route.
Json decodedByPath(const QString &path, const wire::RawReply &reply, const Json &request)
{
    using Decoder = Json (*)(const wire::RawReply &);
    static const QHash<QString, Decoder> decoders{
        {QStringLiteral("/v1/shell/view"), decodedView},
        {QStringLiteral("/v1/shell/wait"), decoded<wire::ShellStatusResult>},
        {QStringLiteral("/v1/shell/write"), decoded<wire::ShellStatusResult>},
        {QStringLiteral("/v1/shell/kill"), decoded<wire::ShellKillResult>},
        {QStringLiteral("/v1/shell/sessions"), decodedSessions},
        {QStringLiteral("/v1/shell/sessions/stats"), decoded<wire::ShellStats>},
        {QStringLiteral("/v1/shell/sessions/create"), decoded<wire::ShellCreateResult>},
        {QStringLiteral("/v1/bash/output"), decodedOutput},
        {QStringLiteral("/v1/bash/sessions"), decodedBashSessions},
        {QStringLiteral("/v1/bash/sessions/create"), decoded<wire::BashSession>},
        {QStringLiteral("/v1/file/read"), decoded<wire::FileReadResult>},
        {QStringLiteral("/v1/file/write"), decoded<wire::FileWriteResult>},
        {QStringLiteral("/v1/file/find"), decoded<wire::FileFindResult>},
        {QStringLiteral("/v1/file/list"), decoded<wire::FileListResult>},
        {QStringLiteral("/v1/file/grep"), decodedGrep},
        {QStringLiteral("/v1/file/glob"), decoded<wire::FileGlobResult>},
        {QStringLiteral("/v1/file/search"), decoded<wire::FileSearchResult>},
        {QStringLiteral("/v1/file/replace"), decoded<wire::FileReplaceResult>},
        {QStringLiteral("/v1/sandbox"), decodedContext},
    };
    if (path == QLatin1String("/v1/shell/exec"))
        return decodedExec(reply, request);
    if (path == QLatin1String("/v1/bash/exec"))
        return decodedBash(reply, request);
    if (path == QLatin1String("/v1/shell/terminal-url")) {
        const auto text = wire::decodeDataString(reply);
        return text ? readBack(reply, toJson(*text)) : factsOf(text.error());
    }
    if (const auto decoder = decoders.value(path))
        return decoder(reply);
    const auto envelope = wire::decodeEnvelope(reply);
    return envelope ? readBack(reply, envelope->data) : factsOf(envelope.error());
}

/// Parts of a multipart body as [{name, filename?, value}].
Json partsOf(const FakeRequest &request)
{
    const QByteArray type = request.header("content-type");
    const QByteArray boundary = "--" + type.sliced(type.indexOf("boundary=") + 9);
    Json parts = Json::array();
    QByteArray rest = request.body;
    for (qsizetype at = rest.indexOf(boundary); at >= 0; at = rest.indexOf(boundary)) {
        rest.remove(0, at + boundary.size() + 2);
        const qsizetype headEnd = rest.indexOf("\r\n\r\n"), end = rest.indexOf("\r\n" + boundary);
        if (headEnd < 0 || end < 0)
            break;
        const QByteArray head = rest.first(headEnd);
        const auto parameter = [&](const QByteArray &name) {
            const qsizetype from = head.indexOf(' ' + name + "=\"");
            return from < 0 ? QByteArray() : head.sliced(from + name.size() + 3, head.indexOf('"', from + name.size() + 3) - from - name.size() - 3);
        };
        Json part{{"name", parameter("name").toStdString()}, {"value", rest.sliced(headEnd + 4, end - headEnd - 4).toStdString()}};
        if (!parameter("filename").isEmpty())
            part["filename"] = parameter("filename").toStdString();
        parts.push_back(part);
    }
    return parts;
}

/// What was sent, in the words of `expect.sends`.
Json sentFacts(const FakeRequest &request)
{
    Json out{{"method", request.method.toStdString()}, {"raw_path", request.path().toStdString()}, {"body", request.body.toStdString()},
             {"content_type", request.header("content-type").toStdString()}, {"json", request.json()}};
    Json query = Json::object();
    const QUrlQuery parsed(QUrl(QString::fromLatin1(request.target)));
    for (const auto &[key, value] : parsed.queryItems(QUrl::FullyDecoded))
        query[key.toStdString()] = toJson(value);
    out["query_decoded"] = query;
    if (request.header("content-type").startsWith("multipart/"))
        out["multipart"] = partsOf(request);
    return out;
}

QByteArray bytesOf(const Json &args)
{
    return args.contains("bytes_hex") ? QByteArray::fromHex(stringOf(args, "bytes_hex").toLatin1()) : stringOf(args, "bytes").toUtf8();
}

Json callDownload(const aio::AioClient &client, const Json &args)
{
    const auto bytes = spin(client.download(stringOf(args, "path"), intOf(args, "max_bytes", aio::limits::downloadBytes), {}, stringOf(args, "change_policy")));
    if (!bytes)
        return Json{{"error", "never ended"}};
    if (*bytes)
        return Json{{"bytes_hex", (*bytes)->toHex().toStdString()}, {"partial_file_left", false}};
    Json facts = factsOf(bytes->error());
    if (bytes->error().kind == wire::FailureKind::Transport && bytes->error().transport == wire::TransportKind::TooLarge)
        facts["error"] = "TooLarge";
    facts["partial_file_left"] = false; // the bytes are memory only
    return facts;
}

/// A call by its client name (`request.call`).
Json namedCall(const aio::AioClient &client, const QString &name, const Json &args)
{
    if (name == QLatin1String("download"))
        return callDownload(client, args);
    if (name == QLatin1String("upload")) {
        const auto result = spin(client.upload(stringOf(args, "name"), bytesOf(args), stringOf(args, "path"), {}));
        return result && *result ? Json{{"ok", (*result)->write()}} : factsOf(result->error());
    }
    if (name == QLatin1String("write_file")) {
        const auto request = wire::FileWriteRequest::forBytes(stringOf(args, "file"), bytesOf(args));
        const auto result = spin(client.post<wire::FileWriteResult>("/v1/file/write", request.write(), callTimeout, {}));
        return result && *result ? Json{{"ok", (*result)->write()}} : factsOf(result->error());
    }
    if (name == QLatin1String("cleanup_session")) {
        const auto result = spin(client.deleteShellSession(SessionId(stringOf(args, "id")), {}));
        return result && *result ? Json{{"ok", (*result)->data}} : factsOf(result->error());
    }
    wire::ShellExecRequest request;
    request.command = stringOf(args, "command");
    request.hardTimeout = args.contains("hard_timeout") ? std::optional(doubleOf(args, "hard_timeout")) : std::nullopt;
    request.noChangeTimeout = optionalInt(args, "no_change_timeout");
    request.id = optionalString(args, "id");
    const auto result = spin(client.post<wire::ShellExecResult>("/v1/shell/exec", request.write(), callTimeout, {}));
    return result && *result ? Json{{"ok", (*result)->write()}} : factsOf(result->error());
}

Json rawCall(const aio::AioClient &client, const Json &request)
{
    const QByteArray method = stringOf(request, "method").toLatin1();
    Json body = memberOf(request, "json");
    if (body.is_null() && method == "POST")
        body = Json::object();
    const auto reply = spin(client.call(method, stringOf(request, "path").toLatin1(), body, callTimeout, {}));
    if (!reply)
        return Json{{"error", "never ended"}};
    return *reply ? decodedByPath(stringOf(request, "path"), **reply, memberOf(request, "json")) : factsOf(reply->error());
}

/// Resident memory in MiB.
qint64 residentMiB()
{
    if (underSanitizer)
        return 0;
    QFile file(QStringLiteral("/proc/self/statm"));
    return file.open(QIODevice::ReadOnly) ? file.readAll().split(' ').value(1).toLongLong() * 4096 / 1048576 : 0;
}

/// A kept connection that the server closes just as the next request comes (c-tr-018).
Verdict runIdleClose(const Json &testCase)
{
    FakeAio fake;
    int posts = 0, gets = 0;
    QHash<int, int> served; // requests on each connection
    fake.setHandler([&](const FakeRequest &request) {
        ++(request.method == "POST" ? posts : gets);
        FakeReply reply = FakeReply::data({{"session_id", "s"}, {"command", "x"}, {"status", "completed"}});
        if (++served[request.connection] > 1)
            reply.fault = QStringLiteral("rst_before_headers");
        return std::optional(reply);
    });
    const aio::AioClient client = clientFor(fake);
    const auto get = [&] { return *spin(client.call("GET", "/v1/sandbox", nullptr, callTimeout, {})); };
    if (!get() || !get())
        return failed(QStringLiteral("the GET was not repeated on a new connection"));
    if (gets != 3)
        return failed(QStringLiteral("%1 GETs arrived, expected 3").arg(gets));
    const auto post = spin(client.call("POST", "/v1/shell/exec", Json{{"command", "x"}}, callTimeout, {}));
    if (!post || *post)
        return failed(QStringLiteral("the POST on a closed connection succeeded"));
    Json facts = factsOf(post->error());
    Json actual{{"get", "retried once silently on a new connection"}, {"post", facts}, {"post_sent_times", posts}};
    return judge(testCase["expect"], actual);
}

Verdict runCall(const Json &testCase)
{
    const Json &request = testCase["request"], &response = testCase["response"], &expect = testCase["expect"];
    if (request.contains("steps"))
        return runIdleClose(testCase);
    FakeAio fake;
    auto replies = repliesOf(response);
    for (FakeReply &reply : replies) {
        for (auto &[name, value] : reply.headers) {
            if (name.compare("content-length", Qt::CaseInsensitive) == 0)
                reply.declaredLength = value.toLongLong();
        }
        std::erase_if(reply.headers, [](const auto &h) { return h.first.compare("content-length", Qt::CaseInsensitive) == 0; });
    }
    fake.setScript(replies);
    const QString base = stringOf(request, "base_url");
    const aio::AioClient client = clientFor(fake, base.isEmpty() ? QString() : QUrl(base).path());
    const qint64 memoryBefore = residentMiB();
    QElapsedTimer timer;
    timer.start();
    Json actual = request.contains("call") ? namedCall(client, stringOf(request, "call"), memberOf(request, "args")) : rawCall(client, request);
    const qint64 elapsed = timer.elapsed();
    QSet<QString> judged{QStringLiteral("within_ms"), QStringLiteral("absent_fields"), QStringLiteral("peak_memory_mib_below"),
                         QStringLiteral("rendered_contains")};
    if (expect.contains("within_ms") && elapsed > callTimeout.count() + 200)
        return failed(QStringLiteral("it took %1 ms").arg(elapsed));
    if (expect.contains("peak_memory_mib_below") && residentMiB() - memoryBefore > intOf(expect, "peak_memory_mib_below"))
        return failed(QStringLiteral("memory grew by %1 MiB").arg(residentMiB() - memoryBefore));
    for (const Json &text : memberOf(expect, "rendered_contains")) {
        if (!stringOf(actual, "rendered").contains(textOf(text)))
            return failed(QStringLiteral("rendered: %1").arg(stringOf(actual, "rendered")));
    }
    actual["retried"] = fake.requests().size() > 1;
    if (expect.contains("connection_closed_early")) {
        spinUntil([&] { return fake.closedEarly(); }, 2000);
        actual["connection_closed_early"] = fake.closedEarly();
    }
    if (!fake.requests().empty()) {
        actual["sends"] = sentFacts(fake.requests().back());
        for (const Json &field : memberOf(expect, "absent_fields")) {
            if (actual["sends"]["json"].contains(field.get<std::string>()))
                return failed(QStringLiteral("'%1' was sent").arg(textOf(field)));
        }
    }
    return judge(expect, actual, judged);
}

Verdict runReadiness(const Json &testCase)
{
    FakeAio fake;
    fake.setScript(repliesOf(testCase["response"]));
    const aio::AioClient client = clientFor(fake);
    const Json &poll = testCase["request"]["poll"];
    const auto seconds = [&](const char *key) { return std::chrono::milliseconds(qint64(doubleOf(poll, key) * 1000)); };
    QElapsedTimer timer;
    timer.start();
    const auto result = spin(client.waitReady(seconds("total_s"), seconds("interval_s"), seconds("per_try_s"), {}));
    if (!result)
        return failed(QStringLiteral("it never ended"));
    const Json &expect = testCase["expect"];
    if (expect.contains("elapsed_ms_below") && timer.elapsed() >= intOf(expect, "elapsed_ms_below"))
        return failed(QStringLiteral("it took %1 ms").arg(timer.elapsed()));
    return judge(expect, Json{{"ready", result->ready}, {"tries", result->tries}}, {QStringLiteral("elapsed_ms_below")});
}

Verdict runNetPolicy(const Json &testCase)
{
    const bool follows = aio::usesEnvironmentProxy(QUrl(stringOf(testCase["request"], "base_url")));
    return judge(testCase["expect"], Json{{"uses_environment_proxy", follows}});
}

Verdict runTrustEnv(const Json &testCase)
{
    const bool follows = aio::usesEnvironmentProxy(QUrl(stringOf(testCase["input"], "url")));
    return judge(testCase["expect"], Json{{"value", follows}});
}

const Registrar shell("client.shell", runCall);
const Registrar transport("client.transport", runCall);
const Registrar file("client.file", runCall);
const Registrar context("client.sandbox", runCall);
const Registrar readiness("client.readiness", runReadiness);
const Registrar netPolicy("client.netpolicy", runNetPolicy);
const Registrar trustEnv("http.trust_env", runTrustEnv);

} // namespace

Verdict runSingleCall(const Json &testCase)
{
    return runCall(testCase);
}

} // namespace paddock::cases
