// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QObject>

namespace paddock {

/// The stretch of time that one or several lane views show together, in microseconds of a run's monotonic clock.
/// GUI thread; owned by the main window or a panel.
class TimeRange : public QObject
{
    Q_OBJECT
public:
    static constexpr qint64 shortest = 20;               ///< 20 us across the whole view is as near as it goes
    static constexpr qint64 followWindow = 60'000'000;   ///< what following shows of a long run

    using QObject::QObject;

    qint64 begin() const { return m_begin; }
    qint64 end() const { return m_end; }
    qint64 length() const { return m_end - m_begin; }
    qint64 first() const { return m_first; }
    qint64 last() const { return m_last; }
    bool isFollowing() const { return m_follow; }

    /// What there is to see. While following, the view keeps its length and its end moves along.
    void setBounds(qint64 first, qint64 last);
    void setView(qint64 begin, qint64 end);
    /// Keeps `anchor` where it is; a factor below 1 zooms in.
    void zoom(double factor, qint64 anchor);
    void pan(qint64 by);
    /// Everything at once.
    void fit();
    void setFollowing(bool follow);
    /// A new run: forget the view.
    void reset(qint64 first, qint64 last, bool follow);

Q_SIGNALS:
    void changed();
    void followingChanged(bool following);

private:
    void show(qint64 begin, qint64 end);

    qint64 m_first = 0;
    qint64 m_last = 1;
    qint64 m_begin = 0;
    qint64 m_end = 1'000'000;
    bool m_follow = false;
    bool m_fitted = true; ///< the whole was shown: keep showing the whole as it grows
};

} // namespace paddock
