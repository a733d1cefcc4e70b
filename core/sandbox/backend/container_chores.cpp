// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/backend/container_pool.h"
#include "core/sandbox/backend/process_mark.h"

#include <QDateTime>
#include <QLoggingCategory>

Q_LOGGING_CATEGORY(lcContainerChores, "paddock.sandbox.containers")

namespace paddock {

namespace {

/// A turn only when nobody has it: a chore comes again.
Task<AsyncMutex::Guard> freeTurn(std::shared_ptr<AsyncMutex> turn)
{
    if (turn->isLocked())
        co_return AsyncMutex::Guard();
    co_return co_await turn->lock();
}

Task<> adoptOrphan(ContainerStatePtr state, SandboxId id, ContainerFacts facts, std::stop_token stop)
{
    const auto turn = state->turnOf(id);
    const AsyncMutex::Guard guard = co_await freeTurn(turn);
    if (!guard || state->find(id))
        co_return;
    const auto port = co_await state->engine->port(facts.name, stop);
    if (!port || stop.stop_requested()) // unknown: next time
        co_return;
    // Nobody of this process owns it, and with owners in memory only there is nobody else whose word could be waited for.
    if (!state->ownership.claim(id, OwnershipStore::Purpose::Adopt))
        co_return;
    const double age = double(QDateTime::currentMSecsSinceEpoch()) / 1000.0 - facts.createdAt;
    qCInfo(lcContainerChores, "Adopted container %ls, started %.0f seconds ago", qUtf16Printable(facts.name), facts.createdAt > 0 ? age : 0.0);
    const ContainerRecordPtr record = recordContainer(state, id, facts, port->value_or(0));
    record->warm = true;
}

Task<> adoptOrphans(ContainerStatePtr state, std::stop_token stop)
{
    const QString prefix = state->options.prefix + u'-';
    const auto names = co_await state->engine->list(prefix, stop);
    if (!names) {
        if (!names.error().isCancelled())
            qCWarning(lcContainerChores, "Containers left behind cannot be looked for: %ls", qUtf16Printable(names.error().message));
        co_return;
    }
    QStringList untracked;
    for (const QString &name : *names) {
        if (!state->find(SandboxId(name.sliced(prefix.size()))))
            untracked << name;
    }
    const auto facts = co_await state->engine->inspect(untracked, stop);
    if (!facts)
        co_return; // next time
    for (const ContainerFacts &each : *facts) {
        const QString id = each.name.sliced(std::min(prefix.size(), each.name.size()));
        const bool ours = each.name.startsWith(prefix) && !id.isEmpty() && (each.sandboxLabel.isEmpty() || each.sandboxLabel == id);
        if (ours && each.running && !isMarkOfAnotherLivingProcess(each.ownerMark))
            co_await adoptOrphan(state, SandboxId(id), each, stop);
        if (stop.stop_requested())
            co_return;
    }
}

Task<> endIdle(ContainerStatePtr state)
{
    const auto timeout = state->options.idleTimeout;
    for (const SandboxId &id : idleExpired(state->pool(), timeout)) {
        const auto turn = state->turnOf(id);
        const AsyncMutex::Guard guard = co_await freeTurn(turn);
        const ContainerRecordPtr record = state->find(id);
        if (!guard || !record || !record->warm || state->options.clock->mono() - record->lastUse <= timeout)
            continue; // somebody was quicker
        (void)co_await destroyContainer(state, record, QStringLiteral("it was idle"));
    }
}

Task<> noticeDead(ContainerStatePtr state, SandboxId id, std::stop_token stop)
{
    const auto turn = state->turnOf(id);
    const AsyncMutex::Guard guard = co_await freeTurn(turn);
    const ContainerRecordPtr record = state->find(id);
    if (!guard || !record)
        co_return;
    const auto running = co_await state->engine->isRunning(record->name, stop);
    if (!running || *running)
        co_return; // unknown is not dead
    const auto instance = record->handedOut.lock();
    state->ownership.release(id);
    state->forget(record);
    if (instance)
        instance->lose(QStringLiteral("The container of the sandbox ended unexpectedly."));
}

void renewOne(ContainerBackend::State &state, const ContainerRecordPtr &record)
{
    const auto renewal = state.ownership.renew(record->id);
    if (renewal == OwnershipStore::Renewal::Renewed)
        return;
    if (renewal == OwnershipStore::Renewal::Lapsed && state.ownership.claim(record->id, OwnershipStore::Purpose::Adopt))
        return;
    qCWarning(lcContainerChores, "Sandbox %ls belongs to another instance now", qUtf16Printable(record->id.value()));
    const auto instance = record->handedOut.lock();
    state.forget(record);
    if (instance)
        instance->lose(QStringLiteral("Another instance took over the sandbox."));
}

} // namespace

Task<> checkContainers(ContainerStatePtr state, std::stop_token stop)
{
    co_await adoptOrphans(state, stop);
    if (stop.stop_requested())
        co_return;
    co_await endIdle(state);
    std::vector<SandboxId> ids;
    for (const auto &[id, record] : state->records)
        ids.push_back(id);
    for (const SandboxId &id : ids) {
        if (stop.stop_requested())
            co_return;
        co_await noticeDead(state, id, stop);
    }
}

Task<> checkContainersOften(ContainerStatePtr state, std::stop_token stop)
{
    do {
        co_await checkContainers(state, stop);
    } while (co_await sleepFor(state->options.checkInterval, stop));
}

Task<> renewOwnerships(ContainerStatePtr state, std::stop_token stop)
{
    while (co_await sleepFor(state->options.ownership.renewal, stop)) {
        std::vector<ContainerRecordPtr> records;
        for (const auto &[id, record] : state->records) {
            if (!state->turnOf(id)->isLocked()) // its transition keeps what it needs
                records.push_back(record);
        }
        for (const ContainerRecordPtr &record : records)
            renewOne(*state, record);
    }
}

} // namespace paddock
