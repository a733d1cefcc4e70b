// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/json.h"

#include <QMap>
#include <QString>
#include <QStringList>

#include <optional>

namespace paddock {

/// Limits of tool results (middleware-base §4, `tool_output`). Sizes are code points. A value.
struct OutputBudgetOptions {
    bool enabled = true;
    qint64 externalizeMinChars = 12000; ///< more goes to a file; 0: never
    qint64 previewHeadChars = 2000;
    qint64 previewTailChars = 1000;
    qint64 fallbackMaxChars = 30000; ///< without a file, more is cut; 0: never
    qint64 fallbackHeadChars = 8000;
    qint64 fallbackTailChars = 3000;
    QString storageSubdir = QStringLiteral(".tool-results"); ///< of the outputs folder; one path segment
    QStringList exemptTools = {QStringLiteral("read_file"), QStringLiteral("read_file_tool")};
    QMap<QString, qint64> toolOverrides; ///< tool -> its own externalizeMinChars
    bool elideSupersededWrites = true;
    qint64 supersededWriteMinChars = 2000;
    int keepRecentWrites = 1;
    /// The sandbox sees the thread's folders of this host; else files are written through it.
    bool threadFoldersMounted = true;
};

namespace output_budget {

// The rules without any I/O (§4.1 to §4.3). Pure; any thread.

enum class Action { Keep, Externalize, Truncate };

/// The text that is measured: a string, or a list of nothing but strings and blocks with a text. Nothing for other content.
std::optional<QString> measuredText(const Json &content);
/// False when no rule can act, told from the bytes alone.
bool mayExceed(const OutputBudgetOptions &options, const QString &tool, const Json &content);
/// `canStore` false: the fallback only.
Action decide(const OutputBudgetOptions &options, const QString &tool, qsizetype chars, bool canStore);

/// `text` cut to head, marker and tail; never longer than `maxChars` unless that is 0 (unchanged).
QString fallback(const QString &text, const QString &tool, qint64 maxChars, qint64 headChars, qint64 tailChars);
/// Where to end a head (start a tail) near the code point `position`, at a line border that is close enough.
qsizetype snapEnd(const QString &text, qsizetype position);
qsizetype snapStart(const QString &text, qsizetype position);

/// A fresh name for a result of `tool`: "bash-0f3a….log".
QString fileName(const QString &tool);
/// What `storage_subdir` may be: one path segment.
bool isValidSubdir(const QString &name);

} // namespace output_budget

} // namespace paddock
