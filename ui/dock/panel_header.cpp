// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/dock/panel_header.h"

#include "ui/paint/figures.h"
#include "ui/paint/theme.h"

#include <QAction>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QToolButton>

namespace paddock {

ElidedLabel::ElidedLabel(QWidget *parent) : QWidget(parent)
{
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Preferred);
}

void ElidedLabel::setText(const QString &text)
{
    if (text == m_text)
        return;
    m_text = text;
    setToolTip(plainToolTip(text));
    setAccessibleName(text);
    updateGeometry();
    update();
}

void ElidedLabel::setDim(bool dim)
{
    m_dim = dim;
    update();
}

QSize ElidedLabel::sizeHint() const
{
    return {fontMetrics().horizontalAdvance(m_text) + 2, fontMetrics().height()};
}

QSize ElidedLabel::minimumSizeHint() const
{
    return {0, fontMetrics().height()};
}

void ElidedLabel::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setPen(themeColor(palette(), m_dim ? Tint::Dim : Tint::Text));
    painter.drawText(rect(), Qt::AlignLeft | Qt::AlignVCenter, fontMetrics().elidedText(m_text, Qt::ElideRight, width()));
}

PanelHeader::PanelHeader(const QString &title, QWidget *parent)
    : QWidget(parent), m_title(new QLabel(title, this)), m_remark(new ElidedLabel(this)), m_leading(new QHBoxLayout),
      m_trailing(new QHBoxLayout)
{
    QFont bold = m_title->font();
    bold.setBold(true);
    m_title->setFont(bold);
    m_title->setVisible(!title.isEmpty());
    QFont small = font();
    small.setPointSizeF(small.pointSizeF() * 0.9);
    m_remark->setFont(small);
    auto *layout = new QHBoxLayout(this);
    const int pad = fontMetrics().averageCharWidth();
    layout->setContentsMargins(pad, 2, pad / 2, 2);
    layout->setSpacing(pad);
    layout->addWidget(m_title);
    layout->addLayout(m_leading);
    layout->addWidget(m_remark, 1);
    layout->addLayout(m_trailing);
    m_trailing->setSpacing(2);
    m_leading->setSpacing(2);
    setMinimumHeight(fontMetrics().height() * 7 / 4);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

void PanelHeader::setTitle(const QString &title)
{
    m_title->setText(title);
    m_title->setVisible(!title.isEmpty());
}

void PanelHeader::setRemark(const QString &remark)
{
    m_remark->setText(remark);
}

QString PanelHeader::remark() const
{
    return m_remark->text();
}

void PanelHeader::addLeading(QWidget *widget)
{
    m_leading->addWidget(widget);
}

void PanelHeader::addTrailing(QWidget *widget)
{
    m_trailing->addWidget(widget);
}

QToolButton *PanelHeader::addButton(QAction *action)
{
    auto *button = new QToolButton(this);
    button->setDefaultAction(action);
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::TabFocus);
    if (action->icon().isNull())
        button->setToolButtonStyle(Qt::ToolButtonTextOnly);
    const int size = fontMetrics().height();
    button->setIconSize(QSize(size, size));
    addTrailing(button);
    return button;
}

QSize PanelHeader::sizeHint() const
{
    return QWidget::sizeHint().expandedTo(minimumSize());
}

void PanelHeader::setActive(bool active)
{
    if (active == m_active)
        return;
    m_active = active;
    update();
}

void PanelHeader::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        update();
}

void PanelHeader::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.fillRect(rect(), themeColor(palette(), Tint::Raised));
    painter.fillRect(QRect(0, height() - 1, width(), 1), themeColor(palette(), m_active ? Tint::Accent : Tint::Line));
}

} // namespace paddock
