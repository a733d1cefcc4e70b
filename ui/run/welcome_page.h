// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QWidget>

class QAction;

namespace paddock {

/// What stands in the centre while there is no run: one real thing to do, and what it will do. GUI thread.
class WelcomePage : public QWidget
{
    Q_OBJECT
public:
    WelcomePage(QAction *startSample, QAction *openFolder, QWidget *parent = nullptr);

protected:
    void paintEvent(QPaintEvent *event) override;
};

} // namespace paddock
