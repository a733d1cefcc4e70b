// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/channel_identity.h"
#include "core/sandbox/env_policy.h"
#include "core/sandbox/host_bash.h"
#include "core/tool/tool_support.h"

namespace paddock::tools {

namespace {

ToolSpec bashSpec()
{
    return makeSpec(
        QStringLiteral("bash"),
        QStringLiteral(
            "Execute a bash command in the sandbox.\n\n"
            "- The command starts in /mnt/user-data/workspace; use absolute paths under /mnt/user-data for everything else.\n"
            "- In an isolated sandbox your variables, functions and background jobs stay between your own calls; other agents do "
            "not see them.\n"
            "- Run long-lived processes in the background with their output redirected, e.g. "
            "`your-command > /mnt/user-data/workspace/server.log 2>&1 &`.\n"
            "- Long output is cut in the middle; filter it (head, tail, grep) when you need all of one part."),
        {{"command", {{"type", "string"}, {"description", "The bash command to execute."}}}});
}

/// sandbox.md §2.4: identity prefix, working directory, command; the overlay never passes through the command text.
class BashTool : public SandboxTool
{
public:
    explicit BashTool(SettingsPtr settings) : SandboxTool(std::move(settings), bashSpec()) {}

    Task<Result<ToolOutcome>> call(ToolCallContext context) override
    {
        const SettingsPtr settings = m_settings;
        const ToolCall call = context.call;
        const auto sandbox = co_await acquire(context.runtime, context.stop);
        if (!sandbox) {
            if (sandbox.error().isCancelled())
                co_return std::unexpected(sandbox.error());
            co_return failure(call, sandbox.error().message);
        }
        const QString command = stringOf(call.args, "command");
        const QMap<QString, QString> overlay = secretOverlay(context.runtime->values, command, settings->options.secrets);
        if (const auto ok = checkEnvNames(overlay); !ok)
            co_return failure(call, ok.error().message);
        const QString prefix = channelPrefix(context.runtime->values);
        CommandRequest request;
        if ((*sandbox)->isLocal()) {
            request.command = command;
            request.identityPrefix = prefix;
        } else {
            request.command = composeAioCommand(prefix, command);
        }
        request.env = overlay;
        request.timeout = settings->options.bashTimeout;
        request.scope = context.runtime->sandbox->scope();
        request.events = context.runtime->events;
        auto result = co_await (*sandbox)->execute(request, context.stop);
        if (!result && boolOf(result.error().details, notDeliveredKey) && !context.stop.stop_requested()) {
            // The sandbox is gone and has not seen the command; where that is certain, a fresh one gets it.
            const auto fresh = co_await acquire(context.runtime, context.stop);
            if (fresh && *fresh != *sandbox)
                result = co_await (*fresh)->execute(request, context.stop);
        }
        if (context.stop.stop_requested() || (!result && result.error().isCancelled()))
            co_return cancelled();
        if (!result)
            co_return failure(call, maskSecrets(result.error().message, overlay));
        // Masked before it is cut: half a secret would no longer be recognised.
        const QString text = maskSecrets(result->text, overlay);
        const QString shown = truncateBash(text, settings->options.bashOutputChars, settings->options.truncation);
        const MessagePtr message = toolMessage(call.id, call.name, shown);
        if (const qsizetype missing = missingFromBash(shown); missing > 0)
            co_return edited(message, [missing](Message &m) { m.kwargs[missingCharsKey] = missing; });
        co_return message;
    }
};

} // namespace

ToolPtr makeBashTool(SettingsPtr settings)
{
    return std::make_shared<BashTool>(std::move(settings));
}

} // namespace paddock::tools
