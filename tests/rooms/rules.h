// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "tests/rooms/room_lists.h"

namespace paddock::rooms {

/// A file of the checkout: its path below the top, and its text.
struct Source {
    QString path;
    QString text;

    bool isHeader() const { return path.endsWith(u".h"); }
    bool isCpp() const { return isHeader() || path.endsWith(u".cpp") || path.endsWith(u".inc"); }
    bool isProduct() const { return path.startsWith(u"core/") || path.startsWith(u"ui/") || path.startsWith(u"app/"); }
};

struct Finding {
    QString path;
    int line = 1;
    QString rule;
    QString what; ///< what is wrong and what to do about it

    QString text() const;
};
using Findings = QList<Finding>;

/// "core/lease", "ui/run", "app"; everything of tests is "tests".
QString roomOf(const QString &path);

// One rule, one function, over one file.
Findings checkArrows(const Source &source, const ArrowList &allowed);
Findings checkThirdParties(const Source &source);
Findings checkNoGui(const Source &source);
Findings checkIncludeForm(const Source &source);
Findings checkFileSize(const Source &source);
Findings checkFunctionSize(const Source &source);
Findings checkClassSize(const Source &source);
Findings checkLicence(const Source &source);
Findings checkNestedLoops(const Source &source);
Findings checkConnects(const Source &source);
Findings checkTracer(const Source &source);
Findings checkMachines(const Source &source);

// Rules over the list of arrows, the list of paths, and all files together.
Findings checkNoCycle(const ArrowList &list);
Findings checkReadmes(const QStringList &paths);
/// Every .cpp stands in the CMakeLists.txt of its folder or of one above.
Findings checkListed(const QList<Source> &sources);
/// A library's header in a header of ours that another room includes.
Findings checkHandedOn(const QList<Source> &sources);

} // namespace paddock::rooms
