// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QByteArray>
#include <QString>

#include <functional>
#include <optional>

namespace paddock::sandboxd {

/// The boundary of a multipart/form-data content type; nullopt when it is none.
std::optional<QByteArray> multipartBoundary(const QByteArray &contentType);

/// Incremental multipart/form-data reader. Bounded memory: part headers up to 16 KiB; bodies pass through.
class MultipartReader
{
public:
    struct Part {
        QString name;
        std::optional<QString> fileName;
    };
    struct Events {
        std::function<void(const Part &)> begin;
        std::function<void(QByteArrayView)> data;
        std::function<void()> end;
    };
    MultipartReader(const QByteArray &boundary, Events events);

    /// False once the input is malformed.
    bool feed(QByteArrayView bytes);
    /// The closing boundary was seen.
    bool complete() const { return m_state == State::Done; }

private:
    enum class State { Preamble, AfterBoundary, Headers, Body, Done, Bad };
    bool step();
    bool readHeaders(const QByteArray &block);

    QByteArray m_delimiter; ///< CRLF "--" boundary
    Events m_events;
    QByteArray m_buffer;
    State m_state = State::Preamble;
};

} // namespace paddock::sandboxd
