// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandbox/path_map.h"
#include "core/sandbox/virtual_paths.h"
#include "tests/cases/case_registry.h"

#include <cerrno>
#include <optional>

namespace paddock::cases::sandbox {

// ---- results

inline QString errorClass(const Error &error)
{
    switch (error.code) {
    case ErrorCode::PermissionDenied: return QStringLiteral("PermissionError");
    case ErrorCode::FailedPrecondition: return QStringLiteral("SandboxRuntimeError");
    case ErrorCode::InvalidArgument: return QStringLiteral("ValueError");
    default: return errorCodeName(error.code);
    }
}

inline Verdict compare(const Json &expect, const Json &actual)
{
    const QString problem = mismatch(expect, actual);
    return problem.isEmpty() ? passed() : failed(problem);
}

inline Verdict compareValue(const Json &testCase, const Json &value)
{
    return compare(testCase.at("expect"), Json{{"value", value}});
}

inline Verdict compareResult(const Json &testCase, const Result<Json> &result)
{
    const Json &expect = testCase.at("expect");
    if (result)
        return compareValue(testCase, *result);
    Json actual{{"error", toUtf8(errorClass(result.error()))}, {"message", toUtf8(result.error().message)}};
    if (expect.contains("errno"))
        actual["errno"] = intOf(result.error().details, "errno") == EACCES ? "EACCES" : "other";
    if (expect.contains("message_starts_with") && result.error().message.startsWith(stringOf(expect, "message_starts_with")))
        actual["message_starts_with"] = expect.at("message_starts_with");
    return compare(expect, actual);
}

inline Result<Json> okOf(const Result<void> &result)
{
    return result ? Result<Json>(Json("ok")) : std::unexpected(result.error());
}

inline Result<Json> textOfResult(const Result<QString> &result)
{
    return result ? Result<Json>(toJson(*result)) : std::unexpected(result.error());
}

inline QString text(const Json &input, const char *key)
{
    return stringOf(input, key);
}

// ---- inputs

inline std::optional<ThreadDirs> threadOf(const Json &input)
{
    const Json &thread = memberOf(input, "thread");
    if (!thread.is_object())
        return std::nullopt;
    return ThreadDirs{text(thread, "workspace"), text(thread, "uploads"), text(thread, "outputs")};
}

inline std::vector<MountRule> mountsOf(const Json &input)
{
    std::vector<MountRule> mounts;
    for (const Json &mount : memberOf(input, "mounts"))
        mounts.push_back({text(mount, "container_path"), boolOf(mount, "read_only")});
    return mounts;
}

inline PathMap mapOf(const Json &input)
{
    std::vector<PathMapping> mappings;
    for (const Json &mapping : memberOf(input, "mappings"))
        mappings.push_back({text(mapping, "container_path"), text(mapping, "local_path"), boolOf(mapping, "read_only")});
    return PathMap(std::move(mappings));
}

inline QStringList stringsOf(const Json &list)
{
    return namesFromJson(list).value_or(QStringList());
}

inline QMap<QString, QString> mapOfStrings(const Json &object)
{
    QMap<QString, QString> map;
    if (object.is_object()) {
        for (const auto &[key, value] : object.items())
            map.insert(QString::fromStdString(key), textOf(value));
    }
    return map;
}

inline Json jsonOf(const QMap<QString, QString> &map)
{
    Json object = Json::object();
    for (auto it = map.cbegin(); it != map.cend(); ++it)
        object[toUtf8(it.key())] = toUtf8(it.value());
    return object;
}

/// "repeat_alphabet": n, or "repeat_char" and "count", or the plain text.
inline QString repeatedText(const Json &input)
{
    if (input.contains("repeat_alphabet")) {
        QString alphabet;
        for (char16_t c = u'a'; c <= u'z'; ++c)
            alphabet += QChar(c);
        const qint64 count = intOf(input, "repeat_alphabet");
        return alphabet.repeated(count / 26 + 1).left(count);
    }
    if (input.contains("repeat_char"))
        return text(input, "repeat_char").repeated(intOf(input, "count"));
    return text(input, "text");
}

} // namespace paddock::cases::sandbox
