// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/lease/lease_legend.h"

#include "ui/lease/lease_source.h"

#include <QPainter>

namespace paddock {

LeaseLegend::LeaseLegend(QWidget *parent) : QWidget(parent)
{
    QFont small = font();
    small.setPointSizeF(small.pointSizeF() * 0.9);
    setFont(small);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Preferred);
    hide();
}

void LeaseLegend::setStates(std::vector<LeaseState> states)
{
    if (states == m_states)
        return;
    m_states = std::move(states);
    QStringList words;
    for (const LeaseState state : m_states)
        words += leaseStateWord(state);
    setAccessibleName(words.isEmpty() ? QString() : tr("Colours of the bars: %1").arg(words.join(QStringLiteral(", "))));
    updateGeometry();
    update();
}

QSize LeaseLegend::sizeHint() const
{
    int width = 0;
    for (const LeaseState state : m_states)
        width += swatch() * 2 + fontMetrics().horizontalAdvance(leaseStateWord(state));
    return {width, fontMetrics().height()};
}

void LeaseLegend::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    int x = 0;
    for (const LeaseState state : m_states) {
        const BarLook look = LeaseSource::lookOf(state);
        const QRect box(x, (height() - swatch()) / 2, swatch(), swatch());
        painter.fillRect(box, themeColor(palette(), look.fill));
        if (look.striped)
            painter.fillRect(box, QBrush(QColor(0, 0, 0, isDark(palette()) ? 70 : 45), Qt::BDiagPattern));
        x += swatch() * 4 / 3;
        const QString word = leaseStateWord(state);
        painter.setPen(themeColor(palette(), Tint::Dim));
        painter.drawText(QRect(x, 0, width() - x, height()), Qt::AlignLeft | Qt::AlignVCenter, word);
        x += fontMetrics().horizontalAdvance(word) + swatch() * 2 / 3;
    }
}

} // namespace paddock
