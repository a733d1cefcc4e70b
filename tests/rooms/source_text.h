// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QList>
#include <QString>
#include <QStringList>

namespace paddock::rooms {

struct Include {
    int line = 0;
    QString name;
    bool quoted = false;
};

struct FunctionSpan {
    int line = 0;  ///< where its head begins
    int lines = 0; ///< from the line of its opening brace to the line of its closing one
    QString head;
};

/// The public functions of a class that do something, each name once: constructors, overrides, operators and accessors
/// written in the class itself are left out.
struct ClassShape {
    int line = 0;
    QString name;
    QStringList functions;
};

/// C++ text without its comments and without what stands in its literals; same length, same lines.
QString codeOf(const QString &text);
QList<Include> includesOf(const QString &text);
QList<FunctionSpan> functionsOf(const QString &text);
QList<ClassShape> classesOf(const QString &text);
int lineAt(const QString &text, qsizetype offset);

} // namespace paddock::rooms
