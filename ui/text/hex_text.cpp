// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/text/hex_text.h"

#include <QStringDecoder>

namespace paddock {

QString hexText(const QByteArray &bytes, qint64 firstOffset)
{
    QString out;
    out.reserve(bytes.size() / 16 * 80 + 80);
    for (qsizetype line = 0; line < bytes.size(); line += 16) {
        out += QStringLiteral("%1  ").arg(firstOffset + line, 8, 16, QLatin1Char('0'));
        QString chars;
        for (qsizetype i = line; i < line + 16; ++i) {
            if (i < bytes.size()) {
                const auto byte = static_cast<unsigned char>(bytes.at(i));
                out += QStringLiteral("%1 ").arg(byte, 2, 16, QLatin1Char('0'));
                chars += byte >= 0x20 && byte < 0x7f ? QChar(char16_t(byte)) : QChar(u'·');
            } else {
                out += QLatin1String("   ");
            }
            if (i == line + 7)
                out += QLatin1Char(' ');
        }
        out += QLatin1Char(' ') + chars + QLatin1Char('\n');
    }
    return out;
}

bool looksBinary(const QByteArray &sample)
{
    if (sample.contains('\0'))
        return true;
    QStringDecoder decoder(QStringDecoder::Utf8, QStringDecoder::Flag::Default);
    [[maybe_unused]] const QString text = decoder.decode(sample);
    return decoder.hasError();
}

} // namespace paddock
