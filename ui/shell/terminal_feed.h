// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/loop.h"
#include "core/run/run_service.h"
#include "core/term/terminal.h"

#include <QObject>

#include <atomic>
#include <memory>

namespace paddock {

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

Q_SIGNALS:
    void changed();
    void ended(const QString &reason);

private:
    void take(const QByteArray &data);
    struct Shared;
    std::shared_ptr<Terminal> m_terminal;
    std::unique_ptr<ShellStream> m_stream;
    std::shared_ptr<Shared> m_shared;
};

/// Ends the parser thread; called once when the program ends.
void stopTerminalParser();

} // namespace paddock
