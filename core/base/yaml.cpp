// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <QRegularExpression>

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

namespace paddock {

const YamlNode *YamlNode::find(QStringView key) const
{
    for (const Entry &entry : entries) {
        if (entry.key == key)
            return &entry.value;
    }
    return nullptr;
}

QString YamlNode::place() const
{
    return QStringLiteral("line %1, column %2").arg(line).arg(column);
}

Json YamlNode::toJson() const
{
    switch (kind) {
    case Kind::Null: return Json(nullptr);
    case Kind::Sequence: {
        Json list = Json::array();
        for (const YamlNode &item : items)
            list.push_back(item.toJson());
        return list;
    }
    case Kind::Mapping: {
        Json object = Json::object();
        for (const Entry &entry : entries)
            object[toUtf8(entry.key)] = entry.value.toJson();
        return object;
    }
    case Kind::Scalar: break;
    }
    if (quoted)
        return paddock::toJson(scalar);
    static const QRegularExpression integer(QStringLiteral("^[-+]?[0-9]+$"));
    static const QRegularExpression based(QStringLiteral("^0(o[0-7]+|x[0-9a-fA-F]+)$"));
    static const QRegularExpression floating(QStringLiteral("^[-+]?(\\.[0-9]+|[0-9]+(\\.[0-9]*)?)([eE][-+]?[0-9]+)?$"));
    if (scalar.isEmpty() || scalar == u"~" || scalar == u"null" || scalar == u"Null" || scalar == u"NULL")
        return Json(nullptr);
    if (scalar == u"true" || scalar == u"True" || scalar == u"TRUE")
        return Json(true);
    if (scalar == u"false" || scalar == u"False" || scalar == u"FALSE")
        return Json(false);
    if (integer.match(scalar).hasMatch()) {
        bool ok = false;
        const qint64 value = scalar.toLongLong(&ok);
        if (ok)
            return Json(value);
        return paddock::toJson(scalar); // beyond 64 bits: kept as text, as in parseJson
    }
    if (based.match(scalar).hasMatch()) {
        bool ok = false;
        const qint64 value = scalar.sliced(2).toLongLong(&ok, scalar.at(1) == QLatin1Char('x') ? 16 : 8);
        return ok ? Json(value) : paddock::toJson(scalar);
    }
    if (floating.match(scalar).hasMatch())
        return Json(scalar.toDouble());
    return paddock::toJson(scalar);
}

namespace {

struct Converter {
    const YamlLimits &limits;
    const QString &name;
    int nodes = 0;
    std::optional<Error> error;

    void complain(const YAML::Mark &mark, const QString &what)
    {
        if (!error)
            error = Error{ErrorCode::InvalidArgument,
                          QStringLiteral("%1:%2:%3: %4").arg(name).arg(mark.line + 1).arg(mark.column + 1).arg(what),
                          Json{{"line", mark.line + 1}, {"column", mark.column + 1}}, nullptr};
    }

    YamlNode convert(const YAML::Node &from, int depth)
    {
        YamlNode node;
        const YAML::Mark mark = from.Mark();
        node.line = mark.line + 1;
        node.column = mark.column + 1;
        if (error)
            return node;
        if (++nodes > limits.maxNodes) {
            complain(mark, QStringLiteral("the document has more than %1 values").arg(limits.maxNodes));
            return node;
        }
        if (depth > limits.maxDepth) {
            complain(mark, QStringLiteral("nested deeper than %1 levels").arg(limits.maxDepth));
            return node;
        }
        switch (from.Type()) {
        case YAML::NodeType::Undefined:
        case YAML::NodeType::Null: break;
        case YAML::NodeType::Scalar:
            node.kind = YamlNode::Kind::Scalar;
            node.scalar = QString::fromStdString(from.Scalar());
            // yaml-cpp tags what was written plain "?" and what was quoted or a block "!"
            node.quoted = from.Tag() == "!" || from.Tag() == "tag:yaml.org,2002:str";
            break;
        case YAML::NodeType::Sequence:
            node.kind = YamlNode::Kind::Sequence;
            for (const auto &item : from) {
                node.items.push_back(convert(item, depth + 1));
                if (error)
                    return node;
            }
            break;
        case YAML::NodeType::Map: {
            node.kind = YamlNode::Kind::Mapping;
            std::set<QString> seen;
            for (const auto &pair : from) {
                if (!pair.first.IsScalar()) {
                    complain(pair.first.Mark(), QStringLiteral("a key must be plain text"));
                    return node;
                }
                YamlNode::Entry entry;
                entry.key = QString::fromStdString(pair.first.Scalar());
                entry.line = pair.first.Mark().line + 1;
                entry.column = pair.first.Mark().column + 1;
                if (!seen.insert(entry.key).second) {
                    complain(pair.first.Mark(), QStringLiteral("the key '%1' appears twice").arg(entry.key));
                    return node;
                }
                entry.value = convert(pair.second, depth + 1);
                node.entries.push_back(std::move(entry));
                if (error)
                    return node;
            }
            break;
        }
        }
        return node;
    }
};

/// Counts documents. yaml-cpp's LoadAll makes documents without end, until the memory is gone, when something stays
/// behind the first one that is no document (a stray "]"); so we look first, and stop at the second.
class DocumentCount : public YAML::EventHandler
{
public:
    /// Where the second document begins, if there is one. Throws what is wrong with the text before it.
    std::optional<YAML::Mark> second(const std::string &text)
    {
        std::istringstream stream(text);
        YAML::Parser parser(stream);
        while (!m_second && parser.HandleNextDocument(*this)) { }
        return m_second;
    }

    void OnDocumentStart(const YAML::Mark &mark) override
    {
        if (std::exchange(m_any, true))
            m_second = mark;
    }
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark &, YAML::anchor_t) override {}
    void OnAlias(const YAML::Mark &, YAML::anchor_t) override {}
    void OnScalar(const YAML::Mark &, const std::string &, YAML::anchor_t, const std::string &) override {}
    void OnSequenceStart(const YAML::Mark &, const std::string &, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark &, const std::string &, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}

private:
    bool m_any = false;
    std::optional<YAML::Mark> m_second;
};

/// Bytes of the UTF-8 character that begins at `at`; 0 when none does.
int utf8Length(QByteArrayView text, qsizetype at)
{
    const auto byte = [&](qsizetype i) { return at + i < text.size() ? uchar(text[at + i]) : uchar(0); };
    const uchar lead = byte(0);
    const int length = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
    for (int i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80)
            return 0;
    }
    const uchar second = byte(1);
    const bool tooLong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
    const bool noCharacter = (lead == 0xed && second > 0x9f) || (lead == 0xf4 && second > 0x8f); // surrogates, beyond Unicode
    return length > 2 && (tooLong || noCharacter) ? 0 : length;
}

/// yaml-cpp replaces such bytes in silence, or takes them for the end of the text.
std::optional<Error> complaintOfBytes(QByteArrayView text, const QString &name)
{
    int line = 1;
    int column = 1;
    for (qsizetype at = 0; at < text.size();) {
        const int length = utf8Length(text, at);
        if (length == 0) {
            return Error{ErrorCode::InvalidArgument,
                         QStringLiteral("%1:%2:%3: the byte \\x%4 is not UTF-8 text; save the file as UTF-8")
                             .arg(name).arg(line).arg(column).arg(uint(uchar(text[at])), 2, 16, QLatin1Char('0')),
                         Json{{"line", line}, {"column", column}}, nullptr};
        }
        line += text[at] == '\n' ? 1 : 0;
        column = text[at] == '\n' ? 1 : column + 1;
        at += length;
    }
    return std::nullopt;
}

} // namespace

Result<YamlNode> parseYaml(const QByteArray &utf8, const QString &name, const YamlLimits &limits)
{
    if (utf8.size() > limits.maxBytes)
        return fail(ErrorCode::ResourceExhausted,
                    QStringLiteral("%1: larger than %2 bytes").arg(name).arg(limits.maxBytes));
    if (const auto problem = complaintOfBytes(utf8, name))
        return fail(*problem);
    try {
        // yaml-cpp stops at 500 levels by itself (DepthGuard), long before the stack ends; we then count ours.
        const std::string text = utf8.toStdString();
        Converter converter{limits, name, 0, {}};
        YamlNode root;
        if (const auto second = DocumentCount().second(text))
            converter.complain(*second, QStringLiteral("a second document, or something that belongs to nothing; expected one document"));
        else
            root = converter.convert(YAML::Load(text), 0);
        if (converter.error)
            return fail(*converter.error);
        root.line = std::max(root.line, 1); // an empty document has no place of its own
        root.column = std::max(root.column, 1);
        return root;
    } catch (const YAML::Exception &e) {
        // Of a text in memory, yaml-cpp says "bad file" only when its DepthGuard stops.
        const QString what = e.msg == YAML::ErrorMsg::BAD_FILE ? QStringLiteral("nested too deeply")
                                                               : QStringLiteral("not valid YAML (%1)").arg(QString::fromStdString(e.msg));
        return fail(ErrorCode::InvalidArgument,
                    QStringLiteral("%1:%2:%3: %4").arg(name).arg(e.mark.line + 1).arg(e.mark.column + 1).arg(what),
                    Json{{"line", e.mark.line + 1}, {"column", e.mark.column + 1}});
    } catch (const std::exception &e) {
        return fail(ErrorCode::InvalidArgument, QStringLiteral("%1: %2").arg(name, QString::fromUtf8(e.what())));
    }
}

} // namespace paddock
