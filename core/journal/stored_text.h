// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"

#include <QByteArray>

#include <optional>

namespace paddock {

/// Texts from this size on are compressed when that makes them smaller.
constexpr qsizetype compressFrom = 1024;
/// A stored text that claims to be larger than this is taken for damage.
constexpr qsizetype largestStoredText = 256 * 1024 * 1024;

/// The zstd frame of `text`; nullopt when it is short or does not get smaller. Thread-safe.
std::optional<QByteArray> compressed(const QByteArray &text);
/// The text of a zstd frame; DataLoss when it is damaged or too large.
Result<QByteArray> decompressed(const QByteArray &frame);

} // namespace paddock
