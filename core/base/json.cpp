// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/json.h"

#include "core/base/error.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <unordered_map>

namespace paddock {

namespace {

/// Builds the value itself so that depth is bounded before memory is spent and big integers survive as text.
class BoundedSax : public nlohmann::json_sax<Json>
{
public:
    explicit BoundedSax(int maxDepth) : m_maxDepth(maxDepth) {}

    bool null() override { return put(Json(nullptr)); }
    bool boolean(bool v) override { return put(Json(v)); }
    bool number_integer(number_integer_t v) override { return put(Json(v)); }
    bool number_unsigned(number_unsigned_t v) override { return put(Json(v)); }
    bool number_float(number_float_t v, const string_t &text) override
    {
        const bool integral = text.find_first_of(".eE") == string_t::npos;
        return integral ? put(Json(text)) : put(Json(v));
    }
    bool string(string_t &v) override { return put(Json(std::move(v))); }
    bool binary(binary_t &) override { return false; }
    bool start_object(std::size_t) override { return open(Json::object()); }
    bool start_array(std::size_t) override { return open(Json::array()); }
    bool key(string_t &k) override
    {
        m_stack.back().key = std::move(k);
        return true;
    }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool parse_error(std::size_t position, const std::string &, const nlohmann::detail::exception &) override
    {
        m_errorOffset = position;
        return false;
    }

    Json root;
    bool tooDeep = false;
    std::size_t errorOffset() const { return m_errorOffset; }

private:
    bool put(Json v)
    {
        if (m_stack.empty()) {
            root = std::move(v);
            return true;
        }
        Level &top = m_stack.back();
        if (top.value.is_array()) {
            top.value.push_back(std::move(v));
            return true;
        }
        // ordered_map searches linearly: an object of many keys would cost the square of its size (untrusted input).
        auto &members = top.value.get_ref<Json::object_t &>();
        const auto [known, fresh] = top.index.try_emplace(top.key, members.size());
        if (fresh)
            members.emplace_back(std::move(top.key), std::move(v));
        else
            (members.begin() + std::ptrdiff_t(known->second))->second = std::move(v);
        return true;
    }
    bool open(Json v)
    {
        if (static_cast<int>(m_stack.size()) >= m_maxDepth) {
            tooDeep = true;
            return false;
        }
        m_stack.push_back({std::move(v), {}, {}});
        return true;
    }
    bool close()
    {
        Json v = std::move(m_stack.back().value);
        m_stack.pop_back();
        return put(std::move(v));
    }

    struct Level {
        Json value;
        std::string key; ///< the key whose value comes next
        std::unordered_map<std::string, std::size_t> index;
    };
    int m_maxDepth;
    std::vector<Level> m_stack;
    std::size_t m_errorOffset = 0;
};

void dumpPythonString(std::string &out, const std::string &utf8)
{
    const QString text = QString::fromStdString(utf8);
    out += '"';
    for (const QChar c : text) {
        switch (c.unicode()) {
        case '"': out += "\\\""; break;
        case '\\': out += "\\\\"; break;
        case '\n': out += "\\n"; break;
        case '\r': out += "\\r"; break;
        case '\t': out += "\\t"; break;
        case '\b': out += "\\b"; break;
        case '\f': out += "\\f"; break;
        default:
            if (c.unicode() < 0x20 || c.unicode() > 0x7e) {
                char buffer[8];
                std::snprintf(buffer, sizeof buffer, "\\u%04x", static_cast<unsigned>(c.unicode()));
                out += buffer;
            } else {
                out += static_cast<char>(c.unicode());
            }
        }
    }
    out += '"';
}

/// Python's repr of a float: shortest round trip, "1.0" rather than "1", exponents with at least two digits.
std::string pythonFloat(double v)
{
    if (std::isnan(v))
        return "NaN";
    if (std::isinf(v))
        return v > 0 ? "Infinity" : "-Infinity";
    const double magnitude = std::fabs(v);
    const bool plain = magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
    char buffer[64];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, v,
                                   plain ? std::chars_format::fixed : std::chars_format::scientific);
    std::string text(buffer, end.ptr);
    if (plain && text.find('.') == std::string::npos)
        text += ".0";
    return text;
}

void dumpPython(std::string &out, const Json &value)
{
    switch (value.type()) {
    case Json::value_t::object: {
        std::map<std::string, const Json *> sorted;
        for (auto it = value.begin(); it != value.end(); ++it)
            sorted.emplace(it.key(), &it.value());
        out += '{';
        bool first = true;
        for (const auto &[key, member] : sorted) {
            if (!first)
                out += ", ";
            first = false;
            dumpPythonString(out, key);
            out += ": ";
            dumpPython(out, *member);
        }
        out += '}';
        return;
    }
    case Json::value_t::array: {
        out += '[';
        bool first = true;
        for (const Json &item : value) {
            if (!first)
                out += ", ";
            first = false;
            dumpPython(out, item);
        }
        out += ']';
        return;
    }
    case Json::value_t::string: dumpPythonString(out, value.get_ref<const std::string &>()); return;
    case Json::value_t::number_float: out += pythonFloat(value.get<double>()); return;
    default: out += value.dump(); return;
    }
}

} // namespace

std::expected<Json, Error> parseJson(const QByteArray &utf8, int maxDepth)
{
    // The library takes a NUL byte for the end of the input and would accept whatever follows; JSON has no raw NUL.
    if (const qsizetype nul = utf8.indexOf('\0'); nul >= 0)
        return fail(ErrorCode::InvalidArgument, QStringLiteral("Not valid JSON at byte %1").arg(nul), Json{{"offset", nul}});
    BoundedSax sax(maxDepth);
    const bool ok = Json::sax_parse(utf8.constData(), utf8.constData() + utf8.size(), &sax);
    if (ok)
        return std::move(sax.root);
    if (sax.tooDeep)
        return fail(ErrorCode::InvalidArgument, QStringLiteral("JSON is nested deeper than %1 levels").arg(maxDepth));
    return fail(ErrorCode::InvalidArgument, QStringLiteral("Not valid JSON at byte %1").arg(sax.errorOffset()),
                Json{{"offset", sax.errorOffset()}});
}

QByteArray dumpJson(const Json &value)
{
    return QByteArray::fromStdString(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

QByteArray dumpJsonPretty(const Json &value)
{
    return QByteArray::fromStdString(value.dump(2, ' ', false, Json::error_handler_t::replace));
}

QByteArray dumpJsonPythonSorted(const Json &value)
{
    std::string out;
    dumpPython(out, value);
    return QByteArray::fromStdString(out);
}

const Json &memberOf(const Json &object, const char *key)
{
    static const Json null;
    if (!object.is_object())
        return null;
    const auto it = object.find(key);
    return it == object.end() ? null : *it;
}

QString textOf(const Json &value)
{
    return value.is_string() ? QString::fromStdString(value.get_ref<const std::string &>()) : QString();
}

QString stringOf(const Json &object, const char *key, const QString &fallback)
{
    const Json &member = memberOf(object, key);
    return member.is_string() ? textOf(member) : fallback;
}

std::optional<QString> optionalString(const Json &object, const char *key)
{
    const Json &member = memberOf(object, key);
    if (!member.is_string())
        return std::nullopt;
    return textOf(member);
}

std::optional<qint64> optionalInt(const Json &object, const char *key)
{
    const Json &member = memberOf(object, key);
    if (member.is_number_unsigned() && member.get<quint64>() > quint64(std::numeric_limits<qint64>::max()))
        return std::nullopt;
    if (!member.is_number_integer())
        return std::nullopt;
    return member.get<qint64>();
}

qint64 intOf(const Json &object, const char *key, qint64 fallback)
{
    return optionalInt(object, key).value_or(fallback);
}

double doubleOf(const Json &object, const char *key, double fallback)
{
    const Json &member = memberOf(object, key);
    return member.is_number() ? member.get<double>() : fallback;
}

bool boolOf(const Json &object, const char *key, bool fallback)
{
    const Json &member = memberOf(object, key);
    return member.is_boolean() ? member.get<bool>() : fallback;
}

Json namesToJson(const QStringList &names)
{
    Json list = Json::array();
    for (const QString &name : names)
        list.push_back(toUtf8(name));
    return list;
}

std::optional<QStringList> namesFromJson(const Json &list)
{
    if (!list.is_array())
        return std::nullopt;
    QStringList names;
    for (const Json &name : list)
        names.append(textOf(name));
    return names;
}

} // namespace paddock
