// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QAction>
#include <QHash>
#include <QKeySequence>
#include <QList>
#include <QObject>

#include <functional>

class QSettings;
class QWidget;

namespace paddock {

/// What an action is, said once (style.md A12).
struct ActionSpec {
    QString id;       ///< stable, "run.cancel"
    QString text;     ///< with mnemonic; whole words for the palette
    QString icon;     ///< freedesktop icon name, or glyph:play, glyph:stop, glyph:stop-one, glyph:follow; may be empty
    QKeySequence shortcut;
    QString context;  ///< the menu it belongs to, translated; shown in the palette
    QString tip;      ///< one sentence, empty for none
    bool checkable = false;
    /// A key without modifiers would steal letters from text fields: such actions work only in this widget.
    QWidget *scope = nullptr;
};

/// Every action of a window by id. Menu, toolbar, palette and shortcut page read it; nothing is wired to a button
/// directly. Owner: the main window; GUI thread.
class ActionRegistry : public QObject
{
    Q_OBJECT
public:
    /// Actions are added to `window`, which makes their shortcuts work.
    explicit ActionRegistry(QWidget *window);

    /// Ids are unique; a second action of one id is a programming error (asserted) and replaces nothing.
    QAction *add(const ActionSpec &spec, std::function<void()> trigger);
    QAction *add(const ActionSpec &spec, std::function<void(bool)> toggle);
    /// Null when unknown.
    QAction *find(const QString &id) const { return m_byId.value(id); }
    const QList<QAction *> &all() const { return m_actions; }
    static QString idOf(const QAction *action);
    static QString contextOf(const QAction *action);
    /// The text without mnemonic and dots, as the palette shows it.
    static QString plainText(const QAction *action);

    /// Shortcuts that a person changed.
    void loadShortcuts(QSettings &settings);
    void setShortcut(const QString &id, const QKeySequence &shortcut, QSettings &settings);

private:
    QAction *make(const ActionSpec &spec);

    QWidget *m_window;
    QList<QAction *> m_actions;
    QHash<QString, QAction *> m_byId;
};

} // namespace paddock
