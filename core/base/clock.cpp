// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/clock.h"

#include <QDateTime>
#include <QTimeZone>

#include <cstdio>
#include <optional>

namespace paddock {

namespace {
class SystemClock : public Clock
{
public:
    Wall wall() const override
    {
        return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
    }
    std::chrono::microseconds mono() const override
    {
        return std::chrono::duration_cast<std::chrono::microseconds>(
            std::chrono::steady_clock::now().time_since_epoch());
    }
};
} // namespace

std::shared_ptr<const Clock> Clock::system()
{
    static const std::shared_ptr<const Clock> clock = std::make_shared<SystemClock>();
    return clock;
}

QString formatWall(Clock::Wall time)
{
    // By hand: an export writes millions of these and QDateTime's formatter is ten times slower.
    const auto days = std::chrono::floor<std::chrono::days>(time);
    const std::chrono::year_month_day date(days);
    const std::chrono::hh_mm_ss clock(time - days);
    char text[64];
    std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ", int(date.year()), unsigned(date.month()),
                  unsigned(date.day()), int(clock.hours().count()), int(clock.minutes().count()),
                  int(clock.seconds().count()), int(clock.subseconds().count()));
    return QString::fromLatin1(text);
}

std::optional<Clock::Wall> parseWall(const QString &text)
{
    const qsizetype dot = text.indexOf(QLatin1Char('.'));
    qsizetype end = dot < 0 ? -1 : dot + 1;
    qint64 micros = 0;
    QString whole = text;
    if (dot >= 0) {
        int digits = 0;
        while (end < text.size() && text.at(end).isDigit()) {
            if (digits < 6)
                micros = micros * 10 + text.at(end).digitValue();
            ++digits;
            ++end;
        }
        if (digits == 0)
            return std::nullopt;
        for (; digits < 6; ++digits)
            micros *= 10;
        whole = text.left(dot) + text.mid(end);
    }
    QDateTime date = QDateTime::fromString(whole, Qt::ISODate);
    if (!date.isValid())
        return std::nullopt;
    if (date.timeSpec() == Qt::LocalTime)
        date.setTimeZone(QTimeZone::UTC);
    return Clock::Wall(std::chrono::microseconds(date.toSecsSinceEpoch() * 1000000 + micros));
}

} // namespace paddock
