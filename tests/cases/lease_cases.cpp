// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// lease.sequence, lease.concurrent (sandbox.md §4) and capacity.* (§6).
#include "core/base/async.h"
#include "core/lease/lease_registry.h"
#include "core/sandbox/backend/pool_policy.h"
#include "core/sandbox/backend/session_capacity.h"
#include "tests/cases/case_registry.h"
#include "tests/support/spin.h"

#include <QLoggingCategory>

#include <algorithm>
#include <map>
#include <set>

namespace paddock::cases::lease_cases {

namespace {

using namespace paddock::test;

ThreadKey keyOf(const Json &event)
{
    return {UserId(stringOf(event, "user", QStringLiteral("u1"))), ThreadId(stringOf(event, "thread", QStringLiteral("t1")))};
}

LeaseOwner ownerOf(const Json &event)
{
    return LeaseOwner(stringOf(event, "owner"));
}

/// The provider of the case files: numbers its sandboxes, keeps one per (user, thread), fails or blocks on demand.
class CaseProvider : public LeaseHost
{
public:
    Json calls = Json::array();
    std::map<ThreadKey, SandboxId> cache;
    std::set<SandboxId> dead;
    std::map<QString, QString> failNext;
    std::set<QString> blockNext;
    std::vector<std::pair<QString, Completion<Result<SandboxId>>>> blocked;
    int made = 0;

    Task<Result<SandboxId>> acquireSandbox(ThreadKey key, LeaseOwner, std::stop_token) override
    {
        Json call{{"call", "acquire"}, {"thread", toJson(key.thread.value())}, {"user", toJson(key.user.value())}};
        const std::size_t index = calls.size();
        calls.push_back(call);
        if (blockNext.erase(QStringLiteral("acquire")) > 0) {
            const Completion<Result<SandboxId>> gate;
            blocked.emplace_back(QStringLiteral("acquire"), gate);
            const auto given = co_await gate;
            if (!given)
                co_return given;
            if (!given->isEmpty())
                cache[key] = *given;
        }
        if (const auto it = failNext.find(QStringLiteral("acquire")); it != failNext.end()) {
            calls[index]["error"] = toJson(it->second);
            const QString message = it->second;
            failNext.erase(it);
            co_return fail(ErrorCode::Unavailable, message);
        }
        // A released sandbox is kept warm, so it lives: only `sandbox_dies` ends one.
        SandboxId &slot = cache[key];
        if (slot.isEmpty() || dead.contains(slot))
            slot = SandboxId(QStringLiteral("sbx-%1").arg(++made));
        calls[index]["returns"] = toJson(slot.value());
        co_return SandboxId(slot); // a copy: QCoro moves from lvalues (core/base/task.h)
    }
    bool isAlive(const SandboxId &sandbox) override { return !dead.contains(sandbox); }
    Task<> releaseScope(SandboxId sandbox, LeaseOwner owner) override
    {
        calls.push_back({{"call", "release_scope"}, {"sandbox", toJson(sandbox.value())}, {"scope", toJson(owner.value())}});
        if (failNext.erase(QStringLiteral("release_scope")) > 0)
            throw std::runtime_error("scope");
        co_return;
    }
    Task<Result<void>> releaseSandbox(SandboxId sandbox) override
    {
        const std::size_t index = calls.size();
        calls.push_back({{"call", "release"}, {"sandbox", toJson(sandbox.value())}});
        if (blockNext.erase(QStringLiteral("release")) > 0) {
            const Completion<Result<SandboxId>> gate;
            blocked.emplace_back(QStringLiteral("release"), gate);
            const auto go = co_await gate;
            if (!go)
                co_return fail(go.error());
        }
        if (const auto it = failNext.find(QStringLiteral("release")); it != failNext.end()) {
            calls[index]["error"] = toJson(it->second);
            const QString message = it->second;
            failNext.erase(it);
            co_return fail(ErrorCode::Unavailable, message);
        }
        co_return Result<void>();
    }
};

/// One history of events against the real registry.
class LeaseStage
{
public:
    std::shared_ptr<CaseProvider> provider = std::make_shared<CaseProvider>();
    LeaseRegistry registry{provider};
    std::vector<LeaseChange> changes;

    LeaseStage()
    {
        registry.setObserver([this](const LeaseChange &change) { changes.push_back(change); });
    }

    Json bindings() const
    {
        Json out = Json::object();
        for (const LeaseInfo &info : registry.leases())
            out[info.owner.value().toStdString()] = toJson(info.sandbox.value());
        return out;
    }

    Json run(const Json &event)
    {
        const QString op = stringOf(event, "op");
        if (op == QLatin1String("acquire"))
            return sandboxResult(spin(registry.acquire(ownerOf(event), keyOf(event), boolOf(event, "release_on_last", true), {})));
        if (op == QLatin1String("reuse_or_acquire"))
            return sandboxResult(spin(registry.reuseOrAcquire(ownerOf(event), SandboxId(stringOf(event, "sandbox")), keyOf(event),
                                                              boolOf(event, "release_on_last", true), {})));
        if (op == QLatin1String("retain")) {
            const auto kept = spin(registry.retain(ownerOf(event), SandboxId(stringOf(event, "sandbox")), keyOf(event),
                                                   boolOf(event, "release_on_last", true), {}));
            if (!kept)
                return Json{{"error", "never ended"}};
            return *kept ? Json{{"ok", true}} : Json{{"error", toJson(kept->error().message)}};
        }
        if (op == QLatin1String("release"))
            return release(ownerOf(event));
        return {};
    }

private:
    static Json sandboxResult(const std::optional<Result<SandboxId>> &id)
    {
        if (!id)
            return Json{{"error", "never ended"}};
        return *id ? Json{{"sandbox", toJson((*id)->value())}} : Json{{"error", toJson(id->error().message)}};
    }

    Json release(const LeaseOwner &owner)
    {
        const auto leases = registry.leases();
        const auto bound = std::find_if(leases.begin(), leases.end(), [&](const LeaseInfo &info) { return info.owner == owner; });
        const std::size_t before = changes.size();
        spin(registry.release(owner));
        if (bound == leases.end())
            return changes.size() == before ? Json{{"noop", true}} : Json{{"noop", false}};
        Json result{{"released", toJson(bound->sandbox.value())}, {"parked", false}};
        for (std::size_t i = before; i < changes.size(); ++i) {
            if (changes[i].kind == LeaseChange::Kind::SandboxReleased)
                result["parked"] = true;
            if (changes[i].kind == LeaseChange::Kind::SandboxReleaseFailed)
                result["event"] = "sandbox.release_failed";
        }
        return result;
    }
};

Verdict runSequence(const Json &testCase)
{
    LeaseStage stage;
    Json results = Json::array();
    for (const Json &event : testCase["input"]["events"]) {
        const QString op = stringOf(event, "op");
        if (op == QLatin1String("fail_next"))
            stage.provider->failNext[stringOf(event, "call")] = stringOf(event, "error");
        else if (op == QLatin1String("sandbox_dies"))
            stage.provider->dead.insert(SandboxId(stringOf(event, "sandbox")));
        else
            results.push_back(stage.run(event));
    }
    const Json actual{{"results", results}, {"provider_calls", stage.provider->calls}, {"bindings", stage.bindings()}};
    QString why = mismatch(testCase["expect"], actual);
    if (why.isEmpty() && testCase["expect"].contains("bindings") && testCase["expect"]["bindings"] != actual["bindings"])
        why = QStringLiteral("bindings are %1").arg(QString::fromUtf8(dumpJson(actual["bindings"])));
    return why.isEmpty() ? passed() : failed(why);
}

QStringList &logSink()
{
    static QStringList lines;
    return lines;
}

void collectLog(QtMsgType, const QMessageLogContext &, const QString &text)
{
    logSink() << text;
}

/// The concurrent histories: operations run while others are blocked in the provider.
class ConcurrentStage : public LeaseStage
{
public:
    explicit ConcurrentStage(const Json &input) : m_replicas(int(intOf(input, "replicas", 3))) {}

    Json play(const Json &events)
    {
        for (const Json &event : events)
            step(event);
        Json warm = Json::array(), active = Json::array();
        for (const auto &[sandbox, thread] : m_threadOf) {
            if (m_warm.contains(sandbox))
                warm.push_back(toJson(thread));
            else
                active.push_back(toJson(thread));
        }
        return {{"provider_calls", provider->calls}, {"bindings", bindings()}, {"outcome", m_outcome}, {"completed_before_r1", m_completedBefore},
                {"destroyed", m_destroyed}, {"evicted", m_evicted}, {"warm", warm}, {"active", active}};
    }

private:
    struct Op {
        std::stop_source stop;
        bool cancelled = false;
        std::function<bool()> done;
        std::function<QString()> outcome;
    };

    void step(const Json &event)
    {
        const QString op = stringOf(event, "op");
        const QString owner = stringOf(event, "owner");
        if (op == QLatin1String("acquire_start") || op == QLatin1String("release_start")) {
            start(event, op.startsWith(QLatin1String("acquire")), owner);
        } else if (op == QLatin1String("cancel")) {
            m_ops[owner]->cancelled = true;
            m_ops[owner]->stop.request_stop();
            settle();
        } else if (op == QLatin1String("provider_finish")) {
            finishProvider(event);
        } else if (op == QLatin1String("wait")) {
            spinUntil([&] { return m_ops[owner]->done(); });
            if (m_ops.contains(QStringLiteral("r1")) && !m_ops[QStringLiteral("r1")]->done())
                m_completedBefore.push_back(toJson(owner));
        } else if (op == QLatin1String("join")) {
            for (const auto &[name, running] : m_ops) {
                spinUntil(running->done);
                m_outcome[name.toStdString()] = toJson(running->cancelled ? QStringLiteral("cancelled") : running->outcome());
            }
        } else if (op == QLatin1String("idle_check")) {
            idleCheck(event);
        } else {
            poolStep(event, op);
        }
    }

    void start(const Json &event, bool acquire, const QString &owner)
    {
        if (boolOf(event, "provider_blocks"))
            provider->blockNext.insert(acquire ? QStringLiteral("acquire") : QStringLiteral("release"));
        auto running = std::make_shared<Op>();
        if (acquire) {
            const auto pending = begin(registry.acquire(ownerOf(event), keyOf(event), true, running->stop.get_token()));
            running->done = [pending] { return pending.done(); };
            running->outcome = [pending] { return pending.value() ? QStringLiteral("ok") : pending.value().error().message; };
        } else {
            const auto pending = begin(registry.release(ownerOf(event)));
            running->done = [pending] { return pending.done(); };
            running->outcome = [] { return QStringLiteral("ok"); };
        }
        m_ops[owner] = running;
        settle();
    }

    void finishProvider(const Json &event)
    {
        const QString call = stringOf(event, "call");
        const auto it = std::find_if(provider->blocked.begin(), provider->blocked.end(), [&](const auto &b) { return b.first == call; });
        if (it == provider->blocked.end())
            return;
        const auto gate = it->second;
        provider->blocked.erase(it);
        if (event.contains("error"))
            gate.complete(fail(ErrorCode::Unavailable, stringOf(event, "error")));
        else
            gate.complete(SandboxId(stringOf(event, "returns")));
        settle();
    }

    /// Sequential operations, with the warm pool that a container backend would keep.
    void poolStep(const Json &event, const QString &op)
    {
        const ThreadKey key = keyOf(event);
        if (op == QLatin1String("acquire") && !provider->cache.contains(key)) {
            if (const auto victim = evictionFor(pool({}), m_replicas)) {
                m_evicted.push_back(toJson(m_threadOf[*victim]));
                m_warm.erase(*victim);
                m_threadOf.erase(*victim);
                provider->dead.insert(*victim);
            }
        }
        const Json result = run(event);
        if (op == QLatin1String("acquire") && result.contains("sandbox")) {
            const SandboxId id(stringOf(result, "sandbox"));
            m_threadOf[id] = key.thread.value();
            m_warm.erase(id);
        } else if (op == QLatin1String("release") && boolOf(result, "parked")) {
            m_warm[SandboxId(stringOf(result, "released"))] = ++m_clock;
        }
    }

    std::vector<PooledSandbox> pool(std::optional<std::chrono::seconds> idle) const
    {
        std::vector<PooledSandbox> entries;
        for (const auto &[id, thread] : m_threadOf) {
            PooledSandbox entry{id, idle.value_or(std::chrono::seconds(0)), m_warm.contains(id), !registry.ownersOf(id).empty()};
            if (!idle && entry.warm)
                entry.idle = std::chrono::seconds(1000 - m_warm.at(id));
            entries.push_back(entry);
        }
        return entries;
    }

    void idleCheck(const Json &event)
    {
        const auto idle = std::chrono::seconds(intOf(event, "idle_seconds"));
        for (const SandboxId &id : idleExpired(pool(idle), std::chrono::seconds(intOf(event, "idle_timeout"))))
            m_destroyed.push_back(toJson(id.value()));
    }

    static void settle()
    {
        for (int i = 0; i < 20; ++i)
            QCoreApplication::sendPostedEvents();
    }

    int m_replicas;
    int m_clock = 0;
    std::map<QString, std::shared_ptr<Op>> m_ops;
    std::map<SandboxId, QString> m_threadOf;
    std::map<SandboxId, int> m_warm; ///< and when it was released
    Json m_outcome = Json::object();
    Json m_completedBefore = Json::array();
    Json m_destroyed = Json::array();
    Json m_evicted = Json::array();
};

Verdict runConcurrent(const Json &testCase)
{
    logSink().clear();
    const QtMessageHandler before = qInstallMessageHandler(collectLog);
    Json actual;
    {
        ConcurrentStage stage(testCase["input"]);
        actual = stage.play(testCase["input"]["events"]);
        // Operations that the case leaves blocked come back before the stage goes.
        while (!stage.provider->blocked.empty()) {
            const auto gate = stage.provider->blocked.back().second;
            stage.provider->blocked.pop_back();
            gate.complete(SandboxId());
            for (int i = 0; i < 20; ++i)
                QCoreApplication::sendPostedEvents();
        }
    }
    qInstallMessageHandler(before);
    Json expect = testCase["expect"];
    if (const QString text = stringOf(expect, "log_contains"); !text.isEmpty()) {
        if (!logSink().join(QLatin1Char('\n')).contains(text))
            return failed(QStringLiteral("the log lacks '%1'").arg(text));
        expect.erase("log_contains");
    }
    const QString why = mismatch(expect, actual);
    if (why.isEmpty() && expect.contains("bindings") && expect["bindings"] != actual["bindings"])
        return failed(QStringLiteral("bindings are %1").arg(QString::fromUtf8(dumpJson(actual["bindings"]))));
    return why.isEmpty() ? passed() : failed(why);
}

QMap<QString, QString> stringMap(const Json &object)
{
    QMap<QString, QString> out;
    if (object.is_object()) {
        for (auto it = object.begin(); it != object.end(); ++it)
            out.insert(QString::fromStdString(it.key()), it.value().is_string() ? textOf(it.value()) : QString::fromUtf8(dumpJson(it.value())));
    }
    return out;
}

Result<SessionCapacity> capacityOf(const Json &input)
{
    const auto environment = stringMap(memberOf(input, "environment"));
    std::optional<QString> configured;
    if (environment.contains(QStringLiteral("MAX_SHELL_SESSIONS")))
        configured = resolveEnvironmentReference(environment.value(QStringLiteral("MAX_SHELL_SESSIONS")), stringMap(memberOf(input, "host_env")));
    return resolveSessionCapacity(int(intOf(input, "max_running", 3)), configured);
}

Verdict runCapacityResolve(const Json &testCase)
{
    const Json &input = testCase["input"];
    if (stringOf(input, "provider") == QLatin1String("local")) // the key is ignored there
        return mismatch(testCase["expect"], Json{{"required", nullptr}, {"configured", nullptr}, {"container_env", nullptr}}).isEmpty()
            ? passed() : failed(QStringLiteral("the local provider has no capacity"));
    const auto capacity = capacityOf(input);
    Json actual;
    if (!capacity) {
        actual = {{"error", "ConfigError"}, {"message", toJson(capacity.error().message)}};
    } else {
        actual = {{"required", capacity->required}, {"configured", nullptr}, {"container_env", nullptr}, {"request_max_shell_sessions", nullptr}};
        if (capacity->configured) {
            actual["configured"] = *capacity->configured;
            actual["container_env"] = std::to_string(*capacity->configured);
            actual["request_max_shell_sessions"] = *capacity->configured;
        }
    }
    const QString why = mismatch(testCase["expect"], actual);
    for (auto it = testCase["expect"].begin(); it != testCase["expect"].end(); ++it) {
        if (it.value().is_null() && actual.contains(it.key()) && !actual[it.key()].is_null())
            return failed(QStringLiteral("%1 should be null").arg(QString::fromStdString(it.key())));
    }
    return why.isEmpty() ? passed() : failed(why);
}

ReuseDecision reuseOf(const Json &input)
{
    ReuseRequest request;
    request.sandbox = stringOf(input, "sandbox_id");
    request.required = int(intOf(input, "required"));
    const Json &capacity = memberOf(input, "container_capacity");
    if (capacity.is_number())
        request.capacity = int(intOf(input, "container_capacity"));
    else
        request.capacityKind = textOf(capacity) == QLatin1String("absent") ? ReuseRequest::Capacity::Absent : ReuseRequest::Capacity::Unknown;
    request.leasedHere = boolOf(input, "leased_here");
    request.ownedByPeer = stringOf(input, "owner") == QLatin1String("peer");
    request.pastGrace = boolOf(input, "past_grace", true);
    return decideReuse(request);
}

Verdict runCapacityReuse(const Json &testCase)
{
    const ReuseDecision decision = reuseOf(testCase["input"]);
    Json actual{{"requires_replacement", decision.requiresReplacement()}};
    switch (decision.action) {
    case ReuseDecision::Action::Reuse: actual["action"] = "reuse"; break;
    case ReuseDecision::Action::Replace:
        actual["action"] = "replace";
        actual["calls"] = {"claim_destroy", "destroy", "create"};
        break;
    case ReuseDecision::Action::Defer:
        actual["action"] = "defer";
        actual["message"] = toJson(decision.message);
        break;
    }
    const QString why = mismatch(testCase["expect"], actual);
    return why.isEmpty() ? passed() : failed(why);
}

Verdict runCapacityProvisioner(const Json &testCase)
{
    const Json &input = testCase["input"];
    std::optional<int> sent;
    if (memberOf(input, "sent_max_shell_sessions").is_number())
        sent = int(intOf(input, "sent_max_shell_sessions"));
    const auto judged = judgeProvisionedCapacity(sent, int(intOf(input, "required")), int(intOf(input, "http_status", 200)), memberOf(input, "response"));
    const Json &expect = testCase["expect"];
    if (judged) {
        const QString result = *judged == ProvisionedCapacity::Ok ? QStringLiteral("ok") : QStringLiteral("requires_replacement");
        return stringOf(expect, "result") == result ? passed() : failed(QStringLiteral("the result is %1").arg(result));
    }
    const QString kind = judged.error().details.contains("version_skew") ? QStringLiteral("VersionSkew") : QStringLiteral("RuntimeError");
    const QString &message = judged.error().message;
    const bool right = stringOf(expect, "error") == kind && (!expect.contains("message") || stringOf(expect, "message") == message)
        && message.startsWith(stringOf(expect, "message_starts_with"));
    return right ? passed() : failed(QStringLiteral("%1: %2").arg(kind, message));
}

Verdict runCapacityReload(const Json &testCase)
{
    const auto next = capacityOf(testCase["input"]["reload"]);
    Json actual;
    if (!next) {
        actual = {{"accepted", false}, {"message", toJson(next.error().message)}, {"active_config", "old"}};
    } else {
        ReuseRequest existing;
        existing.required = next->required;
        existing.capacity = imageDefaultShellSessions;
        actual = {{"accepted", true}, {"required", next->required}, {"active_config", "new"}};
        actual["existing_capacity_10"] = decideReuse(existing).requiresReplacement() ? "requires_replacement" : "reuse";
    }
    const QString why = mismatch(testCase["expect"], actual);
    return why.isEmpty() ? passed() : failed(why);
}

const Registrar sequence("lease.sequence", runSequence);
const Registrar concurrent("lease.concurrent", runConcurrent);
const Registrar capacityResolve("capacity.resolve", runCapacityResolve);
const Registrar capacityReuse("capacity.reuse", runCapacityReuse);
const Registrar capacityProvisioner("capacity.provisioner", runCapacityProvisioner);
const Registrar capacityReload("capacity.reload", runCapacityReload);

} // namespace

} // namespace paddock::cases::lease_cases
