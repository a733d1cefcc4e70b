// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "app/cli.h"
#include "core/run/doctor.h"

#include <QCommandLineParser>

namespace paddock::cli {

int doctor(const QStringList &arguments)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(QStringLiteral("Checks what Paddock needs on this machine and says what to do."));
    const QCommandLineOption help = parser.addHelpOption();
    const QCommandLineOption config({QStringLiteral("c"), QStringLiteral("config")}, QStringLiteral("Configuration file."), QStringLiteral("FILE"));
    const QCommandLineOption dataDir(QStringLiteral("data-dir"), QStringLiteral("Where journal and threads are kept."), QStringLiteral("DIR"));
    parser.addOptions({config, dataDir});
    if (!parser.parse(QStringList{QStringLiteral("paddock doctor")} + arguments)) {
        say(QStringLiteral("paddock doctor: ") + parser.errorText());
        return Usage;
    }
    if (parser.isSet(help)) {
        print(parser.helpText());
        return Done;
    }
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
