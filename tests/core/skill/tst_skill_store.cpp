// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/skill/skill_projection.h"
#include "tests/support/skill_disk.h"
#include "tests/support/test_main.h"

#include <QTest>

#include <sys/stat.h>
#include <unistd.h>

namespace tst_skill_store {

using namespace paddock;
using namespace paddock::test;

namespace {

QString utf8(const char *text)
{
    return QString::fromUtf8(text);
}

QByteArray contentOf(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray("(cannot be read)");
}

bool link(const QString &target, const QString &name)
{
    return ::symlink(QFile::encodeName(target).constData(), QFile::encodeName(name).constData()) == 0;
}

QStringList entries(const QString &folder)
{
    return QDir(folder).entryList(QDir::AllEntries | QDir::NoDotAndDotDot | QDir::Hidden | QDir::System, QDir::Name);
}

} // namespace

class TestSkillStore : public QObject
{
    Q_OBJECT

    std::unique_ptr<SkillDisk> m_disk;

    QStringList names() const
    {
        const auto list = m_disk->store()->load();
        QStringList found;
        for (const Skill &skill : list ? list->skills : std::vector<Skill>())
            found.append(skill.name);
        return found;
    }
    SkillProjection projection() const
    {
        return {m_disk->root(), {{utf8("public"), m_disk->folder() + utf8("/view/public")}, {utf8("custom"), m_disk->folder() + utf8("/view/custom")}},
                m_disk->folder() + utf8("/view/state")};
    }
    QStringList project() const
    {
        const auto list = m_disk->store()->load();
        const auto done = list ? projectSkills(projection(), *list) : Result<QStringList>(fail(list.error()));
        return done ? *done : QStringList{done.error().fullMessage()};
    }
    QString view(const char *place) const { return m_disk->folder() + utf8("/view/") + utf8(place); }

private Q_SLOTS:
    void init() { m_disk = std::make_unique<SkillDisk>(); }

    void nothingThere()
    {
        QCOMPARE(names(), QStringList());
        QCOMPARE(project(), QStringList());
        QCOMPARE(entries(view("public")), QStringList());
    }

    void walksTheFolders()
    {
        m_disk->add(utf8("public/zeta"));
        m_disk->add(utf8("public/group/alpha"));
        m_disk->add(utf8("public/zeta/inner")); // inside a package
        m_disk->add(utf8("public/.hidden"));
        m_disk->add(utf8("integrations/provider/beta"));
        m_disk->add(utf8("elsewhere/gamma"));
        const auto list = m_disk->store()->load();
        QVERIFY(list);
        QCOMPARE(names(), (QStringList{utf8("alpha"), utf8("beta"), utf8("zeta")}));
        QCOMPARE(skillNamed(*list, utf8("alpha"))->containerPath, utf8("/mnt/skills/public/group/alpha/SKILL.md"));
        QCOMPARE(skillAt(*list, utf8("/mnt/skills/integrations/../integrations//provider/beta/SKILL.md"))->name, utf8("beta"));
        QVERIFY(!skillAt(*list, utf8("beta")));
        QVERIFY(!skillNamed(*list, utf8("gamma")));
    }

    void theLaterCategoryStays()
    {
        m_disk->add(utf8("public/same"));
        m_disk->add(utf8("custom/same"));
        m_disk->add(utf8("integrations/p/same"));
        QCOMPARE(m_disk->store()->load()->skills.front().category, utf8("integrations"));
        m_disk->add(utf8("legacy/same"));
        QCOMPARE(m_disk->store()->load()->skills.front().category, utf8("legacy"));
    }

    void readsTheSwitchesAnew()
    {
        m_disk->add(utf8("public/a"));
        m_disk->states = Json{{"a", {{"enabled", false}}}};
        QVERIFY(!m_disk->store()->load()->skills.front().enabled);
        QVERIFY(m_disk->store()->isSwitchedOff(utf8("a")));
        QVERIFY(!m_disk->store()->isSwitchedOff(utf8("b")));
        m_disk->fails = true;
        QVERIFY(!m_disk->store()->load());
        QVERIFY(m_disk->store()->isSwitchedOff(utf8("b"))); // who knows
    }

    void saysWhatIsBroken()
    {
        m_disk->add(utf8("public/good"));
        m_disk->write(utf8("public/bad/SKILL.md"), "no head");
        m_disk->write(utf8("public/huge/SKILL.md"), QByteArray(2'000'000, 'x'));
        QDir().mkpath(m_disk->at(utf8("public/folder/SKILL.md")));
        QDir().mkpath(m_disk->at(utf8("public/pipe")));
        QCOMPARE(::mkfifo(QFile::encodeName(m_disk->at(utf8("public/pipe/SKILL.md"))).constData(), 0600), 0);
        QCOMPARE(names(), QStringList{utf8("good")});
        const QStringList problems = m_disk->store()->load()->problems;
        QCOMPARE(problems.size(), 2);
        QVERIFY(problems[0].contains(utf8("public/bad")));
        QVERIFY(problems[1].contains(utf8("public/huge")));
    }

    void followsLinksButNotInCircles()
    {
        m_disk->add(utf8("shelf/real"));
        QDir().mkpath(m_disk->at(utf8("public/deep")));
        QVERIFY(link(m_disk->at(utf8("shelf/real")), m_disk->at(utf8("public/linked"))));
        QVERIFY(link(m_disk->at(utf8("public")), m_disk->at(utf8("public/deep/up"))));
        QVERIFY(link(utf8("loop"), m_disk->at(utf8("public/loop"))));
        QVERIFY(link(utf8("/nowhere/at/all"), m_disk->at(utf8("public/broken"))));
        QCOMPARE(names(), QStringList{utf8("real")});
        QVERIFY(!m_disk->store()->load()->skills.front().outside);
    }

    void givesNothingFromOutside()
    {
        const QString outside = m_disk->folder() + utf8("/private");
        QDir().mkpath(outside);
        QFile file(outside + utf8("/SKILL.md"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("---\nname: out\ndescription: d\n---\nsecret");
        file.close();
        QDir().mkpath(m_disk->at(utf8("custom")));
        QVERIFY(link(outside, m_disk->at(utf8("custom/out"))));
        const auto store = m_disk->store();
        const auto list = store->load();
        const Skill *skill = skillNamed(*list, utf8("out"));
        QVERIFY(skill && skill->outside);
        QVERIFY(!store->read(*skill));
        QCOMPARE(list->problems.size(), 1);
        QCOMPARE(project(), QStringList());
        QCOMPARE(entries(view("custom")), QStringList());
        // A skill that says its file is another one.
        Skill forged = *skill;
        forged.file = m_disk->folder() + utf8("/private/other.txt");
        QVERIFY(!store->read(forged));
    }

    void readsWhatIsThereNow()
    {
        m_disk->add(utf8("public/a"), {}, "first");
        const auto store = m_disk->store();
        const Skill skill = store->load()->skills.front();
        QVERIFY(store->read(skill)->endsWith("first"));
        m_disk->write(utf8("public/a/SKILL.md"), "\xff\xff");
        QVERIFY(!store->read(skill));
        QVERIFY(QFile::remove(m_disk->at(utf8("public/a/SKILL.md"))));
        QVERIFY(link(utf8("/etc/hostname"), m_disk->at(utf8("public/a/SKILL.md")))); // swapped after the look
        QVERIFY(!store->read(skill));
    }

    void copiesWhatIsOn()
    {
        m_disk->add(utf8("public/a"));
        m_disk->write(utf8("public/a/scripts/run.sh"), "echo");
        QVERIFY(QFile::setPermissions(m_disk->at(utf8("public/a/scripts/run.sh")),
                                      QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
        m_disk->add(utf8("public/shut"));
        m_disk->add(utf8("custom/group/b"));
        m_disk->states = Json{{"shut", {{"enabled", false}}}};
        QCOMPARE(project(), QStringList());
        QCOMPARE(entries(view("public")), QStringList{utf8("a")});
        QCOMPARE(contentOf(view("public/a/scripts/run.sh")), QByteArray("echo"));
        QVERIFY(QFileInfo(view("public/a/scripts/run.sh")).isExecutable());
        QVERIFY(contentOf(view("custom/group/b/SKILL.md")).startsWith("---\nname: b"));
        struct stat original {};
        struct stat copy {};
        QCOMPARE(::stat(QFile::encodeName(m_disk->at(utf8("public/a/SKILL.md"))).constData(), &original), 0);
        QCOMPARE(::stat(QFile::encodeName(view("public/a/SKILL.md")).constData(), &copy), 0);
        QVERIFY(original.st_ino != copy.st_ino && copy.st_nlink == 1);
    }

    void followsChangesInPlace()
    {
        m_disk->add(utf8("public/a"), {}, "one");
        m_disk->add(utf8("public/b"));
        QCOMPARE(project(), QStringList());
        struct stat before {};
        QCOMPARE(::stat(QFile::encodeName(view("public")).constData(), &before), 0);
        QCOMPARE(project(), QStringList()); // nothing to do
        m_disk->add(utf8("public/a"), {}, "two two");
        QVERIFY(QDir(m_disk->at(utf8("public/b"))).removeRecursively());
        QCOMPARE(project(), QStringList());
        struct stat after {};
        QCOMPARE(::stat(QFile::encodeName(view("public")).constData(), &after), 0);
        QCOMPARE(after.st_ino, before.st_ino); // it may be mounted
        QCOMPARE(entries(view("public")), QStringList{utf8("a")});
        QVERIFY(contentOf(view("public/a/SKILL.md")).endsWith("two two"));
        QCOMPARE(entries(view("state")), (QStringList{utf8("custom.manifest"), utf8("public.manifest")}));
        // What somebody else put there goes.
        QVERIFY(QDir().mkpath(view("public/foreign")));
        QCOMPARE(project(), QStringList());
        QCOMPARE(entries(view("public")), QStringList{utf8("a")});
    }

    void copiesNoLinksOut()
    {
        m_disk->add(utf8("public/a"));
        m_disk->write(utf8("public/a/real.txt"), "inside");
        QVERIFY(link(utf8("/etc/passwd"), m_disk->at(utf8("public/a/passwd"))));
        QVERIFY(link(utf8("real.txt"), m_disk->at(utf8("public/a/near.txt"))));
        QVERIFY(link(utf8(".."), m_disk->at(utf8("public/a/up"))));
        QVERIFY(link(utf8("."), m_disk->at(utf8("public/a/self"))));
        QCOMPARE(project(), QStringList());
        QCOMPARE(entries(view("public/a")), (QStringList{utf8("SKILL.md"), utf8("near.txt"), utf8("real.txt")}));
        QVERIFY(!QFileInfo(view("public/a/near.txt")).isSymLink());
        QCOMPARE(contentOf(view("public/a/near.txt")), QByteArray("inside"));
    }

    void leavesOutWhatIsTooMuch()
    {
        m_disk->add(utf8("public/a"));
        m_disk->add(utf8("public/many"));
        for (int i = 0; i < 2100; ++i)
            m_disk->write(QStringLiteral("public/many/%1").arg(i), {});
        const QStringList problems = project();
        QCOMPARE(problems.size(), 1);
        QVERIFY(problems[0].contains(utf8("many")));
        QCOMPARE(entries(view("public")), QStringList{utf8("a")});
    }
};

} // namespace tst_skill_store

PADDOCK_TEST(tst_skill_store, TestSkillStore)
#include "tst_skill_store.moc"
