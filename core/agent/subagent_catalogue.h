// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"

#include <QMap>
#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace paddock {

/// One kind of subagent (runtime §2.2).
struct SubagentDefinition {
    QString name;
    QString description;
    QString systemPrompt;
    std::optional<QStringList> tools; ///< null: all inherited
    QStringList disallowedTools = {QStringLiteral("task"), QStringLiteral("ask_clarification"), QStringLiteral("present_files")};
    std::optional<QStringList> skills; ///< null: all enabled; empty: none
    QString model = QStringLiteral("inherit");
    int maxTurns = 50;
    int timeoutSeconds = 900;
    bool builtIn = false;
};

struct SubagentTokenBudget {
    bool enabled = true;
    qint64 maxTokens = 2000000;
    double warn = 0.7;
    double hard = 1.0;
    std::optional<qint64> maxInputTokens = {};
    std::optional<qint64> maxOutputTokens = {};
    friend bool operator==(const SubagentTokenBudget &, const SubagentTokenBudget &) = default;
};

/// `subagents.agents.<name>`
struct SubagentOverride {
    std::optional<int> timeoutSeconds;
    std::optional<int> maxTurns;
    std::optional<QString> model;
    std::optional<QStringList> skills;
    std::optional<SubagentTokenBudget> tokenBudget;
};

/// `subagents:` as this room needs it.
struct SubagentOptions {
    int timeoutSeconds = 1800;
    std::optional<int> maxTurns;
    std::optional<SubagentTokenBudget> tokenBudget; ///< only an explicit one
    QMap<QString, SubagentOverride> overrides;
    std::vector<SubagentDefinition> custom;  ///< in file order
    std::vector<SubagentDefinition> managed; ///< administrator-managed; hidden by equal names before them
};

/// Reads a `subagents` section leniently: the configuration room has checked it. A dumped default budget counts as not set.
SubagentOptions subagentOptionsFrom(const Json &section);

/// Built-ins, then custom, then managed ones; the first of equal names wins.
std::vector<SubagentDefinition> subagentCatalogue(const SubagentOptions &options);
std::optional<SubagentDefinition> findSubagent(const SubagentOptions &options, const QString &name);

/// Names a caller may use, in catalogue order: `bash` only while host bash is allowed; `allowed` null: all.
QStringList availableSubagents(const SubagentOptions &options, bool hostBashAllowed, const std::optional<QStringList> &allowed);

/// Why a delegation to `type` is refused before anything is created (runtime §2.2, sandbox.md §3.7); nullopt: it is not.
std::optional<QString> refuseDelegation(const QString &type, bool hostBashAllowed, const QStringList &available,
                                        bool allowlistGiven);

/// A definition with everything decided (runtime §2.3).
struct ResolvedSubagent {
    SubagentDefinition definition; ///< its turns, timeout and skills in force
    Result<QString> model = QString();
    std::optional<SubagentTokenBudget> tokenBudget; ///< null: no budget
};

struct ResolveContext {
    QString parentModel;                           ///< from run metadata; may be empty
    QStringList models;                            ///< configured, first is the default
    std::optional<QStringList> parentSkills;       ///< the parent's available_skills
    bool summarization = false;
};

ResolvedSubagent resolveSubagent(const SubagentDefinition &definition, const SubagentOptions &options, const ResolveContext &context);

/// Allow list (null: all), then deny list, by name; the order of `tools` is kept.
QStringList filterTools(const QStringList &tools, const std::optional<QStringList> &allow, const QStringList &deny);
/// Parent null: child; child null: parent; else the child's, filtered by the parent's.
std::optional<QStringList> mergeSkills(const std::optional<QStringList> &parent, const std::optional<QStringList> &child);
/// The watchdog's poll count of runtime §2.5.
int pollBudget(int timeoutSeconds);

} // namespace paddock
