// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/chain_slots.h"

#include "core/middleware/dangling_tool_call.h"
#include "core/middleware/input_sanitization.h"
#include "core/middleware/loop_detection.h"
#include "core/middleware/read_before_write.h"
#include "core/middleware/sandbox_audit.h"
#include "core/middleware/sandbox_member.h"
#include "core/middleware/subagent_date_context.h"
#include "core/middleware/system_message_coalescing.h"
#include "core/middleware/thread_data.h"
#include "core/middleware/tool_error_handling.h"
#include "core/middleware/tool_result_sanitization.h"

namespace paddock::chain_slots {

MiddlewarePtr inputSanitization(const ChainOptions &)
{
    return std::make_shared<InputSanitizationMiddleware>();
}

MiddlewarePtr toolResultSanitization(const ChainOptions &)
{
    return std::make_shared<ToolResultSanitizationMiddleware>();
}

MiddlewarePtr threadData(const ChainOptions &options)
{
    return std::make_shared<ThreadDataMiddleware>(
        ThreadDataMiddleware::Options{options.dataDir, options.workspaceOverride, true});
}

MiddlewarePtr sandbox(const ChainOptions &options)
{
    return std::make_shared<SandboxMiddleware>(SandboxMiddleware::Options{options.lazySandbox});
}

MiddlewarePtr danglingToolCall(const ChainOptions &)
{
    return std::make_shared<DanglingToolCallMiddleware>();
}

MiddlewarePtr sandboxAudit(const ChainOptions &options)
{
    using Mode = SandboxAuditMiddleware::Mode;
    return std::make_shared<SandboxAuditMiddleware>(options.sandboxAudit == u"warn_only" ? Mode::WarnOnly : Mode::Enforce);
}

MiddlewarePtr readBeforeWrite(const ChainOptions &options)
{
    return std::make_shared<ReadBeforeWriteMiddleware>(
        ReadBeforeWriteMiddleware::Options{options.elideBlockedPayloads, options.elideMinChars, {}});
}

MiddlewarePtr toolErrorHandling(const ChainOptions &)
{
    return std::make_shared<ToolErrorHandlingMiddleware>();
}

MiddlewarePtr loopDetection(const ChainOptions &options)
{
    return std::make_shared<LoopDetectionMiddleware>(
        LoopOptions{options.loopWarnThreshold, options.loopHardLimit, options.loopWindow, options.loopMaxScopes,
                    options.toolFreqWarn, options.toolFreqHardLimit, options.toolFreqOverrides});
}

MiddlewarePtr subagentDateContext(const ChainOptions &options)
{
    return std::make_shared<SubagentDateContextMiddleware>(options.dateTimezone);
}

MiddlewarePtr systemMessageCoalescing(const ChainOptions &)
{
    return std::make_shared<SystemMessageCoalescingMiddleware>();
}

std::vector<MiddlewarePtr> makeAll(const std::vector<ChainSlot> &rows, const ChainOptions &options)
{
    std::vector<MiddlewarePtr> members;
    for (const ChainSlot &row : rows) {
        if (row.make != nullptr && row.wanted(options))
            members.push_back(row.make(options));
    }
    return members;
}

} // namespace paddock::chain_slots
