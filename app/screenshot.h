// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QObject>
#include <QString>
#include <QTimer>

namespace paddock {

class MainWindow;

/// Grabs the window or one panel when the run has ended (or so long after it began), writes a PNG, and quits: exit code 1
/// with a sentence when there is no such run or the file cannot be written. GUI thread.
class Screenshot : public QObject
{
    Q_OBJECT
public:
    /// Without `expectRun` it grabs what stands there at the start.
    Screenshot(MainWindow *window, QString path, QString panel, int momentMs, bool expectRun);

private:
    void watch();
    void prepare();
    void grab();

    MainWindow *m_window;
    QString m_path;
    QString m_panel;
    int m_momentMs;
    QTimer m_settle; ///< panels read files and parse terminals off the GUI thread; the picture waits for them
    bool m_done = false;
};

} // namespace paddock
