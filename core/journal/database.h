// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"

#include <QByteArray>
#include <QString>

#include <memory>
#include <optional>

struct sqlite3;
struct sqlite3_stmt;

namespace paddock {

class Statement;

/// One SQLite connection. Used by one thread at a time (opened without SQLite's own mutex); the owner sees to it.
/// Errors are sentences that name the file and what a person can do about it.
class Database
{
public:
    enum class Mode {
        ReadWrite, ///< creates the file
        ReadOnly,  ///< never writes, not even a checkpoint on closing
        Immutable, ///< for files on a medium where not even the shared-memory file can be made
    };
    static Result<Database> open(const QString &path, Mode mode);

    Database(Database &&) noexcept = default;
    Database &operator=(Database &&) noexcept = default;
    ~Database() = default;

    const QString &path() const { return m_path; }
    /// Runs one or more statements without results.
    Result<void> exec(const char *sql);
    Result<Statement> prepare(const char *sql);
    /// The first column of the first row; nullopt when there is no row.
    Result<std::optional<qint64>> queryInt(const char *sql);
    /// Rows changed by the latest statement.
    int changes() const;
    qint64 lastInsertId() const;

    /// The error for an SQLite result code on this connection.
    Error error(int code) const;

private:
    friend class Statement;
    struct Closer {
        void operator()(sqlite3 *db) const;
    };
    Database() = default;
    std::unique_ptr<sqlite3, Closer> m_db;
    QString m_path;
};

/// A prepared statement. Binding is 1-based like SQLite's; text and blobs are copied. Errors of binding surface in the
/// next step. Must not outlive its Database.
class Statement
{
public:
    Statement &bind(int index, qint64 value);
    Statement &bind(int index, const QString &value);
    Statement &bindBlob(int index, const QByteArray &value);
    /// UTF-8 bytes stored as text.
    Statement &bindText(int index, const QByteArray &utf8);
    Statement &bindNull(int index);

    /// True while there is a row.
    Result<bool> step();
    /// Steps to the end and resets, for statements without results.
    Result<void> run();
    /// Ready for the next binding; forgets the old ones.
    void reset();

    bool isNull(int column) const;
    bool isBlob(int column) const;
    qint64 integer(int column) const;
    QString text(int column) const;
    QByteArray bytes(int column) const;

private:
    friend class Database;
    struct Finalizer {
        void operator()(sqlite3_stmt *statement) const;
    };
    std::unique_ptr<sqlite3_stmt, Finalizer> m_statement;
    QString m_path; ///< for errors
    int m_bindError = 0;
    Error error(int code) const;
};

/// BEGIN IMMEDIATE … COMMIT; rolls back when it ends uncommitted.
class Transaction
{
public:
    static Result<Transaction> begin(Database &database);
    Transaction(Transaction &&other) noexcept : m_database(std::exchange(other.m_database, nullptr)) {}
    Transaction &operator=(Transaction &&) = delete;
    ~Transaction();
    Result<void> commit();

private:
    explicit Transaction(Database *database) : m_database(database) {}
    Database *m_database;
};

} // namespace paddock
