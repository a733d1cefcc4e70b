// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/journal/database.h"

#include <span>

namespace paddock {

/// One step of the file format. A step is never changed once it was released; a new format is a new step.
struct Migration {
    int version;      ///< the user_version after it
    const char *sql;
};

/// "PDK1"; tells a journal from any other SQLite file.
constexpr qint64 journalApplicationId = 0x50444B31;

/// All steps, ascending, from an empty file to the current format.
std::span<const Migration> journalMigrations();
int currentSchemaVersion();

/// Looks at the file's header without opening it as a database: FailedPrecondition when a newer Paddock wrote it, so that
/// not even a left-over write-ahead log is touched. A missing or empty file is fine.
Result<void> checkHeader(const QString &path, int newest = currentSchemaVersion());

/// Brings an open database to the newest of `steps`, each step in a transaction of its own.
Result<void> migrate(Database &database, std::span<const Migration> steps = journalMigrations());
/// What a reader demands: a journal of a version that this program knows.
Result<void> checkReadable(Database &database, int newest = currentSchemaVersion());

} // namespace paddock
