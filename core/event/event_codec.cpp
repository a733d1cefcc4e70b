// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/event/event_codec.h"

#include "core/event/field_mapper.h"

#include <algorithm>
#include <limits>

namespace paddock {

namespace {

constexpr int formatVersion = 1;
constexpr int maxEventDepth = 256;

struct Writer {
    Json out = Json::object();
    void operator()(const char *name, QString &v) { out[name] = toUtf8(v); }
    void operator()(const char *name, QStringList &v) { out[name] = namesToJson(v); }
    void operator()(const char *name, int &v) { out[name] = v; }
    void operator()(const char *name, qint64 &v) { out[name] = v; }
    void operator()(const char *name, bool &v) { out[name] = v; }
    void operator()(const char *name, Json &v) { out[name] = v; }
    void operator()(const char *name, Usage &v) { out[name] = usageToJson(v); }
    void operator()(const char *name, MessagePtr &v)
    {
        if (v)
            out[name] = messageToJson(*v);
    }
    template<typename T>
    void operator()(const char *name, std::optional<T> &v)
    {
        if (v)
            (*this)(name, *v);
    }
};

struct Reader {
    const Json &in;
    void operator()(const char *name, QString &v) const { v = stringOf(in, name, v); }
    void operator()(const char *name, QStringList &v) const
    {
        for (const Json &item : memberOf(in, name))
            v.append(textOf(item));
    }
    void operator()(const char *name, int &v) const
    {
        v = int(std::clamp<qint64>(intOf(in, name, v), std::numeric_limits<int>::min(), std::numeric_limits<int>::max()));
    }
    void operator()(const char *name, qint64 &v) const { v = intOf(in, name, v); }
    void operator()(const char *name, bool &v) const { v = boolOf(in, name, v); }
    void operator()(const char *name, Json &v) const { v = memberOf(in, name); }
    void operator()(const char *name, Usage &v) const { v = usageFromJson(memberOf(in, name)); }
    void operator()(const char *name, MessagePtr &v) const
    {
        const Json &member = memberOf(in, name);
        if (!member.is_object())
            return;
        if (auto message = messageFromJson(member))
            v = makeMessage(std::move(*message));
    }
    template<typename T>
    void operator()(const char *name, std::optional<T> &v) const
    {
        if (memberOf(in, name).is_null())
            return;
        T value{};
        (*this)(name, value);
        v = std::move(value);
    }
};

Json spanFields(const MiddlewareSpan &e)
{
    Json edits = Json::array();
    for (const SpanChange &c : e.changes)
        edits.push_back(Json{{"kind", toUtf8(c.kind)}, {"before", c.before}, {"after", c.after}, {"id", toUtf8(c.messageId)},
                             {"before_hash", toUtf8(c.beforeHash)}, {"after_hash", toUtf8(c.afterHash)}});
    Json out{{"name", toUtf8(e.name)}, {"hook", toUtf8(e.hook)}, {"turn", e.turn}, {"index", e.index}, {"start_us", e.startUs},
             {"duration_us", e.durationUs},
             {"changes", Json{{"added", e.added}, {"removed", e.removed}, {"edited", e.edited},
                              {"state_keys", namesToJson(e.stateKeys)}, {"tokens", e.tokens}}},
             {"persistent", e.persistent}};
    if (!e.call.isEmpty())
        out["call"] = toUtf8(e.call);
    if (!edits.empty())
        out["edits"] = std::move(edits);
    if (e.error)
        out["error"] = toUtf8(*e.error);
    return out;
}

MiddlewareSpan spanFromFields(const Json &in)
{
    MiddlewareSpan e;
    const Reader r{in};
    r("name", e.name);
    r("hook", e.hook);
    r("turn", e.turn);
    r("index", e.index);
    r("start_us", e.startUs);
    r("duration_us", e.durationUs);
    r("call", e.call);
    r("persistent", e.persistent);
    r("error", e.error);
    const Reader changes{memberOf(in, "changes")};
    changes("added", e.added);
    changes("removed", e.removed);
    changes("edited", e.edited);
    changes("state_keys", e.stateKeys);
    changes("tokens", e.tokens);
    for (const Json &edit : memberOf(in, "edits")) {
        SpanChange c;
        const Reader er{edit};
        er("kind", c.kind);
        er("before", c.before);
        er("after", c.after);
        er("id", c.messageId);
        er("before_hash", c.beforeHash);
        er("after_hash", c.afterHash);
        e.changes.push_back(std::move(c));
    }
    return e;
}

template<std::size_t I = 0>
bool readBody(const QString &type, const Json &fields, EventBody &out)
{
    if constexpr (I < std::variant_size_v<EventBody>) {
        using T = std::variant_alternative_t<I, EventBody>;
        if constexpr (std::is_same_v<T, UnknownEvent>) {
            return false;
        } else {
            if (eventType(EventBody(std::in_place_index<I>)) == type) {
                if constexpr (std::is_same_v<T, MiddlewareSpan>) {
                    out = spanFromFields(fields);
                } else {
                    T body;
                    Reader reader{fields};
                    mapFields(reader, body);
                    out = std::move(body);
                }
                return true;
            }
            return readBody<I + 1>(type, fields, out);
        }
    } else {
        return false;
    }
}

} // namespace

Json eventFields(const EventBody &body)
{
    return std::visit([](const auto &b) -> Json {
        using T = std::decay_t<decltype(b)>;
        if constexpr (std::is_same_v<T, UnknownEvent>) {
            return b.fields;
        } else if constexpr (std::is_same_v<T, MiddlewareSpan>) {
            return spanFields(b);
        } else {
            Writer writer;
            T copy = b; // one mapper serves both directions, so it takes mutable fields
            mapFields(writer, copy);
            return std::move(writer.out);
        }
    }, body);
}

Result<EventBody> eventBodyFromFields(const QString &type, const Json &fields)
{
    EventBody body;
    if (!fields.is_object())
        return fail(ErrorCode::InvalidArgument, QStringLiteral("The fields of an event must be an object"));
    if (!readBody(type, fields, body))
        body = UnknownEvent{type, fields};
    return body;
}

QByteArray encodeEvent(const Event &event)
{
    return encodeEvent(event, eventFields(event.body));
}

QByteArray encodeEvent(const Event &event, const Json &fields)
{
    Json line{{"v", formatVersion}, {"seq", event.seq}, {"t", toUtf8(formatWall(event.time))}, {"mono_us", event.mono.count()},
              {"run", toUtf8(event.run.value())}, {"agent", toUtf8(event.agent.value())}};
    if (event.span)
        line["span"] = event.span;
    if (event.parent)
        line["parent_span"] = event.parent;
    line["type"] = toUtf8(eventType(event.body));
    for (auto it = fields.begin(); it != fields.end(); ++it)
        line[it.key()] = it.value();
    return dumpJson(line);
}

Json fieldsOfLine(Json line)
{
    for (const char *key : {"v", "seq", "t", "mono_us", "type"})
        line.erase(key);
    // An unknown type may use these names for something else; then they are its fields and survive.
    for (const char *key : {"run", "agent"}) {
        if (memberOf(line, key).is_string())
            line.erase(key);
    }
    for (const char *key : {"span", "parent_span"}) {
        if (memberOf(line, key).is_number_unsigned())
            line.erase(key);
    }
    return line;
}

Result<Event> decodeEvent(const QByteArray &line)
{
    auto json = parseJson(line, maxEventDepth);
    if (!json)
        return fail(json.error());
    if (!json->is_object())
        return fail(ErrorCode::InvalidArgument, QStringLiteral("An event must be a JSON object"));
    if (intOf(*json, "v") != formatVersion)
        return fail(ErrorCode::Unsupported, QStringLiteral("The event has format version %1; this program reads version %2")
                                                .arg(QString::fromUtf8(dumpJson(memberOf(*json, "v")))).arg(formatVersion));
    const QString type = stringOf(*json, "type");
    if (type.isEmpty())
        return fail(ErrorCode::InvalidArgument, QStringLiteral("The event has no type"));
    Event event;
    event.seq = Seq(std::max<qint64>(0, intOf(*json, "seq")));
    const auto time = parseWall(stringOf(*json, "t"));
    if (!time)
        return fail(ErrorCode::InvalidArgument, QStringLiteral("The event has no valid time"));
    event.time = *time;
    event.mono = std::chrono::microseconds(intOf(*json, "mono_us"));
    event.run = RunId(stringOf(*json, "run"));
    event.agent = AgentId(stringOf(*json, "agent"));
    event.span = SpanId(std::max<qint64>(0, intOf(*json, "span")));
    event.parent = SpanId(std::max<qint64>(0, intOf(*json, "parent_span")));
    Json fields = fieldsOfLine(*json);
    auto body = eventBodyFromFields(type, fields);
    if (!body)
        return fail(body.error());
    event.body = std::move(*body);
    return event;
}

} // namespace paddock
