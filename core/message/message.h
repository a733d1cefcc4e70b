// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/base/json.h"

#include <QString>

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace paddock {

enum class Role {
    System,
    Human,
    Ai,
    Tool,
    Remove, ///< lives only in updates: asks the reducer to delete `id` (or everything, removeAllId)
};

enum class ToolStatus { Success, Error };

struct ToolCall {
    QString name;
    Json args = Json::object();
    QString id;
    friend bool operator==(const ToolCall &, const ToolCall &) = default;
};

struct InvalidToolCall {
    QString name;
    Json args;     ///< the raw string as the model sent it, or whatever came
    QString id;
    QString error;
    friend bool operator==(const InvalidToolCall &, const InvalidToolCall &) = default;
};

struct Usage {
    qint64 input = 0;
    qint64 output = 0;
    qint64 total = 0;
    qint64 cacheRead = 0;
    qint64 cacheCreation = 0;
    qint64 reasoning = 0;

    bool isZero() const { return input == 0 && output == 0 && total == 0; }
    Usage &operator+=(const Usage &other);
    friend bool operator==(const Usage &, const Usage &) = default;
};

/// Remembers the content hash of a shared message; a copy starts without one, since it is about to be edited.
struct HashMemo {
    HashMemo() = default;
    HashMemo(const HashMemo &) {}
    HashMemo &operator=(const HashMemo &)
    {
        value.store(nullptr);
        return *this;
    }
    friend bool operator==(const HashMemo &, const HashMemo &) { return true; }
    mutable std::atomic<std::shared_ptr<const QString>> value; ///< thread-safe; equal results race harmlessly
};

/// One message of a conversation, middleware-base §1.6. Immutable once shared: an edit makes a copy.
struct Message {
    Role role = Role::Human;
    QString id;
    QString name;
    Json content = Json(""); ///< a string, or an array of blocks (bare strings or objects with "type")
    std::vector<ToolCall> toolCalls;               ///< ai
    std::vector<InvalidToolCall> invalidToolCalls; ///< ai
    QString toolCallId;                            ///< tool
    ToolStatus status = ToolStatus::Success;       ///< tool
    Json artifact;                                 ///< tool; never sent to a model
    Json kwargs = Json::object();                  ///< additional_kwargs: provider extras and our metadata
    Json responseMetadata = Json::object();
    std::optional<Usage> usage;                    ///< ai
    HashMemo hash;                                 ///< see contentHash(MessagePtr)

    friend bool operator==(const Message &, const Message &) = default;
};

using MessagePtr = std::shared_ptr<const Message>;

/// Id of the marker that drops everything before it.
inline const QString &removeAllId()
{
    static const QString id = QStringLiteral("__remove_all__");
    return id;
}

MessagePtr makeMessage(Message message);
MessagePtr systemMessage(const QString &text);
MessagePtr humanMessage(const QString &text);
MessagePtr aiMessage(const QString &text, std::vector<ToolCall> calls = {});
MessagePtr toolMessage(const QString &callId, const QString &name, const QString &text,
                       ToolStatus status = ToolStatus::Success);

/// A copy changed by `edit(Message &)`.
template<typename Edit>
MessagePtr edited(const MessagePtr &from, Edit edit)
{
    auto copy = std::make_shared<Message>(*from);
    edit(*copy);
    return copy;
}

/// The text of a content value: a string as is; the bare strings and non-empty "text" members joined by "\n".
QString textOfContent(const Json &content);
inline QString textOf(const MessagePtr &message) { return textOfContent(message->content); }

/// "system", "human", "ai", "tool", "remove".
QString roleName(Role role);

/// The wire form of the case files and the journal (middleware-base §1.6, §20). Reading tolerates absent keys and both
/// spellings "type"/"role", "additional_kwargs"/"kwargs"; unknown roles are errors.
Json messageToJson(const Message &message);
Result<Message> messageFromJson(const Json &json);
Json usageToJson(const Usage &usage);
Usage usageFromJson(const Json &json);

/// Lower-case hex SHA-256 of the canonical JSON form without the id: equal content has one id in the blob store.
QString contentHash(const Message &message);
/// The same, computed once per shared message.
QString contentHash(const MessagePtr &message);
/// What the blob store keeps under that hash: messageToJson without the id.
Json messageToStoredJson(const Message &message);

/// A rough count used where the provider reports none: code points / 4, rounded up, plus 4 a message.
qint64 estimateTokens(const Message &message);

} // namespace paddock
