// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/sandbox_ids.h"

#include "core/base/text.h"

#include <algorithm>

namespace paddock {

namespace {

constexpr qsizetype maxThreadIdLength = 64;
const QString localPrefix = QStringLiteral("local:");

bool isIdChar(QChar c)
{
    return (c >= u'a' && c <= u'z') || (c >= u'A' && c <= u'Z') || (c >= u'0' && c <= u'9') || c == u'-' || c == u'_';
}

bool isIdText(const QString &text)
{
    return !text.isEmpty() && std::all_of(text.cbegin(), text.cend(), isIdChar);
}

} // namespace

Result<void> checkThreadId(const QString &id)
{
    if (isIdText(id) && id.size() <= maxThreadIdLength)
        return {};
    return fail(ErrorCode::InvalidArgument,
                QStringLiteral("Invalid thread_id: expected 1-64 ASCII letters, digits, hyphens, or underscores"));
}

Result<void> checkUserId(const QString &id)
{
    if (isIdText(id))
        return {};
    return fail(ErrorCode::InvalidArgument,
                QStringLiteral("Invalid user_id '%1': only alphanumeric characters, hyphens, and underscores are allowed.")
                    .arg(id));
}

Result<QString> safeUserId(const QString &raw)
{
    if (raw.isEmpty())
        return fail(ErrorCode::InvalidArgument, QStringLiteral("user_id must be a non-empty string."));
    QString safe;
    bool changed = false;
    for (qsizetype i = 0; i < raw.size(); ++i) {
        const QChar c = raw.at(i);
        if (isIdChar(c)) {
            safe += c;
            continue;
        }
        if (c.isHighSurrogate() && i + 1 < raw.size() && raw.at(i + 1).isLowSurrogate())
            ++i; // one character
        safe += u'-';
        changed = true;
    }
    return changed ? safe + u'-' + sha256Hex(raw).left(16) : safe;
}

bool isLocalSandboxId(const QString &id)
{
    return id == u"local" || id.startsWith(localPrefix);
}

QString localSandboxId(const ThreadKey &key)
{
    if (key.thread.isEmpty())
        return QStringLiteral("local");
    return localPrefix + key.user.value() + u':' + key.thread.value();
}

std::optional<ThreadKey> parseLocalSandboxId(const QString &id)
{
    if (!id.startsWith(localPrefix))
        return std::nullopt;
    const QString rest = id.mid(localPrefix.size());
    const qsizetype cut = rest.indexOf(u':');
    if (cut <= 0 || cut + 1 == rest.size())
        return std::nullopt;
    return ThreadKey{UserId(rest.left(cut)), ThreadId(rest.mid(cut + 1))};
}

QString deterministicSandboxId(const QString &user, const QString &thread)
{
    return sha256Hex(user + u':' + thread).left(16);
}

Error sandboxIdCollision(const SandboxId &id, const ThreadKey &tracked, const ThreadKey &requested)
{
    const auto identity = [](const ThreadKey &key) { return QStringLiteral("(%1, %2)").arg(key.user.value(), key.thread.value()); };
    return {ErrorCode::Internal,
            QStringLiteral("sandbox ID collision for %1: tracked identity is %2, requested identity is %3")
                .arg(id.value(), identity(tracked), identity(requested)),
            Json::object(), nullptr};
}

} // namespace paddock
