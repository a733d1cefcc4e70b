// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/backend/container_engine.h"

#include "core/sandbox/backend/engine_process.h"

#include <QLoggingCategory>
#include <QStandardPaths>

Q_LOGGING_CATEGORY(lcContainerEngine, "paddock.sandbox.engine")

namespace paddock {

namespace {

[[maybe_unused]] constexpr std::chrono::seconds versionLimit{5}; // asked on a Mac only

QStringList engineCommand(const ContainerEngine &engine, const QStringList &arguments)
{
    return QStringList{engine.program()} + arguments;
}

Error engineRefusal(const QString &what, const EngineOutput &output)
{
    return Error{ErrorCode::Unavailable, QStringLiteral("%1: %2").arg(what, output.errText()), Json{{engineStderrKey, toJson(output.errText())}}, nullptr};
}

Task<Result<QString>> startedContainer(ContainerEngine engine, ContainerRun run, std::chrono::milliseconds limit, std::stop_token stop)
{
    QStringList command = containerRunCommand(run);
    command[0] = engine.program();
    qCInfo(lcContainerEngine, "Starting container: %ls", qUtf16Printable(redactedCommand(command).join(u' ')));
    EnvironmentByName handed = withoutEnvironmentValues(run.engine, command);
    const auto output = co_await runEngineProgram({std::move(handed.command), std::move(handed.environment), limit}, stop);
    if (!output)
        co_return fail(output.error());
    if (output->exitCode != 0)
        co_return fail(engineRefusal(QStringLiteral("The container was not started"), *output));
    co_return QString::fromUtf8(output->out).trimmed().section(u'\n', -1);
}

/// Apple's program knows no -f; its `inspect` is a list of objects with a status.
Result<bool> appleRunning(const QByteArray &out)
{
    const auto parsed = parseJson(out);
    if (!parsed || !parsed->is_array())
        return fail(ErrorCode::Protocol, QStringLiteral("The container engine's answer cannot be read."));
    return !parsed->empty() && stringOf(parsed->at(0), "status") == u"running";
}

Task<Result<bool>> containerRunning(ContainerEngine engine, QString name, std::chrono::milliseconds limit, std::stop_token stop)
{
    const bool apple = engine.kind() == ContainerEngineKind::Apple;
    const QStringList arguments = apple ? QStringList{QStringLiteral("inspect"), name}
                                        : QStringList{QStringLiteral("inspect"), QStringLiteral("-f"), QStringLiteral("{{.State.Running}}"), name};
    const auto output = co_await runEngineProgram({engineCommand(engine, arguments), {}, limit}, stop);
    if (!output)
        co_return fail(output.error());
    if (output->exitCode == 0) {
        if (apple)
            co_return appleRunning(output->out);
        co_return output->out.trimmed().toLower() == "true";
    }
    if (containerIsGone(output->errText(), name))
        co_return false;
    co_return fail(engineRefusal(QStringLiteral("Whether container %1 runs is unknown").arg(name), *output));
}

Task<Result<std::optional<int>>> containerPort(ContainerEngine engine, QString name, std::chrono::milliseconds limit, std::stop_token stop)
{
    const auto output = co_await runEngineProgram({engineCommand(engine, {QStringLiteral("port"), name, QString::number(containerApiPort)}), {}, limit}, stop);
    if (!output)
        co_return fail(output.error());
    co_return output->exitCode == 0 ? publishedPort(QString::fromUtf8(output->out)) : std::nullopt;
}

Task<Result<std::vector<ContainerFacts>>> inspected(ContainerEngine engine, QStringList names, std::chrono::milliseconds limit, std::stop_token stop)
{
    if (names.isEmpty())
        co_return std::vector<ContainerFacts>();
    const QString first = names.first();
    const auto output = co_await runEngineProgram({engineCommand(engine, QStringList{QStringLiteral("inspect")} + names), {}, limit}, stop);
    if (!output)
        co_return fail(output.error());
    const auto parsed = parseJson(output->out);
    // One that is missing makes the call fail though the others are told.
    const bool understood = parsed && parsed->is_array();
    if (output->exitCode == 0 && understood)
        co_return containerFacts(*parsed);
    if (output->exitCode != 0 && containerIsGone(output->errText(), first))
        co_return understood ? containerFacts(*parsed) : std::vector<ContainerFacts>();
    co_return fail(engineRefusal(QStringLiteral("The container engine did not tell about %1").arg(first), *output));
}

Task<Result<QStringList>> listed(ContainerEngine engine, QString prefix, std::chrono::milliseconds limit, std::stop_token stop)
{
    const QStringList arguments = engine.kind() == ContainerEngineKind::Apple
        ? QStringList{QStringLiteral("list"), QStringLiteral("-q")}
        : QStringList{QStringLiteral("ps"), QStringLiteral("--filter"), QStringLiteral("name=") + prefix, QStringLiteral("--format"), QStringLiteral("{{.Names}}")};
    const auto output = co_await runEngineProgram({engineCommand(engine, arguments), {}, limit}, stop);
    if (!output)
        co_return fail(output.error());
    if (output->exitCode != 0)
        co_return fail(engineRefusal(QStringLiteral("The containers cannot be listed"), *output));
    QStringList names;
    for (const QByteArray &line : output->out.split('\n')) {
        const QString name = QString::fromUtf8(line).trimmed();
        if (name.startsWith(prefix)) // the engine's filter matches anywhere in the name
            names << name;
    }
    co_return names;
}

Task<Result<void>> stoppedContainer(ContainerEngine engine, QString name, std::chrono::milliseconds limit)
{
    const auto output = co_await runEngineProgram({engineCommand(engine, {QStringLiteral("stop"), name}), {}, limit}, {});
    if (!output)
        co_return fail(output.error());
    if (output->exitCode != 0 && !containerIsGone(output->errText(), name))
        qCWarning(lcContainerEngine, "Stopping container %ls: %ls", qUtf16Printable(name), qUtf16Printable(output->errText()));
    co_return Result<void>();
}

Task<Result<void>> removedContainer(ContainerEngine engine, QString name, std::chrono::milliseconds limit)
{
    const auto output = co_await runEngineProgram({engineCommand(engine, {QStringLiteral("rm"), name}), {}, limit}, {});
    if (!output)
        co_return fail(output.error());
    if (output->exitCode != 0 && !containerIsGone(output->errText(), name))
        co_return fail(engineRefusal(QStringLiteral("The ended container %1 cannot be removed").arg(name), *output));
    co_return Result<void>();
}

Task<std::optional<QString>> gatewayOfBridge(ContainerEngine engine, std::chrono::milliseconds limit, std::stop_token stop)
{
    const bool podman = engine.kind() == ContainerEngineKind::Podman;
    const QStringList arguments{QStringLiteral("network"), QStringLiteral("inspect"), podman ? QStringLiteral("podman") : QStringLiteral("bridge"), QStringLiteral("-f"),
                                podman ? QStringLiteral("{{range .Subnets}}{{.Gateway}} {{end}}") : QStringLiteral("{{range .IPAM.Config}}{{.Gateway}} {{end}}")};
    const auto output = co_await runEngineProgram({engineCommand(engine, arguments), {}, limit}, stop);
    if (!output || output->exitCode != 0)
        co_return std::nullopt;
    const QString gateway = QString::fromUtf8(output->out).simplified().section(u' ', 0, 0);
    co_return gateway.isEmpty() ? std::nullopt : std::optional(gateway);
}

Task<Result<ContainerEngine>> foundEngine(QString runtime, std::stop_token stop)
{
#ifdef Q_OS_MACOS
    if (runtime == u"auto") {
        const auto version = co_await runEngineProgram({{QStringLiteral("container"), QStringLiteral("--version")}, {}, versionLimit}, stop);
        if (version && version->exitCode == 0)
            co_return ContainerEngine(ContainerEngineKind::Apple, {});
    }
#endif
    if (stop.stop_requested())
        co_return cancelled();
    const QStringList names = runtime == u"auto" || runtime.isEmpty() ? QStringList{QStringLiteral("docker"), QStringLiteral("podman")} : QStringList{runtime};
    for (const QString &name : names) {
        const auto kind = containerEngineKind(name);
        if (!kind)
            co_return fail(ErrorCode::InvalidArgument, QStringLiteral("sandbox.runtime must be auto, docker, podman or container, got '%1'").arg(runtime));
        if (const QString found = QStandardPaths::findExecutable(name); !found.isEmpty())
            co_return ContainerEngine(*kind, found);
    }
    co_return fail(ErrorCode::Unsupported, QStringLiteral("The container sandbox needs one of these programs, and none was found: %1.").arg(names.join(QStringLiteral(", "))));
}

} // namespace

ContainerEngine::ContainerEngine(ContainerEngineKind kind, QString program, EngineTimes times)
    : m_kind(kind), m_program(program.isEmpty() ? containerEngineProgram(kind) : std::move(program)), m_times(times)
{
}

Task<Result<ContainerEngine>> ContainerEngine::find(QString runtime, std::stop_token stop)
{
    return foundEngine(std::move(runtime), std::move(stop));
}

Task<Result<QString>> ContainerEngine::run(ContainerRun run, std::stop_token stop) const
{
    return startedContainer(*this, std::move(run), m_times.start, std::move(stop));
}

Task<Result<bool>> ContainerEngine::isRunning(QString name, std::stop_token stop) const
{
    return containerRunning(*this, std::move(name), m_times.alive, std::move(stop));
}

Task<Result<std::optional<int>>> ContainerEngine::port(QString name, std::stop_token stop) const
{
    return containerPort(*this, std::move(name), m_times.port, std::move(stop));
}

Task<Result<std::vector<ContainerFacts>>> ContainerEngine::inspect(QStringList names, std::stop_token stop) const
{
    return inspected(*this, std::move(names), m_times.inspect, std::move(stop));
}

Task<Result<QStringList>> ContainerEngine::list(QString prefix, std::stop_token stop) const
{
    return listed(*this, std::move(prefix), m_times.list, std::move(stop));
}

Task<Result<void>> ContainerEngine::stop(QString name) const
{
    return stoppedContainer(*this, std::move(name), m_times.stop);
}

Task<Result<void>> ContainerEngine::removeEnded(QString name) const
{
    return removedContainer(*this, std::move(name), m_times.list);
}

Task<std::optional<QString>> ContainerEngine::bridgeGateway(std::stop_token stop) const
{
    return gatewayOfBridge(*this, m_times.port, std::move(stop));
}

} // namespace paddock
