// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/skill/skill.h"
#include "core/skill/slash_command.h"
#include "tests/support/test_main.h"

#include <QTest>

namespace tst_skill_file {

using namespace paddock;

namespace {

QString utf8(const char *text)
{
    return QString::fromUtf8(text);
}

/// A whole file around lines of the head.
QByteArray file(const QByteArray &more)
{
    return "---\nname: a\ndescription: b\n" + more + "---\nBody\n";
}

} // namespace

class TestSkillFile : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void refuses_data()
    {
        QTest::addColumn<QByteArray>("text");
        const QByteArray deep = QByteArray(40, '[') + QByteArray(40, ']');
        QTest::newRow("nothing") << QByteArray();
        QTest::newRow("no head") << QByteArray("# A skill\n");
        QTest::newRow("a byte order mark") << QByteArray("\xef\xbb\xbf") + file({});
        QTest::newRow("not closed") << QByteArray("---\nname: a\ndescription: b\n");
        QTest::newRow("closed too far away") << "---\nname: a\ndescription: b\n" + QByteArray(100'000, '#') + "\n---\n";
        QTest::newRow("not UTF-8") << file("license: \"\xc3\x28\"\n");
        QTest::newRow("not UTF-8 in the body") << file({}) + "\xff\xfe";
        QTest::newRow("huge") << file({}) + QByteArray(maxSkillBytes, 'x');
        QTest::newRow("deep") << file("metadata: " + deep + "\n");
        QTest::newRow("deeper than the parser goes") << file("metadata: " + QByteArray(20'000, '['));
        QTest::newRow("a circle") << file("metadata: &a [*a]\n");
        QTest::newRow("many values") << file("metadata: [" + QByteArray("x, ").repeated(3000) + "]\n");
        QTest::newRow("aliases that grow") << file("m1: &a [x,x,x,x,x,x,x,x]\nm2: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nm3: &c [*b,*b,*b,*b,*b,*b,*b,*b]\n"
                                                   "m4: &d [*c,*c,*c,*c,*c,*c,*c,*c]\n");
        QTest::newRow("a stray bracket") << file("]\n");
        QTest::newRow("name is a number") << QByteArray("---\nname: 12\ndescription: b\n---\n");
        QTest::newRow("name is a yes") << QByteArray("---\nname: yes\ndescription: b\n---\n");
        QTest::newRow("name is a date") << QByteArray("---\nname: 2026-12-03\ndescription: b\n---\n");
        QTest::newRow("name is a list") << QByteArray("---\nname: [a]\ndescription: b\n---\n");
        QTest::newRow("description is blank") << QByteArray("---\nname: a\ndescription: '  '\n---\n");
        QTest::newRow("tools are text") << file("allowed-tools: bash\n");
        QTest::newRow("more tools than anybody has") << file("allowed-tools: [" + QByteArray("t, ").repeated(300) + "]\n");
        QTest::newRow("secrets are a mapping") << file("required-secrets: {KEY: 1}\n");
    }
    void refuses()
    {
        QFETCH(QByteArray, text);
        const auto skill = parseSkill(text);
        QVERIFY(!skill);
        QVERIFY(!skill.error().message.isEmpty());
        QVERIFY(!checkInstallable(text));
    }

    void readsTheHead()
    {
        const auto skill = parseSkill("---\r\nname: a\r\ndescription: >\r\n  two\r\n  lines\r\nlicense: 3\r\nallowed-tools: null\r\n"
                                      "required-secrets: [A, {name: B, optional: yes}, {name: 3}, [], A]\r\nsecrets-autonomous: no\r\n---\r\nBody");
        QVERIFY2(skill, skill ? "" : qPrintable(skill.error().message));
        QCOMPARE(skill->name, utf8("a"));
        QCOMPARE(skill->description, utf8("two lines"));
        QVERIFY(!skill->license);
        QVERIFY(!skill->allowedTools);
        QCOMPARE(skill->secrets.size(), std::size_t(2));
        QVERIFY(skill->secrets[1].optional);
        QVERIFY(!skill->secretsAutonomous);
        QVERIFY(checkInstallable(file("secrets-autonomous: no\n")));
        QVERIFY(!checkInstallable(file("secrets-autonomous: maybe\n")));
    }

    void installsStrictNamesOnly_data()
    {
        QTest::addColumn<QByteArray>("name");
        QTest::addColumn<bool>("fits");
        QTest::newRow("plain") << QByteArray("my-skill-2") << true;
        QTest::newRow("as long as it may be") << QByteArray(64, 'a') << true;
        QTest::newRow("too long") << QByteArray(65, 'a') << false;
        QTest::newRow("capital") << QByteArray("My") << false;
        QTest::newRow("hyphen in front") << QByteArray("-a") << false;
        QTest::newRow("hyphen behind") << QByteArray("a-") << false;
        QTest::newRow("a path") << QByteArray("../a") << false;
        QTest::newRow("a letter of another script") << QByteArray("\xc3\xa4") << false;
    }
    void installsStrictNamesOnly()
    {
        QFETCH(QByteArray, name);
        QFETCH(bool, fits);
        QCOMPARE(checkInstallable("---\nname: \"" + name + "\"\ndescription: b\n---\n").has_value(), fits);
    }

    void limitsDescriptions()
    {
        QVERIFY(checkInstallable("---\nname: a\ndescription: " + QByteArray("\xc3\xa4").repeated(1024) + "\n---\n"));
        QVERIFY(!checkInstallable("---\nname: a\ndescription: " + QByteArray(1025, 'x') + "\n---\n"));
    }

    void switches()
    {
        const Json states{{"off", {{"enabled", false}}}, {"odd", {{"enabled", "no"}}}, {"flat", false}};
        QVERIFY(!isSkillEnabled(states, utf8("public"), utf8("off")));
        QVERIFY(isSkillEnabled(states, utf8("public"), utf8("odd")));
        QVERIFY(isSkillEnabled(states, utf8("custom"), utf8("flat")));
        QVERIFY(isSkillEnabled({}, utf8("integrations"), utf8("other")));
        QVERIFY(!isSkillEnabled({}, utf8("elsewhere"), utf8("other")));
    }

    void commands_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("rest");
        QTest::newRow("a wide blank") << utf8("/a\u3000b") << utf8("a") << utf8("b");
        QTest::newRow("blanks and nothing") << utf8("/a  \n") << utf8("a") << QString();
        QTest::newRow("capital") << utf8("/A") << QString() << QString();
        QTest::newRow("a hyphen in front") << utf8("/-a") << QString() << QString();
        QTest::newRow("reserved") << utf8("/status") << QString() << QString();
        QTest::newRow("a letter of another script") << utf8("/ä") << QString() << QString();
        QTest::newRow("endless") << u'/' + QString(1'000'000, u'a') + u'!' << QString() << QString();
    }
    void commands()
    {
        QFETCH(QString, text);
        QFETCH(QString, name);
        QFETCH(QString, rest);
        const auto command = parseSlashCommand(text);
        QCOMPARE(command.has_value(), !name.isEmpty());
        if (command) {
            QCOMPARE(command->name, name);
            QCOMPARE(command->rest, rest);
        }
    }
};

} // namespace tst_skill_file

PADDOCK_TEST(tst_skill_file, TestSkillFile)
#include "tst_skill_file.moc"
