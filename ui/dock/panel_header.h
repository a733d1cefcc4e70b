// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QWidget>

class QHBoxLayout;
class QLabel;
class QToolButton;
class QAction;

namespace paddock {

/// A label that shortens its text with an ellipsis instead of asking for room.
class ElidedLabel : public QWidget
{
    Q_OBJECT
public:
    explicit ElidedLabel(QWidget *parent = nullptr);
    void setText(const QString &text);
    const QString &text() const { return m_text; }
    /// Dim text for what explains, normal for what matters.
    void setDim(bool dim);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    QString m_text;
    bool m_dim = true;
};

/// The strip on top of a panel: name, a dim remark, and at the right what belongs to the panel. Also the title bar of
/// its dock. The line under it takes the accent while the panel has the keyboard.
class PanelHeader : public QWidget
{
    Q_OBJECT
public:
    explicit PanelHeader(const QString &title, QWidget *parent = nullptr);

    void setTitle(const QString &title);
    void setRemark(const QString &remark);
    QString remark() const;
    /// Directly behind the title, e.g. tabs; pushes the remark to the right.
    void addLeading(QWidget *widget);
    void addTrailing(QWidget *widget);
    /// A flat button for the action.
    QToolButton *addButton(QAction *action);
    void setActive(bool active);
    /// A dock asks only this: less than the minimum and the panel would cover the foot of the words.
    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    void changeEvent(QEvent *event) override;

private:
    QLabel *m_title;
    ElidedLabel *m_remark;
    QHBoxLayout *m_leading;
    QHBoxLayout *m_trailing;
    bool m_active = false;
};

} // namespace paddock
