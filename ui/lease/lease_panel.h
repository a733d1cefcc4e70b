// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/lease/lease_source.h"
#include "ui/paint/time_range.h"
#include "ui/store/selection.h"

#include <QWidget>

namespace paddock {

class LaneView;
class LeaseLegend;

/// Who holds which sandbox, since when, and why it is still there. Shares its time axis with the trace above. Owner: its
/// dock; GUI thread.
class LeasePanel : public QWidget
{
    Q_OBJECT
public:
    LeasePanel(Selection *selection, TimeRange *range, QWidget *parent = nullptr);

    LaneView *lanes() const { return m_lanes; }
    LeaseSource *source() { return &m_source; }
    /// The sentence and the session budget of the newest sandbox.
    QString remark() const;
    /// What the colours mean, for the header of the dock; hidden where there is too little room.
    LeaseLegend *legend() const { return m_legend; }

Q_SIGNALS:
    void remarkChanged(const QString &remark);

protected:
    void resizeEvent(QResizeEvent *event) override;

private:
    void follow(RunStore *run);
    void refresh();
    void placeLegend();

    Selection *m_selection;
    LeaseSource m_source;
    LaneView *m_lanes;
    LeaseLegend *m_legend;
};

} // namespace paddock
