// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QDockWidget>

namespace paddock {

class PanelHeader;

/// A dock with our header as its title bar and a stable object name, so that layouts can be kept. Knows whether a person
/// can see it: a panel that nobody sees does no work (style.md A11). Owner: the main window.
class PanelDock : public QDockWidget
{
    Q_OBJECT
public:
    /// `name` is the object name: never translated, never changed.
    PanelDock(const QString &name, const QString &title, QWidget *content, QWidget *parent);

    PanelHeader *header() const { return m_header; }
    bool isVisibleToUser() const { return m_visibleToUser; }
    /// Shows it, brings its tab to the front and gives it the keyboard.
    void reveal();

Q_SIGNALS:
    void visibleToUserChanged(bool visible);

protected:
    void contextMenuEvent(QContextMenuEvent *event) override;

private:
    PanelHeader *m_header;
    bool m_visibleToUser = false;
};

} // namespace paddock
