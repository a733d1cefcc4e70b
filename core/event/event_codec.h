// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/event/event.h"

namespace paddock {

/// The stable JSONL form (design.md §4): one object, `v`, `seq`, `t`, `mono_us`, `run`, `agent`, `span`?, `parent`?, `type`, then the fields in
/// snake_case. Ends without a newline.
QByteArray encodeEvent(const Event &event);
/// The same with the fields given apart, for stored events whose fields this version may not know all.
QByteArray encodeEvent(const Event &event, const Json &fields);
/// Reads one untrusted line. Unknown types become UnknownEvent and encode to the same object again; missing optional
/// fields take defaults; a missing type or a wrong version is an error.
Result<Event> decodeEvent(const QByteArray &line);

/// A parsed line without the envelope.
Json fieldsOfLine(Json line);
/// The fields object of a body alone (what the journal stores), and back.
Json eventFields(const EventBody &body);
Result<EventBody> eventBodyFromFields(const QString &type, const Json &fields);

} // namespace paddock
