// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/backend/process_mark.h"

#include <QFile>
#include <QSysInfo>

#include <unistd.h>

namespace paddock {

namespace {

constexpr int startTimeField = 19; // of /proc/PID/stat, counted after the command's closing bracket

/// Clock ticks from the boot to the start of the process; empty when there is no such process.
QByteArray startTicks(qint64 pid)
{
    QFile file(QStringLiteral("/proc/%1/stat").arg(pid));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    const QByteArray text = file.readAll();
    const QList<QByteArray> fields = text.sliced(text.lastIndexOf(')') + 1).simplified().split(' ');
    return fields.value(0) == "Z" ? QByteArray() : fields.value(startTimeField);
}

} // namespace

QString ownProcessMark()
{
    const qint64 pid = ::getpid();
    return QStringLiteral("%1:%2:%3").arg(QSysInfo::machineHostName()).arg(pid).arg(QString::fromLatin1(startTicks(pid)));
}

bool isMarkOfAnotherLivingProcess(const QString &mark)
{
    const QString ticks = mark.section(u':', -1);
    const qint64 pid = mark.section(u':', -2, -2).toLongLong();
    if (pid <= 0 || ticks.isEmpty() || mark == ownProcessMark() || mark.section(u':', 0, -3) != QSysInfo::machineHostName())
        return false;
    return QString::fromLatin1(startTicks(pid)) == ticks;
}

} // namespace paddock
