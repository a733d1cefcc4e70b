// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QByteArray>

class QMainWindow;
class QSettings;

namespace paddock {

/// Keeps where docks are. The version grows when docks are added or renamed: an older layout is then not applied.
/// Owner: none (a value); GUI thread.
class LayoutStore
{
public:
    static constexpr int version = 1;

    /// Remembers the window's present arrangement as the one to go back to.
    void rememberDefault(const QMainWindow &window);
    /// False when nothing fitting was stored; the window is then unchanged.
    bool restore(QMainWindow &window, QSettings &settings) const;
    void save(const QMainWindow &window, QSettings &settings) const;
    void reset(QMainWindow &window) const;

private:
    QByteArray m_default;
};

} // namespace paddock
