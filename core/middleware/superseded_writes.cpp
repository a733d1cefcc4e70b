// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/superseded_writes.h"

#include "core/base/text.h"
#include "core/middleware/message_edits.h"
#include "core/middleware/tool_meta.h"

#include <QHash>

#include <algorithm>

namespace paddock {

namespace {

struct PastWrite {
    const PairedCall *pair = nullptr;
    QString path; ///< normalized; empty: none was given
};

const ToolCall &callOf(const MessageList &messages, const PairedCall &pair)
{
    return messages.at(pair.ai)->toolCalls[std::size_t(pair.callIndex)];
}

QString pathOf(const ToolCall &call)
{
    const QString path = stringOf(call.args, "path");
    return path.isEmpty() ? QString() : normalizedPath(path);
}

Json withoutContent(const ToolCall &call)
{
    Json args = call.args;
    args["content"] = toUtf8(QStringLiteral("[content elided: %1 chars; this write_file call succeeded and the file was read or "
                                            "modified again afterwards, so the on-disk file is the current version; call "
                                            "read_file on its path to see it]")
                                 .arg(codePointCount(stringOf(call.args, "content"))));
    return args;
}

bool isLongEnough(const ToolCall &call, qint64 minChars)
{
    const QString content = stringOf(call.args, "content");
    return !content.isEmpty() && codePointCount(content) >= minChars;
}

} // namespace

MessageList elideSupersededWrites(const MessageList &messages, qint64 minChars, int keepRecent, QStringList *elided)
{
    const std::vector<PairedCall> pairs = pairCalls(messages);
    std::vector<PastWrite> writes;         // successful write_file calls, oldest first
    QHash<QString, qsizetype> lastTouched; // path -> the last ai message that read or changed it with success
    for (const PairedCall &pair : pairs) {
        if (pair.result < 0)
            continue;
        const ToolCall &call = callOf(messages, pair);
        const bool write = call.name == u"write_file";
        const bool read = call.name == u"read_file";
        if (!write && !read && call.name != u"str_replace")
            continue;
        const QString status = stringOf(memberOf(messages.at(pair.result)->kwargs, toolMetaKey), "status");
        if (status != u"success" && !(read && status == u"partial_success"))
            continue;
        const QString path = pathOf(call);
        if (write)
            writes.push_back({&pair, path});
        if (!path.isEmpty())
            lastTouched[path] = pair.ai;
    }
    if (qsizetype(writes.size()) <= keepRecent)
        return messages;
    writes.resize(writes.size() - std::size_t(std::max(0, keepRecent)));
    QHash<qsizetype, QHash<QString, Json>> rewrites; // ai message -> call id -> arguments
    for (const PastWrite &write : writes) {
        const ToolCall &call = callOf(messages, *write.pair);
        if (write.path.isEmpty() || lastTouched.value(write.path, -1) <= write.pair->ai || !isLongEnough(call, minChars))
            continue;
        rewrites[write.pair->ai].insert(call.id, withoutContent(call));
        if (elided != nullptr)
            elided->append(call.id);
    }
    if (rewrites.isEmpty())
        return messages;
    MessageList out = messages;
    for (auto it = rewrites.cbegin(); it != rewrites.cend(); ++it)
        out.replace(it.key(), rewriteCallArgs(messages.at(it.key()), it.value()));
    dropServerHistoryIds(out);
    return out;
}

} // namespace paddock
