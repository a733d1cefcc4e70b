// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// The dialogs of the main window; none of them blocks.
#include "app/main_window.h"

#include "core/run/scenarios.h"
#include "ui/action/action_registry.h"
#include "ui/run/start_dialog.h"

#include <QDialog>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QMessageBox>
#include <QTextBrowser>
#include <QVBoxLayout>

namespace paddock {

void MainWindow::askForRun(bool task)
{
    auto *dialog = new StartDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    QList<std::pair<QString, QString>> scenarios;
    for (const ScenarioEntry &entry : builtinScenarios())
        scenarios.append({entry.name, entry.description});
    if (!scenarios.isEmpty())
        dialog->setScenarios(scenarios);
    dialog->setFolder(m_view.lastFolder);
    if (task)
        dialog->chooseTask();
    connect(dialog, &StartDialog::runRequested, this, &MainWindow::start);
    dialog->open();
}

void MainWindow::openFolder()
{
    auto *dialog = new QFileDialog(this, tr("Open a folder and ask"), m_view.lastFolder);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    dialog->setOption(QFileDialog::ShowDirsOnly);
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString &folder) {
        m_view.lastFolder = folder;
        askForRun(true);
    });
    dialog->open();
}

void MainWindow::exportRun()
{
    if (!m_selection.run())
        return;
    auto *dialog = new QFileDialog(this, tr("Export the run"), QString(), tr("Events (*.jsonl);;Text (*.md)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("jsonl"));
    const QPointer<MainWindow> self(this);
    connect(dialog, &QFileDialog::fileSelected, this, [this, self, id = m_selection.run()->id()](const QString &path) {
        const QString format = path.endsWith(u".md") ? QStringLiteral("markdown") : QStringLiteral("jsonl");
        m_service->exportRun(id, format, path, [self, path](const QString &problem) {
            if (self)
                self->say(problem.isEmpty() ? self->tr("Wrote %1.").arg(path) : problem);
        });
    });
    dialog->open();
}

/// The list of keys is made from the registry, so it is never out of date.
void MainWindow::showKeys()
{
    QString rows;
    for (const QAction *action : m_actions->all()) {
        if (action->shortcut().isEmpty())
            continue;
        rows += QStringLiteral("<tr><td style='padding-right:24px'>%1</td><td style='padding-right:24px'>%2</td><td>%3</td></tr>")
                    .arg(action->shortcut().toString(QKeySequence::NativeText).toHtmlEscaped(),
                         ActionRegistry::contextOf(action).toHtmlEscaped(), ActionRegistry::plainText(action).toHtmlEscaped());
    }
    auto *dialog = new QDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Keys"));
    auto *text = new QTextBrowser(dialog);
    text->setHtml(tr("<p>In lanes: arrows walk spans and rows, + and - zoom, Ctrl+Left and Ctrl+Right pan, 0 shows everything, "
                     "F follows, Space unfolds an agent, Enter opens the inspector; there j and k walk the changes. In the "
                     "conversation: up and down walk, Enter unfolds, T shows a call in the trace.</p>")
                  + QStringLiteral("<table>") + rows + QStringLiteral("</table>"));
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
    connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    auto *layout = new QVBoxLayout(dialog);
    layout->addWidget(text);
    layout->addWidget(buttons);
    dialog->resize(fontMetrics().averageCharWidth() * 80, fontMetrics().height() * 36);
    dialog->open();
}

void MainWindow::about()
{
    auto *box = new QMessageBox(QMessageBox::Information, tr("About Paddock"),
                                tr("Paddock %1 runs and supervises agents on this machine: their sandboxes, leases, shells, "
                                   "messages and files.").arg(QStringLiteral(PADDOCK_VERSION)),
                                QMessageBox::Close, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
}

} // namespace paddock
