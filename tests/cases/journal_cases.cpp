// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Areas of core/journal.
#include "core/base/text.h"
#include "core/journal/task_record.h"
#include "tests/cases/case_registry.h"

namespace paddock::cases::journal_cases {

namespace {

Verdict runEvent(const Json &testCase)
{
    const Json input = expandParts(memberOf(testCase, "input"));
    const auto stored = taskRecord(memberOf(input, "chunk"));
    Json actual{{"event", stored ? *stored : Json(nullptr)}};
    if (stored) { // "long texts appear as *_length" (runtime §9)
        Json &content = actual["event"]["content"];
        for (const char *key : {"text", "result", "error"}) {
            if (memberOf(content, key).is_string())
                content[std::string(key) + "_length"] = codePointCount(stringOf(content, key));
        }
    }
    const Json &expect = memberOf(testCase, "expect");
    if (memberOf(expect, "event").is_null() && stored)
        return failed(QStringLiteral("expected nothing, got %1").arg(QString::fromUtf8(dumpJson(*stored))));
    const QString problem = mismatch(expect, actual);
    return problem.isEmpty() ? passed() : failed(problem);
}

const Registrar registrar{"run_event", runEvent};

} // namespace

} // namespace paddock::cases::journal_cases
