// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QObject>
#include <QSocketNotifier>

#include <memory>

namespace paddock {

/// SIGINT, SIGTERM and SIGHUP as a Qt signal on the owner's thread (self-pipe). One per process, made on the main thread.
class UnixSignals : public QObject
{
    Q_OBJECT
public:
    explicit UnixSignals(QObject *parent = nullptr);
    ~UnixSignals() override;

Q_SIGNALS:
    void caught(int number);

private:
    std::unique_ptr<QSocketNotifier> m_notifier;
};

} // namespace paddock
