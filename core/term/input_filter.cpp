// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/term/input_filter.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace paddock {

namespace {

constexpr char escape = 0x1b;
constexpr char bell = 0x07;
constexpr char cancel = 0x18;
constexpr char repeat = 'b'; ///< final byte of "the last character once more, N times"
constexpr int mostSeparators = 15; ///< libvterm's table holds 16 numbers
constexpr int mostDigits = 9;

/// CAN and SUB end whatever sequence is going on.
bool cancels(char c)
{
    return c == cancel || c == 0x1a;
}

bool isControl(char c)
{
    return std::uint8_t(c) < 0x20;
}

bool continues(std::uint8_t byte)
{
    return (byte & 0xc0) == 0x80;
}

/// How many bytes a character has that begins so; 0 when none does.
int lengthOf(std::uint8_t first)
{
    return first < 0xc2 || first > 0xf4 ? 0 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
}

/// Whether a second byte keeps clear of overlong forms, of surrogates and of what lies above U+10FFFF.
bool fits(std::uint8_t first, std::uint8_t second)
{
    switch (first) {
    case 0xe0: return second >= 0xa0;
    case 0xed: return second <= 0x9f;
    case 0xf0: return second >= 0x90;
    case 0xf4: return second <= 0x8f;
    default: return true;
    }
}

} // namespace

QByteArray InputFilter::take(const QByteArray &bytes)
{
    QByteArray out;
    out.reserve(bytes.size() + 1);
    for (qsizetype at = 0; at < bytes.size();) {
        if (m_state == State::Text) { // plain text in one go
            const qsizetype next = bytes.indexOf(escape, at);
            const qsizetype end = next < 0 ? bytes.size() : next;
            appendText(out, QByteArrayView(bytes).sliced(at, end - at));
            at = end;
            if (at == bytes.size())
                break;
        }
        step(out, bytes[at++]);
    }
    return withWholeCharacters(out);
}

void InputFilter::appendText(QByteArray &out, QByteArrayView text)
{
    out.append(text);
    const auto last = std::ranges::find_if(text.rbegin(), text.rend(), [](char c) { return !isControl(c); });
    if (last != text.rend())
        m_repeatable = *last >= 0x20 && *last <= 0x7e;
}

void InputFilter::step(QByteArray &out, char c)
{
    if (c == escape) { // ends everything and begins anew
        m_state = State::Escape;
        return;
    }
    if (cancels(c)) {
        if (m_state == State::Numbers || m_state == State::Intermediate)
            out.append(c);
        m_state = State::Text;
        return;
    }
    if (std::uint8_t(c) >= 0x80 && m_state != State::Text && m_state != State::String) { // breaks the sequence off
        if (m_state != State::Escape) // which is not handed on yet
            out.append(cancel);
        m_state = State::Text;
    }
    switch (m_state) {
    case State::Text: appendText(out, QByteArrayView(&c, 1)); return;
    case State::Escape: inEscape(out, c); return;
    case State::String:
        if (c == bell)
            m_state = State::Text;
        return;
    case State::Numbers: inNumbers(out, c); return;
    case State::Intermediate:
        out.append(c);
        if (!isControl(c) && c != 0x7f && !(c >= 0x20 && c <= 0x2f))
            m_state = State::Text;
        return;
    }
}

void InputFilter::inEscape(QByteArray &out, char c)
{
    if (isControl(c)) { // is obeyed in the middle of a sequence
        out.append(c);
        return;
    }
    if (c == 0x7f)
        return;
    switch (c) {
    case ']': // operating system command
    case 'P': // device control
    case 'X':
    case '^':
    case '_':
        m_state = State::String;
        return;
    case '[':
        m_state = State::Numbers;
        m_separators = 0;
        m_digits = 0;
        break;
    default: // also the end of a string
        m_state = c >= 0x20 && c <= 0x2f ? State::Intermediate : State::Text;
    }
    out.append(escape);
    out.append(c);
}

void InputFilter::inNumbers(QByteArray &out, char c)
{
    if (c >= '0' && c <= '9') {
        if (m_separators <= mostSeparators && ++m_digits <= mostDigits)
            out.append(c);
        return;
    }
    if (c == ';' || c == ':') {
        m_digits = 0;
        if (++m_separators <= mostSeparators)
            out.append(c);
        return;
    }
    const bool leads = c >= '<' && c <= '?' && m_separators == 0 && m_digits == 0;
    if (!isControl(c) && c != 0x7f && !leads)
        m_state = c >= 0x20 && c <= 0x2f ? State::Intermediate : State::Text;
    out.append(c == repeat && !m_repeatable ? cancel : c);
}

QByteArray InputFilter::withWholeCharacters(const QByteArray &bytes)
{
    QByteArray out;
    out.reserve(bytes.size() + 4);
    for (auto at = bytes.cbegin(); at != bytes.cend();) {
        if (m_unfinished.isEmpty()) { // plain letters in one go
            const auto end = std::find_if(at, bytes.cend(), [](char c) { return std::uint8_t(c) >= 0x80; });
            out.append(at, end - at);
            at = end;
            if (at == bytes.cend())
                break;
        }
        if (takeByte(out, std::uint8_t(*at)))
            ++at;
    }
    return out;
}

bool InputFilter::takeByte(QByteArray &out, std::uint8_t byte)
{
    static constexpr QByteArrayView replacement("\xef\xbf\xbd");
    if (m_unfinished.isEmpty()) {
        if (lengthOf(byte) == 0)
            out.append(replacement);
        else
            m_unfinished.append(char(byte));
        return true;
    }
    const auto first = std::uint8_t(m_unfinished.front());
    if (!continues(byte) || (m_unfinished.size() == 1 && !fits(first, byte))) {
        out.append(replacement); // for what was begun; the byte begins anew
        m_unfinished.clear();
        return false;
    }
    m_unfinished.append(char(byte));
    if (m_unfinished.size() == lengthOf(first)) {
        const bool isControl = first == 0xc2 && byte < 0xa0; // U+0080 to U+009F
        if (!isControl)
            out.append(m_unfinished);
        m_unfinished.clear();
    }
    return true;
}

} // namespace paddock
