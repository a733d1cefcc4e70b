// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/tool/tool.h"

#include <QSet>

#include <memory>

namespace paddock {

/// Tells what a member decided (runtime §4): tag, action and facts; names only, never contents, arguments or values of
/// secrets. Never fails and never changes what happens.
void recordMiddleware(const RuntimeContext &runtime, const QString &tag, const QString &action, const Json &changes);

/// Which promotions of deferred tools were reported in this execution, so that parallel searches and routing report each
/// once (runtime §1.7). Shared by the members of one chain; on its loop only.
class PromotionClaims
{
public:
    /// The names not claimed before, sorted.
    QStringList claim(const QStringList &names);

private:
    QSet<QString> m_claimed;
};

/// The record of one promotion, if anything of it is new.
void recordPromotion(const RuntimeContext &runtime, PromotionClaims &claims, const QString &source, const QStringList &names);

} // namespace paddock
