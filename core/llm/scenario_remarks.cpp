// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/llm/scenario_remarks.h"

#include "core/base/nearest.h"
#include "core/base/yaml.h"
#include "core/llm/scenario_reader.h"
#include "core/llm/scenario_text.h"

#include <algorithm>

namespace paddock {

namespace {

QString scalarAt(const YamlNode &mapping, QStringView key)
{
    const YamlNode *node = mapping.find(key);
    return node ? node->scalar : QString();
}

class Remarks
{
public:
    Remarks(const QString &file, const ScenarioVocabulary &vocabulary) : m_file(file), m_vocabulary(vocabulary) {}

    QStringList take() { return std::move(m_list); }

    void turn(const YamlNode &turn)
    {
        if (const YamlNode *calls = turn.find(u"calls")) {
            for (const YamlNode &item : calls->items)
                call(item);
        }
        const YamlNode *captures = turn.find(u"capture");
        if (!captures)
            return;
        for (const YamlNode::Entry &entry : captures->entries) {
            const QString pattern = fillIn(entry.value.scalar, [](const QString &) { return std::optional(QStringLiteral("x")); });
            if (scenarioRegex(pattern).captureCount() == 0)
                remark(entry.value, QStringLiteral("the capture '%1' has no group in parentheses, so it takes the whole match").arg(entry.key));
        }
    }

private:
    void remark(const YamlNode &at, const QString &what)
    {
        m_list.append(QStringLiteral("%1:%2:%3: %4").arg(m_file).arg(at.line).arg(at.column).arg(what));
    }

    void unknown(const YamlNode &at, const QString &what, const QStringList &known)
    {
        const QString near = nearestWord(at.scalar, known);
        remark(at, what.arg(at.scalar) + (near.isEmpty() ? QString() : QStringLiteral("; did you mean '%1'?").arg(near)));
    }

    void call(const YamlNode &call)
    {
        const YamlNode *tool = call.find(u"tool");
        if (!tool)
            return;
        if (!m_vocabulary.tools.isEmpty() && !m_vocabulary.tools.contains(tool->scalar))
            unknown(*tool, QStringLiteral("there is no tool '%1' in this version; the call will be answered with an error"), m_vocabulary.tools);
        const YamlNode *args = call.find(u"args");
        const YamlNode *type = tool->scalar == u"task" && args ? args->find(u"subagent_type") : nullptr;
        const bool isPlain = type && type->isScalar() && referencesIn(type->scalar).isEmpty();
        if (isPlain && !m_vocabulary.subagentTypes.isEmpty() && !m_vocabulary.subagentTypes.contains(type->scalar))
            unknown(*type, QStringLiteral("the subagent type '%1' does not come with this program; a configuration must define it"),
                    m_vocabulary.subagentTypes);
    }

    const QString &m_file;
    const ScenarioVocabulary &m_vocabulary;
    QStringList m_list;
};

bool mayServeLead(const YamlNode &agent)
{
    const YamlNode *match = agent.find(u"match");
    return !match || (scalarAt(*match, u"type").isEmpty() && matchesAgent(scalarAt(*match, u"agent"), QStringLiteral("lead")));
}

} // namespace

bool matchesAgent(const QString &pattern, const QString &agent)
{
    if (pattern.isEmpty() || pattern == agent)
        return true;
    if (pattern == u"subagent")
        return agent.startsWith(u"subagent:");
    return QRegularExpression::fromWildcard(pattern).match(agent).hasMatch();
}

Result<QStringList> scenarioRemarks(const QByteArray &yaml, const QString &name, const ScenarioVocabulary &vocabulary)
{
    const auto root = parseYaml(yaml, name);
    if (!root)
        return fail(root.error());
    Remarks remarks(name, vocabulary);
    const YamlNode *agents = root->find(u"agents");
    if (!agents)
        return remarks.take();
    if (!std::ranges::any_of(agents->items, mayServeLead)) {
        return fail(ErrorCode::InvalidArgument,
                    QStringLiteral("%1:%2:%3: no agent serves the lead; one needs match: {agent: lead}").arg(name).arg(agents->line).arg(agents->column));
    }
    for (const YamlNode &agent : agents->items) {
        if (const YamlNode *turns = agent.find(u"turns")) {
            for (const YamlNode &item : turns->items)
                remarks.turn(item);
        }
    }
    return remarks.take();
}

} // namespace paddock
