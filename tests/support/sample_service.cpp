// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "tests/support/sample_service.h"

#include <QTimer>

namespace paddock::test {

namespace {

/// What a scope's terminal printed; sent once the observer listens.
QByteArray screenOf(const QString &scope)
{
    if (scope.startsWith(u"run:"))
        return "$ git log --oneline | head -3\r\n\x1b[33m9f1c2aa\x1b[0m lexer: grow token buffer\r\n\x1b[33m1b40e77\x1b[0m add corpus\r\n"
               "\x1b[33m77e0c1d\x1b[0m initial import\r\n$ ls outputs\r\nfindings-lexer.md  findings-util.md\r\n$ ";
    if (scope.contains(u"c41f"))
        return "$ make fuzz && ./fuzz -runs=1000000\r\nINFO: Seed: 2718281828\r\n#2      INITED cov: 212 ft: 213 corp: 1/1b\r\n"
               "#1024   pulse  cov: 341 ft: 502 corp: 61/3kb exec/s: 512\r\n\x1b[31m==1== heap-buffer-overflow on address 0x602\xe2\x80\xa6\x1b[0m\r\n"
               "    #0 lex_string src/lex.c:203:5\r\n    #1 lex_next   src/lex.c:118:9\r\n";
    return "$ grep -rn \"sprintf(\" src | wc -l\r\n14\r\n$ ";
}

} // namespace

SampleService::SampleService() : m_bus(std::make_shared<EventBus>()) {}

void SampleService::play(SampleRun sample)
{
    m_live.append(sample.run.value());
    m_messages.insert(sample.messages);
    for (auto &event : sample.events) {
        if (std::holds_alternative<RunFinished>(event->body))
            m_live.removeAll(sample.run.value());
        m_bus->replay(std::move(event));
    }
}

void SampleService::store(SampleRun sample, const QString &status)
{
    m_messages.insert(sample.messages);
    RunSummary summary;
    summary.id = sample.run;
    for (const auto &event : sample.events) {
        if (const auto *started = std::get_if<RunStarted>(&event->body)) {
            summary.task = summary.title = started->task;
            summary.started = event->time;
        }
    }
    summary.status = status;
    summary.finished = sample.events.back()->time;
    summary.events = qint64(sample.events.size());
    m_summaries.push_back(summary);
    m_stored.insert(sample.run.value(), std::move(sample));
}

Result<RunId> SampleService::start(RunRequest request)
{
    commands.append(QStringLiteral("start %1 %2").arg(request.scenario, request.task).trimmed());
    const RunId id(newShortId());
    play(makeSampleRun(id.value(), m_bus->lastSeq() + 1, m_bus->clock().mono().count() - SampleRun::length, false));
    return id;
}

void SampleService::cancel(const RunId &run, std::function<void()> done)
{
    commands.append(QStringLiteral("cancel %1").arg(run.value()));
    if (done)
        done();
}

void SampleService::cancelAgent(const RunId &, const AgentId &agent)
{
    commands.append(QStringLiteral("cancelAgent %1").arg(agent.value()));
}

Result<RunId> SampleService::resolve(const QString &prefix) const
{
    for (auto it = m_stored.begin(); it != m_stored.end(); ++it) {
        if (it.key().startsWith(prefix))
            return RunId(it.key());
    }
    return fail(ErrorCode::NotFound, QStringLiteral("No run's id begins with %1").arg(prefix));
}

void SampleService::list(std::function<void(std::vector<RunSummary>)> done)
{
    done(m_summaries);
}

void SampleService::load(const RunId &run, std::function<void(std::vector<std::shared_ptr<const Event>>, bool)> batch)
{
    const auto &events = m_stored.value(run.value()).events;
    const auto half = events.begin() + ptrdiff_t(events.size() / 2);
    batch({events.begin(), half}, false);
    batch({half, events.end()}, true);
}

std::unique_ptr<ShellStream> SampleService::observeShell(const RunId &, const ScopeId &scope)
{
    auto stream = std::make_unique<ShellStream>();
    QTimer::singleShot(0, stream.get(), [raw = stream.get(), bytes = screenOf(scope.value())] { Q_EMIT raw->bytes(bytes); });
    return stream;
}

} // namespace paddock::test
