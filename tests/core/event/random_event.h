// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/event/event.h"
#include "core/event/field_mapper.h"

#include <random>

namespace paddock::test {

/// Fills any event with values that are hard to carry: quotes, line breaks, astral characters, largest numbers, absent
/// and empty optionals. A visitor of the field mapper, so a new field is covered without a change here.
class RandomFields
{
public:
    explicit RandomFields(quint32 seed) : m_random(seed) {}

    QString string()
    {
        static const QStringList pieces = {QString(), QStringLiteral("a"), QStringLiteral("\"quoted\" \\ back"), QStringLiteral("line\nbreak\r\n\t"),
                                           QString::fromUtf8("\xF0\x9F\x98\x80\xE4\xB8\xAD"), QString(QChar(0)) + QStringLiteral("nul"),
                                           QStringLiteral("\u2028\u0085"), QStringLiteral("{\"json\": [1]}"), QString(300, QLatin1Char('x'))};
        return pieces.at(number(pieces.size())) + pieces.at(number(pieces.size()));
    }
    qint64 number(qint64 below) { return qint64(m_random() % quint64(below)); }
    qint64 integer()
    {
        static const qint64 interesting[] = {0, 1, -1, 42, std::numeric_limits<qint64>::max(), std::numeric_limits<qint64>::min(), 1LL << 53};
        return interesting[number(std::size(interesting))];
    }

    void operator()(const char *, QString &v) { v = string(); }
    void operator()(const char *, QStringList &v)
    {
        for (qint64 n = number(4); n > 0; --n)
            v.append(string());
    }
    void operator()(const char *, int &v) { v = int(number(2) ? number(1000) : -number(1000)); }
    void operator()(const char *, qint64 &v) { v = integer(); }
    void operator()(const char *, bool &v) { v = number(2); }
    void operator()(const char *, Json &v)
    {
        v = Json{{"b", toJson(string())}, {"a", Json::array({integer(), 1.5, nullptr, true})}, {"nested", Json{{"x", toJson(string())}}}};
    }
    void operator()(const char *, Usage &v) { v = {number(100), number(100), number(100), number(3), number(3), number(3)}; }
    void operator()(const char *, MessagePtr &v)
    {
        if (number(3) == 0)
            return;
        v = edited(aiMessage(string()), [this](Message &m) {
            m.id = string();
            m.toolCalls = {{string(), Json{{"command", toJson(string())}}, string()}};
            m.usage = Usage{number(9), number(9), number(9)};
        });
    }
    template<typename T>
    void operator()(const char *name, std::optional<T> &v)
    {
        if (number(2))
            (*this)(name, v.emplace());
    }

    /// An event of the given alternative of the variant.
    template<std::size_t I>
    Event make()
    {
        using Body = std::variant_alternative_t<I, EventBody>;
        Event event;
        event.seq = Seq(1 + number(1'000'000));
        event.time = Clock::Wall(std::chrono::microseconds(1'700'000'000'000'000 + number(1'000'000'000'000)));
        event.mono = std::chrono::microseconds(number(1'000'000'000));
        event.run = RunId(QStringLiteral("run-%1").arg(number(10)));
        event.agent = number(2) ? leadAgent() : subagentAgent(string());
        event.span = SpanId(number(100));
        event.parent = SpanId(number(100));
        Body body{};
        if constexpr (std::is_same_v<Body, UnknownEvent>) {
            body.type = QStringLiteral("future.kind");
            body.fields = Json{{"z", 1}, {"a", Json{{"deep", toJson(string())}}}};
        } else if constexpr (std::is_same_v<Body, MiddlewareSpan>) {
            fillSpan(body);
        } else {
            mapFields(*this, body);
        }
        event.body = std::move(body);
        return event;
    }

private:
    void fillSpan(MiddlewareSpan &span)
    {
        span.name = string();
        span.hook = QStringLiteral("wrap_model_call");
        span.turn = int(number(50));
        span.index = int(number(30));
        span.startUs = number(1'000'000);
        span.durationUs = number(1'000'000);
        span.call = string();
        span.added = int(number(5));
        span.removed = int(number(5));
        span.edited = int(number(5));
        (*this)("", span.stateKeys);
        span.tokens = integer();
        span.persistent = number(2);
        for (qint64 n = number(4); n > 0; --n)
            span.changes.push_back({QStringLiteral("edited"), int(number(9)), int(number(9)), string(), string(), string()});
        (*this)("", span.error);
    }

    std::mt19937 m_random;
};

} // namespace paddock::test
