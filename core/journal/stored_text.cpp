// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/journal/stored_text.h"

#include <zstd.h>

#include <memory>

namespace paddock {

namespace {

constexpr int level = 3;

struct ContextDeleter {
    void operator()(ZSTD_CCtx *context) const { ZSTD_freeCCtx(context); }
};

} // namespace

std::optional<QByteArray> compressed(const QByteArray &text)
{
    if (text.size() < compressFrom)
        return std::nullopt;
    // Making a context costs more than compressing a message; the writer thread keeps one.
    thread_local const std::unique_ptr<ZSTD_CCtx, ContextDeleter> context(ZSTD_createCCtx());
    QByteArray frame(qsizetype(ZSTD_compressBound(std::size_t(text.size()))), Qt::Uninitialized);
    const std::size_t size = ZSTD_compressCCtx(context.get(), frame.data(), std::size_t(frame.size()), text.constData(),
                                               std::size_t(text.size()), level);
    if (ZSTD_isError(size) || qsizetype(size) >= text.size())
        return std::nullopt;
    frame.truncate(qsizetype(size));
    frame.squeeze();
    return frame;
}

Result<QByteArray> decompressed(const QByteArray &frame)
{
    const auto size = ZSTD_getFrameContentSize(frame.constData(), std::size_t(frame.size()));
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > quint64(largestStoredText))
        return fail(ErrorCode::DataLoss, QStringLiteral("A stored text is damaged (no valid size)"));
    QByteArray text(qsizetype(size), Qt::Uninitialized);
    const std::size_t got = ZSTD_decompress(text.data(), std::size_t(text.size()), frame.constData(), std::size_t(frame.size()));
    if (ZSTD_isError(got) || got != size)
        return fail(ErrorCode::DataLoss, QStringLiteral("A stored text is damaged and cannot be unpacked"));
    return text;
}

} // namespace paddock
