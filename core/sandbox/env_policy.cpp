// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/env_policy.h"

#include <QSet>

#include <algorithm>
#include <array>

extern char **environ;

namespace paddock {

namespace {

constexpr auto secretParts = std::to_array<QStringView>({u"KEY", u"SECRET", u"TOKEN", u"PASS", u"CREDENTIAL", u"DSN"});
constexpr auto secretNames = std::to_array<QStringView>({
    u"DATABASE_URL", u"DATABASE_URI", u"REDIS_URL", u"MONGODB_URI", u"MONGO_URL", u"AMQP_URL", u"RABBITMQ_URL",
    u"POSTGRES_URL", u"POSTGRESQL_URL", u"MYSQL_URL", u"CLICKHOUSE_URL", u"CONNECTION_STRING", u"CONN_STR", u"GH_PAT",
    u"GITHUB_PAT", u"MYSQL_PWD", u"REDISCLI_AUTH", u"REDIS_AUTH", u"PGSERVICEFILE", u"SSH_AUTH_SOCK"});

/// Control characters as C escapes, as the text of §2.11 asks.
QString escapedName(const QString &name)
{
    QString out;
    for (const QChar c : name) {
        switch (c.unicode()) {
        case '\n': out += u"\\n"; break;
        case '\r': out += u"\\r"; break;
        case '\t': out += u"\\t"; break;
        default:
            if (c.unicode() < 0x20 || c.unicode() == 0x7f)
                out += QStringLiteral("\\x%1").arg(c.unicode(), 2, 16, QLatin1Char('0'));
            else
                out += c;
        }
    }
    return out;
}

} // namespace

bool isSecretEnvName(const QString &name)
{
    const QString upper = name.toUpper();
    return std::any_of(secretParts.begin(), secretParts.end(), [&](QStringView part) { return upper.contains(part); })
        || std::any_of(secretNames.begin(), secretNames.end(), [&](QStringView known) { return upper == known; });
}

QMap<QString, QString> buildCommandEnv(const QMap<QString, QString> &host, const QMap<QString, QString> &injected)
{
    QMap<QString, QString> env;
    for (auto it = host.cbegin(); it != host.cend(); ++it) {
        if (!isSecretEnvName(it.key()))
            env.insert(it.key(), it.value());
    }
    for (auto it = injected.cbegin(); it != injected.cend(); ++it)
        env.insert(it.key(), it.value());
    return env;
}

QMap<QString, QString> processEnv()
{
    QMap<QString, QString> env;
    for (char **entry = environ; entry && *entry; ++entry) {
        const QByteArray text(*entry);
        const qsizetype cut = text.indexOf('=');
        const QString value = QString::fromUtf8(text.mid(cut + 1));
        if (cut > 0 && value.toUtf8() == text.mid(cut + 1))
            env.insert(QString::fromUtf8(text.left(cut)), value);
    }
    return env;
}

Result<void> checkEnvName(const QString &name)
{
    const auto isStart = [](QChar c) { return (c >= u'a' && c <= u'z') || (c >= u'A' && c <= u'Z') || c == u'_'; };
    const bool ok = !name.isEmpty() && isStart(name.front()) && std::all_of(name.cbegin(), name.cend(), [&](QChar c) {
        return isStart(c) || (c >= u'0' && c <= u'9');
    });
    if (ok)
        return {};
    return fail(ErrorCode::InvalidArgument,
                QStringLiteral("extra_env key '%1' is not a valid POSIX environment variable name (must match "
                               "^[A-Za-z_][A-Za-z0-9_]*$). This protects shell-using sandbox implementations from command "
                               "injection via the key.").arg(escapedName(name)));
}

Result<void> checkEnvNames(const QMap<QString, QString> &env)
{
    for (auto it = env.cbegin(); it != env.cend(); ++it) {
        if (const auto ok = checkEnvName(it.key()); !ok)
            return ok;
        if (it.value().contains(QChar(0)))
            return fail(ErrorCode::InvalidArgument,
                        QStringLiteral("The value of the environment variable %1 contains a null character.").arg(it.key()));
    }
    return {};
}

} // namespace paddock
