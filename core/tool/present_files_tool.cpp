// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/virtual_paths.h"
#include "core/tool/tool_support.h"

namespace paddock::tools {

namespace {

ToolSpec presentSpec()
{
    ToolSpec spec;
    spec.name = QStringLiteral("present_files");
    spec.description = QStringLiteral("Show finished files to the user. Only files in /mnt/user-data/outputs can be shown; move "
                                      "or copy them there first. Call it once the files are complete.");
    spec.parameters = Json{{"type", "object"},
                           {"properties",
                            {{"filepaths", {{"type", "array"},
                                            {"items", {{"type", "string"}}},
                                            {"description", "Absolute paths of the files, under /mnt/user-data/outputs."}}}}},
                           {"required", Json::array({"filepaths"})}};
    return spec;
}

/// The virtual path of a file in outputs; nullopt for anything else. A host path of the thread's own folder is accepted, for
/// local sandboxes may show one.
std::optional<QString> outputsPath(const QString &given, const QString &hostOutputs)
{
    if (hasParentSegment(given))
        return std::nullopt;
    QString path = given;
    if (!hostOutputs.isEmpty() && isUnder(given, hostOutputs))
        path = virtualOutputs.toString() + given.mid(hostOutputs.size());
    if (!path.startsWith(u'/'))
        return std::nullopt;
    path = normalizeVirtualPath(path);
    if (!isUnder(path, virtualOutputs) || path.size() == virtualOutputs.size())
        return std::nullopt;
    return path;
}

/// Runtime §7.5. Needs no sandbox: it only appends to the artifacts channel.
class PresentFilesTool : public Tool
{
public:
    ToolSpec spec() const override { return presentSpec(); }

    Task<Result<ToolOutcome>> call(ToolCallContext context) override
    {
        const Json &threadData = memberOf(context.state.channels, "thread_data");
        const QString hostOutputs = stringOf(threadData, "outputs_path");
        Json artifacts = Json::array();
        const Json &given = memberOf(context.call.args, "filepaths");
        if (given.is_array()) {
            for (const Json &one : given) {
                const auto path = outputsPath(textOf(one), hostOutputs);
                if (!path)
                    co_return failure(context.call, QStringLiteral("Error: Only files in /mnt/user-data/outputs can be presented: ")
                                                        + textOf(one));
                artifacts.push_back(toUtf8(*path));
            }
        }
        Command command;
        command.update.channels["artifacts"] = artifacts;
        command.update.messages.push_back(
            toolMessage(context.call.id, context.call.name, QStringLiteral("Successfully presented files")));
        co_return ToolOutcome(command);
    }
};

} // namespace

ToolPtr makePresentFilesTool()
{
    return std::make_shared<PresentFilesTool>();
}

} // namespace paddock::tools
