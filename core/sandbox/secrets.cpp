// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandbox/secrets.h"

#include "core/base/text.h"

#include <QRegularExpression>
#include <QStringList>

#include <algorithm>
#include <array>

namespace paddock {

namespace {

constexpr std::array<const char *, 6> privateKeys{"secrets", "__active_skill_secrets", "__slash_skill_secret_source",
                                                  "__skill_secrets_binding_audit", "__slash_skill_activation_run",
                                                  "__skill_tool_policy_decision"};

bool callsLarkCli(const QString &command)
{
    static const QRegularExpression word(QStringLiteral("(?<![\\w./-])(?:[\\w./-]*/)?lark-cli(?![\\w.-])"));
    return command.contains(QLatin1String("lark-cli")) && word.match(command).hasMatch();
}

} // namespace

QMap<QString, QString> secretOverlay(const Json &context, const QString &command, const SecretSources &sources)
{
    QMap<QString, QString> env;
    const Json &active = memberOf(context, "__active_skill_secrets");
    if (active.is_object()) {
        for (const auto &[name, value] : active.items()) {
            if (value.is_string())
                env.insert(QString::fromStdString(name), textOf(value));
        }
    }
    QString token = stringOf(context, "github_token");
    if (token.isEmpty() && sources.githubToken)
        token = sources.githubToken();
    if (!token.isEmpty()) {
        env.insert(QStringLiteral("GH_TOKEN"), token);
        env.insert(QStringLiteral("GITHUB_TOKEN"), token);
    }
    if (!sources.integrationEnv.isEmpty() && callsLarkCli(command))
        env.insert(sources.integrationEnv);
    return env;
}

QString maskSecrets(const QString &text, const QMap<QString, QString> &env)
{
    QStringList values;
    for (const QString &value : env) {
        if (codePointCount(value) >= minMaskedSecretChars)
            values << value;
    }
    std::stable_sort(values.begin(), values.end(), [](const QString &a, const QString &b) { return a.size() > b.size(); });
    QString masked = text;
    for (const QString &value : std::as_const(values))
        masked.replace(value, QStringLiteral("[redacted]"));
    return masked;
}

Json redactContext(const Json &context)
{
    if (!context.is_object())
        return context;
    Json kept = Json::object();
    for (const auto &[name, value] : context.items()) {
        if (std::none_of(privateKeys.begin(), privateKeys.end(), [&](const char *key) { return name == key; }))
            kept[name] = value;
    }
    return kept;
}

} // namespace paddock
