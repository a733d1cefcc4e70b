// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// OTLP/JSON (opentelemetry-proto, trace v1) with the GenAI semantic conventions' attribute names where they exist and
// paddock.* elsewhere. Ids are derived from ours, so that exporting twice gives the same trace.
#include "core/base/text.h"
#include "core/journal/journal_export.h"

#include <QHash>
#include <QSet>

#include <algorithm>
#include <map>

namespace paddock {

namespace {

constexpr int spanKindInternal = 1;
constexpr int spanKindClient = 3;
constexpr int statusError = 2;

Json attribute(const char *key, const QString &value)
{
    return Json{{"key", key}, {"value", Json{{"stringValue", toUtf8(value)}}}};
}

Json attribute(const char *key, qint64 value) // 64-bit integers are strings in OTLP/JSON
{
    return Json{{"key", key}, {"value", Json{{"intValue", std::to_string(value)}}}};
}

std::string nanoseconds(Clock::Wall time)
{
    return std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

class OtlpWriter
{
public:
    OtlpWriter(RunId run, const ExportSink &sink) : m_run(std::move(run)), m_sink(sink), m_trace(sha256Hex(m_run.value()).left(32)) {}

    Result<void> begin()
    {
        return m_sink(QByteArrayLiteral("{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\",\"value\":{\"stringValue\":\"paddock\"}}]},"
                                        "\"scopeSpans\":[{\"scope\":{\"name\":\"paddock\"},\"spans\":["));
    }
    Result<void> take(const Event &event)
    {
        m_last = event.time;
        std::visit([&](const auto &body) { on(event, body); }, event.body);
        return std::exchange(m_result, {});
    }
    /// What never ended is closed at the last event's time; turns, which have no event of their own, get their spans.
    Result<void> end()
    {
        for (const QString &key : m_open.keys())
            close(key, m_last, {}, QStringLiteral("not ended"));
        for (const auto &[id, turn] : m_parents) {
            if (!m_written.contains(id) && turn.used)
                write(Open{QStringLiteral("turn"), id, turn.agent, turn.start}, turn.end, {});
        }
        if (!m_result)
            return m_result;
        return m_sink(QByteArrayLiteral("]}]}]}\n"));
    }

private:
    struct Open {
        QString name;
        QString id;
        QString parent;
        Clock::Wall start;
        int kind = spanKindInternal;
        Json attributes = Json::array();
    };

    /// What is known of a span through those in it.
    struct Parent {
        QString agent; ///< id of the agent's span
        Clock::Wall start = Clock::Wall::max();
        Clock::Wall end = Clock::Wall::min();
        bool used = false;
    };

    QString derivedId(const QString &key) const { return sha256Hex(m_run.value() + QLatin1Char('/') + key).left(16); }
    QString idOf(const Event &event, const QString &key) const
    {
        return event.span ? QStringLiteral("%1").arg(event.span, 16, 16, QLatin1Char('0')) : derivedId(key);
    }
    QString agentOf(const Event &event) const
    {
        const auto agent = m_open.constFind(QStringLiteral("agent/") + event.agent.value());
        return agent == m_open.constEnd() ? derivedId(QStringLiteral("run")) : agent->id;
    }
    QString parentOf(const Event &event)
    {
        if (!event.parent)
            return agentOf(event);
        const QString id = QStringLiteral("%1").arg(event.parent, 16, 16, QLatin1Char('0'));
        m_parents.try_emplace(id, Parent{agentOf(event)});
        return id;
    }

    void open(const QString &key, Open span) { m_open.insert(key, std::move(span)); }
    void close(const QString &key, Clock::Wall end, const Json &more, const std::optional<QString> &error)
    {
        const auto found = m_open.find(key);
        if (found == m_open.end())
            return;
        Open span = std::move(*found);
        m_open.erase(found);
        for (const Json &entry : more)
            span.attributes.push_back(entry);
        write(span, end, error);
    }
    void write(const Open &span, Clock::Wall end, const std::optional<QString> &error)
    {
        m_written.insert(span.id);
        if (const auto parent = m_parents.find(span.parent); parent != m_parents.end()) {
            parent->second.start = std::min(parent->second.start, span.start);
            parent->second.end = std::max(parent->second.end, end);
            parent->second.used = true;
        }
        Json json{{"traceId", toUtf8(m_trace)}, {"spanId", toUtf8(span.id)}};
        if (!span.parent.isEmpty())
            json["parentSpanId"] = toUtf8(span.parent);
        json["name"] = toUtf8(span.name);
        json["kind"] = span.kind;
        json["startTimeUnixNano"] = nanoseconds(span.start);
        json["endTimeUnixNano"] = nanoseconds(end);
        json["attributes"] = span.attributes;
        if (error)
            json["status"] = Json{{"code", statusError}, {"message", toUtf8(*error)}};
        QByteArray text = m_first ? QByteArray() : QByteArrayLiteral(",\n");
        m_first = false;
        text += dumpJson(json);
        if (auto written = m_sink(text); !written && m_result)
            m_result = written;
    }

    template<typename T> void on(const Event &, const T &) {}

    void on(const Event &event, const RunStarted &body)
    {
        Open span{QStringLiteral("run"), derivedId(QStringLiteral("run")), {}, event.time};
        span.attributes = {attribute("paddock.run.id", m_run.value()), attribute("paddock.thread.id", body.thread),
                           attribute("paddock.sandbox", body.sandbox), attribute("gen_ai.request.model", body.model)};
        open(QStringLiteral("run"), std::move(span));
    }
    void on(const Event &event, const RunFinished &body)
    {
        close(QStringLiteral("run"), event.time, Json{attribute("paddock.status", body.status)},
              body.status == u"completed" ? std::nullopt : std::optional(body.error.value_or(body.status)));
    }
    void on(const Event &event, const AgentStarted &body)
    {
        const QString key = QStringLiteral("agent/") + event.agent.value();
        const auto parent = m_open.constFind(QStringLiteral("agent/") + body.parent);
        QString parentId = parent == m_open.constEnd() ? derivedId(QStringLiteral("run")) : parent->id;
        if (event.parent)
            parentId = parentOf(event);
        Open span{QStringLiteral("invoke_agent ") + event.agent.value(), idOf(event, key), parentId, event.time};
        span.attributes = {attribute("gen_ai.operation.name", QStringLiteral("invoke_agent")), attribute("gen_ai.agent.id", event.agent.value()),
                           attribute("gen_ai.agent.name", body.subagentType), attribute("gen_ai.request.model", body.model),
                           attribute("gen_ai.agent.description", body.description)};
        open(key, std::move(span));
    }
    void on(const Event &event, const AgentFinished &body)
    {
        close(QStringLiteral("agent/") + event.agent.value(), event.time,
              Json{attribute("paddock.status", body.status), attribute("paddock.turns", qint64(body.turns)),
                   attribute("gen_ai.usage.input_tokens", body.usage.input), attribute("gen_ai.usage.output_tokens", body.usage.output)},
              body.status == u"completed" ? std::nullopt : std::optional(body.error.value_or(body.status)));
    }
    QString modelKey(const Event &event) const { return QStringLiteral("model/") + event.agent.value(); }
    void on(const Event &event, const ModelRequested &body)
    {
        const QString key = modelKey(event);
        close(key, event.time, {}, QStringLiteral("not answered"));
        Open span{QStringLiteral("chat ") + body.model, idOf(event, key + QLatin1Char('/') + QString::number(event.seq)), parentOf(event), event.time, spanKindClient};
        span.attributes = {attribute("gen_ai.operation.name", QStringLiteral("chat")), attribute("gen_ai.request.model", body.model),
                           attribute("paddock.turn", qint64(body.turn)), attribute("paddock.messages", qint64(body.messages))};
        open(key, std::move(span));
    }
    void on(const Event &event, const ModelResponded &body)
    {
        Json reasons{{"key", "gen_ai.response.finish_reasons"},
                     {"value", Json{{"arrayValue", Json{{"values", Json::array({Json{{"stringValue", toUtf8(body.finishReason)}}})}}}}}};
        close(modelKey(event), event.time,
              Json::array({attribute("gen_ai.usage.input_tokens", body.usage.input), attribute("gen_ai.usage.output_tokens", body.usage.output), std::move(reasons)}),
              std::nullopt);
    }
    void on(const Event &event, const ModelFailed &body)
    {
        close(modelKey(event), event.time, Json::array({attribute("error.type", body.errorClass)}), body.error);
    }
    void on(const Event &event, const ToolStarted &body)
    {
        const QString key = QStringLiteral("tool/") + event.agent.value() + QLatin1Char('/') + body.call;
        Open span{QStringLiteral("execute_tool ") + body.name, idOf(event, key + QLatin1Char('/') + QString::number(event.seq)), parentOf(event), event.time};
        span.attributes = {attribute("gen_ai.operation.name", QStringLiteral("execute_tool")), attribute("gen_ai.tool.name", body.name),
                           attribute("gen_ai.tool.call.id", body.call)};
        open(key, std::move(span));
    }
    void on(const Event &event, const ToolFinished &body)
    {
        close(QStringLiteral("tool/") + event.agent.value() + QLatin1Char('/') + body.call, event.time,
              Json::array({attribute("paddock.status", body.status), attribute("paddock.bytes", body.bytes)}),
              body.status == u"success" ? std::nullopt : std::optional(body.status));
    }
    void on(const Event &event, const ShellCommandStarted &body)
    {
        Open span{QStringLiteral("shell command"), idOf(event, QStringLiteral("shell/") + body.commandId), parentOf(event), event.time};
        span.attributes = {attribute("process.command_line", body.command), attribute("paddock.scope", body.scope), attribute("paddock.session", body.session)};
        open(QStringLiteral("shell/") + body.commandId, std::move(span));
    }
    void on(const Event &event, const ShellCommandFinished &body)
    {
        Json more = Json::array({attribute("paddock.status", body.status), attribute("paddock.bytes", body.bytes)});
        if (body.exitCode)
            more.push_back(attribute("process.exit.code", qint64(*body.exitCode)));
        close(QStringLiteral("shell/") + body.commandId, event.time, more,
              body.status == u"completed" ? std::nullopt : std::optional(body.status));
    }
    void on(const Event &event, const MiddlewareSpan &body)
    {
        const Clock::Wall start = event.time - (event.mono - std::chrono::microseconds(body.startUs)); // monotonic to wall
        Open span{body.name + QLatin1Char('.') + body.hook, idOf(event, QStringLiteral("middleware/") + QString::number(event.seq)), parentOf(event), start};
        span.attributes = {attribute("paddock.middleware", body.name), attribute("paddock.hook", body.hook), attribute("paddock.turn", qint64(body.turn)),
                           attribute("paddock.messages.added", qint64(body.added)), attribute("paddock.messages.removed", qint64(body.removed)),
                           attribute("paddock.messages.edited", qint64(body.edited)), attribute("paddock.tokens", body.tokens)};
        write(span, start + std::chrono::microseconds(body.durationUs), body.error);
    }

    RunId m_run;
    const ExportSink &m_sink;
    QString m_trace;
    QHash<QString, Open> m_open;
    QSet<QString> m_written;
    std::map<QString, Parent> m_parents; ///< by span id
    Clock::Wall m_last{};
    bool m_first = true;
    Result<void> m_result;
};

} // namespace

Result<void> exportOtlp(JournalReader &reader, const RunId &run, const ExportSink &sink)
{
    OtlpWriter writer(run, sink);
    Seq after = 0;
    qint64 eventsRead = 0;
    bool holed = false;
    for (bool first = true;; first = false) {
        const auto page = reader.events(run, after);
        if (!page)
            return fail(page.error());
        if (first) {
            if (auto begun = writer.begin(); !begun)
                return begun;
        }
        eventsRead += qint64(page->events.size());
        holed = holed || page->holed;
        for (const StoredEvent &stored : page->events) {
            after = stored.event->seq;
            if (auto taken = writer.take(*stored.event); !taken)
                return taken;
        }
        if (page->more)
            continue;
        if (auto ended = writer.end(); !ended || !holed)
            return ended;
        return fail(reader.holesIn(run, eventsRead));
    }
}

} // namespace paddock
