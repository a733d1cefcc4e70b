// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/uploads.h"

#include "core/base/run_on.h"
#include "core/middleware/thread_data.h"
#include "core/middleware/upload_listing.h"

namespace paddock {

namespace {

MessagePtr withListing(const MessagePtr &human, const QString &block)
{
    return edited(human, [&block](Message &message) {
        if (!message.kwargs.is_object())
            message.kwargs = Json::object();
        if (!memberOf(message.kwargs, "original_user_content").is_string())
            message.kwargs["original_user_content"] = toUtf8(message.content.is_null() ? QString() : textOfContent(message.content));
        const QString text = block + QStringLiteral("\n\n");
        if (message.content.is_array())
            message.content.insert(message.content.begin(), Json{{"type", "text"}, {"text", toUtf8(text)}});
        else
            message.content = toJson(text + (message.content.is_null() ? QString() : textOfContent(message.content)));
    });
}

} // namespace

Task<Result<StateUpdate>> UploadsMiddleware::beforeAgent(AgentState state, RuntimePtr runtime)
{
    StateUpdate update;
    update.channels["uploaded_files"] = Json::array(); // what came earlier is no longer "just uploaded"
    const MessagePtr last = state.messages.isEmpty() ? nullptr : state.messages.last();
    if (!last || last->role != Role::Human)
        co_return update;
    const Json named = memberOf(last->kwargs, "files");
    const Result<ThreadKey> key = threadOf(*runtime);
    if (!named.is_array() || named.empty() || !key)
        co_return update; // a missing thread is ThreadData's to say
    const Result<ThreadPaths> paths = ThreadPaths::make(m_options.baseDir, *key, m_options.workspaceOverride);
    if (!paths)
        co_return update;
    const std::vector<UploadedFile> files = co_await runOnPool([named, folder = paths->uploads] { return lookAtUploads(named, folder); });
    if (files.empty())
        co_return update;
    update.channels["uploaded_files"] = uploadsToJson(files);
    update.messages.push_back(withListing(last, uploadsBlock(files)));
    co_return update;
}

} // namespace paddock
