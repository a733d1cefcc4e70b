// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "app/main_window.h"
#include "ui/action/action_registry.h"

#include <QDialog>
#include <QDialogButtonBox>
#include <QMessageBox>
#include <QTextBrowser>
#include <QVBoxLayout>

namespace paddock {

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
