// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "tests/support/sample_events.h"
#include "tests/support/test_main.h"
#include "ui/lease/lease_legend.h"
#include "ui/lease/lease_panel.h"
#include "ui/paint/lane_view.h"

#include <QTest>

namespace tst_lease_panel {

using namespace paddock;
using namespace paddock::test;

namespace {

QString utf8(const char *text)
{
    return QString::fromUtf8(text);
}

} // namespace

class TestLeasePanel : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void sentences();
    void rows();
    void legendExplainsTheBars();
    void everyPrefixIsDrawn();
};

void TestLeasePanel::sentences()
{
    RunStore store{RunId(utf8("r1"))};
    store.apply(makeSampleRun(utf8("r1"), 1, 0, false).events);
    const SandboxLane &sandbox = store.leases().sandboxes().front();
    QCOMPARE(shortSandbox(sandbox), utf8("embedded-7f3a"));
    QVERIFY2(leaseSentence(sandbox, store.agents()).endsWith(utf8("hold it: lead, Audit the lexer, Audit the string helpers")), qPrintable(leaseSentence(sandbox, store.agents())));
    QCOMPARE(sessionBudget(sandbox), utf8("sessions 3 of 11"));
    RunStore ended{RunId(utf8("r1"))};
    ended.apply(makeSampleRun(utf8("r1"), 1, 0, true).events);
    QVERIFY(leaseSentence(ended.leases().sandboxes().front(), ended.agents()).startsWith(utf8("released after 4:")));
    SandboxLane failed;
    failed.state = LeaseState::Failed;
    failed.failure = utf8("no user namespaces");
    QCOMPARE(leaseSentence(failed, store.agents()), utf8("failed: no user namespaces"));
    SandboxLane leaving;
    leaving.owners = {utf8("run:x")};
    leaving.periods.push_back({utf8("run:x"), LeaseState::Draining, -1, 0, 1, openEnd});
    QCOMPARE(leaseSentence(leaving, store.agents()), utf8("alive until what lead had running has ended"));
}

void TestLeasePanel::rows()
{
    RunStore store{RunId(utf8("r1"))};
    store.apply(makeSampleRun(utf8("r1"), 1, 0, false).events);
    LeaseSource source;
    source.setRun(&store);
    QCOMPARE(source.rowCount(), 5);
    QCOMPARE(source.heading(0).title, utf8("embedded-7f3a"));
    QCOMPARE(source.heading(1).title, utf8("lead"));
    QCOMPARE(source.row(1).ids.size(), size_t(2)); // acquiring, held
    const int gone = 3;
    QCOMPARE(source.heading(gone).title, utf8("Read the corpus"));
    QCOMPARE(source.heading(gone).fullTitle, utf8("Read the corpus (31b9)"));
    QCOMPARE(source.heading(gone).detail, utf8("released"));
    QCOMPARE(source.row(gone).ids.size(), size_t(2)); // held, draining
    QCOMPARE(source.look(source.row(gone).ids.back()).label, utf8("draining"));
    QVERIFY(source.describe(source.row(gone).ids.front()).contains(utf8("held for")));
    QVERIFY(source.describe(source.row(gone).ids.front()).startsWith(utf8("Read the corpus (31b9)")));
    // A hold that is over has the colour of one: only the sandbox's own life is grey.
    QCOMPARE(source.look(source.row(gone).ids.front()).fill, Tint::Lease);
    QCOMPARE(source.look(source.row(0).ids.back()).fill, Tint::LeaseOver);
}

void TestLeasePanel::legendExplainsTheBars()
{
    RunStore store{RunId(utf8("r1"))};
    store.apply(makeSampleRun(utf8("r1"), 1, 0, false).events);
    Selection selection;
    TimeRange range;
    LeasePanel panel(&selection, &range);
    panel.resize(1200, 200);
    QVERIFY(panel.legend()->states().empty());
    selection.setRun(&store);
    QCOMPARE(panel.legend()->states(), (std::vector{LeaseState::Acquiring, LeaseState::Held, LeaseState::Draining}));
    QVERIFY(panel.legend()->accessibleName().contains(utf8("draining")));
    QVERIFY(!panel.legend()->isHidden());
    panel.grab();
    panel.resize(200, 200); // the sentence in the header needs the room
    panel.grab();
    QVERIFY(panel.legend()->isHidden());
}

void TestLeasePanel::everyPrefixIsDrawn()
{
    // Whatever moment a run is looked at: rows are well-formed and the panel draws.
    const SampleRun sample = makeSampleRun(utf8("r1"), 1, 0, true);
    RunStore store{RunId(utf8("r1"))};
    Selection selection;
    TimeRange range;
    range.reset(0, 300'000'000, false);
    LeasePanel panel(&selection, &range);
    panel.resize(700, 200);
    selection.setRun(&store);
    for (size_t i = 0; i < sample.events.size(); ++i) {
        store.apply(std::span(sample.events).subspan(i, 1));
        for (int row = 0; row < panel.source()->rowCount(); ++row) {
            const LaneRow lane = panel.source()->row(row);
            for (size_t n = 0; n < lane.starts.size(); ++n) {
                QVERIFY(lane.starts[n] < lane.ends[n]);
                QVERIFY(n == 0 || lane.ends[n - 1] <= lane.starts[n]);
            }
        }
        if (i % 40 == 0)
            panel.grab();
    }
    QVERIFY(panel.remark().contains(utf8("released after")));
}

} // namespace tst_lease_panel

PADDOCK_GUI_TEST(tst_lease_panel, TestLeasePanel)
#include "tst_lease_panel.moc"
