// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// client.recovery and the flows of client.bash (aio-api.json), shell.script and shell.timeouts (sandbox.json): scoped sessions
// and one-off commands against a scripted server.
#include "core/sandbox/aio/aio_sandbox.h"
#include "core/sandbox/aio/shell_text.h"
#include "tests/cases/aio_case_support.h"
#include "tests/cases/script_server.h"

#include <QLoggingCategory>

namespace paddock::cases::aio_recovery_cases {

namespace {

constexpr double fastWaits = 0.001;

std::shared_ptr<aio::AioSandbox> sandboxFor(const FakeAio &fake, aio::ShellOptions options)
{
    options.recreationNotice = false;
    return std::make_shared<aio::AioSandbox>(SandboxId(QStringLiteral("case")), clientFor(fake), options);
}

CommandRequest commandOf(const QString &command, const QString &scope, const Json &env = nullptr, double timeout = 0)
{
    CommandRequest request;
    request.command = command;
    request.scope = ScopeId(scope);
    request.timeout = std::chrono::seconds(qint64(timeout));
    if (env.is_object()) {
        for (auto it = env.begin(); it != env.end(); ++it)
            request.env.insert(QString::fromStdString(it.key()), textOf(it.value()));
    }
    return request;
}

QString textOfResult(const Result<CommandResult> &result)
{
    return result ? result->text : QStringLiteral("Error: ") + result.error().message;
}

/// "exec(U1)", "create(U2)", "DELETE U1", "wait(max_wait_seconds=1)", "view", "close(B1)", as the case files write requests.
/// The first string is the short form, the second the plain one.
std::pair<QString, QString> shortForm(const FakeRequest &request, bool async, const QString &given)
{
    const QString path = QString::fromLatin1(request.path());
    const QString plain = QString::fromLatin1(request.method) + QLatin1Char(' ') + path;
    const Json body = request.json();
    if (path == QLatin1String("/v1/shell/exec"))
        return {async ? QStringLiteral("exec(async)") : QStringLiteral("exec(%1)").arg(stringOf(body, "id")), plain};
    if (path == QLatin1String("/v1/shell/sessions/create") || path == QLatin1String("/v1/bash/sessions/create"))
        return {QStringLiteral("create(%1)").arg(given), plain};
    if (path == QLatin1String("/v1/bash/exec"))
        return {QStringLiteral("exec(%1)").arg(stringOf(body, "session_id")), plain};
    if (request.method == "DELETE")
        return {QStringLiteral("DELETE ") + path.section(QLatin1Char('/'), -1), plain};
    if (path.endsWith(QLatin1String("/close")))
        return {QStringLiteral("close(%1)").arg(path.section(QLatin1Char('/'), -2, -2)), plain};
    if (path == QLatin1String("/v1/shell/wait"))
        return {QStringLiteral("wait(max_wait_seconds=%1)").arg(intOf(body, "max_wait_seconds")), plain};
    return {path.section(QLatin1Char('/'), -1), plain};
}

/// The names that the server's replies gave to created sessions, in order.
QStringList givenNames(const Json &response)
{
    QStringList names;
    if (!response.is_array())
        return names;
    for (const Json &step : response) {
        const Json &data = memberOf(memberOf(step, "json"), "data");
        if (data.is_object() && data.contains("session_id") && !data.contains("command") && !data.contains("stdout"))
            names << stringOf(data, "session_id");
    }
    return names;
}

QString sequenceProblem(const Json &expected, const std::vector<FakeRequest> &requests, bool async, QStringList names)
{
    QStringList wanted, gotShort, gotPlain;
    for (const Json &step : expected)
        wanted << textOf(step);
    for (const FakeRequest &request : requests) {
        const bool create = request.path().endsWith("/create");
        const QString name = create && !names.isEmpty() ? names.takeFirst() : QString();
        const auto [brief, plain] = shortForm(request, async, name);
        gotShort << brief;
        gotPlain << plain;
    }
    if (wanted == gotShort || wanted == gotPlain)
        return {};
    return QStringLiteral("requests were %1, expected %2").arg(gotShort.join(QStringLiteral(", ")), wanted.join(QStringLiteral(", ")));
}

int countOf(const std::vector<FakeRequest> &requests, const char *path)
{
    return int(std::count_if(requests.begin(), requests.end(), [&](const FakeRequest &r) { return r.path() == path; }));
}

/// Facts about one command's outcome, in the words of client.recovery.
Json recoveryFacts(const Result<CommandResult> &result, const aio::AioSandbox &sandbox, const FakeAio &fake, const QString &scope)
{
    const auto &requests = fake.requests();
    const int executions = countOf(requests, "/v1/shell/exec");
    Json out{{"executions_attempted", executions}, {"recovered", result.has_value() && executions > 1}, {"rerun", executions > 1}};
    const SessionId session = sandbox.sessionOf(ScopeId(scope));
    out["scope_session"] = session.isEmpty() ? Json(nullptr) : toJson(session.value());
    out["sandbox_state"] = sandbox.quarantined() ? "quarantined" : "usable";
    Json deletes = Json::array();
    for (const FakeRequest &request : requests) {
        if (request.method == "DELETE")
            deletes.push_back(request.path().mid(request.path().lastIndexOf('/') + 1).toStdString());
    }
    out["deletes"] = deletes;
    out["on"] = executions == 0 ? "create" : "exec";
    if (result) {
        out["ok"] = Json{{"output", toJson(result->text)}, {"exit_code", result->exitCode ? Json(*result->exitCode) : Json(nullptr)}};
        out["rotated"] = false;
        return out;
    }
    const Error &error = result.error();
    out["error"] = toJson(stringOf(error.details, "kind"));
    if (stringOf(error.details, "outcome") == QLatin1String("unknown"))
        out["error"] = "UnknownOutcome";
    if (error.message.startsWith(QLatin1String("AIO shell session creation outcome is unknown")))
        out["error"] = "AmbiguousCreate";
    if (error.details.contains("limit")) {
        out["error"] = "SessionLimit";
        out["limit"] = error.details["limit"];
    }
    if (error.details.contains("status"))
        out["status"] = error.details["status"];
    return out;
}

/// Gives the scope the session that the case says it has already.
void prime(FakeAio &fake, const std::shared_ptr<aio::AioSandbox> &sandbox, const QString &scope, const QString &session)
{
    fake.setScript({FakeReply::data({{"session_id", toJson(session)}, {"working_dir", "/"}}),
                    FakeReply::data({{"session_id", toJson(session)}, {"command", "true"}, {"status", "completed"}, {"output", ""}, {"exit_code", 0}})});
    spin(sandbox->execute(commandOf(QStringLiteral("true"), scope), {}));
    fake.clearRequests();
}

/// A "running" reply that is the script's last: the client polls until it is stopped. The marker in it must change nothing.
Verdict runStillRunning(FakeAio &fake, const std::shared_ptr<aio::AioSandbox> &sandbox, const CommandRequest &command)
{
    std::stop_source stop;
    const auto pending = begin(sandbox->execute(command, stop.get_token()));
    if (!spinUntil([&] { return fake.requests().size() >= 3; }))
        return failed(QStringLiteral("the client did not poll"));
    for (const FakeRequest &request : fake.requests()) {
        if (request.method == "DELETE" || request.path().endsWith("/create"))
            return failed(QStringLiteral("the session was rotated"));
    }
    if (countOf(fake.requests(), "/v1/shell/exec") != 1)
        return failed(QStringLiteral("the command was sent again"));
    stop.request_stop();
    spinUntil([&] { return pending.done(); });
    return pending.done() ? passed() : failed(QStringLiteral("stop did not end it"));
}

Verdict runOneCommand(const Json &testCase)
{
    const Json &request = testCase["request"], &expect = testCase["expect"];
    FakeAio fake;
    aio::ShellOptions options;
    options.asyncExec = boolOf(request, "async");
    const auto responses = repliesOf(testCase["response"]);
    const bool waits = std::any_of(responses.begin(), responses.end(), [](const FakeReply &r) { return r.fault == QLatin1String("accept_never_answer"); });
    options.waitScale = waits ? fastWaits : 1;
    const auto sandbox = sandboxFor(fake, options);
    const QString scope = stringOf(request, "scope");
    if (request.contains("session"))
        prime(fake, sandbox, scope, stringOf(request, "session"));
    fake.setScript(responses);
    const CommandRequest command = commandOf(stringOf(request, "command"), scope);
    if (expect.contains("rotated"))
        return runStillRunning(fake, sandbox, command);
    const auto result = spin(sandbox->execute(command, {}));
    if (!result)
        return failed(QStringLiteral("the command never ended"));
    if (expect.contains("sequence")) {
        const QString problem = sequenceProblem(expect["sequence"], fake.requests(), options.asyncExec, givenNames(testCase["response"]));
        if (!problem.isEmpty())
            return failed(problem);
    }
    Json actual = recoveryFacts(*result, *sandbox, fake, scope);
    if (expect.contains("exec_has_id"))
        actual["exec_has_id"] = toJson(stringOf(fake.requests().back().json(), "id"));
    if (expect.contains("ok_text_contains") && !textOfResult(*result).contains(stringOf(expect, "ok_text_contains")))
        return failed(textOfResult(*result));
    if (expect.contains("then")) {
        if (std::none_of(fake.requests().begin(), fake.requests().end(), [](const FakeRequest &r) { return r.method == "DELETE"; }))
            return failed(QStringLiteral("no DELETE was sent"));
    }
    if (expect.contains("next_create_allowed")) {
        const std::size_t before = fake.requests().size();
        spin(sandbox->execute(command, {}));
        actual["next_create_allowed"] = fake.requests().size() > before;
    }
    return judge(expect, actual, {QStringLiteral("sequence"), QStringLiteral("ok_text_contains"), QStringLiteral("then")});
}

Verdict runParallel(const Json &testCase)
{
    FakeAio fake;
    fake.useEchoModel();
    fake.setEchoDelay(5);
    const auto sandbox = sandboxFor(fake, {});
    std::vector<Pending<Result<CommandResult>>> pending;
    QSet<QString> sessions;
    for (const Json &group : testCase["request"]["parallel"]) {
        for (int i = 0; i < int(intOf(group, "n")); ++i)
            pending.push_back(begin(sandbox->execute(commandOf(QStringLiteral("c%1").arg(i), stringOf(group, "scope")), {})));
    }
    spinUntil([&] { return std::all_of(pending.begin(), pending.end(), [](const auto &p) { return p.done(); }); });
    int inFlight = 0;
    for (const FakeRequest &request : fake.requests()) {
        if (request.path() == "/v1/shell/exec")
            sessions << stringOf(request.json(), "id");
    }
    inFlight = fake.maxInFlight();
    return judge(testCase["expect"], Json{{"max_in_flight_per_session", fake.maxInFlightPerSession()}, {"max_in_flight_total", inFlight},
                                          {"distinct_sessions", sessions.size()}});
}

Verdict runReleaseWhileRunning(const Json &)
{
    FakeAio fake;
    fake.useEchoModel();
    fake.setEchoDelay(20);
    const auto sandbox = sandboxFor(fake, {});
    const QString a = QStringLiteral("A"), b = QStringLiteral("B");
    spin(sandbox->execute(commandOf(QStringLiteral("x"), a), {}));
    const SessionId sessionA = sandbox->sessionOf(ScopeId(a));
    const auto running = begin(sandbox->execute(commandOf(QStringLiteral("long"), b), {}));
    spin(sandbox->releaseCommandScope(ScopeId(a)));
    spinUntil([&] { return running.done(); });
    QStringList deleted;
    for (const FakeRequest &request : fake.requests()) {
        if (request.method == "DELETE")
            deleted << QString::fromLatin1(request.path()).section(QLatin1Char('/'), -1);
    }
    const bool unaffected = running.value() && running.value()->text == QLatin1String("long") && !sandbox->sessionOf(ScopeId(b)).isEmpty();
    if (deleted != QStringList{sessionA.value()})
        return failed(QStringLiteral("deleted: %1").arg(deleted.join(QLatin1Char(' '))));
    return unaffected ? passed() : failed(QStringLiteral("B was affected"));
}

Verdict runCloseClient(const Json &testCase)
{
    FakeAio fake;
    fake.useEchoModel();
    const auto sandbox = sandboxFor(fake, {});
    for (const Json &scope : testCase["request"]["scopes"])
        spin(sandbox->execute(commandOf(QStringLiteral("x"), textOf(scope)), {}));
    fake.clearRequests();
    spin(sandbox->close());
    const auto deletes = fake.requests().size();
    fake.clearRequests();
    spin(sandbox->close());
    const auto after = spin(sandbox->execute(commandOf(QStringLiteral("x"), QStringLiteral("A")), {}));
    spin(sandbox->readFile(QStringLiteral("/x"), {}));
    if (!after || *after)
        return failed(QStringLiteral("a command ran after close"));
    return judge(testCase["expect"], Json{{"deleted_count", deletes}, {"requests_after_close", fake.requests().size()}, {"second_close", "no effect"}});
}

Verdict runRecovery(const Json &testCase)
{
    const Json &request = testCase["request"];
    if (request.contains("parallel"))
        return runParallel(testCase);
    if (request.contains("release"))
        return runReleaseWhileRunning(testCase);
    if (request.contains("close_client"))
        return runCloseClient(testCase);
    return runOneCommand(testCase);
}

QString &logText()
{
    static QString text;
    return text;
}

void collectLog(QtMsgType, const QMessageLogContext &, const QString &line)
{
    logText() += line + QLatin1Char('\n');
}

/// Where a secret was seen.
Verdict judgeSecret(const Json &testCase, const FakeAio &fake, const QString &secret)
{
    const QByteArray bytes = secret.toUtf8();
    bool inEnv = false;
    for (const FakeRequest &request : fake.requests()) {
        if (request.target.contains(bytes))
            return failed(QStringLiteral("the secret is in the URL"));
        for (const auto &[name, value] : request.headers) {
            if (value.contains(bytes))
                return failed(QStringLiteral("the secret is in a header"));
        }
        const Json body = request.json();
        if (stringOf(body, "command").contains(secret))
            return failed(QStringLiteral("the secret is in the command"));
        inEnv = inEnv || dumpJson(memberOf(body, "env")).contains(bytes);
    }
    if (logText().contains(secret))
        return failed(QStringLiteral("the secret is in the log"));
    Q_UNUSED(testCase)
    return inEnv ? passed() : failed(QStringLiteral("the secret was not sent at all"));
}

Verdict runEnvFlow(const Json &testCase)
{
    const Json &request = testCase["request"], &response = testCase["response"], &expect = testCase["expect"];
    FakeAio fake;
    if (response.is_object() && response.contains("model"))
        fake.useEchoModel();
    else
        fake.setScript(repliesOf(response));
    aio::ShellOptions options;
    const auto sandbox = sandboxFor(fake, options);
    const CommandRequest command = commandOf(stringOf(request, "command"), QStringLiteral("A"), memberOf(request, "env"));
    logText().clear();
    const QtMessageHandler before = qInstallMessageHandler(collectLog);
    const auto result = spin(sandbox->execute(command, {}));
    qInstallMessageHandler(before);
    if (!result)
        return failed(QStringLiteral("the command never ended"));
    if (expect.contains("secret_only_in"))
        return judgeSecret(testCase, fake, command.env.first());
    if (response.is_object() && response.contains("requests") && int(fake.requests().size()) != intOf(response, "requests"))
        return failed(QStringLiteral("%1 requests were sent").arg(fake.requests().size()));
    Json actual = Json::object();
    if (expect.contains("sequence")) { // the names in the sequence are those of the replies
        const QString problem = sequenceProblem(expect["sequence"], fake.requests(), false, givenNames(response));
        if (!problem.isEmpty())
            return failed(problem);
    }
    const std::size_t sent = fake.requests().size();
    if (*result) {
        actual["ok"] = Json{{"stdout", toJson((*result)->text)}};
        actual["unsupported"] = false;
    } else {
        const Error &error = result->error();
        actual["error"] = error.details.contains("bash_exec") ? "BashExecUnsupported"
            : error.code == ErrorCode::InvalidArgument ? "InvalidArgument" : stringOf(error.details, "kind").toStdString();
        actual["field"] = memberOf(error.details, "field");
        actual["shell_fallback"] = countOf(fake.requests(), "/v1/shell/exec") > 0;
        if (expect.contains("remembered")) {
            const auto again = spin(sandbox->execute(command, {}));
            actual["remembered"] = again && !*again && fake.requests().size() == sent;
        }
    }
    return judge(expect, actual, {QStringLiteral("sequence")});
}

Verdict runFollow(const Json &testCase)
{
    FakeAio fake;
    fake.setScript(repliesOf(testCase["response"]));
    const aio::AioClient client = clientFor(fake);
    wire::BashExecRequest request;
    request.command = stringOf(testCase["request"], "command");
    request.timeout = doubleOf(testCase["request"], "soft_timeout");
    const auto first = spin(client.post<wire::BashExecResult>("/v1/bash/exec", request.write(), std::chrono::seconds(5), {}));
    if (!first || !*first)
        return failed(QStringLiteral("exec failed"));
    const auto result = spin(client.followBash(**first, {}));
    if (!result || !*result)
        return failed(QStringLiteral("following failed"));
    Json offsets = Json::array();
    for (const FakeRequest &sent : fake.requests()) {
        if (sent.path() == "/v1/bash/output")
            offsets.push_back(intOf(sent.json(), "offset"));
    }
    return judge(testCase["expect"], Json{{"text", toJson((*result)->standardOutput)}, {"offsets_sent", offsets}, {"exit_code", (*result)->exitCode.value_or(-1)}});
}

Verdict runBash(const Json &testCase)
{
    const QString flow = stringOf(testCase["request"], "flow");
    if (flow == QLatin1String("env_command"))
        return runEnvFlow(testCase);
    if (flow == QLatin1String("follow"))
        return runFollow(testCase);
    return runSingleCall(testCase);
}

// ---- sandbox.json: shell.script -------------------------------------------------------------------------------------

QString requestProblem(const Json &expected, const FakeRequest &got, const ScriptServer &server)
{
    QString path = QString::fromLatin1(got.path());
    QStringList segments = path.split(QLatin1Char('/'));
    for (QString &segment : segments)
        segment = server.nameOf(segment);
    path = segments.join(QLatin1Char('/'));
    if (stringOf(expected, "method") != QString::fromLatin1(got.method) || stringOf(expected, "path") != path)
        return QStringLiteral("%1 %2").arg(QString::fromLatin1(got.method), path);
    Json body = got.json();
    if (!body.is_object())
        body = Json::object();
    for (const char *key : {"id", "session_id"}) {
        if (body.contains(key))
            body[key] = toJson(server.nameOf(stringOf(body, key)));
    }
    for (const Json &key : memberOf(expected, "absent")) {
        if (body.contains(key.get<std::string>()))
            return QStringLiteral("'%1' was sent").arg(textOf(key));
    }
    return expected.contains("body") ? mismatch(expected["body"], body) : QString();
}

QString outputProblem(const Json &expected, const QString &got)
{
    const bool right = expected.is_object() ? got.startsWith(stringOf(expected, "starts_with")) : textOf(expected) == got;
    return right ? QString() : QStringLiteral("output is '%1', expected %2").arg(got, QString::fromUtf8(dumpJson(expected)));
}

QString sessionsProblem(const Json &expected, const aio::AioSandbox &sandbox, const ScriptServer &server, QSet<QString> scopes)
{
    for (auto it = expected.begin(); it != expected.end(); ++it)
        scopes << (it.key() == "default" ? QString() : QString::fromStdString(it.key()));
    for (const QString &scope : std::as_const(scopes)) {
        const std::string key = scope.isEmpty() ? std::string("default") : scope.toStdString();
        const QString wanted = expected.contains(key) ? textOf(expected[key]) : QString();
        const QString got = server.nameOf(sandbox.sessionOf(ScopeId(scope)).value());
        if (wanted != got)
            return QStringLiteral("session of '%1' is '%2', expected '%3'").arg(scope, got, wanted);
    }
    return {};
}

Verdict runScript(const Json &testCase)
{
    const Json &input = testCase["input"], &expect = testCase["expect"];
    ScriptServer server(input, memberOf(expect, "requests"));
    aio::ShellOptions options;
    options.closedStdin = boolOf(input, "stdin_prefix", true);
    for (const Json &step : memberOf(input, "server")) {
        if (step.contains("transport"))
            options.waitScale = fastWaits;
    }
    const auto sandbox = sandboxFor(server.fake, options);
    std::vector<Pending<Result<CommandResult>>> commands;
    std::vector<Pending<bool>> others;
    QSet<QString> scopes;
    const auto allDone = [&] {
        return std::all_of(commands.begin(), commands.end(), [](const auto &p) { return p.done(); })
            && std::all_of(others.begin(), others.end(), [](const auto &p) { return p.done(); });
    };
    for (const Json &call : memberOf(input, "calls")) {
        const QString op = stringOf(call, "op");
        const QString scope = stringOf(call, "scope");
        scopes << scope;
        if (op == QLatin1String("exec"))
            commands.push_back(begin(sandbox->execute(commandOf(stringOf(call, "command"), scope, memberOf(call, "env"), doubleOf(call, "timeout")), {})));
        else if (op == QLatin1String("release_scope"))
            others.push_back(begin(sandbox->releaseCommandScope(ScopeId(scope))));
        else if (op == QLatin1String("close"))
            others.push_back(begin(sandbox->close()));
        else if (op == QLatin1String("server_answers") && spinUntil([&] { return server.fake.hasHeld(); }))
            server.answers();
        if (!boolOf(call, "start") && !spinUntil(allDone))
            return failed(QStringLiteral("'%1' never ended").arg(op));
    }
    if (!spinUntil(allDone))
        return failed(QStringLiteral("the script never ended"));
    const std::vector<FakeRequest> requests = server.requests();
    const Json &wanted = memberOf(expect, "requests");
    if (requests.size() != wanted.size())
        return failed(QStringLiteral("%1 requests were sent, expected %2").arg(requests.size()).arg(wanted.size()));
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const QString problem = requestProblem(wanted[i], requests[i], server);
        if (!problem.isEmpty())
            return failed(QStringLiteral("request %1: %2").arg(i).arg(problem));
    }
    const Json &outputs = memberOf(expect, "outputs");
    for (std::size_t i = 0; i < outputs.size() && i < commands.size(); ++i) {
        const QString problem = outputProblem(outputs[i], textOfResult(commands[i].value()));
        if (!problem.isEmpty())
            return failed(problem);
    }
    if (input.contains("max_in_flight") && server.fake.maxInFlight() > intOf(input, "max_in_flight"))
        return failed(QStringLiteral("%1 requests at once").arg(server.fake.maxInFlight()));
    const QString problem = sessionsProblem(memberOf(expect, "sessions_after"), *sandbox, server, scopes);
    return problem.isEmpty() ? passed() : failed(problem);
}

Verdict runTimeouts(const Json &testCase)
{
    const auto times = aio::CommandTimes::of(doubleOf(testCase["input"], "timeout"));
    return judge(testCase["expect"], Json{{"hard_timeout", times.hard}, {"no_change_timeout", times.noChange}, {"http_timeout", times.http}});
}

const Registrar recovery("client.recovery", runRecovery);
const Registrar bash("client.bash", runBash);
const Registrar script("shell.script", runScript);
const Registrar timeouts("shell.timeouts", runTimeouts);

} // namespace

} // namespace paddock::cases::aio_recovery_cases
