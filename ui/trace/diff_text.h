// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "ui/trace/text_diff.h"

#include <QPlainTextEdit>

namespace paddock {

/// Read-only lines with the colours of a diff. The sign in front says the same as the colour. GUI thread.
class DiffText : public QPlainTextEdit
{
    Q_OBJECT
public:
    explicit DiffText(QWidget *parent = nullptr);

    void setLines(std::vector<DiffLine> lines);
    void setText(const QString &text);
    void stepChange(int by);

Q_SIGNALS:
    void stepWanted(int by);

protected:
    void changeEvent(QEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;

private:
    void render();
    std::vector<DiffLine> m_lines;
};

} // namespace paddock
