// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/view_image_member.h"

#include "core/base/ids.h"
#include "core/base/run_on.h"
#include "core/tool/view_image.h"

#include <algorithm>

namespace paddock {

namespace {

constexpr std::size_t maxImages = 20;                  ///< of one request, the newest
constexpr qint64 maxRequestBytes = 60LL * 1024 * 1024; ///< of one request, before they are encoded
constexpr const char *contextKey = "deerflow_view_image_context";
const QString &contextPrefix()
{
    static const QString prefix = QStringLiteral("view-image-context:");
    return prefix;
}

bool isContext(const Message &message)
{
    const Json &mark = memberOf(message.kwargs, contextKey);
    return message.role == Role::Human && message.id.startsWith(contextPrefix()) && mark.is_boolean() && mark.get<bool>();
}

/// An old state may hold messages of this kind; the images of today are read anew.
MessageList withoutContext(const MessageList &messages)
{
    MessageList kept = messages;
    for (qsizetype i = messages.size() - 1; i >= 0; --i) {
        if (isContext(*messages.at(i)))
            kept.remove(i);
    }
    return kept;
}

/// The last ai message looked at an image and all its calls are answered.
bool wantsImages(const MessageList &messages)
{
    qsizetype last = messages.size() - 1;
    while (last >= 0 && messages.at(last)->role != Role::Ai)
        --last;
    if (last < 0)
        return false;
    const auto &calls = messages.at(last)->toolCalls;
    QStringList answered;
    for (qsizetype i = last + 1; i < messages.size(); ++i) {
        if (messages.at(i)->role == Role::Tool)
            answered.append(messages.at(i)->toolCallId);
    }
    return std::ranges::any_of(calls, [](const ToolCall &call) { return call.name == viewImageName; })
        && std::ranges::all_of(calls, [&](const ToolCall &call) { return answered.contains(call.id); });
}

struct Recorded {
    QString path;
    QString mimeType;
    QString hostPath;
    qint64 size = 0;
};

std::vector<Recorded> recordedIn(const AgentState &state)
{
    std::vector<Recorded> images;
    const Json &viewed = memberOf(state.channels, "viewed_images");
    if (!viewed.is_object())
        return images;
    for (const auto &[path, image] : viewed.items())
        images.push_back({QString::fromStdString(path), stringOf(image, "mime_type", QStringLiteral("unknown")), stringOf(image, "actual_path"),
                          intOf(image, "size", -1)});
    if (images.size() > maxImages)
        images.erase(images.begin(), images.end() - std::ptrdiff_t(maxImages));
    return images;
}

Json textBlock(const QString &text)
{
    return Json{{"type", "text"}, {"text", toUtf8(text)}};
}

/// On a pool thread: a file that is another one by now, or another length, is not shown.
Json blocksOf(const std::vector<Recorded> &images, const ThreadDirs &dirs)
{
    Json blocks = Json::array({textBlock(QStringLiteral("Here are the images you have viewed:"))});
    qint64 left = maxRequestBytes;
    for (const Recorded &image : images) {
        blocks.push_back(textBlock(QStringLiteral("- **") + image.path + QStringLiteral("** (") + image.mimeType + u')'));
        const auto now = readImage(image.path, dirs);
        if (!now || now->size != image.size || now->hostPath != image.hostPath || now->mimeType != image.mimeType) {
            blocks.push_back(textBlock(QStringLiteral("(file unavailable or changed: ") + image.path + u')'));
        } else if (now->size > left) {
            blocks.push_back(textBlock(QStringLiteral("(not shown, the images together are too large: ") + image.path + u')'));
        } else {
            left -= now->size;
            const QByteArray url = "data:" + now->mimeType.toLatin1() + ";base64," + now->bytes.toBase64();
            blocks.push_back(Json{{"type", "image_url"}, {"image_url", {{"url", url.toStdString()}}}});
        }
    }
    return blocks;
}

Task<Result<ModelResponse>> withImages(std::vector<Recorded> images, ModelCall call, ModelNext next)
{
    const ThreadDirs dirs = threadDirsOf(call.state);
    Json blocks = co_await runOnPool([images = std::move(images), dirs] { return blocksOf(images, dirs); });
    if (call.stop.stop_requested())
        co_return cancelled();
    Message message;
    message.role = Role::Human;
    message.id = contextPrefix() + newShortId();
    message.content = std::move(blocks);
    message.kwargs["hide_from_ui"] = true;
    message.kwargs[contextKey] = true;
    call.request.messages.append(makeMessage(std::move(message)));
    co_return co_await next(std::move(call));
}

} // namespace

Task<Result<ModelResponse>> ViewImageMiddleware::wrapModelCall(ModelCall call, ModelNext next)
{
    call.request.messages = withoutContext(call.request.messages);
    std::vector<Recorded> images = recordedIn(call.state);
    if (images.empty() || !wantsImages(call.request.messages))
        return next(std::move(call));
    return withImages(std::move(images), std::move(call), std::move(next));
}

} // namespace paddock
