// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/dock/layout_store.h"

#include <QMainWindow>
#include <QSettings>

namespace paddock {

void LayoutStore::rememberDefault(const QMainWindow &window)
{
    m_default = window.saveState(version);
}

bool LayoutStore::restore(QMainWindow &window, QSettings &settings) const
{
    if (settings.value(QStringLiteral("layout/version")).toInt() != version)
        return false;
    window.restoreGeometry(settings.value(QStringLiteral("layout/geometry")).toByteArray());
    return window.restoreState(settings.value(QStringLiteral("layout/state")).toByteArray(), version);
}

void LayoutStore::save(const QMainWindow &window, QSettings &settings) const
{
    settings.setValue(QStringLiteral("layout/version"), version);
    settings.setValue(QStringLiteral("layout/geometry"), window.saveGeometry());
    settings.setValue(QStringLiteral("layout/state"), window.saveState(version));
}

void LayoutStore::reset(QMainWindow &window) const
{
    window.restoreState(m_default, version);
}

} // namespace paddock
