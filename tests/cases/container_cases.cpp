// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// container.* and ownership.sequence of sandbox.json: the rules of the container backend (sandbox.md §7.5, §7.6).
#include "core/sandbox/backend/container_command.h"
#include "core/sandbox/backend/container_rules.h"
#include "core/sandbox/backend/ownership.h"
#include "tests/cases/sandbox_case_support.h"

#include <cmath>

namespace paddock::cases::container_cases {

namespace {

using namespace sandbox;

ContainerEngineKind engineOf(const Json &input)
{
    return containerEngineKind(text(input, "runtime")).value_or(ContainerEngineKind::Docker);
}

std::vector<std::pair<QString, QString>> pairsOf(const Json &object)
{
    std::vector<std::pair<QString, QString>> pairs;
    if (object.is_object()) {
        for (const auto &[key, value] : object.items())
            pairs.emplace_back(QString::fromStdString(key), textOf(value));
    }
    return pairs;
}

Json runtimeError(const Json &expect, const Error &error)
{
    Json actual{{"error", "RuntimeError"}, {"message", toJson(error.message)}};
    if (expect.contains("message_starts_with"))
        actual["message_starts_with"] = error.message.startsWith(text(expect, "message_starts_with")) ? expect["message_starts_with"] : toJson(error.message);
    return actual;
}

QStringList withoutLabels(const QStringList &argv)
{
    QStringList kept;
    for (qsizetype i = 0; i < argv.size(); ++i) {
        if (argv.at(i) == u"--label")
            ++i;
        else
            kept << argv.at(i);
    }
    return kept;
}

Verdict containerArgv(const Json &c)
{
    const Json &in = c.at("input"), &expect = c.at("expect");
    const auto hardening = ContainerHardening::fromEnvironment(mapOfStrings(memberOf(in, "env")));
    if (!hardening)
        return compare(expect, runtimeError(expect, hardening.error()));
    ContainerRun run;
    run.engine = engineOf(in);
    run.name = text(in, "name");
    run.port = int(intOf(in, "port"));
    run.bindAddress = containerBindAddress({text(in, "sandbox_host"), optionalString(in, "bind_host"), {}, {}});
    run.environment = pairsOf(memberOf(in, "environment"));
    run.labels = {{QStringLiteral("deerflow.role"), QStringLiteral("sandbox")}};
    for (const Json &mount : memberOf(in, "mounts"))
        run.mounts.push_back({textOf(mount.at(0)), textOf(mount.at(1)), mount.at(2).get<bool>()});
    run.mounts = withoutDuplicateMounts(std::move(run.mounts));
    run.image = text(in, "image");
    run.hardening = *hardening;
    const QStringList argv = containerRunCommand(run);
    return compare(expect, Json{{"argv", namesToJson(boolOf(in, "ignore_label_args") ? withoutLabels(argv) : argv)}});
}

Verdict containerMount(const Json &c)
{
    const Json &in = c.at("input");
    return compareValue(c, namesToJson(containerMountArguments(engineOf(in), {text(in, "host"), text(in, "container"), boolOf(in, "read_only")})));
}

Verdict containerRedact(const Json &c)
{
    return compareValue(c, namesToJson(redactedCommand(stringsOf(memberOf(c.at("input"), "argv")))));
}

Verdict containerGone(const Json &c)
{
    return compareValue(c, containerIsGone(text(c.at("input"), "stderr"), text(c.at("input"), "name")));
}

Verdict containerBind(const Json &c)
{
    const Json &in = c.at("input");
    return compareValue(c, toJson(containerBindAddress({text(in, "sandbox_host"), optionalString(in, "bind_host"), optionalString(in, "resolves_to"),
                                                        optionalString(in, "bridge_gateway")})));
}

Verdict containerTime(const Json &c)
{
    constexpr double halfMicrosecond = 5e-7;
    const double epoch = containerTimestamp(text(c.at("input"), "raw"));
    const double expected = doubleOf(c.at("expect"), "epoch");
    return std::abs(epoch - expected) < halfMicrosecond ? passed() : failed(QStringLiteral("%1, expected %2").arg(epoch, 0, 'f', 7).arg(expected, 0, 'f', 7));
}

/// `start_errors`: what the engine answers to each start in order; after them it starts. Every port is free.
Verdict containerStartRetry(const Json &c)
{
    const Json &in = c.at("input"), &expect = c.at("expect");
    ContainerStartAttempts attempts(int(intOf(in, "base_port")));
    const QStringList errors = stringsOf(memberOf(in, "start_errors"));
    Json ports = Json::array();
    const auto ended = [&](Json actual) {
        actual["ports_tried"] = ports;
        return compare(expect, actual);
    };
    for (;;) {
        const auto port = attempts.nextPort([](int) { return true; });
        if (!port)
            return ended(runtimeError(expect, port.error()));
        const auto start = qsizetype(ports.size());
        ports.push_back(*port);
        if (start >= errors.size())
            return ended(Json{{"result", "ok"}});
        switch (attempts.refused(errors.at(start))) {
        case ContainerStartAttempts::Next::TryNextPort: continue;
        case ContainerStartAttempts::Next::Discover:
            if (text(in, "discover") == u"found")
                return ended(Json{{"result", "discovered"}});
            [[fallthrough]];
        case ContainerStartAttempts::Next::Fail: return ended(runtimeError(expect, ContainerStartAttempts::failure(errors.at(start))));
        }
    }
}

class OwnershipClock final : public Clock
{
public:
    Wall wall() const override { return Wall(now); }
    std::chrono::microseconds mono() const override { return now; }
    std::chrono::microseconds now{0};
};

Json ownershipOp(OwnershipStore &store, const Json &op, const SandboxId &id)
{
    const QString name = text(op, "op");
    if (name == u"take")
        return store.take(id);
    if (name == u"claim")
        return store.claim(id, boolOf(op, "for_destroy") ? OwnershipStore::Purpose::Destroy : OwnershipStore::Purpose::Adopt);
    if (name == u"renew") {
        switch (store.renew(id)) {
        case OwnershipStore::Renewal::Renewed: return "RENEWED";
        case OwnershipStore::Renewal::Lapsed: return "LAPSED";
        case OwnershipStore::Renewal::Lost: return "LOST";
        }
    }
    if (name == u"release") {
        store.release(id);
        return nullptr;
    }
    const auto owner = store.ownerOf(id);
    return owner ? toJson(*owner) : Json();
}

Verdict ownershipSequence(const Json &c)
{
    const Json &in = c.at("input");
    const auto clock = std::make_shared<OwnershipClock>();
    const auto table = std::make_shared<OwnershipTable>(std::chrono::seconds(intOf(in, "ttl_seconds", 120)), clock);
    const SandboxId id(stringOf(in, "sandbox_id", QStringLiteral("sbx")));
    Json results = Json::array();
    for (const Json &op : memberOf(in, "ops")) {
        if (op.contains("sleep")) {
            clock->now += std::chrono::microseconds(qint64(doubleOf(op, "sleep") * 1e6));
            continue;
        }
        OwnershipStore store(table, text(op, "store"));
        results.push_back(ownershipOp(store, op, id));
    }
    const auto owner = OwnershipStore(table, QStringLiteral("nobody")).ownerOf(id);
    const Json actual{{"results", results}, {"owner", owner ? toJson(*owner) : Json()}};
    const Json &expect = c.at("expect");
    if (expect.contains("owner") && expect["owner"].is_null() && owner)
        return failed(QStringLiteral("the owner is %1, expected none").arg(*owner));
    return compare(expect, actual);
}

const Registrar registrars[] = {
    {"container.argv", containerArgv},
    {"container.mount", containerMount},
    {"container.redact", containerRedact},
    {"container.gone", containerGone},
    {"container.bind", containerBind},
    {"container.timestamp", containerTime},
    {"container.start_retry", containerStartRetry},
    {"ownership.sequence", ownershipSequence},
};

} // namespace

} // namespace paddock::cases::container_cases
