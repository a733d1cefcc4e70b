// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/loop.h"
#include "core/run/run_service.h"
#include "core/term/terminal.h"

#include <QObject>

#include <atomic>
#include <memory>
#include <utility>

namespace paddock {

/// Takes "cd /mnt/user-data/workspace; " out where it follows a prompt ("$ "), also when it comes in pieces.
class PromptFilter
{
public:
    QByteArray filter(const QByteArray &data);
    /// What was kept back because it might have become the words to take out.
    QByteArray rest() { return std::exchange(m_kept, {}); }

private:
    QByteArray m_kept;
    QByteArray m_last; ///< the last two bytes that were let through
};

/// Carries the bytes of one stream to a terminal on the parser thread, so that a flood costs the window nothing. Lives
/// on the GUI thread; the terminal outlives it in what is still queued. What waits is bounded: above the limit the oldest
/// waiting output is skipped and a line says so.
class TerminalFeed : public QObject
{
    Q_OBJECT
public:
    static constexpr qint64 mostWaiting = 8 * 1024 * 1024;

    TerminalFeed(std::shared_ptr<Terminal> terminal, std::unique_ptr<ShellStream> stream, QObject *parent = nullptr);
    ~TerminalFeed() override;
    /// Shows everything as it comes, e.g. while a person types; otherwise commands stand as the agents wrote them,
    /// without the change of folder that the sandbox puts before each.
    void setVerbatim(bool on);

Q_SIGNALS:
    void changed();
    void ended(const QString &reason);

private:
    void take(const QByteArray &data);
    void feed(QByteArray bytes);
    struct Shared;
    std::shared_ptr<Terminal> m_terminal;
    std::unique_ptr<ShellStream> m_stream;
    std::shared_ptr<Shared> m_shared;
    PromptFilter m_filter;
    bool m_verbatim = false;
};

/// Ends the parser thread; called once when the program ends.
void stopTerminalParser();

} // namespace paddock
