// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "tests/support/sample_events.h"
#include "tests/support/test_main.h"
#include "ui/approval/approvals_panel.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

namespace tst_approvals {

using namespace paddock;
using namespace paddock::test;

class TestApprovals : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void rowsComeAndGo();
};

void TestApprovals::rowsComeAndGo()
{
    StoreHub hub;
    ApprovalsPanel panel(&hub);
    QAbstractItemModelTester tester(panel.model(), QAbstractItemModelTester::FailureReportingMode::Fatal);
    QSignalSpy remark(&panel, &ApprovalsPanel::remarkChanged);
    hub.apply(makeSampleRun(QStringLiteral("r1"), 1, 0, false).events);
    QCOMPARE(panel.model()->rowCount(), 1);
    QCOMPARE(panel.model()->index(0).data(ApprovalsModel::CommandRole).toString(), QStringLiteral("pip install --user ruff"));
    hub.apply(makeSampleRun(QStringLiteral("r2"), 10'000, -1'000'000, false).events);
    QCOMPARE(panel.model()->rowCount(), 2);
    QCOMPARE(panel.model()->index(0).data(ApprovalsModel::RunIdRole).toString(), QStringLiteral("r2")); // oldest first
    auto decided = std::make_shared<Event>();
    decided->seq = 100'000;
    decided->run = RunId(QStringLiteral("r1"));
    decided->body = ApprovalDecided{QStringLiteral("ap1"), QStringLiteral("deny"), QStringLiteral("person"), {}};
    hub.apply({decided});
    QCOMPARE(panel.model()->rowCount(), 1);
    auto end = std::make_shared<Event>();
    end->seq = 100'001;
    end->run = RunId(QStringLiteral("r2"));
    end->body = RunFinished{QStringLiteral("cancelled"), {}, {}, {}};
    hub.apply({end});
    QCOMPARE(panel.model()->rowCount(), 0); // cancelling takes the row away
    QVERIFY(remark.last().first().toString().isEmpty());
}

} // namespace tst_approvals

PADDOCK_GUI_TEST(tst_approvals, TestApprovals)
#include "tst_approvals.moc"
