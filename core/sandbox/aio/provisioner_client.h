// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/sandbox/aio/http_client.h"

#include <QUrl>

#include <optional>
#include <vector>

namespace paddock::aio {

struct ProvisionerMount {
    QString hostPath;
    QString containerPath;
    bool readOnly = false;
};

/// What a create asks for. The sandbox's environment does not travel; only the number of shell sessions does.
struct ProvisionRequest {
    QString sandboxId;
    std::optional<QString> threadId;
    QString userId = QStringLiteral("default");
    bool includeLegacySkills = false;
    bool larkRuntime = false;
    bool larkBroker = false;
    std::optional<int> maxShellSessions; ///< not sent when there is none
    std::vector<ProvisionerMount> extraMounts;

    /// A mount that no provisioner may accept, told before anything is sent.
    Result<void> check() const;
    Json write() const;
};

struct ProvisionedSandbox {
    QString sandboxId;
    QUrl url;
    QString status;                      ///< phase of the Pod
    std::optional<int> maxShellSessions; ///< of the Pod; old provisioners do not tell
};

struct ProvisionerCapabilities {
    bool larkRuntimeImage = false;
    bool larkBrokerImage = false;
};

/// Members of Error::details. `kind`: TransportError, ApiError (with `status`), DecodeError, or the one below.
inline constexpr const char *provisionerErrorKind = "kind";
inline constexpr const char *incompatibleCapacity = "IncompatibleCapacity"; ///< the sandbox must not be used
inline constexpr const char *requiresReplacementKey = "requires_replacement"; ///< the Pod is too small (sandbox.md §6)

/// The provisioner of the Kubernetes mode as typed calls (aio-api.md §7, sandbox.md §7.7). A cheap handle: copies share the
/// connections, whose sockets live on `loop`. Callable from any thread with an event loop. Every call has a time limit;
/// stop closes its socket; a create is never sent twice.
class ProvisionerClient
{
public:
    /// `apiKey` is a secret; empty: not sent.
    ProvisionerClient(LoopRef loop, const QUrl &base, const QString &apiKey);

    /// `required`: shell sessions that are needed at least. A provisioner that was asked for a number and does not answer with
    /// one is too old (details["version_skew"]); its Pod is left to its owner.
    Task<Result<ProvisionedSandbox>> create(ProvisionRequest request, int required, std::stop_token stop) const;
    /// Nothing: there is none.
    Task<Result<std::optional<ProvisionedSandbox>>> get(QString sandboxId, std::stop_token stop) const;
    /// 404 is false; what cannot be learned is an error, never "dead".
    Task<Result<bool>> isAlive(QString sandboxId, std::stop_token stop) const;
    /// Nothing as well when it cannot be learned.
    Task<std::optional<ProvisionedSandbox>> discover(QString sandboxId, std::stop_token stop) const;
    /// What goes wrong is logged only.
    Task<> destroy(QString sandboxId) const;
    /// Malformed entries are left out; what goes wrong is logged, and the list is empty.
    Task<std::vector<ProvisionedSandbox>> list(std::stop_token stop) const;
    Task<Result<ProvisionerCapabilities>> capabilities(std::stop_token stop) const;
    /// Needs no key.
    Task<Result<void>> health(std::stop_token stop) const;
    Task<> close() const { return m_http->close(); }

private:
    std::shared_ptr<const HttpClient> m_http;
};

} // namespace paddock::aio
