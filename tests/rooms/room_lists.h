// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QList>
#include <QMap>
#include <QString>
#include <QStringList>

namespace paddock::rooms {

/// Which room may include which: the list that a new arrow is added to, with an ADR.
using ArrowList = QMap<QString, QStringList>;
const ArrowList &allowedArrows();

/// Headers of one library, and the rooms (or files) that may include them.
struct ThirdParty {
    QString headers; ///< how their names begin
    QStringList places;
    QString why; ///< where it is more than the library's one room
};
const QList<ThirdParty> &thirdParties();
/// Headers of ours that hand a library's header on to other rooms, each on purpose.
const QStringList &handedOn();

/// A rule that one file breaks with a reason.
struct Exemption {
    QString rule;
    QString path;
    QString what; ///< part of the line or name; empty: whatever it is
    QString why;
};
const QList<Exemption> &exemptions();

/// Names of Qt Gui and Qt Widgets headers, as far as somebody could want them in core.
const QStringList &guiHeaders();
/// Users' folders and hosts that are nobody's.
const QStringList &virtualHomes();
const QStringList &knownHosts();

} // namespace paddock::rooms
