// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/tool/sandbox_tools.h"

#include "core/tool/tool_support.h"

namespace paddock {

std::vector<ToolPtr> sandboxTools(const SandboxToolOptions &options)
{
    const auto settings = std::make_shared<const tools::Settings>(options, std::make_shared<FileLocks>());
    std::vector<ToolPtr> all;
    if (options.offerBash)
        all.push_back(tools::makeBashTool(settings));
    for (auto &&group : {tools::makeFileTools(settings), tools::makeSearchTools(settings)})
        all.insert(all.end(), group.begin(), group.end());
    if (options.offerPresentFiles)
        all.push_back(tools::makePresentFilesTool());
    return all;
}

} // namespace paddock
