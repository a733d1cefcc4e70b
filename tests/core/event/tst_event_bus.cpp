// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/event/event_bus.h"
#include "tests/support/test_main.h"

#include <QSemaphore>
#include <QTest>

#include <atomic>
#include <thread>

namespace tst_event_bus {

using namespace paddock;

namespace {

const RunId run{QStringLiteral("r")};

EventBody delta(const QString &text, int turn = 1, bool reasoning = false)
{
    return ModelDelta{turn, text, reasoning};
}

EventBody state(int n)
{
    return AgentQueued{n};
}

} // namespace

class TestEventBus : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void ordersManyProducers()
    {
        static constexpr int producers = 8;
        static constexpr int each = 5000;
        const auto bus = std::make_shared<EventBus>(Clock::system(), 100);
        const auto first = bus->subscribe();
        const auto second = bus->subscribe();
        std::vector<std::thread> threads;
        for (int p = 0; p < producers; ++p) {
            threads.emplace_back([&, p] {
                for (int i = 0; i < each; ++i)
                    bus->append(run, subagentAgent(QString::number(p)), state(i));
            });
        }
        std::vector<std::shared_ptr<const Event>> got;
        while (got.size() < producers * each) { // drained while they produce
            for (auto &event : first->drain(1000))
                got.push_back(std::move(event));
        }
        for (auto &thread : threads)
            thread.join();
        QHash<QString, int> next;
        Seq seq = 100;
        std::chrono::microseconds mono{0};
        for (const auto &event : got) {
            QCOMPARE(event->seq, seq++); // no gap, no repetition
            QVERIFY(event->mono >= mono);
            mono = event->mono;
            QCOMPARE(std::get<AgentQueued>(event->body).position, next[event->agent.value()]++); // each producer's own order
        }
        QVERIFY(second->drain() == got); // the very same events
        QCOMPARE(bus->lastSeq(), seq - 1);
    }

    void wakesOnceWhenItBecomesNonEmpty()
    {
        const auto bus = std::make_shared<EventBus>();
        const auto queue = bus->subscribe();
        int wakes = 0;
        queue->setWakeup([&wakes] { ++wakes; });
        QCOMPARE(wakes, 0);
        bus->append(run, leadAgent(), state(1));
        bus->append(run, leadAgent(), state(2));
        QCOMPARE(wakes, 1);
        QCOMPARE(queue->drain(1).size(), std::size_t(1));
        QCOMPARE(queue->pending(), 1);
        bus->append(run, leadAgent(), state(3));
        QCOMPARE(wakes, 1); // was not empty
        QCOMPARE(queue->drain().size(), std::size_t(2));
        bus->append(run, leadAgent(), state(4));
        QCOMPARE(wakes, 2);
        int late = 0;
        queue->setWakeup([&late] { ++late; }); // something waits already
        QCOMPARE(late, 1);
    }

    void wakeupMayUseTheBus() // no lock is held
    {
        const auto bus = std::make_shared<EventBus>();
        const auto queue = bus->subscribe();
        std::vector<std::shared_ptr<const Event>> got;
        bool answered = false;
        queue->setWakeup([&] {
            for (auto &event : queue->drain())
                got.push_back(std::move(event));
            if (!std::exchange(answered, true))
                bus->append(run, leadAgent(), state(2));
            (void)bus->subscribe();
            (void)bus->lastSeq();
        });
        bus->append(run, leadAgent(), state(1));
        QCOMPARE(got.size(), std::size_t(2));
    }

    void joinsDeltasAboveTheLimit()
    {
        const auto bus = std::make_shared<EventBus>();
        const auto queue = bus->subscribe(4);
        const AgentId a = subagentAgent(QStringLiteral("a"));
        const AgentId b = subagentAgent(QStringLiteral("b"));
        for (int i = 0; i < 4; ++i)
            bus->append(run, a, state(i));
        bus->append(run, a, delta(QStringLiteral("1")));
        bus->append(run, b, delta(QStringLiteral("x")));
        bus->append(run, a, delta(QStringLiteral("2"))); // joins its own, across another agent's
        bus->append(run, b, delta(QStringLiteral("y")));
        bus->append(run, a, delta(QStringLiteral("3"), 2)); // another turn
        bus->append(run, a, delta(QStringLiteral("4"), 2, true)); // thinking
        bus->append(run, a, state(9));
        bus->append(run, a, delta(QStringLiteral("5"), 2, true)); // not across a state change
        const auto events = queue->drain();
        QStringList shown;
        for (const auto &event : events) {
            if (const auto *d = std::get_if<ModelDelta>(&event->body))
                shown += event->agent.value().right(1) + QLatin1Char(':') + d->text;
            else
                shown += QStringLiteral("s");
        }
        QCOMPARE(shown.join(QLatin1Char(' ')), QStringLiteral("s s s s a:12 b:xy a:3 a:4 s a:5"));
        QCOMPARE(queue->coalesced(), quint64(2));
        // What was drained does not grow afterwards.
        for (int i = 0; i < 4; ++i)
            bus->append(run, a, state(i));
        bus->append(run, a, delta(QStringLiteral("6"), 2, true));
        QCOMPARE(std::get<ModelDelta>(events.back()->body).text, QStringLiteral("5"));
    }

    void neverDropsStateChangesNorText()
    {
        const auto bus = std::make_shared<EventBus>();
        const auto queue = bus->subscribe(100);
        const auto whole = bus->subscribe();
        QString sent;
        for (int i = 0; i < 20000; ++i) {
            if (i % 50 == 0) {
                bus->append(run, leadAgent(), state(i));
            } else {
                sent += QString::number(i);
                bus->append(run, leadAgent(), delta(QString::number(i)));
            }
        }
        QString got;
        int states = 0;
        for (const auto &event : queue->drain()) {
            if (const auto *d = std::get_if<ModelDelta>(&event->body))
                got += d->text;
            else
                ++states;
        }
        QCOMPARE(got, sent);
        QCOMPARE(states, 400);
        QVERIFY(queue->coalesced() > 15000);
        QCOMPARE(whole->pending(), 20000); // another queue is not affected
    }

    void subscribersMayDieAtAnyTime()
    {
        const auto bus = std::make_shared<EventBus>();
        std::atomic<bool> stop = false;
        std::vector<std::thread> threads;
        for (int t = 0; t < 3; ++t) {
            threads.emplace_back([&] {
                while (!stop) {
                    const auto queue = bus->subscribe(10);
                    // The wake-up owns something that talks to the bus when it goes.
                    queue->setWakeup([guard = std::shared_ptr<void>(nullptr, [bus](void *) { (void)bus->lastSeq(); })] {});
                    (void)queue->drain();
                }
            });
        }
        for (int i = 0; i < 20000; ++i)
            bus->append(run, leadAgent(), state(i));
        stop = true;
        for (auto &thread : threads)
            thread.join();
        QCOMPARE(bus->lastSeq(), Seq(20000));
    }

    void replayKeepsNumbers()
    {
        const auto bus = std::make_shared<EventBus>();
        const auto queue = bus->subscribe();
        auto old = std::make_shared<Event>();
        old->seq = 500;
        old->run = run;
        old->body = state(1);
        bus->replay(old);
        QCOMPARE(bus->append(run, leadAgent(), state(2)), Seq(501));
        QCOMPARE(queue->drain().front()->seq, Seq(500));
    }

    void sinkSpeaksForItsAgent()
    {
        const auto bus = std::make_shared<EventBus>();
        const auto queue = bus->subscribe();
        const EventSink lead(bus, run, leadAgent());
        const SpanId span = lead.newSpan();
        lead.withAgent(subagentAgent(QStringLiteral("t"))).withParent(span).emitEvent(state(1));
        const auto event = queue->drain().front();
        QCOMPARE(event->agent.value(), QStringLiteral("subagent:t"));
        QCOMPARE(event->parent, span);
        QVERIFY(lead.newSpan() != span);
        QCOMPARE(EventSink().emitEvent(state(1)), Seq(0));
    }
};

} // namespace tst_event_bus

PADDOCK_TEST(tst_event_bus, TestEventBus)
#include "tst_event_bus.moc"
