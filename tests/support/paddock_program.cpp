// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "tests/support/paddock_program.h"

#include <QDeadlineTimer>
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QTest>

#include <csignal>

#include <sys/prctl.h>
#include <unistd.h>

namespace paddock::test {

namespace {

constexpr int runLimitMs = 120000;
constexpr int silenceLimitMs = 60000;
constexpr int leavingLimitMs = 10000;
constexpr uint ordinaryUser = 65534;

QByteArray readAll(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

struct ProcessEntry {
    qint64 pid = 0;
    qint64 parent = 0;
    char state = '?';
};

std::vector<ProcessEntry> processTable()
{
    std::vector<ProcessEntry> table;
    const QStringList entries = QDir(QStringLiteral("/proc")).entryList(QDir::Dirs | QDir::NoDotAndDotDot);
    for (const QString &name : entries) {
        bool isPid = false;
        const qint64 pid = name.toLongLong(&isPid);
        if (!isPid)
            continue;
        const QByteArray stat = readAll(QStringLiteral("/proc/%1/stat").arg(pid));
        const QList<QByteArray> fields = stat.mid(stat.lastIndexOf(')') + 2).split(' ');
        if (fields.size() > 1)
            table.push_back({pid, fields[1].toLongLong(), fields[0].isEmpty() ? '?' : fields[0][0]});
    }
    return table;
}

/// The living descendants of this process. What lost its parent is adopted by this process, so nothing hides.
QStringList descendants()
{
    const auto table = processTable();
    QSet<qint64> family{getpid()};
    QStringList found;
    for (bool grew = true; grew;) {
        grew = false;
        for (const ProcessEntry &entry : table) {
            if (!family.contains(entry.parent) || family.contains(entry.pid))
                continue;
            family.insert(entry.pid);
            grew = true;
            if (entry.state != 'Z' && entry.state != 'X')
                found << QStringLiteral("process %1: %2").arg(entry.pid).arg(
                    QString::fromUtf8(readAll(QStringLiteral("/proc/%1/cmdline").arg(entry.pid)).replace('\0', ' ')));
        }
    }
    return found;
}

/// Mounts that have to do with a folder, as what or as where; others come and go on a machine that is used.
QStringList mountsOf(const QString &folder)
{
    QStringList found;
    const QByteArray name = QFileInfo(folder).fileName().toUtf8();
    for (const QByteArray &line : readAll(QStringLiteral("/proc/self/mountinfo")).split('\n')) {
        if (line.contains(name) || line.contains(" /newroot"))
            found << QString::fromUtf8(line);
    }
    return found;
}

bool succeeds(const QStringList &command)
{
    QProcess process;
    process.start(command.constFirst(), command.mid(1));
    return process.waitForFinished(10000) && process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0;
}

QString mark(const QString &call, bool begin)
{
    return (begin ? QStringLiteral("<<%1>>\n") : QStringLiteral("\n<</%1>>")).arg(call);
}

} // namespace

std::vector<Json> Outcome::ofType(const char *type) const
{
    std::vector<Json> found;
    for (const Json &e : events) {
        if (stringOf(e, "type") == QLatin1String(type))
            found.push_back(e);
    }
    return found;
}

Json Outcome::last(const char *type) const
{
    const auto found = ofType(type);
    return found.empty() ? Json() : found.back();
}

QString Outcome::resultOf(const QString &call) const
{
    const QString answer = stringOf(last("run.finished"), "answer");
    const qsizetype from = answer.indexOf(mark(call, true));
    const qsizetype to = answer.indexOf(mark(call, false), from);
    return from < 0 || to < 0 ? QString() : answer.mid(from + mark(call, true).size(), to - from - mark(call, true).size());
}

QStringList Outcome::complaints() const
{
    QStringList lines;
    for (const QString &line : QString::fromUtf8(err).split(QLatin1Char('\n'))) {
        if (line.startsWith(QLatin1String("paddock")))
            lines << line;
    }
    return lines;
}

Json toolCall(const QString &id, const QString &tool, Json args)
{
    args["description"] = toUtf8(id);
    return Json{{"id", toUtf8(id)}, {"tool", toUtf8(tool)}, {"args", std::move(args)}};
}

Json bashCall(const QString &id, const QString &command)
{
    QString literal = command;
    literal.replace(QLatin1String("${"), QLatin1String("$${"));
    return toolCall(id, QStringLiteral("bash"), Json{{"command", toUtf8(literal)}});
}

Json commandScenario(const std::vector<Json> &calls)
{
    Json turns = Json::array();
    QString say;
    for (const Json &call : calls) {
        turns.push_back(Json{{"calls", Json::array({call})}});
        const QString id = stringOf(call, "id");
        say += mark(id, true) + QStringLiteral("${result.%1}").arg(id) + mark(id, false);
    }
    turns.push_back(Json{{"say", toUtf8(say)}});
    Json agent{{"match", Json{{"agent", "lead"}}}, {"turns", turns}};
    return Json{{"scenario", 1}, {"name", "commands"}, {"task", "commands"}, {"agents", Json::array({agent})}};
}

PaddockProgram::PaddockProgram() : m_root(QDir::tempPath() + QStringLiteral("/pd-XXXXXX")), m_environment(QProcessEnvironment::systemEnvironment())
{
    // Orphans of the program become children of this test instead of vanishing from sight.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    for (const char *name : {"XDG_DATA_HOME", "XDG_CONFIG_HOME", "DEER_FLOW_CONFIG_PATH"})
        m_environment.remove(QString::fromLatin1(name));
    m_environment.insert(QStringLiteral("HOME"), folder(QStringLiteral("home")));
    folder(QStringLiteral("run"));
    QFile::setPermissions(runtimeDir(), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    m_environment.insert(QStringLiteral("XDG_RUNTIME_DIR"), runtimeDir());
}

QString PaddockProgram::path()
{
    return QStringLiteral(PADDOCK_BIN_DIR "/paddock");
}

QString PaddockProgram::isolationProblem()
{
    static const bool can = succeeds(QStringLiteral("bwrap --unshare-user --unshare-pid --unshare-net --ro-bind / / --proc /proc --dev /dev true").split(QLatin1Char(' ')));
    return can ? QString() : QStringLiteral("this machine cannot start an isolated process: tests with a sandbox are skipped");
}

QStringList PaddockProgram::withMounts(const QString &script)
{
    QStringList command{QStringLiteral("unshare"), QStringLiteral("--mount")};
    if (::geteuid() != 0)
        command << QStringLiteral("--map-root-user");
    static const bool can = succeeds(command + QStringList{QStringLiteral("mount"), QStringLiteral("-t"), QStringLiteral("tmpfs"), QStringLiteral("t"), QStringLiteral("/mnt")});
    if (!can)
        return {};
    return command + QStringList{QStringLiteral("sh"), QStringLiteral("-c"), script + QStringLiteral("\nexec \"$@\""), QStringLiteral("sh")};
}

QStringList PaddockProgram::asOrdinaryUser() const
{
    if (::geteuid() != 0)
        return {};
    const QString id = QString::number(ordinaryUser);
    const QStringList command{QStringLiteral("setpriv"), QStringLiteral("--reuid"), id, QStringLiteral("--regid"), id, QStringLiteral("--clear-groups")};
    folder(QStringLiteral("data"));
    if (!succeeds(command + QStringList{QStringLiteral("test"), QStringLiteral("-x"), path()}))
        return {};
    for (const QString &name : {m_root.path(), m_root.path() + QStringLiteral("/home"), dataDir(), runtimeDir()})
        (void)!::chown(QFile::encodeName(name).constData(), ordinaryUser, ordinaryUser);
    return command;
}

QString PaddockProgram::folder(const QString &name) const
{
    const QString made = m_root.path() + QLatin1Char('/') + name;
    QDir().mkpath(made);
    return made;
}

QString PaddockProgram::file(const QString &name, const QByteArray &content) const
{
    const QString made = m_root.path() + QLatin1Char('/') + name;
    QDir().mkpath(QFileInfo(made).path());
    QFile file(made);
    if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size())
        qFatal("cannot write %s", qPrintable(made));
    return made;
}

QString PaddockProgram::scenario(const Json &content, const QString &name) const
{
    return file(name, dumpJson(content)); // YAML holds JSON
}

QStringList PaddockProgram::runArguments(const QString &scenario, const QStringList &more) const
{
    return QStringList{QStringLiteral("run"), QStringLiteral("--scenario"), scenario, QStringLiteral("--data-dir"), dataDir(), QStringLiteral("--jsonl")} + more;
}

std::unique_ptr<QProcess> PaddockProgram::start(const QStringList &arguments, const QStringList &wrapper) const
{
    auto process = std::make_unique<QProcess>();
    process->setProcessEnvironment(m_environment);
    process->setWorkingDirectory(m_root.path());
    const QStringList command = wrapper + QStringList{path()} + arguments;
    process->start(command.constFirst(), command.mid(1));
    return process;
}

Outcome PaddockProgram::run(const QStringList &arguments, const QStringList &wrapper) const
{
    const auto process = start(arguments, wrapper);
    return outcomeOf(*process);
}

bool PaddockProgram::waitFor(QProcess &process, const QByteArray &text, QByteArray &seen)
{
    seen += process.readAllStandardOutput();
    while (!seen.contains(text)) {
        if (process.state() == QProcess::NotRunning || !process.waitForReadyRead(silenceLimitMs))
            return false;
        seen += process.readAllStandardOutput();
    }
    return true;
}

Outcome PaddockProgram::outcomeOf(QProcess &process, QByteArray seen)
{
    Outcome o;
    if (process.state() != QProcess::NotRunning && !process.waitForFinished(runLimitMs)) {
        o.hung = true;
        process.kill();
        process.waitForFinished();
    }
    o.out = std::move(seen) + process.readAllStandardOutput();
    o.err = process.readAllStandardError();
    o.exitCode = !o.hung && process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1;
    for (const QByteArray &line : o.out.split('\n')) {
        if (!line.startsWith('{'))
            continue;
        if (auto json = parseJson(line, 256))
            o.events.push_back(std::move(*json));
        else
            ++o.brokenLines;
    }
    return o;
}

QStringList PaddockProgram::leftoversNow() const
{
    QStringList left = descendants();
    QDirIterator it(runtimeDir(), QDir::AllEntries | QDir::System | QDir::Hidden | QDir::NoDotAndDotDot, QDirIterator::Subdirectories);
    while (it.hasNext()) {
        const QString path = it.next();
        if (path != runtimeDir() + QStringLiteral("/paddock"))
            left << QStringLiteral("file ") + path;
    }
    for (const QString &mount : mountsOf(m_root.path()))
        left << QStringLiteral("mount ") + mount;
    return left;
}

QStringList PaddockProgram::leftovers() const
{
    // Processes that were killed with their supervisor take a moment; files are gone when the program is, or never.
    const QDeadlineTimer deadline(leavingLimitMs);
    while (!descendants().isEmpty() && !deadline.hasExpired())
        QTest::qWait(20);
    return leftoversNow();
}

QString PaddockProgram::storedResult(const QString &prefix) const
{
    QStringList files;
    QDirIterator it(dataDir(), {prefix + QLatin1Char('*')}, QDir::Files | QDir::Hidden, QDirIterator::Subdirectories);
    while (it.hasNext()) {
        if (const QString file = it.next(); file.contains(QLatin1String("/outputs/.tool-results/")))
            files << file;
    }
    QFile file(files.value(0));
    return files.size() == 1 && file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

} // namespace paddock::test
