// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "tests/support/sample_events.h"
#include "tests/support/test_main.h"
#include "ui/paint/lane_view.h"
#include "ui/trace/inspector_panel.h"
#include "ui/trace/span_table_model.h"
#include "ui/trace/text_diff.h"
#include "ui/trace/trace_panel.h"

#include <QAbstractItemModelTester>
#include <QLabel>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

namespace tst_trace {

using namespace paddock;
using namespace paddock::test;

namespace {

QString utf8(const char *text)
{
    return QString::fromUtf8(text);
}

SpanIndex spanOf(const RunStore &store, const char *lane, quint8 flag)
{
    for (SpanIndex span = 0; span < store.trace().size(); ++span) {
        if (store.trace().laneOf(span).name == utf8(lane) && (store.trace().flags(span) & flag))
            return span;
    }
    return noSpan;
}

} // namespace

class TestTrace : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void diff_data();
    void diff();
    void diffLeavesOut();
    void hashesComeLast();
    void rowsShowWhatChanged();
    void filterDims();
    void tableUnderTester();
    void inspectorShowsHook();
    void inspectorFactsAreNotCut();
    void inspectorTellsWhatRan();
    void inspectorShowsTool();
    void lateAnswersAreVoid();
    void panelSelects();
    void largeRunStaysCheap();
};

void TestTrace::diff_data()
{
    QTest::addColumn<QString>("before");
    QTest::addColumn<QString>("after");
    QTest::addColumn<QString>("wanted");
    QTest::newRow("same") << "a\nb" << "a\nb" << "";
    QTest::newRow("added") << "a\nc" << "a\nb\nc" << " a|+b| c";
    QTest::newRow("removed") << "a\nb\nc" << "a\nc" << " a|-b| c";
    QTest::newRow("replaced") << "a\nb\nc" << "a\nx\nc" << " a|-b|+x| c";
    QTest::newRow("from nothing") << "" << "a" << "+a";
    QTest::newRow("to nothing") << "a" << "" << "-a";
}

void TestTrace::diff()
{
    QFETCH(QString, before);
    QFETCH(QString, after);
    QStringList lines;
    for (const DiffLine &line : diffText(before, after)) {
        if (line.kind == DiffLine::Kind::LeftOut)
            continue;
        const char *sign = line.kind == DiffLine::Kind::Added ? "+" : line.kind == DiffLine::Kind::Removed ? "-" : " ";
        lines += QLatin1String(sign) + line.text;
    }
    QTEST(lines.join(u'|'), "wanted");
}

void TestTrace::diffLeavesOut()
{
    QString before;
    for (int i = 0; i < 5000; ++i)
        before += QString::number(i) + u'\n';
    const std::vector<DiffLine> lines = diffText(before, utf8("0\nnew\n4999\n"), 3, 10);
    QVERIFY(lines.size() < 40);
    int counted = 0;
    for (const DiffLine &line : lines)
        counted += line.kind == DiffLine::Kind::LeftOut ? line.count : line.kind == DiffLine::Kind::Removed ? 1 : 0;
    QCOMPARE(counted, 4998); // all between the first and the last
}

void TestTrace::hashesComeLast()
{
    const QString receipt = utf8("- [r1] bash status=success args_sha256=45140d9ca287a0ff output_sha256=2bb3f901e2951c52 bytes=40");
    const std::vector<DiffLine> lines = hashesLast(diffText({}, utf8("Receipts\n") + receipt), utf8("hashes"));
    QCOMPARE(lines.size(), size_t(4));
    QCOMPARE(lines[1].text, utf8("- [r1] bash status=success bytes=40"));
    QCOMPARE(lines[2].kind, DiffLine::Kind::Heading);
    QCOMPARE(lines[2].text, utf8("hashes"));
    QCOMPARE(lines[3].text, receipt);
    // What has no hash stays as it is, and so does a change that may be one of hashes only.
    QCOMPARE(hashesLast(diffText({}, utf8("plain")), utf8("hashes")).size(), size_t(1));
    const std::vector<DiffLine> edited = diffText(utf8("sha256=11111111 a"), utf8("sha256=22222222 a"));
    QCOMPARE(hashesLast(edited, utf8("hashes")).size(), edited.size());
}

void TestTrace::rowsShowWhatChanged()
{
    RunStore store{RunId(utf8("r1"))};
    store.apply(makeSampleRun(utf8("r1"), 1, 0, false).events);
    TraceSource source;
    source.setRun(&store);
    const auto titles = [&] {
        QStringList list;
        for (int row = 0; row < source.rowCount(); ++row) {
            if (!source.heading(row).title.isEmpty())
                list += source.heading(row).title;
        }
        return list;
    };
    QCOMPARE(titles(), (QStringList{utf8("lead"), utf8("Audit the lexer"), utf8("tool_output_budget"), utf8("sandbox_audit"),
                                    utf8("summarization"), utf8("Audit the string helpers"), utf8("Check the build"), utf8("Read the corpus"),
                                    utf8("subagent:e2c0")}));
    const int row = source.rowOfAgent(AgentId(utf8(sampleC41f)));
    QCOMPARE(source.heading(row).fullTitle, utf8("Audit the lexer (c41f)"));
    source.toggle(row);
    QVERIFY(titles().contains(utf8("loop_detection")));
    QVERIFY(source.heading(row).expanded);
    source.toggle(row);
    QVERIFY(!titles().contains(utf8("loop_detection")));
    const SpanIndex failed = store.trace().spanOfCall(AgentId(utf8(sample77ab)), utf8("call_21"));
    QCOMPARE(source.look(failed).fill, Tint::Error);
    QVERIFY(source.look(failed).label.endsWith(utf8("✗"))); // not by colour alone
    QVERIFY(source.describe(failed).contains(utf8("failed")));
}

void TestTrace::filterDims()
{
    RunStore store{RunId(utf8("r1"))};
    store.apply(makeSampleRun(utf8("r1"), 1, 0, false).events);
    TraceSource source;
    source.setRun(&store);
    TraceFilter filter;
    filter.text = utf8("memcpy");
    source.setFilter(filter);
    const SpanIndex grep = store.trace().spanOfCall(AgentId(utf8(sampleC41f)), utf8("call_14"));
    QVERIFY(source.matches(grep));
    int matching = 0;
    for (SpanIndex span = 0; span < store.trace().size(); ++span)
        matching += source.matches(span);
    QCOMPARE(matching, 1);
    filter = {};
    filter.kinds.fill(false);
    filter.kinds[size_t(SpanKind::Model)] = true;
    source.setFilter(filter);
    QVERIFY(!source.matches(grep));
    QVERIFY(source.look(grep).dim);
}

void TestTrace::tableUnderTester()
{
    RunStore store{RunId(utf8("r1"))};
    TraceSource source;
    source.setRun(&store);
    SpanTableModel model(&source);
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    const SampleRun sample = makeSampleRun(utf8("r1"), 1, 0, true);
    for (size_t i = 0; i < sample.events.size(); i += 11) {
        store.apply(std::span(sample.events).subspan(i, std::min<size_t>(11, sample.events.size() - i)));
        source.rebuild();
        model.update();
    }
    QCOMPARE(model.rowCount(), int(store.trace().size()));
    TraceFilter filter;
    filter.changedOnly = true;
    source.setFilter(filter);
    model.reload();
    QVERIFY(model.rowCount() > 0 && model.rowCount() < 20);
}

void TestTrace::inspectorShowsHook()
{
    const SampleRun sample = makeSampleRun(utf8("r1"), 1, 0, false);
    RunStore store{RunId(utf8("r1"))};
    store.apply(sample.events);
    InspectorPanel panel([&](const QString &hash, std::function<void(MessagePtr)> done) { done(sample.messages.value(hash)); });
    QSignalSpy remark(&panel, &InspectorPanel::remarkChanged);
    panel.showSpan(&store, spanOf(store, "tool_output_budget", SpanChanged));
    QTRY_VERIFY(panel.text(InspectorPanel::DiffPage).contains(utf8("+ [600 lines left out")));
    QVERIFY(panel.text(InspectorPanel::DiffPage).contains(utf8("- src/gen/tables.c:1:")));
    QVERIFY(panel.text(InspectorPanel::DiffPage).contains(utf8("more lines")));
    QVERIFY(panel.text(InspectorPanel::RawPage).contains(utf8("middleware.span")));
    QVERIFY(remark.last().first().toString().contains(utf8("tool_output_budget · wrap_tool_call")));
}

void TestTrace::inspectorFactsAreNotCut()
{
    const SampleRun sample = makeSampleRun(utf8("r1"), 1, 0, false);
    RunStore store{RunId(utf8("r1"))};
    store.apply(sample.events);
    InspectorPanel panel([&](const QString &hash, std::function<void(MessagePtr)> done) { done(sample.messages.value(hash)); });
    panel.show();
    QVERIFY(QTest::qWaitForWindowExposed(&panel));
    for (const int width : {500, 240, 170}) {
        panel.resize(width, 340);
        panel.showSpan(&store, spanOf(store, "summarization", SpanChanged));
        QCoreApplication::processEvents();
        int wrapped = 0;
        for (const QLabel *label : panel.findChildren<QLabel *>()) {
            if (!label->isVisible() || label->text().isEmpty())
                continue;
            wrapped += label->wordWrap();
            QVERIFY2(label->height() >= (label->wordWrap() ? label->heightForWidth(label->width()) : label->sizeHint().height()),
                     qPrintable(utf8("%1 at %2").arg(label->text()).arg(width)));
        }
        QVERIFY(wrapped >= 3);
    }
}

void TestTrace::inspectorTellsWhatRan()
{
    RunStore store{RunId(utf8("r"))};
    const auto event = [](Seq seq, EventBody body) {
        auto made = std::make_shared<Event>();
        made->seq = seq;
        made->mono = std::chrono::microseconds(seq * 10);
        made->agent = leadAgent();
        made->body = std::move(body);
        return EventPtr(made);
    };
    const QString ran = utf8("cd /mnt/user-data/workspace; make");
    const std::vector<EventPtr> events{event(1, ToolStarted{utf8("c1"), utf8("bash"), Json{{"command", "make"}}, 1}),
                                       event(2, ShellCommandStarted{utf8("run:r"), utf8("s"), utf8("k"), ran}),
                                       event(3, ToolFinished{utf8("c1"), utf8("bash"), utf8("success"), 1, 1, utf8("ok"), {}})};
    store.apply(events);
    InspectorPanel panel({});
    panel.showSpan(&store, store.trace().spanOfCall(leadAgent(), utf8("c1")));
    QVERIFY(panel.text(InspectorPanel::BeforePage).contains(ran));
    QVERIFY(!panel.text(InspectorPanel::DiffPage).contains(ran));
}

void TestTrace::inspectorShowsTool()
{
    const SampleRun sample = makeSampleRun(utf8("r1"), 1, 0, false);
    RunStore store{RunId(utf8("r1"))};
    store.apply(sample.events);
    InspectorPanel panel([&](const QString &hash, std::function<void(MessagePtr)> done) { done(sample.messages.value(hash)); });
    panel.showSpan(&store, store.trace().spanOfCall(AgentId(utf8(sampleC41f)), utf8("call_14")));
    QVERIFY(panel.text(InspectorPanel::BeforePage).contains(utf8("rg -n memcpy src")));
    QVERIFY(panel.text(InspectorPanel::AfterPage).contains(utf8("src/util/str.c:44")));
    for (SpanIndex span = 0; span < store.trace().size(); ++span)
        panel.showSpan(&store, span); // every kind of span can be looked at
    panel.showSpan(nullptr, noSpan);
}

void TestTrace::lateAnswersAreVoid()
{
    const SampleRun sample = makeSampleRun(utf8("r1"), 1, 0, false);
    RunStore store{RunId(utf8("r1"))};
    store.apply(sample.events);
    std::vector<std::function<void()>> answers;
    InspectorPanel panel([&](const QString &hash, std::function<void(MessagePtr)> done) {
        answers.push_back([done, message = sample.messages.value(hash)] { done(message); });
    });
    panel.showSpan(&store, spanOf(store, "tool_output_budget", SpanChanged));
    const auto late = answers;
    panel.showSpan(&store, store.trace().spanOfCall(AgentId(utf8(sample77ab)), utf8("call_22")));
    for (const auto &answer : late)
        answer();
    QVERIFY(!panel.text(InspectorPanel::BeforePage).contains(utf8("tables.c")));
}

void TestTrace::panelSelects()
{
    RunStore store{RunId(utf8("r1"))};
    store.apply(makeSampleRun(utf8("r1"), 1, 0, true).events);
    Selection selection;
    TimeRange range;
    TracePanel panel(&selection, &range);
    panel.resize(900, 400);
    panel.show();
    QVERIFY(QTest::qWaitForWindowExposed(&panel));
    selection.setRun(&store);
    QSignalSpy selected(&panel, &TracePanel::spanSelected);
    panel.showCall(AgentId(utf8(sampleC41f)), utf8("call_14"));
    QCOMPARE(selected.count(), 1);
    QCOMPARE(selection.agent(), AgentId(utf8(sampleC41f)));
    TraceFilter filter;
    filter.changedOnly = true;
    panel.setFilter(filter);
    panel.step(1);
    QVERIFY(store.trace().flags(panel.lanes()->selected()) & (SpanChanged | SpanFailed));
    panel.showTable(true);
    QVERIFY(panel.table()->isVisible());
    QVERIFY(panel.tableModel()->rowOf(panel.lanes()->selected()) >= 0);
    panel.showTable(false);
    selection.setRun(nullptr);
    QCOMPARE(panel.source()->rowCount(), 0);
}

void TestTrace::largeRunStaysCheap()
{
    // The cost of a frame follows pixels: a hundred thousand spans fold into no more rectangles than the view is wide.
    const SampleRun sample = makeLargeRun(utf8("large"), 1000, 100);
    RunStore store{RunId(utf8("large"))};
    store.apply(sample.events);
    QCOMPARE(store.trace().size(), size_t(101'000));
    TraceSource source;
    source.setRun(&store);
    source.setAllUnfolded(true);
    QCOMPARE(source.rowCount(), 21);
    for (int row = 0; row < source.rowCount(); ++row) {
        const LaneRow lane = source.row(row);
        std::vector<LaneItem> items;
        foldTrack(lane.starts, lane.ends, store.trace().firstTime(), store.trace().lastTime(),
                  1600.0 / double(store.trace().lastTime() - store.trace().firstTime()), store.trace().lastTime(), items);
        QVERIFY(items.size() <= 1600);
    }
}

} // namespace tst_trace

PADDOCK_GUI_TEST(tst_trace, TestTrace)
#include "tst_trace.moc"
