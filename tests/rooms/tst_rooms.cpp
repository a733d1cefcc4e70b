// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
//
// Reads the whole checkout and says where it breaks a rule of the house. Each rule is first shown that it can fail.
#include "tests/rooms/rules.h"
#include "tests/rooms/source_text.h"
#include "tests/support/test_main.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QProcess>
#include <QTest>

#include <functional>

namespace tst_rooms {

using namespace paddock::rooms;

namespace {

using Rule = std::function<Findings(const Source &)>;

/// Files of the checkout: what git knows or would take; without git, whatever is no build product.
QStringList filesBelow(const QString &top)
{
    QProcess git;
    git.setWorkingDirectory(top);
    git.start(QStringLiteral("git"), {QStringLiteral("ls-files"), QStringLiteral("-z"), QStringLiteral("--cached"), QStringLiteral("--others"),
                                      QStringLiteral("--exclude-standard")});
    if (git.waitForFinished(20000) && git.exitStatus() == QProcess::NormalExit && git.exitCode() == 0) {
        QStringList paths;
        for (const QByteArray &path : git.readAllStandardOutput().split('\0')) {
            if (!path.isEmpty() && QFile::exists(top + u'/' + QString::fromUtf8(path)))
                paths.append(QString::fromUtf8(path));
        }
        return paths;
    }
    QStringList paths;
    QDirIterator walk(top, QDir::Files | QDir::Hidden | QDir::NoDotAndDotDot, QDirIterator::Subdirectories);
    while (walk.hasNext()) {
        const QString path = walk.next().sliced(top.size() + 1);
        if (!path.startsWith(u"build/") && !path.startsWith(u".git/"))
            paths.append(path);
    }
    return paths;
}

QList<Source> sourcesOf(const QString &top, const QStringList &paths)
{
    QList<Source> sources;
    for (const QString &path : paths) {
        QFile file(top + u'/' + path);
        if (!file.open(QIODevice::ReadOnly))
            continue;
        const QByteArray bytes = file.readAll();
        if (!bytes.contains('\0'))
            sources.append({path, QString::fromUtf8(bytes)});
    }
    return sources;
}

QString report(const Findings &findings)
{
    QStringList lines;
    for (const Finding &finding : findings)
        lines.append(finding.text());
    return lines.join(u'\n');
}

/// What QTest prints is cut at some length, so each finding gets a line of its own before.
void expectNone(const Findings &findings)
{
    for (const Finding &finding : findings)
        qWarning("%ls", qUtf16Printable(finding.text()));
    QVERIFY2(findings.isEmpty(), qPrintable(QStringLiteral("%1 findings, listed above").arg(findings.size())));
}

Source file(const char *path, const char *text)
{
    return {QString::fromUtf8(path), QString::fromUtf8(text)};
}

const char *const oneFunctionHead = "namespace paddock {\nint Thing::count() const\n{\n";

QString functionOf(int statements)
{
    return QString::fromLatin1(oneFunctionHead) + QStringLiteral("    step(u'{', \"}\"); // }\n").repeated(statements) + QStringLiteral("}\n}\n");
}

QString classOf(int functions)
{
    QString text = QStringLiteral("class Thing\n{\npublic:\n    Thing();\n    int size() const { return 1; }\n    void paint() override;\n");
    for (int i = 0; i < functions; ++i)
        text += QStringLiteral("    Result<std::map<int, int>> act%1(int by = 3);\n").arg(i);
    return text + QStringLiteral("private:\n    void hidden();\n    std::function<void()> m_done;\n};\n");
}

} // namespace

class TestRooms : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        const QString top = QStringLiteral(PADDOCK_SOURCE_DIR);
        m_paths = filesBelow(top);
        m_sources = sourcesOf(top, m_paths);
        QVERIFY2(m_paths.contains(QStringLiteral("core/base/error.h")), "the checkout was not found");
    }

    void rulesCanFail_data();
    void rulesCanFail();
    void listsCanFail();
    void treesCanFail();
    void scannersReadCode();

    void checkoutKeepsTheRules_data();
    void checkoutKeepsTheRules();
    void listOfArrowsHasNoCycle() { expectNone(checkNoCycle(allowedArrows())); }
    void everyRoomHasAReadme() { expectNone(checkReadmes(m_paths)); }
    void everySourceIsBuilt() { expectNone(checkListed(m_sources)); }
    void librariesStayInTheirRooms() { expectNone(checkHandedOn(m_sources)); }

private:
    static QList<std::pair<const char *, Rule>> rules()
    {
        return {{"arrow", [](const Source &source) { return checkArrows(source, allowedArrows()); }},
                {"third-party", checkThirdParties},
                {"no-gui", checkNoGui},
                {"include-form", checkIncludeForm},
                {"file-size", checkFileSize},
                {"function-size", checkFunctionSize},
                {"class-size", checkClassSize},
                {"licence", checkLicence},
                {"nested-loop", checkNestedLoops},
                {"connects", checkConnects},
                {"tracer", checkTracer},
                {"machine-name", checkMachines}};
    }

    QStringList m_paths;
    QList<Source> m_sources;
};

void TestRooms::rulesCanFail_data()
{
    QTest::addColumn<QString>("rule");
    QTest::addColumn<QString>("path");
    QTest::addColumn<QString>("bad");
    QTest::addColumn<int>("line");
    QTest::addColumn<QString>("good");
    const auto row = [](const char *name, const char *rule, const char *path, const QString &bad, int line, const QString &good) {
        QTest::newRow(name) << QString::fromLatin1(rule) << QString::fromLatin1(path) << bad << line << good;
    };
    const auto text = [](const char *utf8) { return QString::fromUtf8(utf8); };

    row("arrow up", "arrow", "core/lease/x.cpp", text("\n#include \"core/sandbox/sandbox.h\"\n"), 2, text("#include \"core/base/error.h\"\n"));
    row("panel to panel", "arrow", "ui/run/x.cpp", text("#include \"ui/trace/trace_panel.h\"\n"), 1, text("// #include \"ui/trace/trace_panel.h\"\n"));
    row("product to tests", "arrow", "app/x.cpp", text("#include \"tests/support/spin.h\"\n"), 1, text("#include \"app/gui.h\"\n"));
    row("library elsewhere", "third-party", "core/lease/x.h", text("#include <QCoroTask>\n"), 1, text("#include <QString>\n"));
    row("json elsewhere", "third-party", "core/base/x.h", text("#include <nlohmann/json.hpp>\n"), 1, text("#include \"core/base/json.h\"\n"));
    row("image in core", "no-gui", "core/tool/x.cpp", text("#include <QImage>\n"), 1, text("#include <QByteArray>\n"));
    row("widgets linked", "no-gui", "core/tool/CMakeLists.txt", text("paddock_room(core tool\n PUBLIC Qt6::Widgets)"), 2, text("PUBLIC Qt6::Core"));
    row("upward path", "include-form", "core/base/x.cpp", text("#include \"../base/y.h\"\n"), 1, text("#include \"core/base/y.h\"\n"));
    row("neighbour", "include-form", "core/base/x.cpp", text("#include \"y.h\"\n"), 1, text("#include \"x.moc\"\n"));
    row("own header in angles", "include-form", "core/base/x.cpp", text("#include <core/base/y.h>\n"), 1, text("#include <sys/stat.h>\n"));
    row("long header", "file-size", "core/base/x.h", text("\n").repeated(251), 251, text("\n").repeated(250));
    row("long source", "file-size", "core/base/x.cpp", text("\n").repeated(601), 601, text("\n").repeated(600));
    row("long window", "file-size", "app/main_window.cpp", text("\n").repeated(401), 401, text("\n").repeated(400));
    row("long function", "function-size", "core/base/x.cpp", functionOf(59), 2, functionOf(58));
    row("broad class", "class-size", "core/base/x.h", classOf(16), 1, classOf(15));
    row("no licence", "licence", "core/base/x.h", text("#pragma once\n"), 1,
        text("// SPDX-License-Identifier: Apache-2.0\n// SPDX-FileCopyrightText: The Paddock authors\n"));
    row("event pump", "nested-loop", "ui/run/x.cpp", text("qApp->processEvents();"), 1, text("// qApp->processEvents();"));
    row("modal dialog", "nested-loop", "app/x.cpp", text("dialog.exec();"), 1, text("return QCoreApplication::exec();"));
    row("loop in core", "nested-loop", "core/run/x.cpp", text("loop.exec();"), 1, text("database.exec(sql);"));
    row("waiting", "nested-loop", "core/run/x.cpp", text("reply.waitForReadyRead(10);"), 1, text("co_await waitFor(limit, stop);"));
    row("blocking connect", "connects", "core/base/x.cpp", text("f(Qt::BlockingQueuedConnection);"), 1, text("f(Qt::QueuedConnection);"));
    row("sender", "connects", "ui/run/x.cpp", text("auto *who = sender();"), 1, text("auto who = m_sender;"));
    row("string connect", "connects", "ui/run/x.cpp", text("connect(a, SIGNAL(b()), c, SLOT(d()));"), 1, text("connect(a, &A::b, c, &C::d);"));
    row("tracer", "tracer", "core/middleware/framing.cpp", text("#include \"core/middleware/tracer.h\"\n"), 1,
        text("#include \"core/middleware/middleware.h\"\n"));
    row("home", "machine-name", "README.md", text("cd /ho" "me/anna/x"), 1, text("cd /home/user/x"));
    row("superuser", "machine-name", "tests/x.cpp", text("\n/ro" "ot/.ssh"), 2, text("\n/srv/root/x"));
    row("host", "machine-name", "dev", text("https:/" "/registry.corp.lan/debian"), 1, text("https://sandbox.example.com:80/x"));
}

void TestRooms::rulesCanFail()
{
    QFETCH(QString, rule);
    QFETCH(QString, path);
    QFETCH(QString, bad);
    QFETCH(int, line);
    QFETCH(QString, good);
    const auto all = rules();
    const auto one = std::ranges::find_if(all, [&](const auto &entry) { return rule == QLatin1StringView(entry.first); });
    QVERIFY(one != all.end());
    const Findings found = one->second({path, bad});
    QVERIFY2(!found.isEmpty(), "the bad example passes");
    QCOMPARE(found.first().rule, rule);
    QCOMPARE(found.first().path, path);
    QCOMPARE(found.first().line, line);
    QCOMPARE(report(one->second({path, good})), QString());
}

void TestRooms::listsCanFail()
{
    const auto room = [](const char *name) { return QString::fromLatin1(name); };
    ArrowList list{{room("a"), {room("b"), room("c")}}, {room("b"), {room("c")}}};
    QVERIFY(checkNoCycle(list).isEmpty());
    list[room("c")] = {room("a")};
    QCOMPARE(checkNoCycle(list).size(), 1);
    ArrowList itself{{room("a"), {room("a")}}};
    QCOMPARE(checkNoCycle(itself).size(), 1);
}

void TestRooms::treesCanFail()
{
    QCOMPARE(checkReadmes({QStringLiteral("core/a/x.h"), QStringLiteral("core/b/README.md")}).size(), 1);
    QCOMPARE(checkReadmes({QStringLiteral("core/a/x.h"), QStringLiteral("core/a/README.md")}).size(), 0);

    const QList<Source> tree{file("core/a/CMakeLists.txt", "paddock_room(core a\n SOURCES x.cpp deep/y.cpp)"), file("core/a/x.cpp", ""),
                             file("core/a/deep/y.cpp", ""), file("core/a/xx.cpp", "")};
    const Findings unlisted = checkListed(tree);
    QCOMPARE(unlisted.size(), 1);
    QCOMPARE(unlisted.first().path, QStringLiteral("core/a/xx.cpp"));

    const Source header = file("core/journal/db.h", "#include <sqlite3.h>\n");
    QCOMPARE(checkHandedOn({header, file("core/journal/x.cpp", "#include \"core/journal/db.h\"\n")}).size(), 0);
    QCOMPARE(checkHandedOn({header, file("core/run/x.cpp", "#include \"core/journal/db.h\"\n")}).size(), 1);
}

void TestRooms::scannersReadCode()
{
    const QString tricky = QStringLiteral("int a = 1'000; char b = '\"'; // {\nauto c = R\"x(\n#include \"y\"\n)\" {)x\";\n#include <z>\n");
    QCOMPARE(codeOf(tricky).size(), tricky.size());
    QVERIFY(!codeOf(tricky).contains(u'{'));
    QCOMPARE(includesOf(tricky).size(), 1);
    QCOMPARE(includesOf(tricky).first().line, 5);

    const QString constructor = QStringLiteral("Thing::Thing(int a)\n    : m_a{a}, m_b{\n      2}\n{\n    go();\n}\nint f() { return [] { return 1; }(); }\n");
    const auto functions = functionsOf(constructor);
    QCOMPARE(functions.size(), 2);
    QCOMPARE(functions[0].line, 1);
    QCOMPARE(functions[1].line, 7);
    QCOMPARE(functions[1].lines, 1);
}

void TestRooms::checkoutKeepsTheRules_data()
{
    QTest::addColumn<int>("index");
    const auto all = rules();
    for (qsizetype i = 0; i < all.size(); ++i)
        QTest::newRow(all[i].first) << int(i);
}

void TestRooms::checkoutKeepsTheRules()
{
    QFETCH(int, index);
    const Rule rule = rules()[index].second;
    Findings found;
    for (const Source &source : std::as_const(m_sources))
        found += rule(source);
    expectNone(found);
}

} // namespace tst_rooms

PADDOCK_TEST(tst_rooms, TestRooms)
#include "tst_rooms.moc"
