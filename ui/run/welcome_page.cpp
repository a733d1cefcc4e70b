// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/run/welcome_page.h"

#include "ui/paint/theme.h"

#include <QAction>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

namespace paddock {

namespace {

QPushButton *buttonFor(QAction *action, const QString &text, QWidget *parent)
{
    auto *button = new QPushButton(text, parent);
    button->setIcon(action->icon());
    button->setToolTip(action->toolTip());
    QObject::connect(button, &QPushButton::clicked, action, &QAction::trigger);
    return button;
}

QLabel *remark(const QString &text, QWidget *parent)
{
    auto *label = new QLabel(text, parent);
    label->setWordWrap(true);
    label->setForegroundRole(QPalette::PlaceholderText);
    return label;
}

} // namespace

WelcomePage::WelcomePage(QAction *startSample, QAction *openFolder, QWidget *parent) : QWidget(parent)
{
    setObjectName(QStringLiteral("welcome"));
    auto *title = new QLabel(tr("Watch agents work, and steer them"), this);
    QFont large = title->font();
    large.setPointSizeF(large.pointSizeF() * 1.5);
    large.setBold(true);
    title->setFont(large);
    auto *sample = buttonFor(startSample, tr("Start the sample run"), this);
    sample->setDefault(true);
    auto *folder = buttonFor(openFolder, tr("Open a folder and ask"), this);
    auto *column = new QVBoxLayout;
    column->setSpacing(fontMetrics().height() / 2);
    column->addWidget(title);
    column->addSpacing(fontMetrics().height());
    column->addWidget(sample, 0, Qt::AlignLeft);
    column->addWidget(remark(tr("A lead agent sends three subagents over a folder at once and merges what they find into a report. "
                                "The words of the model are scripted, so no key and no network is needed; the sandbox, the shells, "
                                "the commands and the files are real."), this));
    column->addSpacing(fontMetrics().height());
    column->addWidget(folder, 0, Qt::AlignLeft);
    column->addWidget(remark(tr("Choose a project and say what should be done. Agents work on it in an isolated sandbox, and "
                                "every change is shown with who made it."), this));
    column->addSpacing(fontMetrics().height());
    column->addWidget(remark(tr("Ctrl+Shift+P finds every action. F1 lists the keys."), this));
    auto *frame = new QWidget(this);
    frame->setLayout(column);
    frame->setMaximumWidth(fontMetrics().averageCharWidth() * 76);
    auto *layout = new QVBoxLayout(this);
    layout->addStretch(1);
    auto *middle = new QHBoxLayout; // not by alignment: the words must know their width to tell their height
    middle->addStretch(1);
    middle->addWidget(frame, 1000);
    middle->addStretch(1);
    layout->addLayout(middle);
    layout->addStretch(2);
    setFocusProxy(sample);
}

void WelcomePage::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.fillRect(rect(), themeColor(palette(), Tint::Panel));
}

} // namespace paddock
