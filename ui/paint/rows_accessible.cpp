// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/paint/rows_accessible.h"

#include <QAbstractScrollArea>
#include <QAccessible>
#include <QAccessibleWidget>
#include <QPointer>

namespace paddock {

namespace {

AccessibleRows *rowsOf(QWidget *widget)
{
    return dynamic_cast<AccessibleRows *>(widget);
}

/// A row of a view. Has no object of its own; owned by the accessibility cache.
class RowInterface : public QAccessibleInterface
{
public:
    RowInterface(QAbstractScrollArea *view, int row) : m_view(view), m_row(row) {}

    bool isValid() const override { return m_view && m_row < rowsOf(m_view)->accessibleRowCount(); }
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
        if (!isValid())
            return {};
        const QRect local = rowsOf(m_view)->accessibleRowRect(m_row);
        return {m_view->viewport()->mapToGlobal(local.topLeft()), local.size()};
    }
    QAccessible::State state() const override
    {
        QAccessible::State state;
        if (!isValid()) {
            state.invalid = true;
            return state;
        }
        state.selectable = true;
        state.focusable = true;
        state.selected = m_row == rowsOf(m_view)->accessibleCurrentRow();
        state.focused = state.selected && m_view->hasFocus();
        return state;
    }
    QString text(QAccessible::Text kind) const override
    {
        return isValid() && kind == QAccessible::Name ? rowsOf(m_view)->accessibleRowText(m_row) : QString();
    }

private:
    QPointer<QAbstractScrollArea> m_view;
    int m_row;
};

class ViewInterface : public QAccessibleWidget
{
public:
    explicit ViewInterface(QAbstractScrollArea *view) : QAccessibleWidget(view, QAccessible::List) {}
    ~ViewInterface() override
    {
        for (const QAccessible::Id id : std::as_const(m_rows))
            QAccessible::deleteAccessibleInterface(id);
    }

    QAbstractScrollArea *view() const { return static_cast<QAbstractScrollArea *>(widget()); }
    int childCount() const override { return rowsOf(view())->accessibleRowCount(); }
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
        return child(rowsOf(view())->accessibleRowAt(view()->viewport()->mapFromGlobal(QPoint(x, y)).y()));
    }
    QString text(QAccessible::Text kind) const override
    {
        return kind == QAccessible::Value ? rowsOf(view())->accessibleValue() : QAccessibleWidget::text(kind);
    }

private:
    mutable QList<QAccessible::Id> m_rows;
};

QAccessibleInterface *makeInterface(const QString &, QObject *object)
{
    auto *view = qobject_cast<QAbstractScrollArea *>(object);
    return view && rowsOf(view) ? new ViewInterface(view) : nullptr;
}

} // namespace

void installRowsAccessibility()
{
    static const bool once = [] {
        QAccessible::installFactory(makeInterface);
        return true;
    }();
    Q_UNUSED(once)
}

} // namespace paddock
