// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/journal/schema.h"

#include <QFile>
#include <QtEndian>

#include <array>

namespace paddock {

namespace {

// The key of an event is run << 40 | seq: one B-tree, clustered by run, no second index to keep (libraries.md).
// `fields` is JSON text, or a zstd frame when stored as a blob. Blobs are messages without their id, by content hash.
constexpr std::array migrations = {
    Migration{1, R"(
        CREATE TABLE runs (
            id INTEGER PRIMARY KEY,
            run TEXT NOT NULL UNIQUE,
            hidden INTEGER NOT NULL DEFAULT 0,
            owner TEXT NOT NULL,
            thread TEXT NOT NULL DEFAULT '',
            title TEXT NOT NULL DEFAULT '',
            task TEXT NOT NULL DEFAULT '',
            model TEXT NOT NULL DEFAULT '',
            sandbox TEXT NOT NULL DEFAULT '',
            workspace TEXT NOT NULL DEFAULT '',
            channel_user_id TEXT,
            status TEXT NOT NULL DEFAULT 'running',
            answer TEXT NOT NULL DEFAULT '',
            error TEXT,
            usage TEXT NOT NULL DEFAULT '{}',
            started_us INTEGER NOT NULL,
            finished_us INTEGER,
            events INTEGER NOT NULL DEFAULT 0,
            last_seq INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX runs_started ON runs (started_us DESC);
        CREATE TABLE events (
            id INTEGER PRIMARY KEY,
            agent TEXT NOT NULL,
            type TEXT NOT NULL,
            time_us INTEGER NOT NULL,
            mono_us INTEGER NOT NULL,
            span INTEGER NOT NULL,
            parent INTEGER NOT NULL,
            fields ANY NOT NULL
        ) STRICT;
        CREATE TABLE blobs (
            id INTEGER PRIMARY KEY,
            hash BLOB NOT NULL UNIQUE,
            data ANY NOT NULL
        ) STRICT;
    )"},
};

Error tooNew(const QString &path, qint64 version, int newest)
{
    return Error{ErrorCode::FailedPrecondition,
                 QStringLiteral("%1 was written by a newer Paddock (format %2; this one knows formats up to %3). It is left as it is: "
                                "use the newer Paddock, or choose another data folder.")
                     .arg(path)
                     .arg(version)
                     .arg(newest),
                 Json{{"version", version}, {"newest", newest}}, nullptr};
}

Error notAJournal(const QString &path)
{
    return Error{ErrorCode::DataLoss,
                 QStringLiteral("%1 is not a Paddock journal. It is left as it is; move it elsewhere to start a new one.").arg(path),
                 Json::object(), nullptr};
}

Result<qint64> pragma(Database &database, const char *sql)
{
    const auto value = database.queryInt(sql);
    if (!value)
        return fail(value.error());
    return value->value_or(0);
}

Result<void> checkOursOrEmpty(Database &database)
{
    const auto application = pragma(database, "PRAGMA application_id");
    if (!application)
        return fail(application.error());
    const auto tables = pragma(database, "SELECT count(*) FROM sqlite_schema");
    if (!tables)
        return fail(tables.error());
    if (*application != journalApplicationId && (*application != 0 || *tables != 0))
        return fail(notAJournal(database.path()));
    return {};
}

} // namespace

std::span<const Migration> journalMigrations()
{
    return migrations;
}

int currentSchemaVersion()
{
    return migrations.back().version;
}

Result<void> checkHeader(const QString &path, int newest)
{
    static constexpr qint64 headerSize = 100;
    static constexpr qint64 versionAt = 60;
    static constexpr qint64 applicationAt = 68;
    QFile file(path);
    if (!file.exists() || !file.open(QIODevice::ReadOnly))
        return {}; // opening it as a database says what is wrong
    const QByteArray header = file.read(headerSize);
    if (header.size() < headerSize || !header.startsWith("SQLite format 3"))
        return {};
    if (qFromBigEndian<quint32>(header.constData() + applicationAt) != journalApplicationId)
        return {};
    const auto version = qFromBigEndian<qint32>(header.constData() + versionAt);
    if (version > newest)
        return fail(tooNew(path, version, newest));
    return {};
}

Result<void> migrate(Database &database, std::span<const Migration> steps)
{
    const int newest = steps.back().version;
    for (const Migration &step : steps) {
        auto transaction = Transaction::begin(database);
        if (!transaction)
            return fail(transaction.error());
        // All is read inside the transaction: another process may make or migrate the journal at the same moment.
        if (auto ours = checkOursOrEmpty(database); !ours)
            return ours;
        const auto version = pragma(database, "PRAGMA user_version");
        if (!version)
            return fail(version.error());
        if (*version > newest)
            return fail(tooNew(database.path(), *version, newest));
        if (*version >= step.version)
            continue;
        const QByteArray mark = QByteArrayLiteral("PRAGMA application_id=") + QByteArray::number(journalApplicationId)
            + QByteArrayLiteral("; PRAGMA user_version=") + QByteArray::number(step.version);
        for (const char *sql : {step.sql, mark.constData()}) {
            if (auto done = database.exec(sql); !done)
                return done;
        }
        if (auto committed = transaction->commit(); !committed)
            return committed;
    }
    return {};
}

Result<void> checkReadable(Database &database, int newest)
{
    const auto application = pragma(database, "PRAGMA application_id");
    if (!application)
        return fail(application.error());
    const auto version = pragma(database, "PRAGMA user_version");
    if (!version)
        return fail(version.error());
    if (*version > newest)
        return fail(tooNew(database.path(), *version, newest));
    if (*application != journalApplicationId || *version < 1)
        return fail(notAJournal(database.path()));
    return {};
}

} // namespace paddock
