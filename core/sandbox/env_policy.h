// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"

#include <QMap>
#include <QString>

namespace paddock {

// Which environment a command on the host gets (sandbox.md §2.11, §3.5). Pure.

/// The name looks like a credential's, upper or lower case.
bool isSecretEnvName(const QString &name);
/// `host` without secret-looking names, then `injected` over it, whatever its names are.
QMap<QString, QString> buildCommandEnv(const QMap<QString, QString> &host, const QMap<QString, QString> &injected);
/// Our own environment as a map; values that are not UTF-8 are left out.
QMap<QString, QString> processEnv();
/// InvalidArgument with the spec's text unless the whole name is a POSIX one.
Result<void> checkEnvName(const QString &name);
Result<void> checkEnvNames(const QMap<QString, QString> &env);

} // namespace paddock
