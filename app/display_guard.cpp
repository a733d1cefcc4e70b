// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "app/display_guard.h"

#include "app/cli.h"

#include <QStringList>

#include <cstdio>
#include <cstdlib>

namespace paddock {

namespace {

QtMessageHandler other = nullptr; // set on the main thread before Qt has threads of its own

/// The variables that chose the display, as they are.
QString chosenDisplay()
{
    QStringList parts;
    for (const char *name : {"QT_QPA_PLATFORM", "WAYLAND_DISPLAY", "DISPLAY"}) {
        if (!qEnvironmentVariableIsEmpty(name))
            parts << QStringLiteral("%1=%2").arg(QLatin1String(name), qEnvironmentVariable(name));
    }
    return parts.isEmpty() ? QStringLiteral("none is named") : parts.join(QStringLiteral(", "));
}

void handle(QtMsgType type, const QMessageLogContext &context, const QString &text)
{
    if (type == QtFatalMsg) {
        cli::say(QStringLiteral("paddock: the window cannot be opened: the display does not let us in (%1). Correct these variables, or work "
                                "without a display: paddock run TASK, paddock show RUN; for a picture set QT_QPA_PLATFORM=offscreen. See paddock --help")
                     .arg(chosenDisplay()));
        std::fflush(nullptr);
        std::_Exit(cli::Failed); // returning would abort
    }
    if (other)
        other(type, context, text);
    else
        std::fprintf(stderr, "%s\n", qUtf8Printable(qFormatLogMessage(type, context, text)));
}

} // namespace

DisplayGuard::DisplayGuard() : m_previous(qInstallMessageHandler(handle))
{
    other = m_previous;
}

DisplayGuard::~DisplayGuard()
{
    qInstallMessageHandler(m_previous);
    other = nullptr;
}

} // namespace paddock
