// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Runs case files: paddock_cases [--area PREFIX] [--id ID] FILE…
// Prints every mismatch and ends with "N passed, N failed, N skipped".

#include "core/base/error.h"
#include "tests/cases/case_registry.h"

#include <QCoreApplication>
#include <QCommandLineParser>
#include <QFile>
#include <QFileInfo>
#include <QTextStream>

using namespace paddock;

namespace {

/// Runs the chosen cases and keeps count.
class Tally
{
public:
    Tally(QString areaPrefix, QString id) : m_out(stdout), m_areaPrefix(std::move(areaPrefix)), m_id(std::move(id)) {}

    void runFile(const QString &path)
    {
        QFile file(path);
        if (!file.open(QIODevice::ReadOnly)) {
            m_out << path << ": " << file.errorString() << "\n";
            ++m_failed;
            return;
        }
        const auto parsed = parseJson(file.readAll(), 512);
        if (!parsed || !parsed->is_array()) {
            m_out << path << ": " << (parsed ? QStringLiteral("not a JSON array of cases") : parsed.error().message) << "\n";
            ++m_failed;
            return;
        }
        int index = 0;
        for (const Json &testCase : *parsed)
            runCase(testCase, QStringLiteral("#%1").arg(++index), QFileInfo(path).completeBaseName());
    }

    int finish()
    {
        for (auto it = m_notBuilt.cbegin(); it != m_notBuilt.cend(); ++it)
            m_out << "skipped " << it.value() << " of area " << it.key() << ": not built yet\n";
        m_out << m_passed << " passed, " << m_failed << " failed, " << m_skipped << " skipped\n";
        return m_failed == 0 ? 0 : 1;
    }

private:
    void runCase(const Json &testCase, const QString &number, const QString &stem)
    {
        const QString area = stringOf(testCase, "area");
        const QString id = stringOf(testCase, "id", number);
        if (!area.startsWith(m_areaPrefix) || (!m_id.isEmpty() && id != m_id))
            return;
        const cases::Runner *runner = cases::findRunner(area + u'#' + id, stem); // one case of a mixed area
        if (runner == nullptr) // one op of an area that several rooms share
            runner = cases::findRunner(area + u'#' + stringOf(memberOf(testCase, "input"), "op"), stem);
        if (runner == nullptr)
            runner = cases::findRunner(area, stem);
        if (runner != nullptr) {
            count(judged(*runner, testCase), id, area);
        } else if (cases::isKnownArea(area)) {
            ++m_notBuilt[area];
            ++m_skipped;
        } else {
            count(cases::failed(QStringLiteral("unknown area '%1'").arg(area)), id, area);
        }
    }

    static cases::Verdict judged(const cases::Runner &runner, const Json &testCase)
    {
        try {
            return runner(testCase);
        } catch (const std::exception &e) {
            return cases::failed(QStringLiteral("the runner threw: %1").arg(QString::fromUtf8(e.what())));
        }
    }

    void count(const cases::Verdict &verdict, const QString &id, const QString &area)
    {
        switch (verdict.kind) {
        case cases::Verdict::Kind::Passed: ++m_passed; break;
        case cases::Verdict::Kind::Failed:
            ++m_failed;
            m_out << "FAILED " << id << " [" << area << "] " << verdict.detail << "\n";
            break;
        case cases::Verdict::Kind::Skipped:
            ++m_skipped;
            m_out << "skipped " << id << " [" << area << "] " << verdict.detail << "\n";
            break;
        }
        m_out.flush();
    }

    QTextStream m_out;
    QString m_areaPrefix;
    QString m_id;
    int m_passed = 0;
    int m_failed = 0;
    int m_skipped = 0;
    QMap<QString, int> m_notBuilt;
};

} // namespace

int main(int argc, char **argv)
{
    QCoreApplication app(argc, argv);
    QCommandLineParser parser;
    parser.addHelpOption();
    parser.addOption({QStringLiteral("area"), QStringLiteral("only areas that start with this"), QStringLiteral("prefix")});
    parser.addOption({QStringLiteral("id"), QStringLiteral("only this case"), QStringLiteral("id")});
    parser.addPositionalArgument(QStringLiteral("files"), QStringLiteral("case files"), QStringLiteral("FILE…"));
    parser.process(app);
    const QStringList files = parser.positionalArguments();
    if (files.isEmpty()) {
        QTextStream(stdout) << "No case file given. Usage: paddock_cases [--area PREFIX] [--id ID] FILE…\n";
        return 2;
    }
    Tally tally(parser.value(QStringLiteral("area")), parser.value(QStringLiteral("id")));
    for (const QString &path : files)
        tally.runFile(path);
    return tally.finish();
}
