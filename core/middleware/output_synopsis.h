// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QString>
#include <QStringList>

#include <optional>

namespace paddock {

/// What stands in a conversation for a large tool result (middleware-base §4.4 to §4.7): made without a model, the same for
/// the same text. A value. Each line is bounded, so that a hostile result cannot make its synopsis large.
struct OutputSynopsis {
    QString kind; ///< json, xml, csv, tsv, yaml, code, text, unknown
    QString title;
    QStringList summary;
    QStringList structure = {};
    QStringList notable = {};
    QString sample = {}; ///< its own raw sample; empty: head and tail of the text
};

namespace output_synopsis {

// Pure and bounded; a large text takes long enough to be worth a worker thread.

OutputSynopsis of(const QString &text, const QString &tool);
/// The text for the model. `path` is virtual; `missing` characters are not in the text, because the tool had to cut it.
QString preview(const QString &text, const QString &tool, const QString &path, qsizetype headChars, qsizetype tailChars,
                qint64 missing = 0);

// The kinds that can turn out not to be theirs; inside the room only.

/// `trimmed` starts with "{" or "[".
std::optional<OutputSynopsis> json(QStringView trimmed);
/// One XML document; a document type and entity declarations are refused.
std::optional<OutputSynopsis> xml(const QString &trimmed);
/// `delimiter` is a comma or a tab.
std::optional<OutputSynopsis> table(const QString &text, QChar delimiter);
std::optional<OutputSynopsis> yaml(const QString &text);
bool looksLikeCode(const QString &text);

} // namespace output_synopsis

} // namespace paddock
