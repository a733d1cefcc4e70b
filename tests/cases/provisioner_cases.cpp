// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// client.provisioner of aio-api.json: the provisioner's client against a scripted server (aio-api.md §7).
#include "core/sandbox/aio/provisioner_client.h"
#include "tests/cases/aio_case_support.h"

#include <QLoggingCategory>

namespace paddock::cases::provisioner_cases {

namespace {

int provisionerWarnings = 0;
QtMessageHandler otherHandler = nullptr;

void countWarnings(QtMsgType type, const QMessageLogContext &context, const QString &text)
{
    if (type == QtWarningMsg && QLatin1String(context.category) == QLatin1String("paddock.sandbox.provisioner"))
        ++provisionerWarnings;
    else if (otherHandler)
        otherHandler(type, context, text);
}

aio::ProvisionRequest requestOf(const Json &args)
{
    aio::ProvisionRequest request;
    request.sandboxId = stringOf(args, "sandbox_id");
    request.threadId = optionalString(args, "thread_id");
    request.userId = stringOf(args, "user_id", request.userId);
    request.includeLegacySkills = boolOf(args, "include_legacy_skills");
    request.larkRuntime = boolOf(args, "provision_lark_cli_runtime");
    request.larkBroker = boolOf(args, "provision_lark_cli_broker");
    if (const auto sessions = optionalInt(args, "max_shell_sessions"))
        request.maxShellSessions = int(*sessions);
    for (const Json &mount : memberOf(args, "extra_mounts"))
        request.extraMounts.push_back({stringOf(mount, "host_path"), stringOf(mount, "container_path"), boolOf(mount, "read_only")});
    return request;
}

Json sandboxFacts(const aio::ProvisionedSandbox &sandbox)
{
    Json out{{"sandbox_id", toJson(sandbox.sandboxId)}, {"sandbox_url", toJson(sandbox.url.toString())}, {"status", toJson(sandbox.status)}, {"max_shell_sessions", nullptr}};
    if (sandbox.maxShellSessions)
        out["max_shell_sessions"] = *sandbox.maxShellSessions;
    return out;
}

Json errorFacts(const Error &error)
{
    Json out = error.details;
    out["error"] = memberOf(error.details, "kind");
    out["kind"] = memberOf(error.details, "transport");
    out["message"] = toJson(error.message);
    const qint64 status = intOf(error.details, "status");
    out["auth_problem"] = status == 401 || status == 403;
    return out;
}

Json createFacts(const aio::ProvisionerClient &client, const Json &args)
{
    const aio::ProvisionRequest request = requestOf(args);
    const int required = int(intOf(args, "required", request.maxShellSessions.value_or(0)));
    const auto made = spin(client.create(request, required, {}));
    if (!made)
        return Json{{"error", "never ended"}};
    return *made ? Json{{"ok", sandboxFacts(**made)}} : errorFacts(made->error());
}

Json optionalFacts(const std::optional<aio::ProvisionedSandbox> &sandbox)
{
    return Json{{"ok", sandbox ? sandboxFacts(*sandbox) : Json()}};
}

Json callFacts(const aio::ProvisionerClient &client, const QString &name, const Json &args)
{
    const QString id = stringOf(args, "sandbox_id");
    if (name == u"create")
        return createFacts(client, args);
    if (name == u"is_alive") {
        const auto alive = *spin(client.isAlive(id, {}));
        return alive ? Json{{"ok", *alive}} : errorFacts(alive.error());
    }
    if (name == u"get") {
        const auto found = *spin(client.get(id, {}));
        return found ? optionalFacts(*found) : errorFacts(found.error());
    }
    if (name == u"discover")
        return optionalFacts(*spin(client.discover(id, {})));
    if (name == u"list") {
        Json ids = Json::array();
        const auto listed = spin(client.list({}));
        for (const aio::ProvisionedSandbox &sandbox : *listed)
            ids.push_back(toJson(sandbox.sandboxId));
        return Json{{"ok", ids}};
    }
    if (name == u"destroy")
        return spin(client.destroy(id)) ? Json{{"ok", nullptr}} : Json{{"error", "never ended"}};
    if (name == u"capabilities") {
        const auto can = *spin(client.capabilities({}));
        return can ? Json{{"ok", {{"lark_cli_init_image", can->larkRuntimeImage}, {"lark_cli_broker_image", can->larkBrokerImage}}}} : errorFacts(can.error());
    }
    if (name == u"health") {
        const auto well = *spin(client.health({}));
        return well ? Json{{"ok", true}} : errorFacts(well.error());
    }
    return Json{{"error", "there is no such call"}};
}

/// The call that makes the raw request of a case.
QString callOf(const Json &request)
{
    if (request.contains("call"))
        return stringOf(request, "call");
    const QString method = stringOf(request, "method"), path = stringOf(request, "path");
    if (method == u"POST")
        return QStringLiteral("create");
    if (method == u"DELETE")
        return QStringLiteral("destroy");
    if (path == u"/api/capabilities" || path == u"/health")
        return path.section(u'/', -1);
    return path == u"/api/sandboxes" ? QStringLiteral("list") : QStringLiteral("get");
}

QString wrongRequest(const Json &request, const FakeRequest &sent)
{
    if (request.contains("method") && QString::fromLatin1(sent.method) != stringOf(request, "method"))
        return QStringLiteral("%1 was sent").arg(QString::fromLatin1(sent.method));
    if (request.contains("path") && QString::fromLatin1(sent.target) != stringOf(request, "path"))
        return QStringLiteral("the path was %1").arg(QString::fromLatin1(sent.target));
    if (request.contains("json") && sent.json() != request["json"])
        return QStringLiteral("the body was %1").arg(QString::fromUtf8(sent.body));
    if (const Json &headers = memberOf(request, "headers"); headers.is_object()) {
        for (const auto &[name, value] : headers.items()) {
            if (sent.header(QByteArray::fromStdString(name)) != textOf(value).toUtf8())
                return QStringLiteral("the header %1 was not sent").arg(QString::fromStdString(name));
        }
    }
    return {};
}

Verdict judgeOk(const Json &expect, const Json &actual)
{
    if (!expect.contains("ok"))
        return passed();
    if (!actual.contains("ok"))
        return failed(QStringLiteral("it failed: %1").arg(QString::fromUtf8(dumpJson(actual))));
    const Json &wanted = expect["ok"], &got = actual["ok"];
    if (wanted.is_boolean() && got.is_object()) // "ok": true for a call that yields something
        return wanted.get<bool>() ? passed() : failed(QStringLiteral("it succeeded"));
    if (wanted.is_object()) {
        const QString why = mismatch(wanted, got);
        return why.isEmpty() ? passed() : failed(why);
    }
    return wanted == got ? passed() : failed(QStringLiteral("the result is %1").arg(QString::fromUtf8(dumpJson(got))));
}

Verdict runProvisioner(const Json &testCase)
{
    const Json &request = testCase["request"], &expect = testCase["expect"];
    FakeAio fake;
    fake.setScript(repliesOf(testCase["response"]));
    const Json &headers = memberOf(request, "headers");
    const aio::ProvisionerClient client(LoopRef::current(), fake.url(), stringOf(headers, "X-API-Key"));
    const QString call = callOf(request);
    Json args = request.contains("json") ? request["json"] : request.contains("args") ? request["args"] : Json::object();
    if (const QString path = stringOf(request, "path"); path.startsWith(u"/api/sandboxes/"))
        args["sandbox_id"] = toJson(path.section(u'/', -1));
    provisionerWarnings = 0;
    otherHandler = qInstallMessageHandler(countWarnings);
    Json actual = callFacts(client, call, args);
    qInstallMessageHandler(otherHandler);
    actual["warning"] = provisionerWarnings > 0;
    if (fake.requests().size() != 1)
        return failed(QStringLiteral("%1 requests were sent").arg(fake.requests().size()));
    if (const QString wrong = wrongRequest(request, fake.requests().front()); !wrong.isEmpty())
        return failed(wrong);
    const Json sent = fake.requests().front().json();
    actual["sends"] = Json{{"json", sent}};
    for (const Json &field : memberOf(expect, "absent_fields")) {
        if (sent.is_object() && sent.contains(field.get<std::string>()))
            return failed(QStringLiteral("'%1' was sent").arg(textOf(field)));
    }
    if (const Verdict ok = judgeOk(expect, actual); ok.kind != Verdict::Kind::Passed)
        return ok;
    if (const QString part = stringOf(expect, "message_contains"); !stringOf(actual, "message").contains(part))
        return failed(QStringLiteral("the message is: %1").arg(stringOf(actual, "message")));
    return judge(expect, actual, {QStringLiteral("ok"), QStringLiteral("message_contains"), QStringLiteral("note"), QStringLiteral("absent_fields")});
}

const Registrar provisioner("client.provisioner", runProvisioner);

} // namespace

} // namespace paddock::cases::provisioner_cases
