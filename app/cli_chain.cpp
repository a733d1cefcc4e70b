// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "app/cli.h"
#include "core/run/chain_listing.h"

#include <algorithm>

namespace paddock::cli {

namespace {

QStringList hooksOf(const ChainEntry &entry)
{
    QStringList names;
    for (const Hook hook : allHooks) {
        if (entry.hooks.testFlag(hook))
            names.append(hookName(hook));
    }
    return names;
}

QString stateOf(const ChainEntry &entry)
{
    if (!entry.built)
        return QStringLiteral("empty");
    if (entry.on)
        return QStringLiteral("on");
    return entry.perRun.isEmpty() ? QStringLiteral("off") : QStringLiteral("per run");
}

void printEntry(const ChainEntry &entry, int number, qsizetype nameWidth)
{
    print(QStringLiteral("%1  %2  %3  %4").arg(number, 2).arg(entry.name, -int(nameWidth)).arg(stateOf(entry), -7).arg(entry.purpose));
    const QString indent(4, u' ');
    print(indent + QStringLiteral("hooks: ") + (entry.hooks ? hooksOf(entry).join(u", ") : QStringLiteral("none")));
    if (!entry.built)
        print(indent + QStringLiteral("this version leaves the place empty"));
    if (!entry.perRun.isEmpty())
        print(indent + QStringLiteral("stands there in runs with: ") + entry.perRun);
    if (entry.settings.empty())
        return;
    QStringList settings;
    for (auto it = entry.settings.begin(); it != entry.settings.end(); ++it)
        settings.append(QString::fromStdString(it.key()) + u'=' + QString::fromUtf8(dumpJson(it.value())));
    print(indent + (entry.key.isEmpty() ? QStringLiteral("set to: ") : entry.key + QStringLiteral(": ")) + settings.join(u' '));
}

void printTable(const ChainListing &listing)
{
    print(QStringLiteral("The chain of %1, outermost first; %2.")
              .arg(listing.agent, listing.configFile.isEmpty() ? QStringLiteral("no configuration file, built-in defaults")
                                                               : QStringLiteral("configured by ") + listing.configFile));
    qsizetype width = 0;
    for (const ChainEntry &entry : listing.entries)
        width = std::max(width, entry.name.size());
    int number = 0;
    for (const ChainEntry &entry : listing.entries)
        printEntry(entry, ++number, width);
    print(QStringLiteral("\nOrder in which each hook runs:"));
    for (const auto &[hook, members] : listing.order)
        print(QStringLiteral("  %1: %2").arg(hook, members.isEmpty() ? QStringLiteral("nobody") : members.join(u", ")));
}

void printJson(const ChainListing &listing)
{
    Json members = Json::array();
    for (const ChainEntry &entry : listing.entries) {
        members.push_back({{"name", toUtf8(entry.name)}, {"purpose", toUtf8(entry.purpose)}, {"state", toUtf8(stateOf(entry))}, {"hooks", namesToJson(hooksOf(entry))},
                           {"key", toUtf8(entry.key)}, {"settings", entry.settings}});
    }
    Json order = Json::object();
    for (const auto &[hook, names] : listing.order)
        order[toUtf8(hook)] = namesToJson(names);
    print(QString::fromUtf8(dumpJson({{"agent", toUtf8(listing.agent)}, {"config", toUtf8(listing.configFile)}, {"members", members}, {"order", order}})));
}

} // namespace

int chain(const QStringList &arguments)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(QStringLiteral("Prints the middleware chain as a run would have it: who stands where, its hooks and settings."));
    const QCommandLineOption agent({QStringLiteral("a"), QStringLiteral("agent")},
                                   QStringLiteral("lead (default), subagent, or a type of subagent."), QStringLiteral("AGENT"), QStringLiteral("lead"));
    const QCommandLineOption config = configOption();
    const QCommandLineOption json(QStringLiteral("json"), QStringLiteral("One JSON object."));
    const CommandForm form{QStringLiteral("paddock chain"), 0, 0,
                           QStringLiteral("  paddock chain\n  paddock chain --agent subagent --config ./config.yaml\n  paddock chain --json | jq .order"),
                           {agent, config, json}};
    if (const auto over = parseOptions(parser, form, arguments))
        return *over;
    const auto listing = listChain(parser.value(config), parser.value(agent));
    if (!listing) {
        say(QStringLiteral("paddock chain: ") + listing.error().fullMessage());
        return exitCodeOf(listing.error());
    }
    if (parser.isSet(json))
        printJson(*listing);
    else
        printTable(*listing);
    return Done;
}

} // namespace paddock::cli
