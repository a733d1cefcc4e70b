// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/paint/theme.h"

#include <QSettings>

namespace paddock {

/// What the window remembers of its own looks; each value has a default that is right without a file. A value, GUI
/// thread. Nothing here changes what runs do: that is config.yaml.
struct ViewSettings {
    ThemeChoice theme = ThemeChoice::System;
    QString centrePage;
    QString lastFolder;

    static ViewSettings load(const QSettings &settings);
    void save(QSettings &settings) const;
};

} // namespace paddock
