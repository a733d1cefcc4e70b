// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "app/cli.h"
#include "core/run/doctor.h"

namespace paddock::cli {

int doctor(const QStringList &arguments)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(QStringLiteral("Checks what Paddock needs on this machine and says what to do."));
    const QCommandLineOption config = configOption();
    const QCommandLineOption dataDir = dataDirOption();
    const CommandForm form{QStringLiteral("paddock doctor"), 0, 0, QStringLiteral("  paddock doctor\n  paddock doctor --config ./config.yaml"),
                           {config, dataDir}};
    if (const auto over = parseOptions(parser, form, arguments))
        return *over;
    bool bad = false;
    for (const DoctorFinding &finding : examineMachine(parser.value(config), parser.value(dataDir))) {
        static const QString marks[] = {QStringLiteral("good"), QStringLiteral("note"), QStringLiteral("BAD ")};
        print(QStringLiteral("%1  %2: %3").arg(marks[int(finding.state)], finding.what, finding.found));
        if (!finding.advice.isEmpty())
            print(QStringLiteral("      -> ") + finding.advice);
        bad = bad || finding.state == DoctorFinding::State::Bad;
    }
    print(bad ? QStringLiteral("Something has to be mended before runs can work.")
              : QStringLiteral("This machine is ready. Try: paddock run --scenario survey --workspace ."));
    return bad ? Failed : Done;
}

} // namespace paddock::cli
