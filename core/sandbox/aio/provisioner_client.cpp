// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/aio/provisioner_client.h"

#include "core/sandbox/backend/session_capacity.h"

#include <QLoggingCategory>
#include <QSet>

#include <limits>

Q_LOGGING_CATEGORY(lcProvisioner, "paddock.sandbox.provisioner")

namespace paddock::aio {

namespace {

constexpr std::chrono::seconds provisionTimeout{30};
constexpr std::chrono::seconds provisionerQueryTimeout{10};
constexpr std::chrono::seconds unprovisionTimeout{15};
constexpr qint64 provisionerBodyBytes = 8LL * 1024 * 1024;
constexpr qsizetype maxExtraMounts = 10;
constexpr qsizetype shownProvisionerChars = 200;

using SharedHttp = std::shared_ptr<const HttpClient>;

QByteArray sandboxTarget(const QString &id)
{
    return "/api/sandboxes/" + QUrl::toPercentEncoding(id);
}

Task<HttpOutcome> provisionerCall(SharedHttp http, QByteArray method, QByteArray target, std::optional<Json> body, std::chrono::milliseconds timeout, std::stop_token stop)
{
    HttpRequest request;
    request.method = std::move(method);
    request.target = std::move(target);
    request.headers = {{"Accept", "application/json"}};
    if (body) {
        request.headers.emplace_back("Content-Type", "application/json");
        request.body = dumpJson(*body);
    }
    request.timeout = timeout;
    request.maxBody = provisionerBodyBytes;
    co_return co_await http->send(std::move(request), std::move(stop));
}

/// In words about the provisioner; the shared ones are about a sandbox.
Error provisionerError(const wire::Failure &failure)
{
    Error error = failure.toError();
    if (failure.kind != wire::FailureKind::Api)
        return error;
    QString said = stringOf(failure.body, "detail");
    if (said.isEmpty())
        said = QString::fromUtf8(failure.text).simplified().left(shownProvisionerChars);
    error.message = QStringLiteral("The provisioner answered HTTP %1: %2").arg(failure.status).arg(said);
    return error;
}

Task<Result<Json>> provisionerJson(SharedHttp http, QByteArray method, QByteArray target, std::chrono::milliseconds timeout, std::stop_token stop)
{
    const HttpOutcome reply = co_await provisionerCall(std::move(http), std::move(method), std::move(target), {}, timeout, std::move(stop));
    if (!reply)
        co_return fail(provisionerError(reply.error()));
    auto body = wire::decodeBody(*reply);
    if (!body)
        co_return fail(provisionerError(body.error()));
    co_return std::move(*body);
}

std::unexpected<Error> undecodable(const char *field, const QString &why)
{
    return fail(ErrorCode::Protocol, QStringLiteral("The provisioner's answer cannot be used: %1").arg(why), Json{{provisionerErrorKind, "DecodeError"}, {"field", field}});
}

Result<ProvisionedSandbox> provisionedFrom(const Json &object)
{
    ProvisionedSandbox sandbox;
    sandbox.sandboxId = stringOf(object, "sandbox_id");
    if (sandbox.sandboxId.isEmpty())
        return undecodable("sandbox_id", QStringLiteral("it names no sandbox."));
    const QString url = stringOf(object, "sandbox_url");
    sandbox.url = QUrl(url, QUrl::StrictMode);
    const QString scheme = sandbox.url.scheme();
    if (!sandbox.url.isValid() || sandbox.url.host().isEmpty() || (scheme != u"http" && scheme != u"https"))
        return undecodable("sandbox_url", QStringLiteral("'%1' is no address of a sandbox.").arg(url.left(200)));
    sandbox.status = stringOf(object, "status");
    if (const auto sessions = optionalInt(object, "max_shell_sessions"); sessions && *sessions >= 0 && *sessions <= std::numeric_limits<int>::max())
        sandbox.maxShellSessions = int(*sessions);
    return sandbox;
}

/// A refused create: the kind and status of the HTTP failure, the sentence of the capacity rules.
Error createRefusal(const wire::RawReply &reply, const wire::Failure &failure, const Result<ProvisionedCapacity> &judged)
{
    Error error = provisionerError(failure);
    if (!judged) {
        error.message = judged.error().message;
        return error;
    }
    if (*judged == ProvisionedCapacity::RequiresReplacement && reply.status >= 400) {
        error.message = QStringLiteral("Provisioner create failed: ") + stringOf(failure.body, "detail");
        error.details[requiresReplacementKey] = true;
    }
    return error;
}

Result<ProvisionedSandbox> judgedCreate(const ProvisionRequest &request, int required, const wire::RawReply &reply)
{
    const auto body = wire::decodeBody(reply);
    const Json &told = body ? *body : body.error().body;
    const auto judged = judgeProvisionedCapacity(request.maxShellSessions, required, reply.status, told);
    if (!body)
        return fail(createRefusal(reply, body.error(), judged));
    if (!judged) {
        Error error = judged.error();
        error.details[provisionerErrorKind] = boolOf(error.details, "version_skew") ? incompatibleCapacity : "DecodeError";
        return fail(std::move(error));
    }
    auto sandbox = provisionedFrom(*body);
    if (!sandbox)
        return sandbox;
    if (sandbox->sandboxId != request.sandboxId)
        return undecodable("sandbox_id", QStringLiteral("it is about sandbox '%1', asked was '%2'.").arg(sandbox->sandboxId.left(200), request.sandboxId));
    if (*judged == ProvisionedCapacity::RequiresReplacement)
        return fail(ErrorCode::FailedPrecondition,
                    QStringLiteral("The sandbox %1 of the provisioner has room for %2 shell sessions, %3 are needed.")
                        .arg(request.sandboxId).arg(sandbox->maxShellSessions.value_or(imageDefaultShellSessions)).arg(required),
                    Json{{provisionerErrorKind, incompatibleCapacity}, {requiresReplacementKey, true}});
    return sandbox;
}

Task<Result<ProvisionedSandbox>> createSandbox(SharedHttp http, ProvisionRequest request, int required, std::stop_token stop)
{
    if (const auto right = request.check(); !right)
        co_return fail(right.error());
    const HttpOutcome reply = co_await provisionerCall(std::move(http), "POST", "/api/sandboxes", request.write(), provisionTimeout, std::move(stop));
    if (!reply) {
        Error error = reply.error().toError();
        if (!error.isCancelled())
            error.message.prepend(QStringLiteral("Provisioner create failed: "));
        co_return fail(std::move(error));
    }
    co_return judgedCreate(request, required, *reply);
}

Task<Result<std::optional<ProvisionedSandbox>>> getSandbox(SharedHttp http, QString id, std::stop_token stop)
{
    const auto body = co_await provisionerJson(std::move(http), "GET", sandboxTarget(id), provisionerQueryTimeout, std::move(stop));
    if (!body) {
        if (intOf(body.error().details, "status") == 404)
            co_return std::optional<ProvisionedSandbox>();
        co_return fail(body.error());
    }
    auto sandbox = provisionedFrom(*body);
    if (!sandbox)
        co_return fail(sandbox.error());
    co_return std::optional(std::move(*sandbox));
}

Task<Result<bool>> aliveSandbox(SharedHttp http, QString id, std::stop_token stop)
{
    // Only the status counts here: a Pod that is coming up may have no address yet.
    const auto body = co_await provisionerJson(std::move(http), "GET", sandboxTarget(id), provisionerQueryTimeout, std::move(stop));
    if (body)
        co_return stringOf(*body, "status") == u"Running";
    if (intOf(body.error().details, "status") == 404)
        co_return false;
    co_return fail(body.error());
}

Task<std::optional<ProvisionedSandbox>> discoverSandbox(SharedHttp http, QString id, std::stop_token stop)
{
    auto found = co_await getSandbox(std::move(http), id, std::move(stop));
    if (found)
        co_return std::move(*found);
    if (!found.error().isCancelled())
        qCWarning(lcProvisioner, "Sandbox %ls cannot be looked for: %ls", qUtf16Printable(id), qUtf16Printable(found.error().message));
    co_return std::nullopt;
}

Task<> destroySandbox(SharedHttp http, QString id)
{
    const auto body = co_await provisionerJson(std::move(http), "DELETE", sandboxTarget(id), unprovisionTimeout, {});
    if (!body)
        qCWarning(lcProvisioner, "Destroying sandbox %ls: %ls", qUtf16Printable(id), qUtf16Printable(body.error().message));
    else if (!boolOf(*body, "ok", true))
        qCWarning(lcProvisioner, "Destroying sandbox %ls was not confirmed", qUtf16Printable(id));
}

Task<std::vector<ProvisionedSandbox>> listSandboxes(SharedHttp http, std::stop_token stop)
{
    std::vector<ProvisionedSandbox> all;
    const auto body = co_await provisionerJson(std::move(http), "GET", "/api/sandboxes", provisionerQueryTimeout, std::move(stop));
    if (!body) {
        if (!body.error().isCancelled())
            qCWarning(lcProvisioner, "The sandboxes of the provisioner cannot be listed: %ls", qUtf16Printable(body.error().message));
        co_return all;
    }
    const Json &entries = memberOf(*body, "sandboxes");
    if (!entries.is_array()) {
        qCWarning(lcProvisioner, "The provisioner's list of sandboxes is none");
        co_return all;
    }
    for (const Json &entry : entries) {
        if (auto sandbox = provisionedFrom(entry))
            all.push_back(std::move(*sandbox));
        else
            qCDebug(lcProvisioner, "An entry of the provisioner's list is left out: %ls", qUtf16Printable(sandbox.error().message));
    }
    co_return all;
}

Task<Result<ProvisionerCapabilities>> askCapabilities(SharedHttp http, std::stop_token stop)
{
    const auto body = co_await provisionerJson(std::move(http), "GET", "/api/capabilities", provisionerQueryTimeout, std::move(stop));
    if (!body)
        co_return fail(body.error());
    co_return ProvisionerCapabilities{boolOf(*body, "lark_cli_init_image"), boolOf(*body, "lark_cli_broker_image")};
}

Task<Result<void>> askHealth(SharedHttp http, std::stop_token stop)
{
    const auto body = co_await provisionerJson(std::move(http), "GET", "/health", provisionerQueryTimeout, std::move(stop));
    if (!body)
        co_return fail(body.error());
    if (stringOf(*body, "status") != u"ok")
        co_return fail(ErrorCode::Unavailable, QStringLiteral("The provisioner says that it is not well."));
    co_return Result<void>();
}

wire::Headers provisionerHeaders(const QString &apiKey)
{
    wire::Headers headers{{"User-Agent", "paddock"}};
    if (!apiKey.isEmpty())
        headers.emplace_back("X-API-Key", apiKey.toUtf8());
    return headers;
}

} // namespace

Result<void> ProvisionRequest::check() const
{
    static const QSet<QString> places{QStringLiteral("/mnt/acp-workspace"),           QStringLiteral("/mnt/skills/custom"),
                                      QStringLiteral("/mnt/skills/integrations"),     QStringLiteral("/mnt/integrations/lark-cli/config"),
                                      QStringLiteral("/mnt/integrations/lark-cli/config/locks"), QStringLiteral("/mnt/integrations/lark-cli/data"),
                                      QStringLiteral("/mnt/integrations/lark-cli/runtime")};
    if (qsizetype(extraMounts.size()) > maxExtraMounts)
        return fail(ErrorCode::InvalidArgument, QStringLiteral("A provisioner takes at most %1 extra mounts, got %2.").arg(maxExtraMounts).arg(extraMounts.size()));
    QSet<QString> taken;
    for (const ProvisionerMount &mount : extraMounts) {
        if (!places.contains(mount.containerPath))
            return fail(ErrorCode::InvalidArgument, QStringLiteral("A provisioner does not mount anything at %1.").arg(mount.containerPath));
        if (!mount.hostPath.startsWith(u'/') || mount.hostPath.split(u'/').contains(QStringLiteral("..")))
            return fail(ErrorCode::InvalidArgument, QStringLiteral("The host path of the mount at %1 must be absolute.").arg(mount.containerPath));
        if (taken.contains(mount.containerPath))
            return fail(ErrorCode::InvalidArgument, QStringLiteral("Two extra mounts are at %1.").arg(mount.containerPath));
        taken.insert(mount.containerPath);
    }
    return {};
}

Json ProvisionRequest::write() const
{
    Json json{{"sandbox_id", toJson(sandboxId)},
              {"thread_id", threadId ? toJson(*threadId) : Json()},
              {"user_id", toJson(userId)},
              {"include_legacy_skills", includeLegacySkills},
              {"provision_lark_cli_runtime", larkRuntime},
              {"provision_lark_cli_broker", larkBroker}};
    if (maxShellSessions)
        json["max_shell_sessions"] = *maxShellSessions;
    if (!extraMounts.empty()) {
        Json mounts = Json::array();
        for (const ProvisionerMount &mount : extraMounts)
            mounts.push_back({{"host_path", toJson(mount.hostPath)}, {"container_path", toJson(mount.containerPath)}, {"read_only", mount.readOnly}});
        json["extra_mounts"] = std::move(mounts);
    }
    return json;
}

ProvisionerClient::ProvisionerClient(LoopRef loop, const QUrl &base, const QString &apiKey)
    : m_http(std::make_shared<const HttpClient>(std::move(loop), Endpoint::url(base), provisionerHeaders(apiKey)))
{
}

Task<Result<ProvisionedSandbox>> ProvisionerClient::create(ProvisionRequest request, int required, std::stop_token stop) const
{
    return createSandbox(m_http, std::move(request), required, std::move(stop));
}

Task<Result<std::optional<ProvisionedSandbox>>> ProvisionerClient::get(QString sandboxId, std::stop_token stop) const
{
    return getSandbox(m_http, std::move(sandboxId), std::move(stop));
}

Task<Result<bool>> ProvisionerClient::isAlive(QString sandboxId, std::stop_token stop) const
{
    return aliveSandbox(m_http, std::move(sandboxId), std::move(stop));
}

Task<std::optional<ProvisionedSandbox>> ProvisionerClient::discover(QString sandboxId, std::stop_token stop) const
{
    return discoverSandbox(m_http, std::move(sandboxId), std::move(stop));
}

Task<> ProvisionerClient::destroy(QString sandboxId) const
{
    return destroySandbox(m_http, std::move(sandboxId));
}

Task<std::vector<ProvisionedSandbox>> ProvisionerClient::list(std::stop_token stop) const
{
    return listSandboxes(m_http, std::move(stop));
}

Task<Result<ProvisionerCapabilities>> ProvisionerClient::capabilities(std::stop_token stop) const
{
    return askCapabilities(m_http, std::move(stop));
}

Task<Result<void>> ProvisionerClient::health(std::stop_token stop) const
{
    return askHealth(m_http, std::move(stop));
}

} // namespace paddock::aio
