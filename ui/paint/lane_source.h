// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/paint/theme.h"

#include <QString>

#include <optional>
#include <span>

namespace paddock {

/// The spans of one painted row: ascending, not overlapping, in microseconds.
struct LaneRow {
    std::span<const qint64> starts;
    std::span<const qint64> ends;
    std::span<const quint32> ids;
};

/// What stands left of a row.
struct LaneHeading {
    QString title;
    QString detail;
    Tint detailTint = Tint::Dim;
    int indent = 0;
    bool strong = false;
    bool firstOfGroup = false; ///< a line above
    bool expandable = false;
    bool expanded = false;
    QString fullTitle; ///< for tool tips and screen readers, where the title leaves something out
};

/// How one span looks. State is told by shape or text as well as by colour.
struct BarLook {
    Tint fill = Tint::Queued;
    QString label;
    bool dim = false;     ///< filtered out
    bool striped = false; ///< failed, draining, waiting: diagonal stripes
    bool open = false;    ///< not over yet: no right edge
};

/// A stretch behind the bars of a row, e.g. the life of a sandbox behind the leases on it.
struct LaneBackdrop {
    qint64 from = 0;
    qint64 to = 0;
    Tint fill = Tint::Queued;
};

/// What a lane view paints. Implemented by panels over their stores; called on every paint for what is visible only, so
/// everything must be cheap and must not allocate more than the labels it returns.
class LaneSource
{
public:
    virtual ~LaneSource() = default;
    virtual int rowCount() const = 0;
    virtual LaneRow row(int row) const = 0;
    /// A row of parallel work: a third as high, without labels.
    virtual bool isThin(int) const { return false; }
    virtual LaneHeading heading(int row) const = 0;
    virtual BarLook look(quint32 id) const = 0;
    /// The look of several spans drawn as one.
    virtual BarLook foldedLook(int row, quint32 firstId, quint32 count) const;
    virtual std::optional<LaneBackdrop> backdrop(int) const { return std::nullopt; }
    /// One or more sentences for a tool tip and for screen readers.
    virtual QString describe(quint32 id) const = 0;
    /// "Now" on the same clock.
    virtual qint64 now() const = 0;
};

} // namespace paddock
