// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QByteArray>
#include <QList>

#include <cstdint>
#include <optional>

// What is said on the private channel between the server and a session's bash (room README, "Shell channel"). Pure.
//
// The channel is a socket that is bash's descriptor 0 while it reads commands; commands themselves run with the terminal
// as descriptor 0, and bash keeps the channel close-on-exec meanwhile, so that no program ever sees it. The server sends
// one line per command; the shell answers with records and waits for an empty line after each, which gives the server the time
// to read the terminal dry: output belongs to a command exactly, without any mark in the stream and without looking for
// a prompt.
namespace paddock::sandboxd {

/// Lets the shell go on. Harmless when an interrupt leaves it unread: an empty line.
inline constexpr const char *channelGo = "\n";
/// Answer to a typed line that is not a whole command yet; a comment when it is left unread.
inline constexpr const char *channelMore = "#m\n";

/// State of the user's shell that the next command must find unchanged.
struct ShellState {
    int status = 0;
    QByteArray pipeStatus = "0"; ///< PIPESTATUS joined by spaces
    bool tracing = false;        ///< set -x is on
};

struct ShellLine {
    std::uint64_t sequence = 0;
    QByteArray command;
    QByteArray directory; ///< cd there first; empty: stay
    bool keepSymlinks = false;
    ShellState state;
};

/// Text as one word of bash on one line: $'…'.
QByteArray shellWord(QByteArrayView text);
/// Sets the shell up; ends with record I.
QByteArray startLine(const QByteArray &terminal);
/// Runs a command: record S, the command, record Z.
QByteArray commandLine(const ShellLine &line, const QByteArray &terminal);
/// Lets a person edit a line with readline and runs it: record S, records L, the command, record Z.
QByteArray typedLine(std::uint64_t sequence, const QByteArray &terminal);
/// Record Z only: tells whether the shell is back after an interrupt threw the rest of a line away.
QByteArray probeLine(std::uint64_t sequence);

struct ShellRecord {
    enum class Kind {
        Ready,    ///< I: set-up is done
        Started,  ///< S: the command is about to run
        Typed,    ///< L: a line was typed
        Finished, ///< Z
    } kind = Kind::Ready;
    std::uint64_t sequence = 0;
    int evalStatus = 0;
    std::optional<int> status; ///< of the last command inside, when it was reached
    QByteArray pipeStatus;
    QByteArray flags; ///< "$-"
    QByteArray directory;
    QByteArray text;

    int exitCode() const { return status.value_or(evalStatus); }
    ShellState state() const;
};

/// Cuts records out of the bytes that the shell sent.
class RecordReader
{
public:
    /// nullopt in the list's stead of damaged input: the channel cannot be trusted any more.
    std::optional<QList<ShellRecord>> feed(QByteArrayView bytes);

private:
    QByteArray m_pending;
};

/// Whether a text is a whole command for bash. Deliberately simple: what it is not sure of is Unsure.
enum class Completeness { Complete, Incomplete, Unsure };
Completeness completeness(QByteArrayView text);

} // namespace paddock::sandboxd
