// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/paint/theme.h"

#include <QApplication>
#include <QIcon>
#include <QPainter>
#include <QPixmapCache>
#include <QProxyStyle>
#include <QStyle>
#include <QStyleFactory>
#include <QStyleHints>
#include <QStyleOption>

#include <array>

namespace paddock {

namespace {

/// The colours that no platform palette has; everything else is taken or mixed from the palette.
struct Shades {
    QRgb console, accent, model, tool, hook, queued, waiting, lease, leaseOver, ok, warn, error, addedBack, removedBack;
};

constexpr Shades darkShades{0xff15161a, 0xff4f9fdc, 0xff8573d6, 0xffc48745, 0xff559a9b, 0xff5b606b, 0xffd6a03a,
                            0xff3f88bd, 0xff545964, 0xff5fb96b, 0xffd9a441, 0xffe46e62, 0xff26392d, 0xff402a2c};
constexpr Shades lightShades{0xfff7f7f8, 0xff1c6cae, 0xff7560c6, 0xffb87427, 0xff35868a, 0xff8b919b, 0xffb97f0c,
                             0xff2f7db5, 0xffa4a9b1, 0xff2b8a3e, 0xff9a6a00, 0xffc4372b, 0xffdcebdf, 0xfff6dfde};

QColor mix(const QColor &a, const QColor &b, double share)
{
    const auto part = [share](int x, int y) { return int(x + (y - x) * share); };
    return QColor(part(a.red(), b.red()), part(a.green(), b.green()), part(a.blue(), b.blue()));
}

QPalette ownPalette(bool dark)
{
    const QColor window(dark ? 0xff26292f : 0xffeff0f2);
    const QColor base(dark ? 0xff1e2126 : 0xfffcfcfc);
    const QColor text(dark ? 0xffdadde2 : 0xff232629);
    const QColor dim(dark ? 0xff8b919b : 0xff6b727c);
    const QColor button(dark ? 0xff2d3037 : 0xfff8f8f9);
    const QColor accent(dark ? darkShades.accent : lightShades.accent);
    QPalette palette;
    palette.setColor(QPalette::Window, window);
    palette.setColor(QPalette::WindowText, text);
    palette.setColor(QPalette::Base, base);
    palette.setColor(QPalette::AlternateBase, mix(base, window, 0.5));
    palette.setColor(QPalette::Text, text);
    palette.setColor(QPalette::Button, button);
    palette.setColor(QPalette::ButtonText, text);
    palette.setColor(QPalette::BrightText, QColor(darkShades.error));
    palette.setColor(QPalette::ToolTipBase, button);
    palette.setColor(QPalette::ToolTipText, text);
    palette.setColor(QPalette::PlaceholderText, dim);
    palette.setColor(QPalette::Highlight, accent);
    palette.setColor(QPalette::HighlightedText, Qt::white);
    palette.setColor(QPalette::Accent, accent);
    palette.setColor(QPalette::Link, accent);
    palette.setColor(QPalette::LinkVisited, QColor(dark ? darkShades.model : lightShades.model));
    palette.setColor(QPalette::Light, mix(window, Qt::white, dark ? 0.12 : 0.6));
    palette.setColor(QPalette::Midlight, mix(window, Qt::white, dark ? 0.06 : 0.3));
    palette.setColor(QPalette::Mid, mix(window, Qt::black, dark ? 0.25 : 0.16));
    palette.setColor(QPalette::Dark, mix(window, Qt::black, dark ? 0.4 : 0.3));
    palette.setColor(QPalette::Shadow, mix(window, Qt::black, 0.6));
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, mix(text, window, 0.55));
    return palette;
}

/// A desktop that themes Qt brings a style of its own; Fusion is what is left when none does.
bool desktopGivesColours()
{
    static const bool gives = QApplication::style()->name().compare(QLatin1String("fusion"), Qt::CaseInsensitive) != 0;
    return gives;
}

/// Fusion without the dots between docks, and with frames that are seen.
class PlainFusion : public QProxyStyle
{
public:
    PlainFusion() : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion"))) {}

    void drawPrimitive(PrimitiveElement element, const QStyleOption *option, QPainter *painter, const QWidget *widget) const override
    {
        if (element != PE_IndicatorDockWidgetResizeHandle)
            QProxyStyle::drawPrimitive(element, option, painter, widget);
        // Fusion's outline is darker than the window, so on a dark one it is not to be seen.
        if (element == PE_FrameLineEdit && isDark(option->palette) && !(option->state & State_HasFocus)) {
            painter->save();
            painter->setPen(mix(option->palette.color(QPalette::Window), option->palette.color(QPalette::Text), 0.32));
            painter->setBrush(Qt::NoBrush);
            painter->drawRect(option->rect.adjusted(0, 0, -1, -1));
            painter->restore();
        }
    }
    int pixelMetric(PixelMetric metric, const QStyleOption *option, const QWidget *widget) const override
    {
        return metric == PM_DockWidgetSeparatorExtent ? 5 : QProxyStyle::pixelMetric(metric, option, widget);
    }
};

void applyNow(QApplication &app, ThemeChoice choice)
{
    const bool wishDark = QGuiApplication::styleHints()->colorScheme() == Qt::ColorScheme::Dark;
    if (choice == ThemeChoice::System && desktopGivesColours()) {
        app.setPalette(QPalette());
    } else {
        if (!desktopGivesColours() && !qApp->property("paddockStyled").toBool()) {
            QApplication::setStyle(new PlainFusion);
            qApp->setProperty("paddockStyled", true);
        }
        app.setPalette(ownPalette(choice == ThemeChoice::Dark || (choice == ThemeChoice::System && wishDark)));
    }
    QPixmapCache::clear();
    QIcon::setFallbackThemeName(isDark(app.palette()) ? QStringLiteral("breeze-dark") : QStringLiteral("breeze"));
    if (QIcon::themeName().isEmpty() || QIcon::themeName() == u"hicolor" || QIcon::themeName().startsWith(u"breeze"))
        QIcon::setThemeName(isDark(app.palette()) ? QStringLiteral("breeze-dark") : QStringLiteral("breeze"));
}

} // namespace

bool isDark(const QPalette &palette)
{
    return palette.color(QPalette::Window).lightness() < palette.color(QPalette::WindowText).lightness();
}

QColor themeColor(const QPalette &palette, Tint role)
{
    const bool dark = isDark(palette);
    const Shades &own = dark ? darkShades : lightShades;
    const QColor window = palette.color(QPalette::Window);
    const QColor base = palette.color(QPalette::Base);
    const QColor text = palette.color(QPalette::Text);
    switch (role) {
    case Tint::Panel: return base;
    case Tint::Raised: return window;
    case Tint::Console: return own.console;
    case Tint::Line: return mix(window, text, dark ? 0.14 : 0.18);
    case Tint::Text: return text;
    case Tint::Dim: return mix(text, base, 0.42);
    case Tint::Accent: return palette.color(QPalette::Accent);
    case Tint::Selection: return mix(base, palette.color(QPalette::Accent), dark ? 0.28 : 0.18);
    case Tint::OnBar: return Qt::white;
    case Tint::Model: return own.model;
    case Tint::Tool: return own.tool;
    case Tint::Hook: return own.hook;
    case Tint::Queued: return own.queued;
    case Tint::Waiting: return own.waiting;
    case Tint::Lease: return own.lease;
    case Tint::LeaseOver: return own.leaseOver;
    case Tint::Ok: case Tint::Added: return own.ok;
    case Tint::Warn: return own.warn;
    case Tint::Error: case Tint::Removed: return own.error;
    case Tint::AddedBack: return own.addedBack;
    case Tint::RemovedBack: return own.removedBack;
    }
    return text;
}

ThemeChoice themeChoiceFromName(const QString &name)
{
    if (name == u"dark")
        return ThemeChoice::Dark;
    return name == u"light" ? ThemeChoice::Light : ThemeChoice::System;
}

QString themeChoiceName(ThemeChoice choice)
{
    switch (choice) {
    case ThemeChoice::Dark: return QStringLiteral("dark");
    case ThemeChoice::Light: return QStringLiteral("light");
    case ThemeChoice::System: break;
    }
    return QStringLiteral("system");
}

void applyTheme(QApplication &app, ThemeChoice choice)
{
    app.setProperty("paddockTheme", int(choice));
    if (!app.property("paddockFollowsScheme").toBool()) {
        app.setProperty("paddockFollowsScheme", true);
        QObject::connect(QGuiApplication::styleHints(), &QStyleHints::colorSchemeChanged, &app,
                         [&app] { applyNow(app, ThemeChoice(app.property("paddockTheme").toInt())); });
    }
    applyNow(app, choice);
}

} // namespace paddock
