// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/output_synopsis.h"

#include "core/base/text.h"
#include "core/base/yaml.h"
#include "core/middleware/output_text.h"

#include <QRegularExpression>

#include <algorithm>

namespace paddock::output_synopsis {

namespace {

constexpr qsizetype tableSampleLines = 50;
constexpr qsizetype tableProbeRows = 10; ///< data rows looked at
constexpr qsizetype tableMinRows = 5;    ///< of them as wide as the header
constexpr qsizetype tableColumns = 18;
constexpr qsizetype tableCellChars = 80;
constexpr qsizetype tableMaxCell = 131072; ///< a longer cell is no table
constexpr qsizetype yamlProbeLines = 80;
constexpr int yamlKeyLines = 3;
constexpr qsizetype yamlMaxChars = 500'000;
constexpr qsizetype yamlKeys = 12;

bool isBlankLine(QStringView line)
{
    return std::all_of(line.begin(), line.end(), output_text::isSpace);
}

/// Reads delimited rows: a cell that starts with a quote ends at the closing one, a doubled quote is one; a quote elsewhere
/// is text; an open quote goes on in the next line and ends with the text.
class TableReader
{
public:
    TableReader(QStringView text, QChar delimiter) : m_text(text), m_delimiter(delimiter) {}

    /// Nothing when a cell is too long.
    std::optional<QList<QStringList>> rows()
    {
        for (const QChar c : m_text) {
            step(c);
            if (m_cell.size() > tableMaxCell)
                return std::nullopt;
        }
        if (m_state != State::RowStart)
            endRow();
        return m_rows;
    }

private:
    enum class State { RowStart, CellStart, Plain, Quoted, QuoteInQuoted };

    void step(QChar c)
    {
        if (m_state == State::Quoted) {
            if (c == u'"')
                m_state = State::QuoteInQuoted;
            else
                m_cell += c;
            return;
        }
        if (c == u'\n') {
            endRow();
        } else if (c == m_delimiter) {
            m_row.append(std::exchange(m_cell, QString()));
            m_state = State::CellStart;
        } else if (c == u'"' && (m_state == State::RowStart || m_state == State::CellStart)) {
            m_state = State::Quoted;
        } else {
            const bool doubled = m_state == State::QuoteInQuoted && c == u'"';
            m_cell += c;
            m_state = doubled ? State::Quoted : State::Plain;
        }
    }
    void endRow()
    {
        if (m_state != State::RowStart)
            m_row.append(std::exchange(m_cell, QString()));
        m_rows.append(std::exchange(m_row, {}));
        m_state = State::RowStart;
    }

    const QStringView m_text;
    const QChar m_delimiter;
    QList<QStringList> m_rows;
    QStringList m_row;
    QString m_cell;
    State m_state = State::RowStart;
};

std::optional<QList<QStringList>> sampleRows(const QString &text, QChar delimiter)
{
    QString sample;
    for (const QStringView line : output_text::lines(text, tableSampleLines)) {
        sample += line;
        sample += u'\n';
    }
    sample.chop(1);
    auto rows = TableReader(sample, delimiter).rows();
    if (rows) {
        rows->removeIf([](const QStringList &row) {
            return std::all_of(row.begin(), row.end(), [](const QString &cell) { return isBlankLine(cell); });
        });
    }
    return rows;
}

bool isTable(const QList<QStringList> &rows)
{
    static const QRegularExpression name(QStringLiteral(R"(^[A-Za-z0-9_][A-Za-z0-9_.\-]*$)"));
    if (rows.size() < 2 || rows.first().size() < 2)
        return false;
    const QStringList &header = rows.first();
    qsizetype wide = 0;
    for (qsizetype row = 1; row < std::min(rows.size(), tableProbeRows + 1); ++row)
        wide += rows.at(row).size() == header.size() ? 1 : 0;
    return wide >= tableMinRows && std::all_of(header.begin(), header.end(), [](const QString &cell) {
               return name.match(pythonStrip(cell)).hasMatch() && !cell.startsWith(u' ') && !cell.startsWith(u'\t');
           });
}

bool isUpperTag(QStringView key)
{
    return !key.contains(u'_') && std::none_of(key.begin(), key.end(), [](QChar c) { return c.isLower(); });
}

bool looksLikeYaml(const QString &text)
{
    static const QRegularExpression keyLine(QStringLiteral(R"(^\s*([A-Za-z_][A-Za-z0-9_.\-]*):\s*\S.*$)"),
                                            QRegularExpression::UseUnicodePropertiesOption);
    qsizetype start = 0;
    while (start < text.size() && output_text::isSpace(text.at(start)))
        ++start;
    if (QStringView(text).sliced(start).startsWith(u"---"))
        return true;
    if (looksLikeCode(text))
        return false;
    int keys = 0;
    for (const QStringView line : output_text::lines(text, yamlProbeLines)) {
        const auto match = keyLine.matchView(line);
        // "INFO: starting" is a line of a log.
        if (match.hasMatch() && !isUpperTag(match.capturedView(1)) && ++keys >= yamlKeyLines)
            return true;
    }
    return false;
}

/// A value that starts with a tag of the writer's own cannot be read safely.
bool hasOwnTags(const QString &text)
{
    static const QRegularExpression tag(QStringLiteral(R"(^[ \t]*(?:-[ \t]+)*(?:[^\s#"'!][^#"'!\n]*:[ \t]+)?![^!\s])"),
                                        QRegularExpression::MultilineOption);
    return text.contains(u'!') && tag.match(text).hasMatch();
}

/// The characters that YAML allows, with its line breaks as line feeds; nothing for any other text, e.g. of a terminal.
std::optional<QString> yamlText(const QString &text)
{
    if (!text.isValidUtf16())
        return std::nullopt;
    QString out;
    out.reserve(text.size());
    for (qsizetype i = 0; i < text.size(); ++i) {
        const ushort u = text.at(i).unicode();
        if (u == u'\r' && i + 1 < text.size() && text.at(i + 1) == u'\n')
            continue;
        if (u == u'\r' || u == 0x85 || u == 0x2028 || u == 0x2029)
            out += u'\n';
        else if ((u < 0x20 && u != u'\t' && u != u'\n') || (u >= 0x7f && u < 0xa0) || u >= 0xfffe)
            return std::nullopt;
        else
            out += text.at(i);
    }
    return out;
}

/// A tab may stand in quotes and comments only; elsewhere our parser would let it pass.
bool hasLooseTabs(const QList<QStringView> &lines)
{
    return std::any_of(lines.begin(), lines.end(), [](QStringView line) {
        const qsizetype tab = line.indexOf(u'\t');
        return tab >= 0 && !isBlankLine(line) && std::none_of(line.begin(), line.begin() + tab, [](QChar c) {
                   return c == u'"' || c == u'\'' || c == u'#';
               });
    });
}

/// A line of text among keys is none, though our parser takes it for a key without a value.
bool hasBareKeys(const YamlNode &node, const QList<QStringView> &lines)
{
    for (const YamlNode::Entry &entry : node.entries) {
        const QStringView line = entry.line >= 1 && entry.line <= lines.size() ? lines.at(entry.line - 1) : QStringView();
        if (entry.value.isNull() && !line.contains(u':') && !line.contains(u'{') && !line.contains(u'?'))
            return true;
        if (hasBareKeys(entry.value, lines))
            return true;
    }
    return std::any_of(node.items.begin(), node.items.end(), [&lines](const YamlNode &item) { return hasBareKeys(item, lines); });
}

enum class YamlType { String, Number, Boolean, Null, Date, Object, Array };

/// Plain scalars as YAML 1.1 reads them, which is what the rules of §4.7 were written against.
YamlType plainType(const QString &scalar)
{
    static const QRegularExpression boolean(QStringLiteral("^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$"));
    static const QRegularExpression null(QStringLiteral("^(?:~|null|Null|NULL|)$"));
    static const QRegularExpression integer(QStringLiteral(
        "^(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$"));
    static const QRegularExpression real(QStringLiteral(
        R"(^(?:[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$)"));
    static const QRegularExpression date(QStringLiteral(
        R"(^(?:\d{4}-\d\d-\d\d|\d{4}-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?)$)"));
    if (null.match(scalar).hasMatch())
        return YamlType::Null;
    if (boolean.match(scalar).hasMatch())
        return YamlType::Boolean;
    if (integer.match(scalar).hasMatch() || real.match(scalar).hasMatch())
        return YamlType::Number;
    return date.match(scalar).hasMatch() ? YamlType::Date : YamlType::String;
}

YamlType typeOf(const YamlNode &node)
{
    switch (node.kind) {
    case YamlNode::Kind::Null: return YamlType::Null;
    case YamlNode::Kind::Sequence: return YamlType::Array;
    case YamlNode::Kind::Mapping: return YamlType::Object;
    case YamlNode::Kind::Scalar: break;
    }
    return node.quoted ? YamlType::String : plainType(node.scalar);
}

QString yamlTypeName(YamlType type)
{
    switch (type) {
    case YamlType::Number: return QStringLiteral("number");
    case YamlType::Boolean: return QStringLiteral("boolean");
    case YamlType::Null: return QStringLiteral("null");
    case YamlType::Object: return QStringLiteral("object");
    case YamlType::Array: return QStringLiteral("array");
    case YamlType::Date: // has no name of its own
    case YamlType::String: break;
    }
    return QStringLiteral("string");
}

std::optional<OutputSynopsis> yamlMapping(const YamlNode &root)
{
    QStringList keys;
    QStringList structure;
    bool onlyStrings = true;
    for (const YamlNode::Entry &entry : root.entries) {
        const YamlType type = typeOf(entry.value);
        onlyStrings = onlyStrings && type == YamlType::String;
        if (entry.key == u"<<")
            return std::nullopt; // merged keys are not counted here
        if (keys.size() < yamlKeys) {
            keys.append(entry.key);
            structure.append(entry.key + QStringLiteral(": ") + yamlTypeName(type));
        }
    }
    if (onlyStrings && !root.entries.empty())
        return std::nullopt; // what logs and tracebacks look like once parsed
    return OutputSynopsis{QStringLiteral("yaml"), QStringLiteral("YAML output"),
                          {QStringLiteral("YAML object with %1 top-level keys.").arg(root.entries.size()),
                           QStringLiteral("Top-level keys: ") + keys.join(QLatin1String(", "))},
                          structure};
}

} // namespace

std::optional<OutputSynopsis> table(const QString &text, QChar delimiter)
{
    const auto rows = sampleRows(text, delimiter);
    if (!rows || !isTable(*rows))
        return std::nullopt;
    QStringList columns;
    QStringList cells;
    const QStringList &header = rows->first();
    const QStringList &first = rows->at(1);
    for (qsizetype i = 0; i < std::min(header.size(), tableColumns); ++i) {
        columns.append(pythonStrip(header.at(i)));
        if (i < first.size())
            cells.append(columns.last() + u'=' + output_text::clipped(first.at(i), tableCellChars));
    }
    const QList<QStringView> lines = output_text::lines(text);
    const auto filled = std::count_if(lines.begin(), lines.end(), [](QStringView line) { return !isBlankLine(line); });
    const bool commas = delimiter == u',';
    const QString label = commas ? QStringLiteral("CSV") : QStringLiteral("TSV");
    return OutputSynopsis{label.toLower(), label + QStringLiteral(" table output"),
                          {label + QStringLiteral(" table with %1 data rows and %2 columns.").arg(filled - 1).arg(header.size())},
                          {QStringLiteral("columns: ") + columns.join(QLatin1String(", ")),
                           QStringLiteral("first data row: ") + cells.join(QLatin1String(" | "))}};
}

std::optional<OutputSynopsis> yaml(const QString &text)
{
    if (!looksLikeYaml(text) || codePointCount(text) > yamlMaxChars || hasOwnTags(text))
        return std::nullopt;
    const auto source = yamlText(text);
    if (!source)
        return std::nullopt;
    const QList<QStringView> lines = QStringView(*source).split(u'\n');
    if (hasLooseTabs(lines))
        return std::nullopt;
    const auto root = parseYaml(source->toUtf8(), QStringLiteral("output"));
    if (!root || hasBareKeys(*root, lines))
        return std::nullopt;
    if (root->isMapping())
        return yamlMapping(*root);
    if (!root->isSequence())
        return std::nullopt;
    OutputSynopsis out{QStringLiteral("yaml"), QStringLiteral("YAML output"),
                       {QStringLiteral("YAML array with %1 items.").arg(root->items.size())}};
    if (!root->items.empty())
        out.structure.append(QStringLiteral("first item type: ") + yamlTypeName(typeOf(root->items.front())));
    return out;
}

} // namespace paddock::output_synopsis
