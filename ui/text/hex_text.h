// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QByteArray>
#include <QString>

namespace paddock {

/// Bytes as the usual three columns: offset, 16 bytes in hex, printable characters.
QString hexText(const QByteArray &bytes, qint64 firstOffset = 0);
/// True when the sample holds NUL or is not UTF-8 (a sequence cut at the end does not count).
bool looksBinary(const QByteArray &sample);

} // namespace paddock
