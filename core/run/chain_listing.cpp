// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/run/chain_listing.h"

#include "core/agent/subagent_catalogue.h"
#include "core/run/environment.h"
#include "core/run/translate.h"

namespace paddock {

namespace {

Result<ChainOptions> subagentOptionsFor(const Config &config, const QString &type)
{
    const SubagentOptions subagents = subagentOptionsFrom(memberOf(config.raw, "subagents"));
    const auto definition = findSubagent(subagents, type);
    if (!definition) {
        QStringList names{QStringLiteral("lead")};
        for (const SubagentDefinition &known : subagentCatalogue(subagents))
            names.append(known.name);
        return fail(ErrorCode::NotFound, QStringLiteral("There is no agent '%1'; choose one of %2").arg(type, names.join(u", ")));
    }
    ChainOptions options = chainOptions(config, {}, {}, {});
    const ResolvedSubagent resolved = resolveSubagent(*definition, subagents, {{}, {}, {}, options.summarization});
    return subagentChainOptions(std::move(options), resolved.tokenBudget);
}

} // namespace

Result<ChainListing> listChain(const QString &configPath, const QString &agent)
{
    const auto found = readConfig(configPath);
    if (!found)
        return fail(found.error());
    ChainListing listing;
    listing.configFile = found->path;
    listing.agent = agent == u"subagent" ? QStringLiteral("general-purpose") : agent;
    const bool lead = agent == u"lead";
    auto options = lead ? Result<ChainOptions>(leadChainOptions(chainOptions(found->config, {}, {}, {}), found->config, false))
                        : subagentOptionsFor(found->config, listing.agent);
    if (options)
        options = withGateProviders(std::move(*options));
    if (!options)
        return fail(options.error());
    const auto chain = lead ? buildLeadChain(*options) : buildSubagentChain(*options);
    if (!chain)
        return fail(chain.error());
    listing.entries = describeChain(lead ? leadSlots() : subagentSlots(), *options);
    for (const Hook hook : allHooks)
        listing.order.emplace_back(hookName(hook), (*chain)->order(hook));
    return listing;
}

} // namespace paddock
