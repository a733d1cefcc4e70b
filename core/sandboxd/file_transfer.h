// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandboxd/file_ops.h"
#include "core/sandboxd/http_server.h"
#include "core/sandboxd/multipart.h"

#include <memory>

// Upload and download (aio-api.md §4.11). On the reactor's thread: the page cache takes the bytes, memory does not.
namespace paddock::sandboxd {

inline constexpr qint64 maxUploadBytes = qint64(4) * 1024 * 1024 * 1024; // §4.12

/// Takes the body of one upload while it arrives. Dies with the exchange; what it did not finish is removed.
class UploadSink
{
public:
    UploadSink(const QByteArray &boundary, QByteArray workspace);
    ~UploadSink();

    bool feed(QByteArrayView bytes);
    /// The reply: 200, 413 or 422.
    HttpReply finish();

private:
    void beginPart(const MultipartReader::Part &part);
    void data(QByteArrayView bytes);
    void openTemporary(const QByteArray &directory);
    QByteArray target() const;
    int moveTo(const QByteArray &target);

    MultipartReader m_reader;
    QByteArray m_workspace;
    enum class Field { None, File, Path, Other } m_field = Field::None;
    std::optional<QByteArray> m_path;
    QString m_fileName;
    bool m_hasFile = false;
    bool m_tooLarge = false;
    bool m_broken = false;
    int m_error = 0;
    qint64 m_size = 0;
    UniqueFd m_temporary;
    QByteArray m_temporaryName;
};

/// The reply to GET /v1/file/download.
HttpReply downloadReply(const QHash<QByteArray, QByteArray> &query);

/// Envelope replies of the file group.
HttpReply fileReply(int status, const Json &body);
HttpReply fileFailureReply(const FileFailure &failure);

} // namespace paddock::sandboxd
