// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/settings/view_settings.h"

namespace paddock {

ViewSettings ViewSettings::load(const QSettings &settings)
{
    ViewSettings view;
    view.theme = themeChoiceFromName(settings.value(QStringLiteral("view/theme")).toString());
    view.centrePage = settings.value(QStringLiteral("view/centrePage")).toString();
    view.lastFolder = settings.value(QStringLiteral("view/lastFolder")).toString();
    return view;
}

void ViewSettings::save(QSettings &settings) const
{
    settings.setValue(QStringLiteral("view/theme"), themeChoiceName(theme));
    settings.setValue(QStringLiteral("view/centrePage"), centrePage);
    settings.setValue(QStringLiteral("view/lastFolder"), lastFolder);
}

} // namespace paddock
