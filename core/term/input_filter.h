// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QByteArray>

#include <cstdint>

namespace paddock {

/// Stands before libvterm and lets through what it can bear. Libvterm 0.3 writes behind its table when a control sequence
/// has more than 16 numbers, repeats a character without width for ever, goes left of the screen by control characters
/// written as UTF-8, and forgets the beginning of a character when a piece ends in it. So: numbers beyond the table are
/// dropped, a number has nine digits at most, only plain letters are repeated, characters come whole, without those
/// controls, and what is none is U+FFFD. And strings (titles, clipboard, links, device control), which this terminal ignores anyway, never
/// arrive. Pure; one stream.
class InputFilter
{
public:
    /// What may be handed on now. However a stream is cut, the same comes out in all.
    QByteArray take(const QByteArray &bytes);

private:
    enum class State {
        Text,
        Escape,       ///< an escape was seen and is held back
        Numbers,      ///< of a control sequence
        Intermediate, ///< between the beginning (or the numbers) of a sequence and its end
        String,       ///< dropped until its end
    };
    void step(QByteArray &out, char c);
    void inEscape(QByteArray &out, char c);
    void inNumbers(QByteArray &out, char c);
    void appendText(QByteArray &out, QByteArrayView text);
    QByteArray withWholeCharacters(const QByteArray &bytes);
    bool takeByte(QByteArray &out, std::uint8_t byte);

    State m_state = State::Text;
    int m_separators = 0; ///< of the numbers so far
    int m_digits = 0;     ///< of the current number
    bool m_repeatable = false; ///< the last character was a plain letter
    QByteArray m_unfinished; ///< the beginning of a character whose rest is still to come
};

} // namespace paddock
