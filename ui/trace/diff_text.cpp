// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/trace/diff_text.h"

#include "ui/paint/figures.h"
#include "ui/paint/theme.h"

#include <QFontDatabase>
#include <QKeyEvent>
#include <QTextBlock>

namespace paddock {

DiffText::DiffText(QWidget *parent) : QPlainTextEdit(parent)
{
    setReadOnly(true);
    setFrameShape(QFrame::NoFrame);
    setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    setUndoRedoEnabled(false);
    setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    setLineWrapMode(QPlainTextEdit::WidgetWidth);
}

void DiffText::setText(const QString &text)
{
    m_lines.clear();
    setPlainText(text);
}

void DiffText::setLines(std::vector<DiffLine> lines)
{
    m_lines = std::move(lines);
    render();
}

void DiffText::render()
{
    setPlainText(QString());
    QTextCursor cursor(document());
    cursor.beginEditBlock();
    bool first = true;
    for (const DiffLine &line : m_lines) {
        QTextBlockFormat block;
        QTextCharFormat text;
        QString shown;
        switch (line.kind) {
        case DiffLine::Kind::Same: shown = QStringLiteral("  ") + line.text; break;
        case DiffLine::Kind::Added:
            shown = QStringLiteral("+ ") + line.text;
            block.setBackground(themeColor(palette(), Tint::AddedBack));
            break;
        case DiffLine::Kind::Removed:
            shown = QStringLiteral("- ") + line.text;
            block.setBackground(themeColor(palette(), Tint::RemovedBack));
            break;
        case DiffLine::Kind::Heading:
            shown = line.text;
            text.setForeground(themeColor(palette(), Tint::Dim));
            break;
        case DiffLine::Kind::LeftOut:
            shown = tr("%1 … %2 more lines").arg(QLatin1String(line.added ? "+" : line.removed ? "-" : " "), formatCount(line.count));
            text.setForeground(themeColor(palette(), Tint::Dim));
            if (line.added || line.removed)
                block.setBackground(themeColor(palette(), line.added ? Tint::AddedBack : Tint::RemovedBack));
            break;
        }
        if (first)
            cursor.setBlockFormat(block);
        else
            cursor.insertBlock(block);
        first = false;
        cursor.insertText(shown, text);
    }
    cursor.endEditBlock();
    moveCursor(QTextCursor::Start);
    stepChange(0);
}

void DiffText::stepChange(int by)
{
    const auto changed = [this](int i) {
        return i >= 0 && i < int(m_lines.size())
            && (m_lines[size_t(i)].kind == DiffLine::Kind::Added || m_lines[size_t(i)].kind == DiffLine::Kind::Removed);
    };
    int line = textCursor().blockNumber();
    const int step = by < 0 ? -1 : 1;
    if (by != 0) {
        while (changed(line))
            line += step;
    }
    while (line >= 0 && line < int(m_lines.size()) && !changed(line))
        line += step;
    if (!changed(line))
        return;
    while (step < 0 && changed(line - 1))
        --line;
    QTextCursor cursor(document()->findBlockByNumber(line));
    setTextCursor(cursor);
    if (by != 0)
        centerCursor();
}

void DiffText::changeEvent(QEvent *event)
{
    QPlainTextEdit::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && !m_lines.empty())
        render();
}

void DiffText::keyPressEvent(QKeyEvent *event)
{
    if (event->modifiers() == Qt::NoModifier && (event->key() == Qt::Key_J || event->key() == Qt::Key_K)) {
        Q_EMIT stepWanted(event->key() == Qt::Key_J ? 1 : -1);
        return;
    }
    QPlainTextEdit::keyPressEvent(event);
}

} // namespace paddock
