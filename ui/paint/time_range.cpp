// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/paint/time_range.h"

#include <algorithm>

namespace paddock {

void TimeRange::show(qint64 begin, qint64 end)
{
    const qint64 whole = std::max<qint64>(m_last - m_first, 1000);
    const qint64 length = std::clamp<qint64>(end - begin, shortest, whole + whole / 2);
    // One may look a little beyond either end, never into the void.
    const qint64 slack = length / 2;
    begin = std::clamp(begin, m_first - slack, std::max(m_first - slack, m_last + slack - length));
    if (begin == m_begin && begin + length == m_end)
        return;
    m_begin = begin;
    m_end = begin + length;
    Q_EMIT changed();
}

void TimeRange::setBounds(qint64 first, qint64 last)
{
    m_first = first;
    m_last = std::max(last, first + 1);
    if (!m_follow && !m_fitted)
        return;
    const qint64 whole = std::max<qint64>(m_last - m_first, 1000);
    if (m_fitted) {
        if (m_follow && whole > followWindow) {
            m_fitted = false;
            show(m_last - followWindow, m_last);
        } else {
            show(m_first, m_first + whole + whole / 50);
        }
        return;
    }
    show(m_last - length(), m_last);
}

void TimeRange::setView(qint64 begin, qint64 end)
{
    m_fitted = false;
    setFollowing(false);
    show(begin, end);
}

void TimeRange::zoom(double factor, qint64 anchor)
{
    m_fitted = false;
    const double before = double(anchor - m_begin) * factor;
    const double after = double(m_end - anchor) * factor;
    if (m_follow)
        show(m_last - qint64(double(length()) * factor), m_last);
    else
        show(anchor - qint64(before), anchor + qint64(after));
}

void TimeRange::pan(qint64 by)
{
    m_fitted = false;
    setFollowing(false);
    show(m_begin + by, m_end + by);
}

void TimeRange::fit()
{
    m_fitted = true;
    const qint64 whole = std::max<qint64>(m_last - m_first, 1000);
    show(m_first, m_first + whole + whole / 50);
}

void TimeRange::setFollowing(bool follow)
{
    if (m_follow == follow)
        return;
    m_follow = follow;
    Q_EMIT followingChanged(follow);
    if (follow)
        setBounds(m_first, m_last);
}

void TimeRange::reset(qint64 first, qint64 last, bool follow)
{
    m_fitted = true;
    m_first = first;
    m_last = std::max(last, first + 1);
    if (m_follow != follow) {
        m_follow = follow;
        Q_EMIT followingChanged(follow);
    }
    setBounds(first, last);
    Q_EMIT changed();
}

} // namespace paddock
