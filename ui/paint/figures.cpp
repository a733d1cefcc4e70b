// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/paint/figures.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QLocale>
#include <QTextDocument>

#include <cmath>

namespace paddock {

namespace {

QString clockText(qint64 seconds)
{
    const auto two = [](qint64 n) { return QStringLiteral("%1").arg(n, 2, 10, QLatin1Char('0')); };
    if (seconds >= 3600)
        return QStringLiteral("%1:%2:%3").arg(QString::number(seconds / 3600), two(seconds / 60 % 60), two(seconds % 60));
    return QStringLiteral("%1:%2").arg(QString::number(seconds / 60), two(seconds % 60));
}

} // namespace

QString formatSpan(qint64 micros)
{
    const QLocale locale;
    if (micros < 10'000)
        return QCoreApplication::translate("figures", "%1 ms").arg(locale.toString(double(micros) / 1000, 'f', 2));
    if (micros < 1'000'000)
        return QCoreApplication::translate("figures", "%1 ms").arg(micros / 1000);
    if (micros < 60'000'000)
        return QCoreApplication::translate("figures", "%1 s").arg(locale.toString(double(micros) / 1e6, 'f', 1));
    return clockText(micros / 1'000'000);
}

QString formatElapsed(qint64 micros)
{
    const qint64 seconds = std::max<qint64>(0, micros) / 1'000'000;
    return seconds < 60 ? QCoreApplication::translate("figures", "%1 s").arg(seconds) : clockText(seconds);
}

QString formatTokens(qint64 tokens)
{
    const QLocale locale;
    const double size = std::abs(double(tokens));
    if (size < 1000)
        return QString::number(tokens);
    if (size < 999'950)
        return locale.toString(double(tokens) / 1e3, 'f', 1) + u'k';
    return locale.toString(double(tokens) / 1e6, 'f', 1) + u'M';
}

QString formatBytes(qint64 bytes)
{
    return QLocale().formattedDataSize(bytes, 1, QLocale::DataSizeSIFormat);
}

QString formatCount(qint64 count)
{
    return QLocale().toString(count);
}

QString formatTimeOfDay(Clock::Wall time)
{
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
    return QLocale().toString(QDateTime::fromMSecsSinceEpoch(ms).time(), QStringLiteral("HH:mm:ss"));
}

QString plainToolTip(const QString &text)
{
    return Qt::mightBeRichText(text) ? Qt::convertFromPlainText(text) : text;
}

} // namespace paddock
