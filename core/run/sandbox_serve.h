// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"

#include <QObject>
#include <QString>

#include <memory>

namespace paddock {

class RuntimeDir;
struct BwrapPlan;
class SupervisedProcess;

/// An embedded sandbox that any AIO client on this machine may use: the same server in the same isolation as in a run, on
/// a socket that others can reach. Lives on the owner's thread, which must outlive it (the sandbox ends with it).
class ServedSandbox : public QObject
{
    Q_OBJECT
public:
    struct Options {
        QString listen;    ///< "127.0.0.1:PORT", "[::1]:PORT" or "unix:PATH"
        QString workspace; ///< host folder at /mnt/user-data/workspace
        QString tokenFile; ///< its first line is the API key; empty: no key
        int maxShellSessions = 64;
        bool hostNetwork = false;
    };

    explicit ServedSandbox(Options options);
    ~ServedSandbox() override;

    /// Starts; `ready` or `ended` follows. The error says what is wrong with the options.
    Result<void> start();
    /// "http://127.0.0.1:8080" or "unix:/path"
    QString address() const { return m_address; }
    /// Ends the server and everything in the sandbox; `ended` follows.
    void stop();

Q_SIGNALS:
    void ready();
    /// Once. `problem` is empty when it was asked to stop.
    void ended(const QString &problem);

private:
    Result<int> openSocket();
    Result<QString> readKey() const;
    BwrapPlan makePlan(const QString &server, int listenFd) const;

    Options m_options;
    QString m_address;
    QString m_unixPath;
    std::shared_ptr<RuntimeDir> m_runtime;
    std::unique_ptr<SupervisedProcess> m_process;
    bool m_stopping = false;
};

} // namespace paddock
