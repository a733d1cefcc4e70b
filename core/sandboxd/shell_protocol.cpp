// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/shell_protocol.h"

namespace paddock::sandboxd {

namespace {

constexpr qsizetype maxRecordBytes = 1024 * 1024;

// Names of ours inside the user's shell all begin with __pd_. Each function starts with what it must save: "$?".
// W: waits for the server. A probe that came while the record was on its way is answered by that record and dropped.
#define PADDOCK_WAIT "while builtin read -r -u 0 __pd_k && [[ $__pd_k == *pd_z* ]]; do :; done"
constexpr const char *functions =
    // r STATUS LASTARG: sets $? and $_ without a process
    "__pd_r() { return \"$1\"; }; "
    // a SEQ: record S, then waits
    "__pd_a() { __pd_e=; builtin printf 'S%s\\0' \"$1\" >&0; " PADDOCK_WAIT "; }; "
    // z SEQ: record Z, opens outputs that the command closed (the next one would be mute without a word), then waits.
    // "builtin exec" would take the redirection back.
    "__pd_z() { builtin printf 'Z%s\\0%s\\0%s\\0%s\\0%s\\0%s\\0' \"$1\" \"$?\" \"${__pd_e-}\" \"${__pd_s-}\" \"$-\" \"$PWD\" >&0; "
    "[[ -e /dev/fd/1 ]] || exec 1>\"$__pd_y\"; [[ -e /dev/fd/2 ]] || exec 2>\"$__pd_y\"; "
    PADDOCK_WAIT "; }; "
    // t: edits a line with readline until the server takes it for a whole command
    "__pd_t() { builtin local __pd_p=${PS1@P} __pd_l; __pd_c=; "
    "while builtin read -e -r -p \"$__pd_p\" __pd_l <\"$__pd_y\"; do "
    "__pd_c=$__pd_c$__pd_l; builtin printf 'L%s\\0' \"$__pd_c\" >&0; " PADDOCK_WAIT "; "
    "if [[ $__pd_k != '#m' ]]; then builtin history -s -- \"$__pd_c\"; builtin return 0; fi; "
    "__pd_c=$__pd_c$'\\n'; __pd_p=${PS2@P}; done; builtin return 1; }; ";

/// Keeps $?, $_ and PIPESTATUS of the user's last command where the record and the next command find them. One
/// assignment, so that nothing changes them before they are read.
constexpr QByteArrayView capture("__pd_e=$? __pd_u=$_ __pd_s=${PIPESTATUS[@]}");

/// A line of ours that may run while set -x is on: its trace goes nowhere. Costs three system calls more, so it is left out
/// where nothing can have switched tracing on.
QByteArray untraced(QByteArrayView text, bool mayTrace)
{
    const QByteArray plain(text.data(), text.size());
    return mayTrace ? "{ " + plain + "; } 2>/dev/null" : plain;
}

bool mayTrace(const ShellLine &line)
{
    return line.state.tracing || line.command.contains("set") || line.command.contains("source") || line.command.contains(". ")
        || line.command.contains("eval");
}

QByteArray restorePrefix(const ShellLine &line)
{
    QByteArray out;
    const QByteArray last = "\"${__pd_u-}\"";
    const bool several = line.state.pipeStatus.contains(' ');
    if (several && line.command.contains("PIPESTATUS")) {
        // Only a pipeline sets several statuses; it costs a process each, so only who looks pays.
        out = ": " + last + "; ";
        QByteArrayList parts;
        for (const QByteArray &part : line.state.pipeStatus.split(' '))
            parts << "__pd_r " + part;
        out += parts.join(" | ");
    } else if (line.state.status == 0) {
        out = ": " + last;
    } else {
        out = "__pd_r " + QByteArray::number(line.state.status) + ' ' + last;
    }
    // Left of && a failure neither fires an ERR trap nor ends a shell under set -e, and keeps its status.
    if (line.state.status != 0)
        out += " && :";
    if (line.state.tracing)
        return "builtin set -x; { " + out + "; } 2>/dev/null; ";
    return out + "; ";
}

} // namespace

QByteArray shellWord(QByteArrayView text)
{
    QByteArray out = "$'";
    out.reserve(text.size() + text.size() / 8 + 8);
    for (const char c : text) {
        switch (c) {
        case '\'': out += "\\'"; break;
        case '\\': out += "\\\\"; break;
        case '\n': out += "\\n"; break;
        case '\r': out += "\\r"; break;
        case '\t': out += "\\t"; break;
        case '!': out += "\\041"; break; // no history expansion
        default:
            if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
                const char digits[] = {'\\', char('0' + ((c >> 6) & 3)), char('0' + ((c >> 3) & 7)), char('0' + (c & 7)), 0};
                out += digits;
            } else {
                out += c;
            }
        }
    }
    out += '\'';
    return out;
}

QByteArray startLine(const QByteArray &terminal)
{
    return QByteArray("builtin unset PS1 PS2; PS1='\\u@\\h:\\w\\$ ' PS2='> '; "
                      "if [[ -r ~/.bashrc ]]; then builtin . ~/.bashrc; fi <")
        + terminal
        + "; builtin set +o history; builtin history -c; builtin unset HISTFILE; builtin bind 'set enable-bracketed-paste off' 2>/dev/null; "
        + functions + "__pd_y=" + terminal + " __pd_u= __pd_s=0; "
        + "builtin printf 'I%s\\0' \"$PWD\" >&0; " PADDOCK_WAIT "\n";
}

QByteArray commandLine(const ShellLine &line, const QByteArray &terminal)
{
    const QByteArray sequence = QByteArray::number(qulonglong(line.sequence));
    QByteArray text;
    if (!line.directory.isEmpty()) {
        text += QByteArray("builtin cd ") + (line.keepSymlinks ? "-L" : "-P") + " -- " + shellWord(line.directory)
            + " >/dev/null 2>&1; ";
    }
    text += restorePrefix(line) + line.command;
    const bool hide = mayTrace(line);
    if (completeness(line.command) == Completeness::Complete)
        text += '\n' + untraced(capture, hide);
    const QByteArray begin = "__pd_a " + sequence + (line.state.tracing ? "; builtin set +x" : "");
    return untraced(begin, line.state.tracing) + "; builtin eval " + shellWord(text) + " <" + terminal + "; "
        + untraced("__pd_z " + sequence, hide) + '\n';
}

QByteArray typedLine(std::uint64_t sequence, const QByteArray &terminal)
{
    const QByteArray number = QByteArray::number(qulonglong(sequence));
    return "{ __pd_a " + number + "; } 2>/dev/null; { __pd_t; } && builtin eval \"$__pd_c\"" + shellWord('\n' + untraced(capture, true)) + " <"
        + terminal + "; { __pd_z " + number + "; } 2>/dev/null\n";
}

QByteArray probeLine(std::uint64_t sequence)
{
    return "{ __pd_z " + QByteArray::number(qulonglong(sequence)) + "; } 2>/dev/null\n";
}

ShellState ShellRecord::state() const
{
    ShellState state;
    state.status = exitCode();
    // The words are pasted into a command later: nothing but numbers may pass.
    bool good = status.has_value() && !pipeStatus.isEmpty();
    for (const char c : pipeStatus)
        good = good && ((c >= '0' && c <= '9') || c == ' ');
    state.pipeStatus = good ? pipeStatus : QByteArray::number(state.status);
    state.tracing = flags.contains('x');
    return state;
}

namespace {

int fieldCount(char kind)
{
    switch (kind) {
    case 'I': case 'S': case 'L': return 1;
    case 'Z': return 6;
    default: return 0;
    }
}

ShellRecord makeRecord(char kind, const QByteArrayList &fields)
{
    ShellRecord record;
    switch (kind) {
    case 'I':
        record.kind = ShellRecord::Kind::Ready;
        record.directory = fields[0];
        break;
    case 'S':
        record.kind = ShellRecord::Kind::Started;
        record.sequence = fields[0].toULongLong();
        break;
    case 'L':
        record.kind = ShellRecord::Kind::Typed;
        record.text = fields[0];
        break;
    default:
        record.kind = ShellRecord::Kind::Finished;
        record.sequence = fields[0].toULongLong();
        record.evalStatus = fields[1].toInt() & 0xff;
        if (!fields[2].isEmpty())
            record.status = fields[2].toInt() & 0xff;
        record.pipeStatus = fields[3];
        record.flags = fields[4];
        record.directory = fields[5];
    }
    return record;
}

} // namespace

std::optional<QList<ShellRecord>> RecordReader::feed(QByteArrayView bytes)
{
    m_pending.append(bytes);
    QList<ShellRecord> out;
    while (!m_pending.isEmpty()) {
        const char kind = m_pending.front();
        const int wanted = fieldCount(kind);
        if (wanted == 0 || m_pending.size() > maxRecordBytes)
            return std::nullopt;
        QByteArrayList fields;
        qsizetype from = 1;
        while (fields.size() < wanted) {
            const qsizetype end = m_pending.indexOf('\0', from);
            if (end < 0)
                return out;
            fields << m_pending.mid(from, end - from);
            from = end + 1;
        }
        out.append(makeRecord(kind, fields));
        m_pending.remove(0, from);
    }
    return out;
}

} // namespace paddock::sandboxd
