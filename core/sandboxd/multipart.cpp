// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/multipart.h"

namespace paddock::sandboxd {

namespace {

constexpr qsizetype maxHeaderBytes = 16 * 1024;
constexpr qsizetype maxBoundaryBytes = 200;

/// The value of a parameter in a header line, quotes removed. Browsers' %22 stays; backslash escapes are undone.
std::optional<QByteArray> parameter(const QByteArray &line, const QByteArray &name)
{
    for (qsizetype at = line.indexOf(';'); at >= 0; at = line.indexOf(';', at)) {
        ++at;
        while (at < line.size() && (line[at] == ' ' || line[at] == '\t'))
            ++at;
        const qsizetype equals = line.indexOf('=', at);
        if (equals < 0)
            return std::nullopt;
        const bool mine = line.mid(at, equals - at).trimmed().toLower() == name;
        at = equals + 1;
        QByteArray value;
        if (at < line.size() && line[at] == '"') {
            for (++at; at < line.size() && line[at] != '"'; ++at) {
                if (line[at] == '\\' && at + 1 < line.size() && (line[at + 1] == '"' || line[at + 1] == '\\'))
                    ++at;
                value += line[at];
            }
            ++at;
        } else {
            while (at < line.size() && line[at] != ';')
                value += line[at++];
            value = value.trimmed();
        }
        if (mine)
            return value;
    }
    return std::nullopt;
}

} // namespace

std::optional<QByteArray> multipartBoundary(const QByteArray &contentType)
{
    if (!contentType.trimmed().toLower().startsWith("multipart/form-data"))
        return std::nullopt;
    const auto boundary = parameter(contentType, "boundary");
    if (!boundary || boundary->isEmpty() || boundary->size() > maxBoundaryBytes)
        return std::nullopt;
    return boundary;
}

MultipartReader::MultipartReader(const QByteArray &boundary, Events events)
    : m_delimiter("\r\n--" + boundary), m_events(std::move(events)), m_buffer("\r\n") // so that the first boundary has one too
{
}

bool MultipartReader::feed(QByteArrayView bytes)
{
    if (m_state == State::Done || m_state == State::Bad)
        return m_state == State::Done; // an epilogue is ignored
    m_buffer.append(bytes);
    while (step()) { }
    return m_state != State::Bad;
}

/// One transition; false when more input is needed.
bool MultipartReader::step()
{
    switch (m_state) {
    case State::Preamble:
    case State::Body: {
        const qsizetype at = m_buffer.indexOf(m_delimiter);
        // What may be the start of a delimiter is held back.
        const qsizetype safe = at >= 0 ? at : std::max<qsizetype>(0, m_buffer.size() - m_delimiter.size() + 1);
        if (m_state == State::Body && safe > 0)
            m_events.data(QByteArrayView(m_buffer).first(safe));
        if (at < 0) {
            m_buffer.remove(0, safe);
            return false;
        }
        m_buffer.remove(0, at + m_delimiter.size());
        if (m_state == State::Body)
            m_events.end();
        m_state = State::AfterBoundary;
        return true;
    }
    case State::AfterBoundary:
        if (m_buffer.size() < 2)
            return false;
        if (m_buffer.startsWith("--")) {
            m_state = State::Done;
            return false;
        }
        if (m_buffer.front() == ' ' || m_buffer.front() == '\t') {
            m_buffer.remove(0, 1);
            return true;
        }
        m_state = m_buffer.startsWith("\r\n") ? State::Headers : State::Bad;
        return m_state == State::Headers;
    case State::Headers: {
        // The buffer still begins with the CRLF behind the boundary, so that an empty header block is found as well.
        const qsizetype end = m_buffer.indexOf("\r\n\r\n");
        if (end < 0 || end > maxHeaderBytes) {
            if (m_buffer.size() > maxHeaderBytes)
                m_state = State::Bad;
            return false;
        }
        const QByteArray block = m_buffer.mid(2, std::max<qsizetype>(0, end - 2));
        m_buffer.remove(0, end + 4);
        m_state = readHeaders(block) ? State::Body : State::Bad;
        return m_state == State::Body;
    }
    case State::Done:
    case State::Bad: break;
    }
    return false;
}

bool MultipartReader::readHeaders(const QByteArray &block)
{
    Part part;
    bool named = false;
    for (const QByteArray &line : block.split('\n')) {
        const qsizetype colon = line.indexOf(':');
        if (colon < 0 || line.left(colon).trimmed().toLower() != "content-disposition")
            continue;
        const QByteArray value = line.mid(colon + 1).trimmed();
        if (const auto name = parameter(value, "name")) {
            part.name = QString::fromUtf8(*name);
            named = true;
        }
        if (const auto fileName = parameter(value, "filename"))
            part.fileName = QString::fromUtf8(*fileName);
    }
    if (named)
        m_events.begin(part);
    return named;
}

} // namespace paddock::sandboxd
