// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/action/action_registry.h"

#include "ui/paint/glyph_icon.h"

#include <QIcon>
#include <QSettings>
#include <QWidget>

namespace paddock {

namespace {
const char *const contextProperty = "paddockContext";

QIcon iconOf(const QString &name)
{
    if (name == u"glyph:play")
        return glyphIcon(Glyph::Play);
    if (name == u"glyph:stop")
        return glyphIcon(Glyph::Stop);
    if (name == u"glyph:stop-one")
        return glyphIcon(Glyph::StopOne);
    return name == u"glyph:follow" ? glyphIcon(Glyph::Follow) : QIcon::fromTheme(name);
}

} // namespace

ActionRegistry::ActionRegistry(QWidget *window) : QObject(window), m_window(window) {}

QAction *ActionRegistry::make(const ActionSpec &spec)
{
    Q_ASSERT_X(!m_byId.contains(spec.id), "ActionRegistry", "two actions of one id");
    auto *action = new QAction(spec.text, this);
    action->setObjectName(spec.id);
    action->setProperty(contextProperty, spec.context);
    if (!spec.icon.isEmpty())
        action->setIcon(iconOf(spec.icon));
    action->setShortcut(spec.shortcut);
    action->setCheckable(spec.checkable);
    const QString shortcut = spec.shortcut.toString(QKeySequence::NativeText);
    const QString tip = spec.tip.isEmpty() ? plainText(action) : spec.tip;
    action->setToolTip(shortcut.isEmpty() ? tip : tr("%1 (%2)").arg(tip, shortcut));
    if (!spec.tip.isEmpty())
        action->setStatusTip(spec.tip);
    if (spec.scope) {
        action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
        spec.scope->addAction(action);
    } else {
        m_window->addAction(action);
    }
    m_actions.append(action);
    m_byId.insert(spec.id, action);
    return action;
}

QAction *ActionRegistry::add(const ActionSpec &spec, std::function<void()> trigger)
{
    QAction *action = make(spec);
    connect(action, &QAction::triggered, this, [trigger = std::move(trigger)] { trigger(); });
    return action;
}

QAction *ActionRegistry::add(const ActionSpec &spec, std::function<void(bool)> toggle)
{
    ActionSpec checkable = spec;
    checkable.checkable = true;
    QAction *action = make(checkable);
    connect(action, &QAction::triggered, this, [toggle = std::move(toggle)](bool on) { toggle(on); });
    return action;
}

QString ActionRegistry::idOf(const QAction *action)
{
    return action->objectName();
}

QString ActionRegistry::contextOf(const QAction *action)
{
    return action->property(contextProperty).toString();
}

QString ActionRegistry::plainText(const QAction *action)
{
    QString text = action->text();
    QString plain;
    for (qsizetype i = 0; i < text.size(); ++i) {
        if (text.at(i) == u'&' && i + 1 < text.size())
            ++i;
        plain += text.at(i);
    }
    while (plain.endsWith(u'.') || plain.endsWith(QChar(0x2026)))
        plain.chop(1);
    return plain;
}

void ActionRegistry::loadShortcuts(QSettings &settings)
{
    settings.beginGroup(QStringLiteral("shortcuts"));
    for (QAction *action : std::as_const(m_actions)) {
        if (settings.contains(idOf(action)))
            action->setShortcut(QKeySequence(settings.value(idOf(action)).toString(), QKeySequence::PortableText));
    }
    settings.endGroup();
}

void ActionRegistry::setShortcut(const QString &id, const QKeySequence &shortcut, QSettings &settings)
{
    QAction *action = find(id);
    if (!action)
        return;
    action->setShortcut(shortcut);
    settings.setValue(QStringLiteral("shortcuts/") + id, shortcut.toString(QKeySequence::PortableText));
}

} // namespace paddock
