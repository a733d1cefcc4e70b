// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/paint/lane_accessible.h"

#include "ui/paint/lane_view.h"

#include <QAccessible>
#include <QAccessibleWidget>

namespace paddock {

namespace {

/// A row of a lane view. Has no object of its own; owned by the accessibility cache.
class RowInterface : public QAccessibleInterface
{
public:
    RowInterface(LaneView *view, int row) : m_view(view), m_row(row) {}

    bool isValid() const override { return m_view && m_view->source() && m_row < m_view->source()->rowCount(); }
    QObject *object() const override { return nullptr; }
    QAccessibleInterface *parent() const override { return QAccessible::queryAccessibleInterface(m_view); }
    QAccessibleInterface *child(int) const override { return nullptr; }
    QAccessibleInterface *childAt(int, int) const override { return nullptr; }
    int childCount() const override { return 0; }
    int indexOfChild(const QAccessibleInterface *) const override { return -1; }
    QAccessible::Role role() const override { return QAccessible::ListItem; }
    void setText(QAccessible::Text, const QString &) override {}
    QRect rect() const override
    {
        const QRect local = m_view->rowRect(m_row);
        return {m_view->viewport()->mapToGlobal(local.topLeft()), local.size()};
    }
    QAccessible::State state() const override
    {
        QAccessible::State state;
        state.selectable = true;
        state.focusable = true;
        state.selected = m_row == m_view->selectedRow();
        state.focused = state.selected && m_view->hasFocus();
        return state;
    }
    QString text(QAccessible::Text kind) const override
    {
        if (!isValid() || kind != QAccessible::Name)
            return {};
        const LaneHeading heading = m_view->source()->heading(m_row);
        return LaneView::tr("%1 %2, %n span(s)", nullptr, int(m_view->source()->row(m_row).ids.size()))
            .arg(heading.title, heading.detail);
    }

private:
    QPointer<LaneView> m_view;
    int m_row;
};

class ViewInterface : public QAccessibleWidget
{
public:
    explicit ViewInterface(LaneView *view) : QAccessibleWidget(view, QAccessible::List) {}
    ~ViewInterface() override
    {
        for (const QAccessible::Id id : std::as_const(m_rows))
            QAccessible::deleteAccessibleInterface(id);
    }

    LaneView *view() const { return static_cast<LaneView *>(widget()); }
    int childCount() const override { return view()->source() ? view()->source()->rowCount() : 0; }
    QAccessibleInterface *child(int index) const override
    {
        if (index < 0 || index >= childCount())
            return nullptr;
        while (m_rows.size() <= index)
            m_rows.append(QAccessible::registerAccessibleInterface(new RowInterface(view(), int(m_rows.size()))));
        return QAccessible::accessibleInterface(m_rows.at(index));
    }
    int indexOfChild(const QAccessibleInterface *child) const override
    {
        for (int i = 0; i < m_rows.size(); ++i) {
            if (QAccessible::accessibleInterface(m_rows.at(i)) == child)
                return i;
        }
        return -1;
    }
    QAccessibleInterface *childAt(int x, int y) const override
    {
        return child(view()->visibleRowAt(view()->viewport()->mapFromGlobal(QPoint(x, y)).y()));
    }
    QString text(QAccessible::Text kind) const override
    {
        if (kind == QAccessible::Value && view()->source() && view()->selected() != LaneView::nothing)
            return view()->source()->describe(view()->selected());
        return QAccessibleWidget::text(kind);
    }

private:
    mutable QList<QAccessible::Id> m_rows;
};

QAccessibleInterface *makeInterface(const QString &, QObject *object)
{
    auto *view = qobject_cast<LaneView *>(object);
    return view ? new ViewInterface(view) : nullptr;
}

} // namespace

void installLaneAccessibility()
{
    static const bool once = [] {
        QAccessible::installFactory(makeInterface);
        return true;
    }();
    Q_UNUSED(once)
}

} // namespace paddock
