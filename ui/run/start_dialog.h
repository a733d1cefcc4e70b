// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/run/run_service.h"

#include <QDialog>

class QCheckBox;
class QComboBox;
class QDialogButtonBox;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QRadioButton;

namespace paddock {

/// Asks what to run: a scenario or a task, the folder to work on, the sandbox. Never blocks: open() and listen to
/// runRequested. Says at once what is wrong with what was typed. Owner: the main window; GUI thread.
class StartDialog : public QDialog
{
    Q_OBJECT
public:
    explicit StartDialog(QWidget *parent = nullptr);

    /// Names and one-line descriptions of the scripted models that come along.
    void setScenarios(const QList<std::pair<QString, QString>> &scenarios);
    void setModels(const QStringList &models);
    void setFolder(const QString &folder);
    /// Opens with the task field ready instead of the scenario.
    void chooseTask();
    void chooseScenario(const QString &name);
    RunRequest request() const;
    /// Empty when the request can be started, else what to mend.
    QString problem() const;

Q_SIGNALS:
    void runRequested(const paddock::RunRequest &request);

private:
    void connectParts(QPushButton *browse, QPushButton *otherScenario);
    void browseFolder();
    void browseScenario();
    void check();

    QRadioButton *m_byScenario;
    QRadioButton *m_byTask;
    QComboBox *m_scenario;
    QLabel *m_scenarioText;
    QPlainTextEdit *m_task;
    QComboBox *m_model;
    QLineEdit *m_folder;
    QCheckBox *m_copy;
    QComboBox *m_sandbox;
    QLabel *m_problem;
    QDialogButtonBox *m_buttons;
};

} // namespace paddock
