// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/store/lease_board.h"

#include <QWidget>

namespace paddock {

/// What the colours of the lease bars mean: a swatch and a word for each state that is to be seen. Owner: the header of
/// the lease dock; GUI thread.
class LeaseLegend : public QWidget
{
    Q_OBJECT
public:
    explicit LeaseLegend(QWidget *parent = nullptr);
    void setStates(std::vector<LeaseState> states);
    const std::vector<LeaseState> &states() const { return m_states; }
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    int swatch() const { return fontMetrics().ascent(); }
    std::vector<LeaseState> m_states;
};

} // namespace paddock
