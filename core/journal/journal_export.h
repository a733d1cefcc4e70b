// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/journal/journal_reader.h"

#include <functional>

namespace paddock {

/// Takes the next piece of an export; false or an error ends it. Called on the exporting thread.
using ExportSink = std::function<Result<void>(const QByteArray &piece)>;

/// One event a line, the stable form of design.md §4, complete. Blocks; for pool threads.
Result<void> exportJsonl(JournalReader &reader, const RunId &run, const ExportSink &sink);
/// The conversation of every agent, for people.
Result<void> exportMarkdown(JournalReader &reader, const RunId &run, const ExportSink &sink);
/// The spans of the run as OTLP/JSON (one ExportTraceServiceRequest), with GenAI attribute names.
Result<void> exportOtlp(JournalReader &reader, const RunId &run, const ExportSink &sink);

/// "jsonl", "markdown" or "otlp" to a file (written beside and renamed; a device or pipe is written directly); an empty path
/// is standard output as it stands.
Result<void> exportRun(JournalReader &reader, const RunId &run, const QString &format, const QString &path);

} // namespace paddock
