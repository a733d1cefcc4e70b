// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/json_outline.h"

#include "core/base/json.h"
#include "core/middleware/output_text.h"

#include <QHash>

#include <cmath>

namespace paddock {

namespace {

constexpr int outlineNesting = 1000;          ///< deeper text is not taken for JSON
constexpr int outlineKeptLevels = 4;          ///< containers further in keep nothing but their kind
constexpr std::size_t outlineKeptItems = 3;   ///< of each array
constexpr qsizetype outlineShownChars = 80;   ///< of one scalar
constexpr qsizetype outlineIntegerDigits = 4300; ///< longer integers are refused, as the reference's parser does

class OutlineReader
{
public:
    explicit OutlineReader(QStringView text) : m_text(text) {}

    qsizetype position() const { return m_at; }

    /// False: not JSON. `out` is filled as far as its level keeps it.
    bool value(JsonOutline &out, int depth)
    {
        if (m_at >= m_text.size() || depth > outlineNesting)
            return false;
        switch (m_text.at(m_at).unicode()) {
        case '{': return object(out, depth);
        case '[': return array(out, depth);
        case '"': return stringValue(out, depth);
        case 't': return word(out, u"true", JsonOutline::Kind::Boolean, "True");
        case 'f': return word(out, u"false", JsonOutline::Kind::Boolean, "False");
        case 'n': return word(out, u"null", JsonOutline::Kind::Null, "None");
        case 'N': return word(out, u"NaN", JsonOutline::Kind::Number, "nan");
        case 'I': return word(out, u"Infinity", JsonOutline::Kind::Number, "inf");
        default: return number(out);
        }
    }

private:
    QChar here() const { return m_at < m_text.size() ? m_text.at(m_at) : QChar(0); }
    bool take(char16_t c)
    {
        if (m_at >= m_text.size() || m_text.at(m_at) != c)
            return false;
        ++m_at;
        return true;
    }
    void skipSpace()
    {
        while (m_at < m_text.size() && QStringView(u" \t\r\n").contains(m_text.at(m_at)))
            ++m_at;
    }
    bool word(JsonOutline &out, QStringView text, JsonOutline::Kind kind, const char *shown)
    {
        if (!m_text.sliced(m_at).startsWith(text))
            return false;
        m_at += text.size();
        out.kind = kind;
        out.shown = QString::fromLatin1(shown);
        return true;
    }

    bool object(JsonOutline &out, int depth)
    {
        out.kind = JsonOutline::Kind::Object;
        ++m_at;
        skipSpace();
        if (take(u'}'))
            return true;
        const bool kept = depth <= outlineKeptLevels;
        QHash<QString, qsizetype> places;
        do {
            skipSpace();
            QString key;
            if (!string(key))
                return false;
            skipSpace();
            if (!take(u':'))
                return false;
            skipSpace();
            JsonOutline child;
            if (!value(child, depth + 1))
                return false;
            skipSpace();
            if (kept)
                keep(out, places, std::move(key), std::move(child));
        } while (take(u','));
        out.count = places.size();
        return take(u'}');
    }
    static void keep(JsonOutline &out, QHash<QString, qsizetype> &places, QString key, JsonOutline child)
    {
        const auto known = places.constFind(key);
        const qsizetype place = known == places.constEnd() ? places.size() : *known;
        if (known == places.constEnd())
            places.insert(key, place);
        if (place < qsizetype(out.members.size()))
            out.members[std::size_t(place)].second = std::move(child);
        else if (place < jsonOutlineKeys)
            out.members.emplace_back(std::move(key), std::move(child));
    }

    bool array(JsonOutline &out, int depth)
    {
        out.kind = JsonOutline::Kind::Array;
        ++m_at;
        skipSpace();
        if (take(u']'))
            return true;
        do {
            skipSpace();
            JsonOutline child;
            if (!value(child, depth + 1))
                return false;
            skipSpace();
            ++out.count;
            if (depth <= outlineKeptLevels && out.items.size() < outlineKeptItems)
                out.items.push_back(std::move(child));
        } while (take(u','));
        return take(u']');
    }

    bool stringValue(JsonOutline &out, int depth)
    {
        QString text;
        if (!string(text))
            return false;
        out.kind = JsonOutline::Kind::String;
        if (depth > outlineKeptLevels)
            return true;
        out.shown = QString::fromUtf8(dumpJson(toJson(output_text::clipped(text, outlineShownChars))));
        return true;
    }
    bool string(QString &out)
    {
        if (!take(u'"'))
            return false;
        qsizetype plain = m_at;
        for (; m_at < m_text.size(); ++m_at) {
            const QChar c = m_text.at(m_at);
            if (c.unicode() < 0x20)
                return false;
            if (c != u'"' && c != u'\\')
                continue;
            out += m_text.sliced(plain, m_at - plain);
            ++m_at;
            if (c == u'"')
                return true;
            if (!escape(out))
                return false;
            plain = m_at--;
        }
        return false;
    }
    /// Behind the backslash; leaves the position behind the escape.
    bool escape(QString &out)
    {
        const QChar c = here();
        if (m_at < m_text.size())
            ++m_at;
        switch (c.unicode()) {
        case '"':
        case '\\':
        case '/': out += c; return true;
        case 'b': out += u'\b'; return true;
        case 'f': out += u'\f'; return true;
        case 'n': out += u'\n'; return true;
        case 'r': out += u'\r'; return true;
        case 't': out += u'\t'; return true;
        case 'u': break;
        default: return false;
        }
        char16_t unit = 0;
        for (int digit = 0; digit < 4; ++digit, ++m_at) {
            const ushort d = here().unicode();
            const int hex = d >= '0' && d <= '9' ? d - '0' : d >= 'a' && d <= 'f' ? d - 'a' + 10 : d >= 'A' && d <= 'F' ? d - 'A' + 10 : -1;
            if (hex < 0)
                return false;
            unit = char16_t(unit * 16 + hex);
        }
        out += QChar(unit); // two escapes of a pair come together by themselves
        return true;
    }

    qsizetype digits()
    {
        const qsizetype from = m_at;
        while (here() >= u'0' && here() <= u'9')
            ++m_at;
        return m_at - from;
    }
    bool number(JsonOutline &out)
    {
        const qsizetype from = m_at;
        const bool negative = take(u'-');
        if (negative && here() == u'I')
            return word(out, u"Infinity", JsonOutline::Kind::Number, "-inf");
        const bool zero = here() == u'0';
        const qsizetype integer = zero ? 1 : digits();
        if (zero)
            ++m_at;
        if (integer == 0)
            return false;
        const qsizetype integerEnd = m_at;
        bool isFloat = false;
        if (take(u'.')) {
            isFloat = digits() > 0;
            if (!isFloat)
                m_at = integerEnd; // as a number ends here, what follows is no JSON
        }
        const qsizetype fractionEnd = m_at;
        if (take(u'e') || take(u'E')) {
            if (!take(u'-'))
                take(u'+');
            if (digits() > 0)
                isFloat = true;
            else
                m_at = fractionEnd;
        }
        out.kind = JsonOutline::Kind::Number;
        const QString literal = m_text.sliced(from, m_at - from).toString();
        if (!isFloat && integer > outlineIntegerDigits)
            return false;
        out.shown = output_text::clipped(isFloat ? shownFloat(literal) : literal == u"-0" ? QStringLiteral("0") : literal,
                                         outlineShownChars);
        return true;
    }
    static QString shownFloat(const QString &literal)
    {
        const double number = literal.toDouble(); // ±infinity beyond the range, zero below it
        if (std::isinf(number))
            return number > 0 ? QStringLiteral("inf") : QStringLiteral("-inf");
        return QString::fromLatin1(dumpJsonPythonSorted(Json(number)));
    }

    const QStringView m_text;
    qsizetype m_at = 0;
};

} // namespace

std::optional<OutlinedJson> outlineJson(QStringView text)
{
    if (!text.startsWith(u'{') && !text.startsWith(u'['))
        return std::nullopt;
    OutlineReader reader(text);
    OutlinedJson out;
    if (!reader.value(out.value, 0))
        return std::nullopt;
    out.end = reader.position();
    return out;
}

} // namespace paddock
