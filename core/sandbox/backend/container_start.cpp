// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/backend/container_pool.h"
#include "core/sandbox/backend/process_mark.h"
#include "core/sandbox/sandbox_ids.h"
#include "core/sandbox/unique_fd.h"

#include <QElapsedTimer>
#include <QFile>
#include <QHostInfo>
#include <QLoggingCategory>
#include <QUrl>

#include <cerrno>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>

Q_LOGGING_CATEGORY(lcContainerStart, "paddock.sandbox.containers")

namespace paddock {

namespace {

constexpr std::chrono::milliseconds lockPause{50};
constexpr std::chrono::seconds resolveLimit{5};
constexpr std::chrono::seconds readySlice{10};  ///< then it is asked whether the container still runs
constexpr std::chrono::seconds cleanupLimit{20}; ///< for what a start that was given up may have left

/// As the engine's own proxy would bind it.
bool portCanBeBound(int port)
{
    const UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int yes = 1;
    ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(quint16(port));
    address.sin_addr.s_addr = htonl(INADDR_ANY);
    return fd && ::bind(fd.get(), reinterpret_cast<const sockaddr *>(&address), sizeof address) == 0;
}

/// Keeps other processes from starting the same sandbox at the same time. Free again when the descriptor is closed.
Task<Result<UniqueFd>> lockedFile(QString path, std::stop_token stop)
{
    if (path.isEmpty())
        co_return UniqueFd();
    UniqueFd fd(::open(QFile::encodeName(path).constData(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!fd)
        co_return fail(ErrorCode::Io, QStringLiteral("The lock file %1 cannot be opened: %2").arg(path, qt_error_string(errno)));
    while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            co_return fail(ErrorCode::Io, QStringLiteral("The lock file %1 cannot be locked: %2").arg(path, qt_error_string(errno)));
        if (!co_await sleepFor(lockPause, stop))
            co_return cancelled();
    }
    co_return std::move(fd);
}

Task<std::optional<QString>> resolvedHost(QString host, std::stop_token stop)
{
    const Completion<QHostInfo> looked;
    QObject context;
    const int lookup = QHostInfo::lookupHost(host, &context, [looked](const QHostInfo &info) { looked.complete(info); });
    const auto info = co_await waitFor(looked, stop, resolveLimit);
    if (!info) {
        QHostInfo::abortHostLookup(lookup);
        co_return std::nullopt;
    }
    const auto addresses = info->addresses();
    co_return addresses.isEmpty() ? std::nullopt : std::optional(addresses.first().toString());
}

Task<QString> bindAddressFor(ContainerStatePtr state, std::stop_token stop)
{
    const auto &environment = state->options.hostEnvironment;
    BindQuestion question;
    question.sandboxHost = environment.value(QStringLiteral("DEER_FLOW_SANDBOX_HOST"));
    if (const auto it = environment.find(QStringLiteral("DEER_FLOW_SANDBOX_BIND_HOST")); it != environment.end())
        question.bindHost = *it;
    if (!bindAddressIsLiteral(question.sandboxHost, question.bindHost)) {
        question.resolvesTo = co_await resolvedHost(question.sandboxHost.trimmed(), stop);
        if (!question.resolvesTo)
            question.bridgeGateway = co_await state->engine->bridgeGateway(stop);
    }
    co_return containerBindAddress(question);
}

Result<ContainerRun> plannedRun(const ContainerBackend::State &state, const SandboxId &id, ContainerFolders folders)
{
    const ContainerOptions &options = state.options;
    ContainerRun run;
    run.engine = state.engine->kind();
    run.name = state.containerName(id);
    run.image = options.image;
    auto hardening = ContainerHardening::fromEnvironment(options.hostEnvironment);
    if (!hardening)
        return fail(hardening.error());
    run.hardening = std::move(*hardening);
    run.labels = {{QStringLiteral("deerflow.role"), QStringLiteral("sandbox")},
                  {QLatin1String(sandboxIdLabel), id.value()},
                  {QStringLiteral("deerflow.max_shell_sessions"), QString::number(options.capacity.limit())},
                  {QLatin1String(ownerMarkLabel), ownProcessMark()}};
    const QString sessions = QStringLiteral("MAX_SHELL_SESSIONS");
    for (auto it = options.environment.cbegin(); it != options.environment.cend(); ++it) {
        if (it.key() != sessions)
            run.environment.emplace_back(it.key(), it.value());
    }
    if (options.capacity.configured)
        run.environment.emplace_back(sessions, QString::number(*options.capacity.configured));
    std::vector<ContainerMount> mounts = options.mounts;
    mounts.insert(mounts.end(), folders.mounts.begin(), folders.mounts.end());
    QStringList dropped;
    run.mounts = withoutDuplicateMounts(std::move(mounts), &dropped);
    for (const QString &path : std::as_const(dropped))
        qCWarning(lcContainerStart, "Two mounts at %ls: the first one counts", qUtf16Printable(path));
    for (const ContainerMount &mount : run.mounts) {
        if (const auto right = checkContainerMount(run.engine, mount); !right)
            return fail(right.error());
    }
    return run;
}

Task<> makeRoom(ContainerStatePtr state, SandboxId id)
{
    for (;;) {
        const auto pool = state->pool();
        if (int(pool.size()) < state->options.replicas)
            co_return;
        const auto victim = evictionFor(pool, state->options.replicas);
        const ContainerRecordPtr record = victim ? state->find(*victim) : nullptr;
        if (!record) {
            qCWarning(lcContainerStart, "All %d replica slots are in active use; creating sandbox %ls beyond the soft limit",
                      state->options.replicas, qUtf16Printable(id.value()));
            co_return;
        }
        const auto turn = state->turnOf(*victim); // free, or the pool would call it leased: nobody waits for two turns
        const AsyncMutex::Guard guard = co_await turn->lock();
        if (!co_await destroyContainer(state, record, QStringLiteral("room was needed")))
            co_return;
    }
}

/// The program was killed or never ended; the engine may have started the container all the same.
Task<> clearAfterLostStart(ContainerStatePtr state, QString name)
{
    EngineTimes times = state->options.engineTimes;
    times.stop = std::min<std::chrono::milliseconds>(times.stop, cleanupLimit);
    const ContainerEngine engine(state->engine->kind(), state->engine->program(), times);
    if (const auto stopped = co_await engine.stop(name); !stopped)
        qCWarning(lcContainerStart, "Container %ls may still run: %ls", qUtf16Printable(name), qUtf16Printable(stopped.error().message));
}

/// The record of the container that runs now; not ready yet when it was started here.
struct StartedContainer {
    ContainerRecordPtr record;
    bool discovered = false;
};

Task<Result<StartedContainer>> startedOnSomePort(ContainerStatePtr state, SandboxId id, ThreadKey key, ContainerRun run, std::stop_token stop)
{
    ContainerStartAttempts attempts(state->options.basePort);
    for (;;) {
        const auto port = attempts.nextPort([&state](int candidate) { return !state->ports.contains(candidate) && portCanBeBound(candidate); });
        if (!port)
            co_return fail(port.error());
        state->ports.insert(*port);
        run.port = *port;
        const auto started = co_await state->engine->run(run, stop);
        if (started) {
            ContainerFacts facts;
            facts.name = run.name;
            facts.capacityKind = state->options.capacity.configured ? ReuseRequest::Capacity::Known : ReuseRequest::Capacity::Absent;
            facts.capacity = state->options.capacity.limit();
            co_return StartedContainer{recordContainer(state, id, facts, *port), false};
        }
        state->ports.remove(*port);
        if (!started.error().details.contains(engineStderrKey)) {
            co_await clearAfterLostStart(state, run.name);
            co_return fail(started.error());
        }
        const QString said = stringOf(started.error().details, engineStderrKey);
        const auto next = attempts.refused(said);
        if (next == ContainerStartAttempts::Next::TryNextPort) {
            qCWarning(lcContainerStart, "Port %d is taken, trying the next one", *port);
            (void)co_await state->engine->removeEnded(run.name); // some engines keep what they could not start
            continue;
        }
        if (next == ContainerStartAttempts::Next::Discover) {
            auto found = co_await discoverContainer(state, id, key, stop);
            if (!found)
                co_return fail(found.error());
            if (*found)
                co_return StartedContainer{std::move(*found), true};
        }
        co_return fail(ContainerStartAttempts::failure(said));
    }
}

Task<Result<ContainerRecordPtr>> knownContainer(ContainerStatePtr state, ContainerRecordPtr record, ThreadKey key, std::stop_token stop)
{
    const SandboxId id = record->id;
    if (record->key && *record->key != key)
        co_return fail(sandboxIdCollision(id, *record->key, key));
    const auto running = co_await state->engine->isRunning(record->name, stop);
    if (stop.stop_requested())
        co_return cancelled();
    if (running && !*running) {
        state->ownership.release(id);
        state->forget(record);
        co_return ContainerRecordPtr();
    }
    const bool adopted = !record->key;
    const auto decision = judgeContainer(state, *record, record->handedOut.lock() != nullptr);
    if (decision.action == ReuseDecision::Action::Defer)
        co_return fail(ErrorCode::FailedPrecondition, decision.message);
    const bool usable = decision.action == ReuseDecision::Action::Reuse
        && (!adopted || (record->port > 0 && co_await containerAnswers(state, record, state->options.adoptTimeout, stop)));
    if (stop.stop_requested())
        co_return cancelled();
    if (!usable) {
        if (const auto gone = co_await destroyContainer(state, record, QStringLiteral("it cannot be used again")); !gone)
            co_return fail(gone.error());
        co_return ContainerRecordPtr();
    }
    if (!state->ownership.take(id))
        co_return fail(OwnershipStore::refusedTake(id));
    record->key = key;
    co_return ContainerRecordPtr(record);
}

} // namespace

ReuseDecision judgeContainer(const ContainerStatePtr &state, const ContainerRecord &record, bool leased)
{
    ReuseRequest request;
    request.sandbox = record.id.value();
    request.required = state->options.capacity.required;
    request.capacityKind = record.capacityKind;
    request.capacity = record.capacity;
    request.leasedHere = leased;
    const auto owner = state->ownership.ownerOf(record.id);
    request.ownedByPeer = record.foreign || (owner && *owner != state->ownership.owner());
    return decideReuse(request);
}

ContainerRecordPtr recordContainer(const ContainerStatePtr &state, const SandboxId &id, const ContainerFacts &facts, int port)
{
    auto record = std::make_shared<ContainerRecord>();
    record->id = id;
    record->name = facts.name;
    record->port = port;
    record->lastUse = state->options.clock->mono();
    record->capacityKind = facts.capacityKind;
    record->capacity = facts.capacity;
    record->foreign = isMarkOfAnotherLivingProcess(facts.ownerMark);
    state->ports.insert(port);
    state->records[id] = record;
    return record;
}

Task<bool> containerAnswers(ContainerStatePtr state, ContainerRecordPtr record, std::chrono::milliseconds total, std::stop_token stop)
{
    const aio::AioClient client(LoopRef::current(), aio::Endpoint::url(state->endpointOf(record->port)));
    QElapsedTimer timer;
    timer.start();
    bool ready = false;
    while (!ready && !stop.stop_requested()) {
        const auto left = total - std::chrono::milliseconds(timer.elapsed());
        if (left.count() <= 0)
            break;
        const auto slice = std::min<std::chrono::milliseconds>(left, readySlice);
        ready = (co_await client.waitReady(slice, state->options.readyPause, aio::limits::readyTimeout, stop)).ready;
        if (ready)
            break;
        const auto running = co_await state->engine->isRunning(record->name, stop);
        if (running && !*running)
            break; // it will never answer
    }
    co_await client.close();
    co_return ready;
}

Task<Result<ContainerRecordPtr>> discoverContainer(ContainerStatePtr state, SandboxId id, ThreadKey key, std::stop_token stop)
{
    const QString name = state->containerName(id);
    const auto inspected = co_await state->engine->inspect({name}, stop);
    if (stop.stop_requested())
        co_return cancelled();
    if (!inspected || inspected->empty())
        co_return ContainerRecordPtr();
    const ContainerFacts facts = inspected->front();
    if (!facts.running) {
        if (facts.ended) // its name would be in the way
            (void)co_await state->engine->removeEnded(name);
        co_return ContainerRecordPtr();
    }
    const auto port = co_await state->engine->port(name, stop);
    if (!port || !*port || (!facts.sandboxLabel.isEmpty() && facts.sandboxLabel != id.value()))
        co_return ContainerRecordPtr();
    const ContainerRecordPtr record = recordContainer(state, id, facts, **port);
    const bool answers = co_await containerAnswers(state, record, state->options.adoptTimeout, stop);
    const ReuseDecision decision = judgeContainer(state, *record, false);
    if (!answers || stop.stop_requested() || decision.action == ReuseDecision::Action::Defer) {
        state->forget(record);
        if (stop.stop_requested())
            co_return cancelled();
        co_return answers ? Result<ContainerRecordPtr>(fail(ErrorCode::FailedPrecondition, decision.message)) : Result<ContainerRecordPtr>(ContainerRecordPtr());
    }
    if (decision.action == ReuseDecision::Action::Replace) {
        if (const auto gone = co_await destroyContainer(state, record, QStringLiteral("it was started for fewer shell sessions")); !gone) {
            state->forget(record);
            co_return fail(gone.error());
        }
        co_return ContainerRecordPtr();
    }
    if (!state->ownership.take(id)) {
        state->forget(record);
        co_return fail(OwnershipStore::refusedTake(id));
    }
    record->key = key;
    qCInfo(lcContainerStart, "Found container %ls again", qUtf16Printable(name));
    co_return ContainerRecordPtr(record);
}

Task<Result<ContainerRecordPtr>> createContainer(ContainerStatePtr state, SandboxId id, ThreadKey key, ContainerFolders folders, std::stop_token stop)
{
    auto run = plannedRun(*state, id, std::move(folders));
    if (!run)
        co_return fail(run.error());
    run->bindAddress = co_await bindAddressFor(state, stop);
    co_await makeRoom(state, id);
    auto started = co_await startedOnSomePort(state, id, key, std::move(*run), stop);
    if (!started)
        co_return fail(started.error());
    const ContainerRecordPtr record = started->record;
    if (started->discovered)
        co_return ContainerRecordPtr(record);
    record->key = key;
    if (!state->ownership.take(id)) {
        state->forget(record);
        co_return fail(OwnershipStore::refusedTake(id));
    }
    if (co_await containerAnswers(state, record, state->options.readyTimeout, stop))
        co_return ContainerRecordPtr(record);
    const QString url = state->urlOf(record->port).toString();
    if (const auto gone = co_await destroyContainer(state, record, QStringLiteral("it did not become ready")); !gone) {
        record->warm = true; // it counts as running: the checks try again
        co_return fail(gone.error());
    }
    if (stop.stop_requested())
        co_return cancelled();
    co_return fail(ErrorCode::Timeout, QStringLiteral("Sandbox %1 failed to become ready within timeout at %2").arg(id.value(), url));
}

Task<Result<ContainerRecordPtr>> obtainContainer(ContainerStatePtr state, SandboxId id, ThreadKey key, std::stop_token stop)
{
    if (const ContainerRecordPtr known = state->find(id)) {
        auto again = co_await knownContainer(state, known, key, stop);
        if (!again || *again)
            co_return again;
    }
    if (!state->options.folders)
        co_return fail(ErrorCode::Internal, QStringLiteral("The container sandbox was not told which folders to show."));
    auto folders = state->options.folders(key, id);
    if (!folders)
        co_return fail(folders.error());
    const auto lock = co_await lockedFile(folders->lockFile, stop);
    if (!lock)
        co_return fail(lock.error());
    auto found = co_await discoverContainer(state, id, key, stop);
    if (!found || *found)
        co_return found;
    co_return co_await createContainer(state, id, key, std::move(*folders), stop);
}

} // namespace paddock
