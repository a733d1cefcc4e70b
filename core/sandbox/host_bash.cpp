// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/host_bash.h"

#include "core/base/text.h"

#include <cmath>

namespace paddock {

namespace {

/// What YAML and Python call true: everything but false, null, 0, "" and empty containers.
bool isTruthy(const Json &value)
{
    if (value.is_null())
        return false;
    if (value.is_boolean())
        return value.get<bool>();
    if (value.is_number())
        return value.get<double>() != 0;
    if (value.is_string())
        return !value.get_ref<const std::string &>().empty();
    return !value.empty();
}

} // namespace

bool usesLocalProvider(const QString &use)
{
    return use == u"local" || use == u"deerflow.sandbox.local:LocalSandboxProvider"
        || use == u"deerflow.sandbox.local.local_sandbox_provider:LocalSandboxProvider"
        || (use.endsWith(u":LocalSandboxProvider") && use.contains(u"deerflow.sandbox.local"));
}

bool isHostBashAllowed(const Json &sandboxSection)
{
    if (!sandboxSection.is_object())
        return false;
    if (!usesLocalProvider(stringOf(sandboxSection, "use")))
        return true;
    return isTruthy(memberOf(sandboxSection, "allow_host_bash"));
}

QString hostBashDisabledText()
{
    return QStringLiteral("Host bash execution is disabled for LocalSandboxProvider because it is not a secure sandbox boundary. "
                          "Switch to AioSandboxProvider for isolated bash access, or set sandbox.allow_host_bash: true only in "
                          "a fully trusted local environment.");
}

QString composeLocalCommand(const QString &prefix, const QString &workspaceHost, const QString &command)
{
    if (workspaceHost.isEmpty())
        return prefix + command;
    return prefix + QStringLiteral("cd ") + shellQuote(workspaceHost) + QStringLiteral(" && ") + command;
}

QString composeAioCommand(const QString &prefix, const QString &command)
{
    return prefix + QStringLiteral("cd /mnt/user-data/workspace; ") + command;
}

QString localTimeoutNotice(double seconds)
{
    const bool whole = seconds == std::floor(seconds) && std::fabs(seconds) < 1e15;
    const QString amount = whole ? QString::number(qint64(seconds)) : formatG(seconds);
    return QStringLiteral("Command timed out after %1 %2 and was terminated. To run a long-lived process such as a web server, "
                          "start it in the background and redirect its output, e.g. `your-command > "
                          "/mnt/user-data/workspace/server.log 2>&1 &`.")
        .arg(amount, amount == u"1" ? QStringLiteral("second") : QStringLiteral("seconds"));
}

QString composeLocalOutput(const LocalOutput &output)
{
    QString text = output.out;
    if (!output.err.isEmpty())
        text = text.isEmpty() ? output.err : text + QStringLiteral("\nStd Error:\n") + output.err;
    if (output.timedOut || output.cancelled) {
        if (!text.isEmpty())
            text += u'\n';
        text += output.timedOut ? localTimeoutNotice(output.timeoutSeconds)
                                : QStringLiteral("Command was cancelled and was terminated.");
    } else if (output.exitCode != 0) {
        text += QStringLiteral("\nExit Code: %1").arg(output.exitCode);
    }
    return text.isEmpty() ? QStringLiteral("(no output)") : text;
}

} // namespace paddock
