// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/run/server_binary.h"

#include <QCoreApplication>
#include <QFileInfo>
#include <QStandardPaths>

namespace paddock {

QString serverBinary()
{
    const QString named = qEnvironmentVariable("PADDOCK_SANDBOXD");
    if (!named.isEmpty() && QFileInfo(named).isExecutable())
        return named;
    const QString beside = QCoreApplication::applicationDirPath() + QStringLiteral("/paddock-sandboxd");
    if (QFileInfo(beside).isExecutable())
        return beside;
    return QStandardPaths::findExecutable(QStringLiteral("paddock-sandboxd"));
}

} // namespace paddock
