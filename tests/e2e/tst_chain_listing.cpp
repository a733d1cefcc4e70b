// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// `paddock chain`: what a person reads there is what a run with that configuration would have.
#include "tests/support/paddock_program.h"
#include "tests/support/test_main.h"

#include <QTest>

#include <map>

namespace tst_chain_listing {

using namespace paddock;
using namespace paddock::test;

namespace {

QString text(const char *utf8)
{
    return QString::fromUtf8(utf8);
}

} // namespace

class ChainListingTest : public QObject
{
    Q_OBJECT

private:
    std::unique_ptr<PaddockProgram> m_program;

private Q_SLOTS:
    void init() { m_program = std::make_unique<PaddockProgram>(); }

    void chainsAreListed()
    {
        const QString file = m_program->file(text("config.yaml"), "loop_detection: {hard_limit: 7}\npii_redaction: {enabled: true, token_secret: hush-hush}\n"
                                                                  "title: {enabled: false}\n");
        for (const char *agent : {"lead", "subagent", "general-purpose", "bash"}) {
            const Outcome o = m_program->run({text("chain"), text("--agent"), text(agent), text("--config"), file, text("--json")});
            QVERIFY2(o.exitCode == 0, o.err.constData());
            QVERIFY(!o.out.contains("hush-hush"));
            const auto listed = parseJson(o.out);
            QVERIFY(listed && memberOf(*listed, "members").is_array());
            std::map<QString, Json> members;
            for (const Json &member : memberOf(*listed, "members")) {
                QVERIFY2(!stringOf(member, "purpose").isEmpty(), dumpJson(member).constData());
                members[stringOf(member, "name")] = member;
            }
            QCOMPARE(intOf(memberOf(members[text("LoopDetection")], "settings"), "hard_limit"), 7);
            QCOMPARE(stringOf(members[text("PiiRedaction")], "state"), text("on"));
            QCOMPARE(stringOf(members[text("ViewImage")], "state"), text("per run"));
            QCOMPARE(stringOf(memberOf(members[text("ToolReceipt")], "settings"), "receipts_render_mode"),
                     agent == QByteArrayView("lead") ? text("delegation_only") : text("always"));
            const bool lead = agent == QByteArrayView("lead");
            QCOMPARE(members.contains(text("Title")), lead);
            QCOMPARE(members.contains(text("SubagentDateContext")), !lead);
            if (lead)
                QCOMPARE(stringOf(members[text("Title")], "state"), text("off"));
            const Json &order = memberOf(memberOf(*listed, "order"), "wrap_tool_call");
            QVERIFY(order.is_array() && !order.empty());
        }
        const Outcome table = m_program->run({text("chain")});
        QCOMPARE(table.exitCode, 0);
        for (const char *part : {"The chain of lead, outermost first", " 1  InputSanitization", "hooks: wrap_model_call", "Order in which each hook runs:",
                                 "loop_detection: warn_threshold=3 hard_limit=7"})
            QVERIFY2(table.out.contains(part), table.out.constData());
    }
};

} // namespace tst_chain_listing

PADDOCK_TEST(tst_chain_listing, ChainListingTest)
#include "tst_chain_listing.moc"
