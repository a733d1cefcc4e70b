// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/ids.h"

#include <QUuid>

namespace paddock {

QString newUuid()
{
    return QUuid::createUuid().toString(QUuid::WithoutBraces);
}

QString newShortId()
{
    return QUuid::createUuid().toString(QUuid::Id128).left(12);
}

} // namespace paddock
