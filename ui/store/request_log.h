// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/store/names.h"

#include <QHash>
#include <QStringList>

#include <vector>

namespace paddock {

/// One model request: what the model saw, by content hash, and how it ended.
struct ModelRequestEntry {
    int turn = 0;
    QString model;
    Micros at = 0;
    QStringList messageHashes;
    QStringList tools;
    QString finishReason; ///< empty while it runs or when it failed
    Usage usage;
};

/// The model requests of one run by agent, for the Messages page. Part of RunStore; GUI thread.
class RequestLog
{
public:
    bool apply(const Event &event);
    /// Null when the agent made none.
    const std::vector<ModelRequestEntry> *find(const AgentId &agent) const;

private:
    QHash<AgentId, std::vector<ModelRequestEntry>> m_byAgent;
};

} // namespace paddock
