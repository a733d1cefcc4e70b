// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/aio/shell_text.h"

#include "core/base/text.h"

#include <QRegularExpression>

#include <algorithm>
#include <cmath>

namespace paddock::aio {

namespace {

constexpr int timeoutExitCode = 124;

QString joined(const QString &output, const QString &notice)
{
    return output.isEmpty() ? notice : output + QLatin1Char('\n') + notice;
}

QString withExitCode(const QString &output, std::optional<qint64> code)
{
    if (code && *code != 0)
        return output.isEmpty() ? QStringLiteral("Command exited with code %1").arg(*code)
                                : output + QStringLiteral("\nExit Code: %1").arg(*code);
    return output.isEmpty() ? QStringLiteral("(no output)") : output;
}

QString hardTimeoutText(const QString &output, const CommandTimes &times)
{
    return joined(output, QStringLiteral("Command timed out after %1 seconds and was terminated.\nExit Code: %2")
                              .arg(formatG(times.hard))
                              .arg(timeoutExitCode));
}

QString unexpectedStatus(const QString &status)
{
    return QStringLiteral("Error: Sandbox command returned an unexpected status '%1'; command outcome is unknown and the command was not retried.")
        .arg(status);
}

std::optional<int> narrow(std::optional<qint64> code)
{
    return code ? std::optional<int>(int(std::clamp<qint64>(*code, INT_MIN, INT_MAX))) : std::nullopt;
}

/// Length of the control sequence that starts at `at`, or 0.
qsizetype sequenceLength(QStringView text, qsizetype at)
{
    const auto unit = [&](qsizetype i) { return i < text.size() ? text[i].unicode() : char16_t(0); };
    const bool escape = unit(at) == 0x1b;
    const char16_t kind = escape ? unit(at + 1) : unit(at);
    const qsizetype start = at + (escape ? 2 : 1);
    if (escape ? kind == u'[' : kind == 0x9b) { // CSI: parameters, intermediates, one final
        qsizetype i = start;
        while (unit(i) >= 0x30 && unit(i) <= 0x3f)
            ++i;
        while (unit(i) >= 0x20 && unit(i) <= 0x2f)
            ++i;
        return unit(i) >= 0x40 && unit(i) <= 0x7e ? i + 1 - at : start - at;
    }
    if (escape ? kind == u']' : kind == 0x9d) { // OSC: up to BEL or ST, on one line
        for (qsizetype i = start; i < text.size(); ++i) {
            if (unit(i) == 0x07 || unit(i) == 0x9c)
                return i + 1 - at;
            if (unit(i) == 0x1b && unit(i + 1) == u'\\')
                return i + 2 - at;
            if (unit(i) == u'\n')
                break;
        }
        return start - at; // never ended: only the introducer goes
    }
    return 0;
}

} // namespace

CommandTimes CommandTimes::of(double timeout)
{
    const qint64 grace = qint64(std::ceil(timeout + 5));
    return {timeout, std::max<qint64>(600, grace), std::max<qint64>(1, grace)};
}

bool hasErrorObservation(const QString &text)
{
    return text.contains(QLatin1String("'ErrorObservation' object has no attribute 'exit_code'"));
}

QString cleanOutput(const QString &raw)
{
    QString text;
    text.reserve(raw.size());
    for (qsizetype i = 0; i < raw.size();) {
        const char16_t unit = raw[i].unicode();
        const qsizetype skip = unit == 0x1b || unit == 0x9b || unit == 0x9d ? sequenceLength(raw, i) : 0;
        if (skip == 0)
            text += raw[i];
        i += std::max<qsizetype>(skip, 1);
    }
    text.replace(QLatin1String("\r\n"), QLatin1String("\n"));
    if (!text.contains(QLatin1Char('\r')))
        return text;
    QStringList lines = text.split(QLatin1Char('\n'));
    for (QString &line : lines) {
        while (line.endsWith(QLatin1Char('\r')))
            line.chop(1); // the cursor went back, the text still stands
        line = line.sliced(line.lastIndexOf(QLatin1Char('\r')) + 1);
    }
    return lines.join(QLatin1Char('\n'));
}

RenderedCommand renderShell(const wire::ShellExecResult &result, const CommandTimes &times)
{
    using namespace wire::shell_status;
    const QString output = cleanOutput(result.output);
    const QString &status = result.status;
    if (status == completed)
        return {withExitCode(output, result.exitCode), status, narrow(result.exitCode), true};
    if (status == hardTimeout)
        return {hardTimeoutText(output, times), status, timeoutExitCode, true};
    if (status == noChangeTimeout)
        return {joined(output, QStringLiteral("Command produced no output change for %1 seconds; it may still be running. Command outcome is unknown and was not retried.")
                                   .arg(times.noChange)),
                status, std::nullopt, false};
    if (status == terminated) {
        QString text = joined(output, QStringLiteral("Command was terminated because its shell session ended."));
        const bool known = result.exitCode && *result.exitCode > 0; // e.g. a plain "exit 3"; old images say -1
        if (known)
            text += QStringLiteral("\nExit Code: %1").arg(*result.exitCode);
        return {text, status, result.exitCode && *result.exitCode >= 0 ? narrow(result.exitCode) : std::nullopt, false};
    }
    return {joined(output, unexpectedStatus(status)), QStringLiteral("failed"), std::nullopt, false};
}

RenderedCommand renderBash(const wire::BashExecResult &result, const CommandTimes &times)
{
    using namespace wire::bash_status;
    QString output = cleanOutput(result.standardOutput);
    const QString errors = cleanOutput(result.standardError);
    if (!errors.isEmpty())
        output = output.isEmpty() ? errors : output + QStringLiteral("\nStd Error:\n") + errors;
    if (result.status == completed)
        return {withExitCode(output, result.exitCode), result.status, narrow(result.exitCode), true};
    if (result.status == timedOut)
        return {hardTimeoutText(output, times), QStringLiteral("hard_timeout"), timeoutExitCode, true};
    if (result.status == killed)
        return {joined(output, QStringLiteral("Command was killed before completion.")), QStringLiteral("terminated"), narrow(result.exitCode), true};
    if (result.status == running)
        return {joined(output, QStringLiteral("Error: Sandbox command returned a non-terminal running status; command outcome is unknown and was not retried.")),
                QStringLiteral("failed"), std::nullopt, true};
    return {joined(output, unexpectedStatus(result.status)), QStringLiteral("failed"), std::nullopt, true};
}

QString transportNotice(wire::TransportKind kind, const CommandTimes &times)
{
    if (kind == wire::TransportKind::Timeout)
        return QStringLiteral("Sandbox command response timed out after %1 seconds; command outcome is unknown and the command was not retried.")
            .arg(times.http);
    return QStringLiteral("Sandbox command transport failed; command outcome is unknown and the command was not retried.");
}

QString bashUnsupportedText()
{
    return QStringLiteral("this sandbox image does not support per-command environment injection (POST /v1/bash/exec returned 404), "
                          "which is required to run skills that declare required-secrets. This is a deployment issue that retrying "
                          "cannot fix: upgrade the sandbox image to all-in-one-sandbox >= 1.9.3 (set `sandbox.image` in config.yaml, "
                          "e.g. pin the tag `1.11.0`) and recreate the sandbox container, then try again.");
}

QString recreatedNotice()
{
    return QStringLiteral("[sandbox] shell session was recreated; earlier cd/exports/background jobs of this agent are gone.");
}

QString restartedNotice()
{
    return QStringLiteral("[sandbox] the sandbox was restarted; its shells, background jobs and /tmp are gone; files in /mnt/user-data are kept.");
}

std::optional<int> sessionLimitOf(const QString &message)
{
    static const QRegularExpression pattern(QStringLiteral("session limit reached and all (\\d+) existing"));
    const auto match = pattern.match(message);
    return match.hasMatch() ? std::optional(match.captured(1).toInt()) : std::nullopt;
}

} // namespace paddock::aio
