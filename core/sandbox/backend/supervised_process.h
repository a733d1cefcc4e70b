// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/completion.h"
#include "core/base/error.h"
#include "core/sandbox/unique_fd.h"

#include <QMap>
#include <QObject>
#include <QProcess>
#include <QSocketNotifier>
#include <QStringList>

#include <functional>
#include <memory>

namespace paddock {

/// One bubblewrap with the server in it, beneath a guard (core/sandboxd/guard.h) that ends both when this process does,
/// at whatever moment and by whatever signal. Lives on one thread. Signals nothing; tells by completions.
class SupervisedProcess : public QObject
{
    Q_OBJECT
public:
    static constexpr qsizetype maxStderrBytes = 8 * 1024; ///< the last ones are kept

    struct Launch {
        QString guard;       ///< paddock-sandboxd
        QString program;     ///< bubblewrap
        QStringList options; ///< handed over through a descriptor
        QStringList command; ///< visible in the process list, inside too
        QMap<QString, QString> environment; ///< the whole of it
        UniqueFd listenFd;                  ///< inherited
        qint64 fileBytes = 0;
        int openFiles = 0;
    };
    /// The pipes are made first, because their numbers are part of the arguments.
    SupervisedProcess();
    ~SupervisedProcess() override;

    int readyFd() const { return m_readyWrite.get(); }
    int infoFd() const { return m_infoWrite.get(); }
    int parentFd() const { return m_parentRead.get(); }

    void launch(Launch launch);
    /// The first line on the ready pipe, or an error with what stderr said when it ended before.
    const Completion<Result<void>> &ready() const { return m_ready; }
    /// Everything in the sandbox is gone, bubblewrap and the guard too.
    const Completion<bool> &gone() const { return m_gone; }
    bool running() const { return m_launched && !m_gone.isComplete(); }

    /// Closes the parent pipe: the server ends by itself.
    void askToEnd() { m_parentWrite.reset(); }
    /// SIGKILL to the namespace's first process and, by the guard, to whatever there is.
    void kill();
    QString stderrText() const { return QString::fromLocal8Bit(m_stderr); }

private:
    void readReady();
    void readInfo();
    void readStderr();
    void guardEnded();
    void failToStart(ErrorCode code, const QString &why);
    void watchFirstProcess(int pid);
    void checkGone();

    QProcess m_process;
    UniqueFd m_readyRead, m_readyWrite;
    UniqueFd m_infoRead, m_infoWrite;
    UniqueFd m_parentRead, m_parentWrite;
    UniqueFd m_guardRead, m_guardWrite; ///< the guard lives as long as nobody closes the writing end
    UniqueFd m_firstPidFd; ///< of the namespace's first process
    std::unique_ptr<QSocketNotifier> m_readyNotifier, m_infoNotifier, m_pidNotifier;
    QByteArray m_info;
    QByteArray m_stderr;
    bool m_launched = false;
    bool m_guardEnded = false;
    Completion<Result<void>> m_ready;
    Completion<bool> m_gone;
};

} // namespace paddock
