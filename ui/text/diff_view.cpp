// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/text/diff_view.h"

#include <QFontDatabase>
#include <QTextBlock>

namespace paddock {

DiffView::DiffView(QWidget *parent) : QPlainTextEdit(parent)
{
    setReadOnly(true);
    setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    setLineWrapMode(QPlainTextEdit::NoWrap);
    setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    setFrameShape(QFrame::NoFrame);
    setAccessibleName(tr("Differences"));
}

void DiffView::setTexts(const QString &before, const QString &after)
{
    const auto a = splitLines(before);
    const auto b = splitLines(after);
    const auto runs = diffLines(a, b);
    QStringList lines;
    QList<std::pair<int, DiffRun::Kind>> marks;
    m_changes.clear();
    const auto add = [&](QChar sign, QStringView text) { lines.append(sign + QLatin1Char(' ') + text.toString()); };
    for (std::size_t i = 0; i < runs.size(); ++i) {
        const DiffRun &run = runs[i];
        if (run.kind == DiffRun::Kind::Same) {
            const int head = i == 0 ? 0 : context;
            const int tail = i + 1 == runs.size() ? 0 : context;
            for (int k = 0; k < run.count; ++k) {
                if (k == head && run.count > head + tail + 1) {
                    lines.append(tr("  … %n equal line(s)", nullptr, run.count - head - tail));
                    k = run.count - tail - 1;
                    continue;
                }
                add(u' ', a[std::size_t(run.before + k)]);
            }
            continue;
        }
        const bool removed = run.kind == DiffRun::Kind::Removed;
        m_changes.append(int(lines.size()));
        for (int k = 0; k < run.count; ++k) {
            marks.append({int(lines.size()), run.kind});
            add(removed ? u'-' : u'+', removed ? a[std::size_t(run.before + k)] : b[std::size_t(run.after + k)]);
        }
    }
    setPlainText(runs.empty() || m_changes.isEmpty() ? tr("No difference.") : lines.join(QLatin1Char('\n')));
    QList<QTextEdit::ExtraSelection> selections;
    for (const auto &[line, kind] : marks) {
        QTextEdit::ExtraSelection selection;
        selection.format.setBackground(kind == DiffRun::Kind::Removed ? QColor(248, 81, 73, 60) : QColor(46, 160, 67, 60));
        selection.format.setProperty(QTextFormat::FullWidthSelection, true);
        selection.cursor = QTextCursor(document()->findBlockByNumber(line));
        selections.append(selection);
    }
    setExtraSelections(selections);
}

bool DiffView::goToChange(bool next)
{
    const int here = textCursor().blockNumber();
    int target = -1;
    for (const int line : m_changes) {
        if (next && line > here) {
            target = line;
            break;
        }
        if (!next && line < here)
            target = line;
    }
    if (target < 0)
        return false;
    setTextCursor(QTextCursor(document()->findBlockByNumber(target)));
    centerCursor();
    return true;
}

} // namespace paddock
