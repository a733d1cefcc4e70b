// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"

#include <QString>
#include <QStringList>

namespace paddock {

/// The borders of user text and the names of framework blocks that foreign text may not forge (middleware-base §2).
/// Escaping, never rejecting. Pure functions; any thread. A pattern that hits its match limit is an error.
namespace framing {

/// Every tag that the framework itself emits; a new block needs an entry here.
const QStringList &blockedTags();
QString beginMarker();
QString endMarker();

struct Neutralized {
    QString text;
    QStringList tags; ///< names of the tags that were escaped
    int markers = 0;
};

/// Blocked tags escaped and markers neutralized; blank text stays. Idempotent.
Result<Neutralized> neutralize(const QString &text);
/// Neutralized text between the markers; what is framed already stays framed once. Idempotent.
Result<QString> frame(const QString &text);

} // namespace framing

} // namespace paddock
