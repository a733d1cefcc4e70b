// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/llm/scenario_reader.h"

#include "core/llm/scenario_text.h"

#include <algorithm>
#include <cmath>

namespace paddock {

namespace {
constexpr double maxSeconds = 24.0 * 3600.0;
} // namespace

QRegularExpression scenarioRegex(const QString &pattern)
{
    return QRegularExpression(pattern, QRegularExpression::UseUnicodePropertiesOption);
}

void ScenarioReader::complain(int line, int column, const QString &what)
{
    if (m_error)
        return;
    m_error = Error{ErrorCode::InvalidArgument,
                    QStringLiteral("%1:%2:%3: %4").arg(m_file).arg(line).arg(column).arg(what),
                    Json{{"line", line}, {"column", column}}, nullptr};
}

bool ScenarioReader::mapping(const YamlNode &node, const char16_t *what, std::initializer_list<const char16_t *> known)
{
    if (failed())
        return false;
    if (!node.isMapping()) {
        complain(node, QStringLiteral("%1 must be a mapping").arg(QString::fromUtf16(what)));
        return false;
    }
    for (const YamlNode::Entry &entry : node.entries) {
        const bool found = std::ranges::any_of(known, [&](const char16_t *key) { return entry.key == QStringView(key); });
        if (found)
            continue;
        QStringList all;
        for (const char16_t *key : known)
            all.append(QString::fromUtf16(key));
        complain(entry.line, entry.column,
                 QStringLiteral("unknown key '%1' in %2; known keys: %3").arg(entry.key, QString::fromUtf16(what), all.join(u", ")));
        return false;
    }
    return true;
}

bool ScenarioReader::sequence(const YamlNode &node, const char16_t *what)
{
    if (failed())
        return false;
    if (node.isSequence())
        return true;
    complain(node, QStringLiteral("%1 must be a list").arg(QString::fromUtf16(what)));
    return false;
}

QString ScenarioReader::text(const YamlNode &node, const char16_t *what)
{
    if (failed())
        return {};
    if (node.isScalar())
        return node.scalar;
    if (node.isNull())
        return {};
    complain(node, QStringLiteral("%1 must be text").arg(QString::fromUtf16(what)));
    return {};
}

QString ScenarioReader::text(const YamlNode &mapping, const char16_t *key, bool required)
{
    if (failed())
        return {};
    const YamlNode *node = mapping.find(key);
    const QString value = node ? text(*node, key) : QString();
    if (required && value.isEmpty())
        complain(node ? *node : mapping, QStringLiteral("'%1' is missing").arg(QString::fromUtf16(key)));
    return value;
}

int ScenarioReader::number(const YamlNode &node, const char16_t *what, int min, int max)
{
    if (failed())
        return min;
    const Json value = node.toJson();
    if (value.is_number_integer() && value.get<qint64>() >= min && value.get<qint64>() <= max)
        return value.get<int>();
    complain(node, QStringLiteral("%1 must be a whole number from %2 to %3").arg(QString::fromUtf16(what)).arg(min).arg(max));
    return min;
}

bool ScenarioReader::flag(const YamlNode &node, const char16_t *what)
{
    if (failed())
        return false;
    const Json value = node.toJson();
    if (value.is_boolean())
        return value.get<bool>();
    complain(node, QStringLiteral("%1 must be true or false").arg(QString::fromUtf16(what)));
    return false;
}

std::chrono::milliseconds ScenarioReader::duration(const YamlNode &node, const char16_t *what)
{
    if (failed())
        return {};
    static const QRegularExpression form(QStringLiteral("^([0-9]+(?:\\.[0-9]+)?)\\s*(ms|s|m)?$"));
    const auto match = form.match(node.isScalar() ? node.scalar.trimmed() : QString());
    if (!match.hasMatch()) {
        complain(node, QStringLiteral("%1 must be a time like 20ms, 1.5s or 2m").arg(QString::fromUtf16(what)));
        return {};
    }
    const QString unit = match.captured(2);
    const double seconds = match.captured(1).toDouble() * (unit == u"ms" ? 0.001 : unit == u"m" ? 60.0 : 1.0);
    if (seconds > maxSeconds) {
        complain(node, QStringLiteral("%1 must be at most 24 hours").arg(QString::fromUtf16(what)));
        return {};
    }
    return std::chrono::milliseconds(qint64(std::llround(seconds * 1000.0)));
}

QString ScenarioReader::pattern(const YamlNode &node, const char16_t *what)
{
    const QString source = text(node, what);
    if (failed())
        return {};
    const QString filled = fillIn(source, [](const QString &) { return std::optional(QStringLiteral("x")); });
    const QRegularExpression regex = scenarioRegex(filled);
    if (!regex.isValid())
        complain(node, QStringLiteral("'%1' is no regular expression: %2 at character %3")
                           .arg(source, regex.errorString())
                           .arg(regex.patternErrorOffset() + 1));
    return source;
}

QStringList ScenarioReader::names(const YamlNode &node, const char16_t *what)
{
    QStringList list;
    if (node.isScalar())
        return {text(node, what)};
    if (!sequence(node, what))
        return {};
    for (const YamlNode &item : node.items) {
        const QString name = text(item, what);
        if (name.isEmpty() && !failed())
            complain(item, QStringLiteral("%1 holds an empty name").arg(QString::fromUtf16(what)));
        list.append(name);
    }
    return list;
}

} // namespace paddock
