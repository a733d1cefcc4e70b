// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/async.h"
#include "core/middleware/chain_build.h"
#include "core/middleware/llm_error_handling.h"
#include "tests/core/middleware/chain_fixture.h"
#include "tests/support/test_main.h"

#include <QElapsedTimer>
#include <QTest>
#include <QTimer>

namespace tst_llm_calls {

using namespace paddock;
using namespace paddock::test;
using namespace std::chrono_literals;

namespace {

using Options = LlmErrorHandlingMiddleware::Options;
using Phase = LlmCircuit::Phase;
const LlmCircuitOptions atOnce{1, 60s};

Error providerFailure(const char *cls, int status, Json headers = Json::object())
{
    return {ErrorCode::Unavailable, QStringLiteral("the provider is down, key sk-abcdefghijklmnopqrstuvwx"),
            Json{{"cls", cls}, {"status", status}, {"headers", std::move(headers)}}, nullptr};
}

Error unavailable()
{
    return providerFailure("InternalServerError", 503);
}

Task<Result<ModelResponse>> resulting(Result<ModelResponse> result)
{
    co_return result;
}

/// Fails `times` times, then answers; remembers what it was sent.
struct Flaky {
    int times = 0;
    Error error = unavailable();
    std::vector<MessageList> seen;
};

ModelNext flaky(const std::shared_ptr<Flaky> &how)
{
    return [how](ModelCall call) {
        how->seen.push_back(call.request.messages);
        return int(how->seen.size()) <= how->times ? resulting(std::unexpected(how->error)) : responding(aiMessage(QStringLiteral("fine")));
    };
}

Options quick(Options options = {})
{
    if (!options.circuits)
        options.circuits = std::make_shared<LlmCircuitTable>();
    if (!options.limiter)
        options.limiter = std::make_shared<CallLimiter>(1);
    options.draw = [](RetryWindow) { return 1ms; };
    return options;
}

std::shared_ptr<Chain> chainWith(const Options &options, std::vector<MiddlewarePtr> inner = {})
{
    inner.insert(inner.begin(), std::make_shared<LlmErrorHandlingMiddleware>(options));
    auto chain = Chain::compile(std::move(inner));
    if (!chain)
        qFatal("%s", qPrintable(chain.error().message));
    return *chain;
}

QString reasonOf(const Result<ModelResponse> &result)
{
    if (!result)
        return result.error().isCancelled() ? QStringLiteral("cancelled") : QStringLiteral("error");
    return stringOf(result->messages.front()->kwargs, "error_reason", QStringLiteral("ok"));
}

Task<Result<ModelResponse>> throwing(ModelCall, ModelNext)
{
    throw std::runtime_error("the member broke");
    co_return ModelResponse{};
}

Task<Result<ModelResponse>> hanging(std::shared_ptr<int> started, ModelCall call)
{
    ++*started;
    co_await untilStopped(call.stop);
    co_return cancelled();
}

/// Takes a place, reports it and holds it until told.
Task<> holdPlace(std::shared_ptr<CallLimiter> limiter, QString name, std::shared_ptr<QStringList> log, std::stop_token stop,
                 Completion<void> release)
{
    const CallLimiter::Permit permit = co_await limiter->take(stop);
    log->append(permit ? name : name + QStringLiteral(" stopped"));
    if (permit)
        co_await release;
}

} // namespace

class TestLlmCalls : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    // --- the member in a chain ---------------------------------------------------------------------------------------
    void bothAttemptsSeeTheSame()
    {
        const auto provider = std::make_shared<Flaky>();
        provider->times = 1;
        const auto inner = member("Inner");
        const auto runs = std::make_shared<int>(0);
        inner->wrapModel = [runs](ModelCall call, ModelNext next) {
            ++*runs;
            call.request.messages.append(humanMessage(QStringLiteral("added")));
            return next(std::move(call));
        };
        const MessageList sent{humanMessage(QStringLiteral("task"))};
        const auto result = awaited(chainWith(quick(), {inner})->runModel(modelCall(runtimeOn(nullptr), sent), flaky(provider)));
        QCOMPARE(reasonOf(result), QStringLiteral("ok"));
        QCOMPARE(*runs, 2);
        QCOMPARE(provider->seen.size(), 2u);
        QCOMPARE(provider->seen[0].size(), 2);
        QCOMPARE(textOf(provider->seen[0].at(1)), textOf(provider->seen[1].at(1)));
    }

    void endsOfACall_data()
    {
        QTest::addColumn<int>("times");
        QTest::addColumn<QString>("cls");
        QTest::addColumn<int>("status");
        QTest::addColumn<QString>("reason");
        QTest::addColumn<int>("calls");
        QTest::newRow("good") << 0 << "X" << 0 << "ok" << 1;
        QTest::newRow("recovers") << 2 << "X" << 503 << "ok" << 3;
        QTest::newRow("given up") << 9 << "X" << 503 << "transient" << 3;
        QTest::newRow("stream drop") << 9 << "StreamChunkTimeoutError" << 0 << "transient" << 2;
        QTest::newRow("not worth another try") << 9 << "X" << 400 << "generic" << 1;
    }
    void endsOfACall()
    {
        QFETCH(int, times);
        QFETCH(QString, cls);
        QFETCH(int, status);
        QFETCH(QString, reason);
        QFETCH(int, calls);
        const auto provider = std::make_shared<Flaky>();
        provider->times = times;
        provider->error = providerFailure(cls.toUtf8().constData(), status);
        const auto result = awaited(chainWith(quick())->runModel(modelCall(runtimeOn(nullptr)), flaky(provider)));
        QCOMPARE(reasonOf(result), reason);
        QCOMPARE(int(provider->seen.size()), calls);
        QVERIFY(result->messages.front()->toolCalls.empty());
        // A key in the provider's text reaches neither the person nor the next request.
        QVERIFY(!QString::fromUtf8(dumpJson(messageToJson(*result->messages.front()))).contains(QStringLiteral("sk-abc")));
    }

    void aThrowingMemberBecomesAnAnswer()
    {
        const auto inner = member("Inner");
        inner->wrapModel = throwing;
        const auto result = awaited(chainWith(quick(), {inner})->runModel(modelCall(runtimeOn(nullptr)), modelSaying(QStringLiteral("x"))));
        QCOMPARE(reasonOf(result), QStringLiteral("generic"));
        QCOMPARE(stringOf(result->messages.front()->kwargs, "error_type"), QStringLiteral("runtime_error"));
        QVERIFY(textOf(result->messages.front()).contains(QStringLiteral("the member broke")));
    }

    void cancelledWhileItWaits()
    {
        Options options = quick({.circuit = atOnce});
        options.draw = [](RetryWindow) { return 60s; };
        const auto circuit = options.circuits->of({}, {});
        circuit->admit(0us)->fail(0us, atOnce); // open; the call below is the probe
        const auto provider = std::make_shared<Flaky>();
        provider->times = 9;
        std::stop_source stop;
        const RuntimePtr runtime = runtimeOn(nullptr, stop.get_token());
        struct Late : Clock {
            Wall wall() const override { return {}; }
            std::chrono::microseconds mono() const override { return 1h; }
        };
        runtime->clock = std::make_shared<Late>();
        QTimer::singleShot(20, this, [&stop, &options] {
            QCOMPARE(options.limiter->open(), 0); // a wait holds no place
            stop.request_stop();
        });
        QElapsedTimer timer;
        timer.start();
        const auto result = awaited(chainWith(options)->runModel(modelCall(runtime), flaky(provider)));
        QCOMPARE(reasonOf(result), QStringLiteral("cancelled"));
        QVERIFY(timer.elapsed() < 10'000);
        QCOMPARE(provider->seen.size(), 1u);
        QCOMPARE(circuit->phase(), Phase::HalfOpen);
        QVERIFY(circuit->admit(1h)); // the probe was given back
    }

    void cancelledInTheCallAndInTheQueue()
    {
        const Options options = quick();
        const auto chain = chainWith(options);
        std::stop_source stop;
        const RuntimePtr runtime = runtimeOn(nullptr, stop.get_token());
        const auto started = std::make_shared<int>(0);
        const ModelNext hang = [started](ModelCall call) { return hanging(started, std::move(call)); };
        std::vector<Task<Result<ModelResponse>>> tasks;
        for (int i = 0; i < 3; ++i)
            tasks.push_back(chain->runModel(modelCall(runtime), hang));
        QCOMPARE(options.limiter->waiting(), 2);
        QTimer::singleShot(5, this, [&stop] { stop.request_stop(); });
        for (const auto &result : awaited(whenAll(std::move(tasks))))
            QCOMPARE(reasonOf(result), QStringLiteral("cancelled"));
        QCOMPARE(*started, 1);
        QCOMPARE(options.limiter->open(), 0);
        QCOMPARE(options.limiter->waiting(), 0);
    }

    void tellsTheCoreWhetherThereIsAnotherTry()
    {
        const auto bus = std::make_shared<EventBus>();
        const auto queue = bus->subscribe();
        const auto waits = std::make_shared<std::vector<std::optional<std::chrono::milliseconds>>>();
        const ModelNext core = [waits](ModelCall call) {
            const Error error = providerFailure("X", 503, Json{{"retry-after-ms", waits->empty() ? 3 : 4}});
            waits->push_back(call.retryIn(error));
            return resulting(std::unexpected(error));
        };
        Options options = quick();
        options.retry.maxAttempts = 2;
        QCOMPARE(reasonOf(awaited(chainWith(options)->runModel(modelCall(runtimeOn(bus)), core))), QStringLiteral("transient"));
        QVERIFY(*waits == (std::vector<std::optional<std::chrono::milliseconds>>{3ms, std::nullopt}));
        QStringList logs;
        for (const auto &event : queue->drain()) {
            if (const auto *log = std::get_if<LogRecorded>(&event->body))
                logs << log->text;
        }
        QCOMPARE(logs, QStringList{QStringLiteral("LLM request retry 1/2: provider request failed temporarily. Retrying in 1s.")});
    }

    void oneCircuitForAllChainsOfAProvider()
    {
        Options options = quick({.circuit = atOnce});
        options.retry.maxAttempts = 1;
        const auto provider = std::make_shared<Flaky>();
        provider->times = 1;
        const auto ask = [&](const char *providerName) {
            ModelCall call = modelCall(runtimeOn(nullptr));
            call.request.provider = QString::fromLatin1(providerName);
            call.request.model = QStringLiteral("m");
            return reasonOf(awaited(chainWith(options)->runModel(std::move(call), flaky(provider)))); // a fresh chain each
        };
        QCOMPARE(ask("a"), QStringLiteral("transient"));
        QCOMPARE(ask("a"), QStringLiteral("circuit_open"));
        QCOMPARE(ask("b"), QStringLiteral("ok"));
    }

    void standsInBothChains()
    {
        const auto provider = std::make_shared<Flaky>();
        provider->times = 1;
        provider->error = providerFailure("X", 503, Json{{"retry-after-ms", 1}});
        ChainOptions options;
        options.dataDir = QStringLiteral("/srv/paddock");
        for (const auto &chain : {*buildSubagentChain(options), *buildLeadChain(options)}) {
            provider->seen.clear();
            QCOMPARE(reasonOf(awaited(chain->runModel(modelCall(runtimeOn(nullptr)), flaky(provider)))), QStringLiteral("ok"));
            QCOMPARE(provider->seen.size(), 2u);
        }
        options.llmRetry.maxAttempts = 1;
        provider->seen.clear();
        const auto once = *buildSubagentChain(options);
        QCOMPARE(reasonOf(awaited(once->runModel(modelCall(runtimeOn(nullptr)), flaky(provider)))), QStringLiteral("transient"));
    }

    // --- its parts ---------------------------------------------------------------------------------------------------
    void lateResultsDoNotChangeANewerCircuit_data()
    {
        QTest::addColumn<QString>("late");
        QTest::newRow("success") << "success";
        QTest::newRow("failure") << "failure";
        QTest::newRow("dropped") << "dropped";
    }
    void lateResultsDoNotChangeANewerCircuit()
    {
        QFETCH(QString, late);
        const auto circuit = std::make_shared<LlmCircuit>();
        auto old = circuit->admit(0s);
        circuit->admit(0s)->fail(0s, atOnce);
        QVERIFY(!circuit->admit(59s));
        {
            auto probe = circuit->admit(60s);
            QVERIFY(probe);
            QVERIFY(!circuit->admit(60s)); // one at a time
            if (late == u"success")
                QVERIFY(!old->succeed());
            else if (late == u"failure")
                QVERIFY(!old->fail(61s, atOnce));
            old.reset();
            QCOMPARE(circuit->phase(), Phase::HalfOpen);
            QVERIFY(!circuit->admit(61s)); // the probe is still its owner's
        }
        auto second = circuit->admit(61s); // which dropped it without a verdict
        QVERIFY(second);
        QVERIFY(second->succeed());
        QVERIFY(!second->fail(62s, atOnce)); // only the first end counts
        QCOMPARE(circuit->phase(), Phase::Closed);
    }

    void placesGoRoundInOrder()
    {
        const auto limiter = std::make_shared<CallLimiter>(1);
        const auto log = std::make_shared<QStringList>();
        std::stop_source stopsB;
        std::stop_source stopsC;
        Completion<void> releaseA, releaseC, releaseD;
        std::vector<Task<>> tasks;
        tasks.push_back(holdPlace(limiter, QStringLiteral("a"), log, {}, releaseA));
        tasks.push_back(holdPlace(limiter, QStringLiteral("b"), log, stopsB.get_token(), releaseA));
        tasks.push_back(holdPlace(limiter, QStringLiteral("c"), log, stopsC.get_token(), releaseC));
        tasks.push_back(holdPlace(limiter, QStringLiteral("d"), log, {}, releaseD));
        QCOMPARE(limiter->waiting(), 3);
        stopsB.request_stop();
        QTRY_COMPARE(limiter->waiting(), 2); // unregistered, not only skipped
        releaseA.complete();
        QTRY_COMPARE(limiter->waiting(), 1);
        stopsC.request_stop(); // too late: the place is c's
        releaseC.complete();
        releaseD.complete();
        awaited(whenAll(std::move(tasks)));
        QCOMPARE(*log, (QStringList{QStringLiteral("a"), QStringLiteral("b stopped"), QStringLiteral("c"), QStringLiteral("d")}));
        QCOMPARE(limiter->open(), 0);
    }

    void retryAfterForms_data()
    {
        QTest::addColumn<QString>("value");
        QTest::addColumn<qint64>("ms"); // -1: ignored
        QTest::newRow("exponent") << "1e1" << qint64(10000);
        QTest::newRow("spaces") << " 2 " << qint64(2000);
        QTest::newRow("truncated") << "0.0019" << qint64(1);
        QTest::newRow("infinite") << "inf" << qint64(-1);
        QTest::newRow("no number") << "soon" << qint64(-1);
        QTest::newRow("rfc 850") << "Thursday, 01-Jan-26 00:00:30 GMT" << qint64(30000);
        QTest::newRow("asctime") << "Thu Jan  1 00:00:30 2026" << qint64(30000);
        QTest::newRow("offset") << "Thu, 01 Jan 2026 01:00:30 +0100" << qint64(30000);
        QTest::newRow("no such month") << "Thu, 01 Foo 2026 00:00:30 GMT" << qint64(-1);
        QTest::newRow("between two months") << "Thu, 01 anf 2026 00:00:30 GMT" << qint64(-1);
    }
    void retryAfterForms()
    {
        QFETCH(QString, value);
        QFETCH(qint64, ms);
        const Clock::Wall now{std::chrono::seconds(1767225600)};
        const auto wait = retryAfter(Json{{"RETRY-AFTER", toUtf8(value)}}, now);
        QCOMPARE(wait ? wait->count() : -1, ms);
    }
};

} // namespace tst_llm_calls

PADDOCK_TEST(tst_llm_calls, TestLlmCalls)
#include "tst_llm_calls.moc"
