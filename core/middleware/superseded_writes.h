// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/message/message_list.h"

#include <QStringList>

namespace paddock {

/// Old write_file payloads whose file was read or changed again later, replaced by a note (middleware-base §4.8 b): the
/// file on disk is the current version. A longer history never brings one back, so prompt caches hold. The same list when
/// nothing was replaced; `elided` gets the call ids. Pure; any thread.
MessageList elideSupersededWrites(const MessageList &messages, qint64 minChars, int keepRecent, QStringList *elided = nullptr);

} // namespace paddock
