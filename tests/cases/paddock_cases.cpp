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

int main(int argc, char **argv)
{
    QCoreApplication app(argc, argv);
    QCommandLineParser parser;
    parser.addHelpOption();
    parser.addOption({QStringLiteral("area"), QStringLiteral("only areas that start with this"), QStringLiteral("prefix")});
    parser.addOption({QStringLiteral("id"), QStringLiteral("only this case"), QStringLiteral("id")});
    parser.addPositionalArgument(QStringLiteral("files"), QStringLiteral("case files"), QStringLiteral("FILE…"));
    parser.process(app);
    QTextStream out(stdout);
    const QStringList files = parser.positionalArguments();
    if (files.isEmpty()) {
        out << "No case file given. Usage: paddock_cases [--area PREFIX] [--id ID] FILE…\n";
        return 2;
    }
    int nPassed = 0, nFailed = 0, nSkipped = 0;
    QMap<QString, int> notBuilt;
    for (const QString &path : files) {
        QFile file(path);
        if (!file.open(QIODevice::ReadOnly)) {
            out << path << ": " << file.errorString() << "\n";
            ++nFailed;
            continue;
        }
        const auto parsed = parseJson(file.readAll(), 512);
        if (!parsed || !parsed->is_array()) {
            out << path << ": " << (parsed ? QStringLiteral("not a JSON array of cases") : parsed.error().message) << "\n";
            ++nFailed;
            continue;
        }
        const QString stem = QFileInfo(path).completeBaseName();
        int index = 0;
        for (const Json &testCase : *parsed) {
            ++index;
            const QString area = stringOf(testCase, "area");
            const QString id = stringOf(testCase, "id", QStringLiteral("#%1").arg(index));
            if (parser.isSet(QStringLiteral("area")) && !area.startsWith(parser.value(QStringLiteral("area"))))
                continue;
            if (parser.isSet(QStringLiteral("id")) && id != parser.value(QStringLiteral("id")))
                continue;
            cases::Verdict verdict;
            const cases::Runner *runner = cases::findRunner(area + u'#' + id, stem); // one case of a mixed area
            if (runner == nullptr) // one op of an area that several rooms share
                runner = cases::findRunner(area + u'#' + stringOf(memberOf(testCase, "input"), "op"), stem);
            if (runner == nullptr)
                runner = cases::findRunner(area, stem);
            if (runner != nullptr) {
                try {
                    verdict = (*runner)(testCase);
                } catch (const std::exception &e) {
                    verdict = cases::failed(QStringLiteral("the runner threw: %1").arg(QString::fromUtf8(e.what())));
                }
            } else if (cases::isKnownArea(area)) {
                ++notBuilt[area];
                ++nSkipped;
                continue;
            } else {
                verdict = cases::failed(QStringLiteral("unknown area '%1'").arg(area));
            }
            switch (verdict.kind) {
            case cases::Verdict::Kind::Passed: ++nPassed; break;
            case cases::Verdict::Kind::Failed:
                ++nFailed;
                out << "FAILED " << id << " [" << area << "] " << verdict.detail << "\n";
                break;
            case cases::Verdict::Kind::Skipped:
                ++nSkipped;
                out << "skipped " << id << " [" << area << "] " << verdict.detail << "\n";
                break;
            }
            out.flush();
        }
    }
    for (auto it = notBuilt.cbegin(); it != notBuilt.cend(); ++it)
        out << "skipped " << it.value() << " of area " << it.key() << ": not built yet\n";
    out << nPassed << " passed, " << nFailed << " failed, " << nSkipped << " skipped\n";
    return nFailed == 0 ? 0 : 1;
}
