// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/base/task.h"

#include <QStringList>

#include <memory>
#include <vector>

namespace paddock {

/// Who acts, as the run boundary knows it (middleware-base §12).
struct Principal {
    QString userId;
    QString role;
    QString oauthProvider;
    QString oauthId;
    QString channelUserId;
    bool isInternal = false;
    Json attributes = Json::object();
};

/// One tool call that waits for a decision.
struct GuardrailRequest {
    QString toolName;
    Json toolInput;
    QString agentId; ///< the passport of the configuration; null: none
    QString threadId;
    QString runId;
    QString toolCallId;
    bool isSubagent = false;
    QString timestamp; ///< UTC
    Principal principal;
};

struct GuardrailReason {
    QString code;
    QString message;
};
struct GuardrailDecision {
    bool allow = false;
    std::vector<GuardrailReason> reasons;
    QString policyId;
    Json metadata = Json::object();
};

/// Decides about tool calls. One object may serve several chains on several loops: thread-safe. An Error (or an exception)
/// means that it could not decide.
class GuardrailProvider
{
public:
    virtual ~GuardrailProvider() = default;
    virtual Task<Result<GuardrailDecision>> evaluate(GuardrailRequest request, std::stop_token stop) = 0;
};

/// Decides what a principal may do with a resource. Thread-safe, as above.
class AuthorizationProvider
{
public:
    virtual ~AuthorizationProvider() = default;
    virtual Task<Result<GuardrailDecision>> authorize(Principal principal, QString resource, QString action, QString target) = 0;
    /// Those of the candidates that the principal may use, in their order, duplicates kept.
    virtual Task<Result<QStringList>> filter(Principal principal, QString resource, QStringList candidates) = 0;
    /// False for a role that can never be decided about; a provider that does not know its roles beforehand says true.
    virtual bool knowsRole(const QString &role) const = 0;
};

} // namespace paddock
