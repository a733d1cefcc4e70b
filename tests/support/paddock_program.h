// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/base/json.h"

#include <QProcess>
#include <QTemporaryDir>

#include <memory>
#include <vector>

namespace paddock::test {

/// What one run of the program came to.
struct Outcome {
    int exitCode = -1; ///< -1: it had to be killed, or died of a signal
    bool hung = false;
    QByteArray out;
    QByteArray err;
    std::vector<Json> events; ///< the JSON lines of `out`
    int brokenLines = 0;      ///< lines that begin like JSON and are none

    std::vector<Json> ofType(const char *type) const;
    /// The last event of that type; null when there is none.
    Json last(const char *type) const;
    /// What a tool of `commandScenario` answered to the call.
    QString resultOf(const QString &call) const;
    /// The lines of `err` that complain: no progress, no log of Qt.
    QStringList complaints() const;
};

/// One tool call of a scripted turn.
Json toolCall(const QString &id, const QString &tool, Json args);
Json bashCall(const QString &id, const QString &command);
/// A scenario whose lead makes the calls one after the other (each in a turn of its own) and then says every result, so
/// that Outcome::resultOf finds it.
Json commandScenario(const std::vector<Json> &calls);

/// The real paddock with a data folder, a runtime folder and a home of its own, and everything that it may leave behind
/// watched. One per test.
class PaddockProgram
{
public:
    PaddockProgram();

    /// Why no sandbox can be started on this machine; empty when one can.
    static QString isolationProblem();
    static QString path();
    /// A command that runs the rest in a mount namespace of its own, after `script` (sh); empty when the machine refuses.
    static QStringList withMounts(const QString &script);
    /// A command that runs the rest as an ordinary user, when this test is root and can become one. Gives the folders to that user.
    QStringList asOrdinaryUser() const;

    QString dataDir() const { return m_root.path() + QStringLiteral("/data"); }
    /// What the only large tool result whose file begins with `prefix` was; empty when there is none or more than one.
    QString storedResult(const QString &prefix) const;
    QString runtimeDir() const { return m_root.path() + QStringLiteral("/run"); }
    /// A folder for whatever the test needs, made when asked for.
    QString folder(const QString &name) const;
    QString file(const QString &name, const QByteArray &content) const;
    QString scenario(const Json &content, const QString &name = QStringLiteral("scenario.yaml")) const;

    /// `run --scenario FILE --jsonl` with the data folder, and what follows.
    QStringList runArguments(const QString &scenario, const QStringList &more = {}) const;
    /// Runs the program to its end. `wrapper` is a command in front of it.
    Outcome run(const QStringList &arguments, const QStringList &wrapper = {}) const;
    std::unique_ptr<QProcess> start(const QStringList &arguments, const QStringList &wrapper = {}) const;
    /// Waits until the program printed `text` on standard output; false when it ended before or said nothing for a minute.
    static bool waitFor(QProcess &process, const QByteArray &text, QByteArray &seen);
    static Outcome outcomeOf(QProcess &process, QByteArray seen = {});
    void setEnvironment(const QString &name, const QString &value) { m_environment.insert(name, value); }

    /// What the program left behind: descendants of this test (adopted when their parents died), files in the runtime
    /// folder, mounts. Waits for the last process to go.
    QStringList leftovers() const;

private:
    QStringList leftoversNow() const;

    QTemporaryDir m_root;
    QProcessEnvironment m_environment;
};

} // namespace paddock::test
