// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/journal/database.h"

#include <QFile>
#include <QUrl>

#include <sqlite3.h>

#include <cerrno>
#include <cstring>

namespace paddock {

namespace {

/// How long a statement waits for another process that writes.
constexpr int busyTimeoutMs = 5000;

Error makeError(const QString &path, int code, int systemErrno, const QString &detail)
{
    const int primary = code & 0xff;
    const bool noRoom = systemErrno == ENOSPC || systemErrno == EDQUOT || systemErrno == EFBIG;
    Error error;
    error.details = Json{{"sqlite", code}, {"path", toUtf8(path)}};
    if (primary == SQLITE_FULL || (primary == SQLITE_IOERR && noRoom)) {
        error.code = ErrorCode::ResourceExhausted;
        error.message = QStringLiteral("There is no room left to write %1. Free some space on that disk (or raise its quota).").arg(path);
    } else if (primary == SQLITE_READONLY || primary == SQLITE_PERM) {
        error.code = ErrorCode::PermissionDenied;
        error.message = QStringLiteral("%1 cannot be written: it or its folder is read-only. Change the permissions, or choose another data folder.").arg(path);
    } else if (primary == SQLITE_CANTOPEN) {
        error.code = ErrorCode::PermissionDenied;
        error.message = QStringLiteral("%1 cannot be opened (%2). Check that its folder exists and may be read and written.")
                            .arg(path, systemErrno ? QString::fromLocal8Bit(std::strerror(systemErrno)) : detail);
    } else if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB) {
        error.code = ErrorCode::DataLoss;
        error.message = QStringLiteral("%1 is damaged or not a journal (%2). It is left as it is; move it elsewhere to start a new one.").arg(path, detail);
    } else if (primary == SQLITE_BUSY || primary == SQLITE_LOCKED) {
        error.code = ErrorCode::Unavailable;
        error.message = QStringLiteral("%1 is kept locked by another program. Close the other program; saving is tried again by itself.").arg(path);
    } else if (primary == SQLITE_NOMEM) {
        error.code = ErrorCode::ResourceExhausted;
        error.message = QStringLiteral("There is not enough memory to work on %1.").arg(path);
    } else {
        error.code = ErrorCode::Io;
        error.message = QStringLiteral("Working on %1 went wrong: %2%3.")
                            .arg(path, detail, systemErrno ? QStringLiteral(" (%1)").arg(QString::fromLocal8Bit(std::strerror(systemErrno))) : QString());
    }
    return error;
}

Error errorOf(sqlite3 *db, const QString &path, int code)
{
    if (!db)
        return makeError(path, code, errno, QString::fromUtf8(sqlite3_errstr(code)));
    return makeError(path, code, sqlite3_system_errno(db), QString::fromUtf8(sqlite3_errmsg(db)));
}

} // namespace

void Database::Closer::operator()(sqlite3 *db) const
{
    sqlite3_close_v2(db);
}

Result<Database> Database::open(const QString &path, Mode mode)
{
    QUrl url = QUrl::fromLocalFile(path); // a URI, so that no character of the path is special
    url.setQuery(mode == Mode::ReadWrite ? QStringLiteral("mode=rwc")
                 : mode == Mode::ReadOnly ? QStringLiteral("mode=ro")
                                          : QStringLiteral("mode=ro&immutable=1"));
    const int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX
        | (mode == Mode::ReadWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY);
    sqlite3 *raw = nullptr;
    errno = 0;
    const int code = sqlite3_open_v2(url.toEncoded(QUrl::FullyEncoded).constData(), &raw, flags, nullptr);
    Database database;
    database.m_path = path;
    database.m_db.reset(raw);
    if (code != SQLITE_OK)
        return fail(errorOf(raw, path, code));
    sqlite3_extended_result_codes(raw, 1);
    sqlite3_busy_timeout(raw, busyTimeoutMs);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    if (mode != Mode::ReadWrite)
        sqlite3_db_config(raw, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    return database;
}

Result<void> Database::exec(const char *sql)
{
    const int code = sqlite3_exec(m_db.get(), sql, nullptr, nullptr, nullptr);
    if (code != SQLITE_OK)
        return fail(error(code));
    return {};
}

Result<Statement> Database::prepare(const char *sql)
{
    sqlite3_stmt *raw = nullptr;
    const int code = sqlite3_prepare_v3(m_db.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
    if (code != SQLITE_OK)
        return fail(error(code));
    Statement statement;
    statement.m_statement.reset(raw);
    statement.m_path = m_path;
    return statement;
}

Result<std::optional<qint64>> Database::queryInt(const char *sql)
{
    auto statement = prepare(sql);
    if (!statement)
        return fail(statement.error());
    const auto row = statement->step();
    if (!row)
        return fail(row.error());
    if (!*row || statement->isNull(0))
        return std::nullopt;
    return statement->integer(0);
}

int Database::changes() const
{
    return sqlite3_changes(m_db.get());
}

qint64 Database::lastInsertId() const
{
    return sqlite3_last_insert_rowid(m_db.get());
}

Error Database::error(int code) const
{
    return errorOf(m_db.get(), m_path, code);
}

void Statement::Finalizer::operator()(sqlite3_stmt *statement) const
{
    sqlite3_finalize(statement);
}

Error Statement::error(int code) const
{
    return errorOf(sqlite3_db_handle(m_statement.get()), m_path, code);
}

Statement &Statement::bind(int index, qint64 value)
{
    m_bindError |= sqlite3_bind_int64(m_statement.get(), index, value);
    return *this;
}

Statement &Statement::bind(int index, const QString &value)
{
    return bindText(index, value.toUtf8());
}

Statement &Statement::bindText(int index, const QByteArray &utf8)
{
    m_bindError |= sqlite3_bind_text64(m_statement.get(), index, utf8.constData(), sqlite3_uint64(utf8.size()),
                                       SQLITE_TRANSIENT, SQLITE_UTF8);
    return *this;
}

Statement &Statement::bindBlob(int index, const QByteArray &value)
{
    m_bindError |= sqlite3_bind_blob64(m_statement.get(), index, value.constData(), sqlite3_uint64(value.size()), SQLITE_TRANSIENT);
    return *this;
}

Statement &Statement::bindNull(int index)
{
    m_bindError |= sqlite3_bind_null(m_statement.get(), index);
    return *this;
}

Result<bool> Statement::step()
{
    if (m_bindError != SQLITE_OK)
        return fail(error(std::exchange(m_bindError, SQLITE_OK)));
    const int code = sqlite3_step(m_statement.get());
    if (code == SQLITE_ROW)
        return true;
    if (code == SQLITE_DONE)
        return false;
    return fail(error(code));
}

Result<void> Statement::run()
{
    Result<bool> row = step();
    while (row && *row)
        row = step();
    Result<void> result;
    if (!row)
        result = fail(row.error());
    reset();
    return result;
}

void Statement::reset()
{
    sqlite3_reset(m_statement.get());
    sqlite3_clear_bindings(m_statement.get());
    m_bindError = SQLITE_OK;
}

bool Statement::isNull(int column) const
{
    return sqlite3_column_type(m_statement.get(), column) == SQLITE_NULL;
}

bool Statement::isBlob(int column) const
{
    return sqlite3_column_type(m_statement.get(), column) == SQLITE_BLOB;
}

qint64 Statement::integer(int column) const
{
    return sqlite3_column_int64(m_statement.get(), column);
}

QString Statement::text(int column) const
{
    return QString::fromUtf8(bytes(column));
}

QByteArray Statement::bytes(int column) const
{
    const void *data = sqlite3_column_blob(m_statement.get(), column);
    return QByteArray(static_cast<const char *>(data), sqlite3_column_bytes(m_statement.get(), column));
}

Result<Transaction> Transaction::begin(Database &database)
{
    if (auto begun = database.exec("BEGIN IMMEDIATE"); !begun)
        return fail(begun.error());
    return Transaction(&database);
}

Transaction::~Transaction()
{
    // SQLite may have rolled back by itself (disk full); a second ROLLBACK then only says so.
    if (m_database)
        (void)m_database->exec("ROLLBACK");
}

Result<void> Transaction::commit()
{
    if (auto committed = m_database->exec("COMMIT"); !committed)
        return committed; // the destructor rolls back
    m_database = nullptr;
    return {};
}

} // namespace paddock
