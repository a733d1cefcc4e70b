// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "ui/run/start_dialog.h"

#include "ui/paint/theme.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QRadioButton>
#include <QVBoxLayout>

namespace paddock {

namespace {
constexpr int textRole = Qt::UserRole + 1;
} // namespace

StartDialog::StartDialog(QWidget *parent)
    : QDialog(parent), m_byScenario(new QRadioButton(tr("&Scripted model"), this)),
      m_byTask(new QRadioButton(tr("A &task of your own"), this)), m_scenario(new QComboBox(this)),
      m_scenarioText(new QLabel(this)), m_task(new QPlainTextEdit(this)), m_model(new QComboBox(this)),
      m_folder(new QLineEdit(this)), m_copy(new QCheckBox(tr("Work on a &copy of the folder"), this)),
      m_sandbox(new QComboBox(this)), m_problem(new QLabel(this)),
      m_buttons(new QDialogButtonBox(QDialogButtonBox::Cancel, this))
{
    setWindowTitle(tr("New run"));
    setObjectName(QStringLiteral("startDialog"));
    auto *start = m_buttons->addButton(tr("&Start"), QDialogButtonBox::AcceptRole);
    start->setDefault(true);

    auto *scenarioRow = new QHBoxLayout;
    scenarioRow->addWidget(m_scenario, 1);
    auto *otherScenario = new QPushButton(tr("&File…"), this);
    scenarioRow->addWidget(otherScenario);
    auto *folderRow = new QHBoxLayout;
    folderRow->addWidget(m_folder, 1);
    auto *browse = new QPushButton(tr("&Browse…"), this);
    folderRow->addWidget(browse);
    m_scenarioText->setWordWrap(true);
    m_scenarioText->setForegroundRole(QPalette::PlaceholderText);
    m_scenario->setAccessibleName(tr("Scenario"));
    m_task->setPlaceholderText(tr("What should be done? For example: find out why the tests in parser/ fail, and mend it."));
    m_task->setAccessibleName(tr("Task"));
    m_task->setTabChangesFocus(true);
    m_task->setMinimumHeight(fontMetrics().height() * 5);
    m_model->setEditable(true);
    m_model->lineEdit()->setPlaceholderText(tr("The one from config.yaml"));
    m_folder->setPlaceholderText(tr("Empty: a new folder of the run's own"));
    m_folder->setAccessibleName(tr("Folder to work on"));
    m_sandbox->addItem(tr("Embedded: isolated, no network, no container engine needed"), QStringLiteral("embedded"));
    m_sandbox->addItem(tr("Local: files on this machine, no isolation"), QStringLiteral("local"));
    m_problem->setWordWrap(true);

    auto *form = new QFormLayout;
    form->addRow(m_byScenario, scenarioRow);
    form->addRow(QString(), m_scenarioText);
    form->addRow(m_byTask, m_task);
    form->addRow(tr("&Model"), m_model);
    form->addRow(tr("F&older"), folderRow);
    form->addRow(QString(), m_copy);
    form->addRow(tr("Sand&box"), m_sandbox);
    auto *layout = new QVBoxLayout(this);
    layout->addLayout(form);
    layout->addWidget(m_problem);
    layout->addStretch(1);
    layout->addWidget(m_buttons);
    resize(fontMetrics().averageCharWidth() * 84, sizeHint().height());

    connectParts(browse, otherScenario);
    setScenarios({{QStringLiteral("survey"), tr("Three subagents look at a folder at once and write a report. Real commands, real files.")},
                  {QStringLiteral("recovery"), tr("The same with lost sessions, a failing tool and a cancelled agent, so that you see what happens then.")}});
    m_byScenario->setChecked(true);
    check();
}

void StartDialog::connectParts(QPushButton *browse, QPushButton *otherScenario)
{
    for (QRadioButton *choice : {m_byScenario, m_byTask})
        connect(choice, &QRadioButton::toggled, this, &StartDialog::check);
    connect(m_scenario, &QComboBox::currentIndexChanged, this, [this] {
        m_scenarioText->setText(m_scenario->currentData(textRole).toString());
        check();
    });
    connect(m_task, &QPlainTextEdit::textChanged, this, [this] {
        if (!m_task->toPlainText().isEmpty())
            m_byTask->setChecked(true);
        check();
    });
    connect(m_folder, &QLineEdit::textChanged, this, &StartDialog::check);
    connect(browse, &QPushButton::clicked, this, &StartDialog::browseFolder);
    connect(otherScenario, &QPushButton::clicked, this, &StartDialog::browseScenario);
    connect(m_buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    connect(m_buttons, &QDialogButtonBox::accepted, this, [this] {
        if (!problem().isEmpty())
            return check();
        Q_EMIT runRequested(request());
        accept();
    });
}

void StartDialog::setScenarios(const QList<std::pair<QString, QString>> &scenarios)
{
    m_scenario->clear();
    for (const auto &[name, text] : scenarios) {
        m_scenario->addItem(name, name);
        m_scenario->setItemData(m_scenario->count() - 1, text, textRole);
    }
    m_scenarioText->setText(m_scenario->currentData(textRole).toString());
}

void StartDialog::setModels(const QStringList &models)
{
    const QString typed = m_model->currentText();
    m_model->clear();
    m_model->addItem(QString());
    m_model->addItems(models);
    m_model->setCurrentText(typed);
}

void StartDialog::setFolder(const QString &folder)
{
    m_folder->setText(folder);
}

void StartDialog::chooseTask()
{
    m_byTask->setChecked(true);
    m_task->setFocus();
}

void StartDialog::chooseScenario(const QString &name)
{
    m_byScenario->setChecked(true);
    int index = m_scenario->findData(name);
    if (index < 0) {
        m_scenario->addItem(QFileInfo(name).fileName(), name);
        index = m_scenario->count() - 1;
        m_scenario->setItemData(index, tr("The scenario in %1").arg(name), textRole);
    }
    m_scenario->setCurrentIndex(index);
}

RunRequest StartDialog::request() const
{
    RunRequest request;
    if (m_byScenario->isChecked())
        request.scenario = m_scenario->currentData().toString();
    else
        request.model = m_model->currentText().trimmed();
    request.task = m_task->toPlainText().trimmed();
    request.workspace = m_folder->text();
    request.copyWorkspace = m_copy->isChecked() && !request.workspace.isEmpty();
    request.sandbox = m_sandbox->currentData().toString();
    return request;
}

QString StartDialog::problem() const
{
    if (m_byTask->isChecked() && m_task->toPlainText().trimmed().isEmpty())
        return tr("Say what should be done.");
    if (m_byScenario->isChecked() && m_scenario->currentIndex() < 0)
        return tr("Choose a scenario.");
    const QString folder = m_folder->text();
    if (folder.isEmpty())
        return {};
    const QFileInfo info(folder);
    if (!info.exists())
        return tr("There is no folder %1.").arg(folder);
    if (!info.isDir())
        return tr("%1 is a file. Choose a folder.").arg(folder);
    if (!info.isReadable() || !info.isExecutable())
        return tr("You may not read the folder %1.").arg(folder);
    if (!info.isWritable() && !m_copy->isChecked())
        return tr("You may not write in %1. Work on a copy instead.").arg(folder);
    return {};
}

void StartDialog::check()
{
    const QString text = problem();
    m_problem->setText(text);
    QPalette colours = palette();
    colours.setColor(QPalette::WindowText, themeColor(palette(), Tint::Warn));
    m_problem->setPalette(colours);
    m_model->setEnabled(m_byTask->isChecked());
    m_copy->setEnabled(!m_folder->text().isEmpty());
    for (QAbstractButton *button : m_buttons->buttons()) {
        if (m_buttons->buttonRole(button) == QDialogButtonBox::AcceptRole)
            button->setEnabled(text.isEmpty());
    }
}

void StartDialog::browseFolder()
{
    auto *dialog = new QFileDialog(this, tr("Folder to work on"), m_folder->text());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    dialog->setOption(QFileDialog::ShowDirsOnly);
    connect(dialog, &QFileDialog::fileSelected, m_folder, &QLineEdit::setText);
    dialog->open();
}

void StartDialog::browseScenario()
{
    auto *dialog = new QFileDialog(this, tr("Scenario"), QString(), tr("Scenarios (*.yaml *.yml);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, &StartDialog::chooseScenario);
    dialog->open();
}

} // namespace paddock
