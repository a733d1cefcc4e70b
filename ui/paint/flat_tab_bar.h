// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QTabBar>

namespace paddock {

/// Tabs as plain words with the accent under the current one: they sit in a panel's header and need no frame.
class FlatTabBar : public QTabBar
{
    Q_OBJECT
public:
    explicit FlatTabBar(QWidget *parent = nullptr);

protected:
    void paintEvent(QPaintEvent *event) override;
    QSize tabSizeHint(int index) const override;
    QSize minimumTabSizeHint(int index) const override;
};

} // namespace paddock
