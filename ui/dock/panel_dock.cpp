// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/dock/panel_dock.h"

#include "ui/dock/panel_header.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QMenu>

namespace paddock {

PanelDock::PanelDock(const QString &name, const QString &title, QWidget *content, QWidget *parent)
    : QDockWidget(title, parent), m_header(new PanelHeader(title, this))
{
    setObjectName(name);
    setAccessibleName(title);
    setTitleBarWidget(m_header);
    setWidget(content);
    setFeatures(DockWidgetClosable | DockWidgetMovable | DockWidgetFloatable);
    connect(this, &QDockWidget::visibilityChanged, this, [this](bool visible) {
        if (visible == m_visibleToUser)
            return;
        m_visibleToUser = visible;
        Q_EMIT visibleToUserChanged(visible);
    });
    connect(qApp, &QApplication::focusChanged, this, [this](QWidget *, QWidget *now) {
        m_header->setActive(now && isAncestorOf(now));
    });
}

void PanelDock::reveal()
{
    show();
    raise();
    if (QWidget *content = widget()) {
        QWidget *target = content->focusPolicy() != Qt::NoFocus ? content : content->nextInFocusChain();
        if (content->focusProxy())
            target = content->focusProxy();
        if (target && (target == content || content->isAncestorOf(target)))
            target->setFocus(Qt::ShortcutFocusReason);
    }
}

void PanelDock::contextMenuEvent(QContextMenuEvent *event)
{
    if (!m_header->geometry().contains(event->pos()))
        return QDockWidget::contextMenuEvent(event);
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(isFloating() ? tr("Put back into the window") : tr("Make a window of its own"), this,
                    [this] { setFloating(!isFloating()); });
    menu->addAction(tr("Close panel"), this, &QDockWidget::close);
    menu->popup(event->globalPos());
}

} // namespace paddock
