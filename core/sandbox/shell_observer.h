// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QByteArray>
#include <QObject>
#include <QString>

namespace paddock {

/// One observer of a live shell session: its raw pty bytes (design.md §4: bytes are not events). Made, used and destroyed
/// on one thread with an event loop; its signals come there. Destroying it detaches; the session lives on.
class ShellObserver : public QObject
{
    Q_OBJECT
public:
    using QObject::QObject;

Q_SIGNALS:
    void bytes(const QByteArray &data);
    /// Once: the session ended, or the connection to it. The reason is a sentence.
    void ended(const QString &reason);
};

} // namespace paddock
