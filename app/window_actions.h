// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

namespace paddock {

class MainWindow;

/// Registers every action of the window and fills menus and toolbar from the registry. Reads nothing, decides nothing.
void makeWindowActions(MainWindow &window);

} // namespace paddock
