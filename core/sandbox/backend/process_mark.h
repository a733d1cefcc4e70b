// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QString>

namespace paddock {

/// "<host>:<pid>:<start time>": names this process for as long as it lives, so that another one on the same machine can
/// tell a container whose owner is at work from one that was left behind. Any thread.
QString ownProcessMark();
/// A living process of this machine other than ours has this mark.
bool isMarkOfAnotherLivingProcess(const QString &mark);

} // namespace paddock
