// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/tool/view_image.h"

#include "core/base/run_on.h"
#include "core/sandbox/beneath.h"
#include "core/tool/tool_support.h"

#include <QFile>

#include <fcntl.h>

namespace paddock {

namespace {

struct Format {
    const char *mimeType;
    std::vector<const char16_t *> suffixes;
    bool (*begins)(const QByteArray &bytes);
};

const std::vector<Format> &formats()
{
    static const std::vector<Format> list{
        {"image/jpeg", {u".jpg", u".jpeg"}, [](const QByteArray &b) { return b.startsWith("\xff\xd8\xff"); }},
        {"image/png", {u".png"}, [](const QByteArray &b) { return b.startsWith("\x89PNG\r\n\x1a\n"); }},
        {"image/webp", {u".webp"}, [](const QByteArray &b) { return b.startsWith("RIFF") && b.sliced(0, std::min<qsizetype>(b.size(), 12)).endsWith("WEBP"); }},
        {"image/gif", {u".gif"}, [](const QByteArray &b) { return b.startsWith("GIF87a") || b.startsWith("GIF89a"); }},
    };
    return list;
}

const Format *formatOf(const QString &path)
{
    for (const Format &format : formats()) {
        for (const char16_t *suffix : format.suffixes) {
            if (path.endsWith(QString::fromUtf16(suffix), Qt::CaseInsensitive))
                return &format;
        }
    }
    return nullptr;
}

std::unexpected<Error> notShown(const QString &why, const QString &path)
{
    return fail(ErrorCode::InvalidArgument, why + path);
}

Result<QByteArray> bytesOf(const QString &hostPath, const ThreadDirs &dirs)
{
    std::vector<HostRoot> roots;
    for (const QString &dir : {dirs.workspace, dirs.uploads, dirs.outputs}) {
        if (!dir.isEmpty())
            roots.push_back({QFile::encodeName(dir), true});
    }
    const auto place = locate(QFile::encodeName(hostPath), roots);
    if (!place)
        return fail(place.error());
    const auto root = openRoot(place->rootPath);
    if (!root)
        return fail(root.error());
    const auto file = openBeneath(root->get(), place->relative, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (!file)
        return fail(file.error());
    return readAll(file->get(), maxImageBytes);
}

ToolSpec viewImageSpec()
{
    const Json path{{"type", "string"}, {"description", "Absolute path of the image under /mnt/user-data."}};
    return {viewImageName.toString(),
            QStringLiteral("Look at an image file (jpg, jpeg, png, webp, gif; at most 20 MiB) under /mnt/user-data/workspace, uploads or "
                           "outputs. The image is shown to you with the next step."),
            Json{{"type", "object"}, {"properties", {{"image_path", path}}}, {"required", Json::array({"image_path"})}}};
}

Task<Result<ToolOutcome>> viewed(ToolCall call, ThreadDirs dirs, std::stop_token stop)
{
    const QString path = normalizeVirtualPath(stringOf(call.args, "image_path"));
    const auto image = co_await runOnPool([path, dirs] { return readImage(path, dirs); });
    if (stop.stop_requested())
        co_return cancelled();
    if (!image)
        co_return tools::failure(call, image.error().message);
    Command command;
    command.update.channels["viewed_images"] = Json{{toUtf8(path), {{"mime_type", toUtf8(image->mimeType)},
                                                                    {"size", image->size},
                                                                    {"actual_path", toUtf8(image->hostPath)}}}};
    command.update.messages.push_back(toolMessage(call.id, call.name, QStringLiteral("Successfully read image: ") + path));
    co_return ToolOutcome(std::move(command));
}

class ViewImageTool : public Tool
{
public:
    ToolSpec spec() const override { return viewImageSpec(); }
    Task<Result<ToolOutcome>> call(ToolCallContext context) override
    {
        return viewed(context.call, threadDirsOf(context.state), context.stop);
    }
};

} // namespace

ThreadDirs threadDirsOf(const AgentState &state)
{
    const Json &data = memberOf(state.channels, "thread_data");
    return {stringOf(data, "workspace_path"), stringOf(data, "uploads_path"), stringOf(data, "outputs_path")};
}

Result<ViewedImage> readImage(const QString &path, const ThreadDirs &dirs)
{
    const QString virtualPath = normalizeVirtualPath(path);
    if (hasParentSegment(path) || !(isUnder(virtualPath, virtualWorkspace) || isUnder(virtualPath, virtualUploads) || isUnder(virtualPath, virtualOutputs)))
        return notShown(QStringLiteral("Error: Only images under /mnt/user-data/workspace, uploads or outputs can be viewed: "), path);
    const Format *format = formatOf(virtualPath);
    if (!format)
        return notShown(QStringLiteral("Error: Not a supported image (jpg, jpeg, png, webp, gif): "), path);
    const auto host = resolveUserDataPath(virtualPath, dirs);
    if (!host)
        return notShown(QStringLiteral("Error: Access to the image is denied: "), path);
    auto bytes = bytesOf(*host, dirs);
    if (!bytes && bytes.error().code == ErrorCode::ResourceExhausted)
        return notShown(QStringLiteral("Error: Image larger than %1 bytes: ").arg(maxImageBytes), path);
    if (!bytes)
        return notShown(QStringLiteral("Error: Image not found or not readable: "), path);
    if (!format->begins(*bytes))
        return notShown(QStringLiteral("Error: The content of the file does not match its name: "), path);
    const qint64 size = bytes->size();
    return ViewedImage{QString::fromLatin1(format->mimeType), size, *host, std::move(*bytes)};
}

ToolPtr makeViewImageTool()
{
    return std::make_shared<ViewImageTool>();
}

} // namespace paddock
