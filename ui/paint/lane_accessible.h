// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

namespace paddock {

/// Makes lane views readable for assistive technology: the view is a list, each row an item that names its heading and
/// how many spans it has, and the view's value is the description of the selected span. Idempotent; GUI thread.
void installLaneAccessibility();

} // namespace paddock
