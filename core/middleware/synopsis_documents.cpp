// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/output_synopsis.h"

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/middleware/json_outline.h"

#include <QHash>
#include <QRegularExpression>
#include <QXmlStreamReader>

#include <algorithm>

namespace paddock::output_synopsis {

namespace {

constexpr int shapeDepth = 2;
constexpr int documentDepth = 4;
constexpr qsizetype documentPaths = 24;
constexpr qsizetype scalarExamples = 6;
constexpr qsizetype xmlChildTags = 12;

using Kind = JsonOutline::Kind;

QString kindName(Kind kind)
{
    switch (kind) {
    case Kind::Object: return QStringLiteral("object");
    case Kind::Array: return QStringLiteral("array");
    case Kind::Boolean: return QStringLiteral("boolean");
    case Kind::Null: return QStringLiteral("null");
    case Kind::Number: return QStringLiteral("number");
    case Kind::String: break;
    }
    return QStringLiteral("string");
}

QString keysOf(const JsonOutline &object)
{
    QStringList keys;
    for (const auto &[key, value] : object.members)
        keys.append(key);
    return keys.join(QLatin1String(", "));
}

QString shapeOf(const JsonOutline &value, int depth)
{
    if (depth >= shapeDepth)
        return QStringLiteral("...");
    if (value.kind == Kind::Object)
        return QStringLiteral("object(keys=%1").arg(value.count)
            + (value.members.empty() ? QString() : QStringLiteral(": ") + keysOf(value)) + u')';
    if (value.kind != Kind::Array)
        return kindName(value.kind);
    QStringList first;
    for (const JsonOutline &item : value.items)
        first.append(shapeOf(item, depth + 1));
    return QStringLiteral("array(len=%1").arg(value.count)
        + (first.isEmpty() ? QString() : QStringLiteral(", first=[") + first.join(QLatin1String(", ")) + u']') + u')';
}

QString stepTo(const QString &parent, const QString &key)
{
    static const QRegularExpression plain(QStringLiteral("^[A-Za-z_][A-Za-z0-9_]*$"));
    if (plain.match(key).hasMatch())
        return parent + u'.' + key;
    return parent + u'[' + QString::fromUtf8(dumpJson(toJson(key))) + u']';
}

QString containerText(const JsonOutline &value)
{
    if (value.kind == Kind::Object)
        return QStringLiteral("object keys %1").arg(value.count)
            + (value.members.empty() ? QString() : QStringLiteral("; keys ") + keysOf(value));
    return QStringLiteral("array length %1").arg(value.count)
        + (value.items.empty() ? QString() : QStringLiteral("; first item ") + kindName(value.items.front().kind));
}

void addContainers(QStringList &out, const JsonOutline &value, const QString &path, int depth)
{
    if (depth >= documentDepth)
        return;
    if (value.kind == Kind::Array) {
        if (!value.items.empty() && value.items.front().isContainer())
            addContainers(out, value.items.front(), path + QStringLiteral("[]"), depth + 1);
        return;
    }
    for (const auto &[key, child] : value.members) {
        if (out.size() >= documentPaths)
            return;
        if (!child.isContainer())
            continue;
        const QString step = stepTo(path, key);
        out.append(step + QStringLiteral(": ") + containerText(child));
        addContainers(out, child, step, depth + 1);
    }
}

constexpr std::size_t exampleItems = 2; ///< of each array

void addExamples(QStringList &out, const JsonOutline &value, const QString &path, int depth)
{
    if (depth >= documentDepth || out.size() >= scalarExamples)
        return;
    if (!value.isContainer()) {
        out.append(path + QStringLiteral(": ") + value.shown);
        return;
    }
    for (const auto &[key, child] : value.members)
        addExamples(out, child, path + u'.' + key, depth + 1);
    for (std::size_t i = 0; i < std::min(exampleItems, value.items.size()); ++i)
        addExamples(out, value.items[i], path + QStringLiteral("[%1]").arg(i), depth + 1);
}

QString tagOf(const QXmlStreamReader &reader)
{
    const QString name = reader.name().toString();
    return reader.namespaceUri().isEmpty() ? name : u'{' + reader.namespaceUri().toString() + u'}' + name;
}

struct TagCounts {
    QStringList tags; ///< first seen first
    QHash<QString, qsizetype> counts;

    void add(const QString &tag)
    {
        if (++counts[tag] == 1)
            tags.append(tag);
    }
    QStringList mostFrequent(qsizetype limit) const
    {
        QStringList sorted = tags;
        std::stable_sort(sorted.begin(), sorted.end(), [this](const QString &a, const QString &b) { return counts[a] > counts[b]; });
        QStringList lines;
        for (const QString &tag : sorted.first(std::min(limit, sorted.size())))
            lines.append(tag + QStringLiteral(": %1").arg(counts[tag]));
        return lines;
    }
};

} // namespace

std::optional<OutputSynopsis> json(QStringView trimmed)
{
    const auto read = outlineJson(trimmed);
    if (!read)
        return std::nullopt;
    const JsonOutline &value = read->value;
    OutputSynopsis out{QStringLiteral("json"), QStringLiteral("JSON output"), {}};
    QStringList containers;
    addContainers(containers, value, QStringLiteral("$"), 0);
    out.structure = QStringList{QStringLiteral("shape: ") + shapeOf(value, 0)} + containers;
    addExamples(out.notable, value, QStringLiteral("$"), 0);
    if (value.kind == Kind::Object) {
        out.summary.append(QStringLiteral("JSON object with %1 top-level keys.").arg(value.count));
        const QString keys = keysOf(value);
        out.summary.append(QStringLiteral("Top-level keys: ") + (keys.isEmpty() ? QStringLiteral("(none)") : keys));
    } else {
        out.summary.append(QStringLiteral("JSON array with %1 items.").arg(value.count));
        if (!value.items.empty())
            out.structure.append(QStringLiteral("first item type: ") + kindName(value.items.front().kind));
    }
    if (const QString rest = pythonStrip(trimmed.sliced(read->end).toString()); !rest.isEmpty())
        out.notable.append(QStringLiteral("Trailing non-JSON characters after first value: %1").arg(codePointCount(rest)));
    return out;
}

std::optional<OutputSynopsis> xml(const QString &trimmed)
{
    if (!trimmed.startsWith(u'<'))
        return std::nullopt;
    QXmlStreamReader reader(trimmed);
    QString root;
    qsizetype attributes = 0;
    TagCounts children;
    for (int depth = 0; !reader.atEnd();) {
        switch (reader.readNext()) {
        case QXmlStreamReader::DTD:
        case QXmlStreamReader::EntityReference: return std::nullopt;
        case QXmlStreamReader::StartElement:
            if (depth == 0) {
                root = tagOf(reader);
                attributes = reader.attributes().size();
            } else if (depth == 1) {
                children.add(tagOf(reader));
            }
            ++depth;
            break;
        case QXmlStreamReader::EndElement: --depth; break;
        default: break;
        }
    }
    if (reader.hasError() || root.isEmpty())
        return std::nullopt;
    OutputSynopsis out{QStringLiteral("xml"), QStringLiteral("XML output"), {}};
    out.summary.append(QStringLiteral("XML document with root tag ") + root + u'.');
    out.structure = QStringList{QStringLiteral("root tag: ") + root, QStringLiteral("root attributes: %1").arg(attributes)}
        + children.mostFrequent(xmlChildTags);
    return out;
}

} // namespace paddock::output_synopsis
