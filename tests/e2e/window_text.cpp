// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "tests/e2e/window_text.h"

#include "app/main_window.h"
#include "tests/support/spin.h"
#include "ui/lease/lease_panel.h"
#include "ui/paint/lane_source.h"
#include "ui/run/conversation_view.h"
#include "ui/run/messages_page.h"
#include "ui/run/runs_panel.h"
#include "ui/shell/shell_pane.h"
#include "ui/shell/shell_panel.h"
#include "ui/trace/span_table_model.h"
#include "ui/trace/trace_panel.h"
#include "ui/workspace/workspace_model.h"
#include "ui/workspace/workspace_panel.h"

#include <QCoreApplication>
#include <QDir>
#include <QMouseEvent>
#include <QSet>

namespace paddock::test {

namespace {

QStringList lanesOf(const LaneSource &source)
{
    QStringList lines;
    for (int row = 0; row < source.rowCount(); ++row) {
        const LaneHeading heading = source.heading(row);
        lines += QStringLiteral("%1 | %2").arg(heading.title, heading.detail);
        const LaneRow lane = source.row(row);
        for (std::size_t i = 0; i < lane.ids.size(); ++i)
            lines += QStringLiteral("  ") + source.describe(lane.ids[i]);
    }
    return lines;
}

QStringList runsOf(MainWindow &window)
{
    const RunTreeModel &model = *window.panels().runs->model();
    const QModelIndex run = model.indexOf(window.selection()->run()->id());
    QStringList lines;
    const auto line = [](const QModelIndex &at) {
        QStringList cells;
        for (const int role : {int(Qt::DisplayRole), int(RunTreeModel::RemarkRole), int(RunTreeModel::FigureRole), int(RunTreeModel::MarkRole)})
            cells += at.data(role).toString();
        return cells.join(QStringLiteral(" | "));
    };
    lines += line(run);
    for (int row = 0; row < model.rowCount(run); ++row)
        lines += QStringLiteral("  ") + line(model.index(row, 0, run));
    return lines;
}

} // namespace

QStringList rowsOf(const QAbstractItemModel &model, const QModelIndex &parent, int indent)
{
    QStringList lines;
    for (int row = 0; row < model.rowCount(parent); ++row) {
        QStringList cells;
        for (int column = 0; column < model.columnCount(parent); ++column)
            cells += model.index(row, column, parent).data().toString();
        lines += QString(indent, QLatin1Char(' ')) + cells.join(QStringLiteral(" | "));
        lines += rowsOf(model, model.index(row, 0, parent), indent + 2);
    }
    return lines;
}

QStringList conversationOf(MainWindow &window, const QString &agent)
{
    window.selection()->setAgent(AgentId(agent));
    ConversationView *view = window.panels().conversation;
    QStringList lines;
    for (int row = 0; row < view->accessibleRowCount(); ++row)
        lines += view->accessibleRowText(row);
    return lines;
}

QMap<QString, QString> terminalsOf(MainWindow &window)
{
    QMap<QString, QString> texts;
    for (ShellPane *pane : window.panels().shells->panes()) {
        pane->view()->selectAll();
        texts.insert(pane->scope(), pane->view()->selectedText());
        QMouseEvent click(QEvent::MouseButtonPress, QPointF(), QPointF(), Qt::LeftButton, Qt::LeftButton, Qt::NoModifier);
        QCoreApplication::sendEvent(pane->view()->viewport(), &click); // nothing stays selected
    }
    return texts;
}

QMap<QString, QStringList> textsOf(MainWindow &window)
{
    QMap<QString, QStringList> texts;
    const RunStore &run = *window.selection()->run();
    texts.insert(QStringLiteral("runs"), runsOf(window));
    for (const AgentEntry &agent : run.agents().agents()) {
        texts[QStringLiteral("conversation")] += conversationOf(window, agent.id.value());
        spinUntil([&] { return !rowsOf(*window.panels().messages->model(), {}).join(QLatin1Char('\n')).contains(QStringLiteral(" | … |")); });
        texts[QStringLiteral("messages")] += rowsOf(*window.panels().messages->model(), {});
    }
    window.selection()->setAgent(leadAgent());
    window.panels().trace->setAllUnfolded(true);
    texts.insert(QStringLiteral("trace"), lanesOf(*window.panels().trace->source()));
    window.panels().trace->setAllUnfolded(false);
    window.panels().trace->tableModel()->reload();
    texts.insert(QStringLiteral("spans"), rowsOf(*window.panels().trace->tableModel(), {}));
    texts.insert(QStringLiteral("leases"), lanesOf(*window.panels().leases->source()) + QStringList{window.panels().leases->remark()});
    texts.insert(QStringLiteral("workspace"), rowsOf(*window.panels().workspace->model(), {}));
    const auto terminals = terminalsOf(window);
    for (auto it = terminals.begin(); it != terminals.end(); ++it)
        texts[QStringLiteral("shells")] += it.key() + QStringLiteral(": ") + it.value().simplified().remove(QLatin1Char(' '));
    return texts;
}

int coloursOf(const QImage &image)
{
    QSet<QRgb> colours;
    for (int y = 0; y < image.height(); y += 2) {
        for (int x = 0; x < image.width(); x += 2)
            colours.insert(image.pixel(x, y));
    }
    return int(colours.size());
}

QStringList blankPanels(MainWindow &window, const QString &moment)
{
    constexpr int fewColours = 5;
    const QString folder = qEnvironmentVariable("PADDOCK_TEST_PICTURES");
    QStringList blank;
    const auto keep = [&](const QImage &image, const QString &name) {
        if (!folder.isEmpty())
            image.save(QDir(folder).filePath(moment + QLatin1Char('-') + name + QStringLiteral(".png")));
    };
    keep(window.grab().toImage(), QStringLiteral("window"));
    for (const QString &name : MainWindow::panelNames()) {
        window.showPanel(name);
        QCoreApplication::processEvents();
        const QImage image = window.panelWidget(name)->grab().toImage();
        keep(image, name);
        if (coloursOf(image) < fewColours)
            blank += name;
    }
    return blank;
}

} // namespace paddock::test
