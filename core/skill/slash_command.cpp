// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/skill/slash_command.h"

#include "core/base/text.h"

#include <QSet>

namespace paddock {

namespace {

bool isReserved(const QString &name)
{
    static const QSet<QString> words{QStringLiteral("bootstrap"), QStringLiteral("goal"), QStringLiteral("help"), QStringLiteral("memory"),
                                     QStringLiteral("models"), QStringLiteral("new"), QStringLiteral("status")};
    return words.contains(name);
}

bool isWordCharacter(QChar c)
{
    return (c >= u'a' && c <= u'z') || (c >= u'0' && c <= u'9');
}

/// Where words of small letters and digits, joined by single hyphens, end.
qsizetype endOfName(const QString &text, qsizetype from)
{
    qsizetype at = from;
    while (at < text.size() && (isWordCharacter(text.at(at)) || (text.at(at) == u'-' && at > from && text.at(at - 1) != u'-')))
        ++at;
    return at;
}

bool isBlank(QChar c)
{
    return pythonStrip(QString(c)).isEmpty();
}

} // namespace

std::optional<SlashCommand> parseSlashCommand(const QString &text)
{
    if (!text.startsWith(u'/'))
        return std::nullopt;
    const qsizetype end = endOfName(text, 1);
    if (end == 1 || text.at(end - 1) == u'-' || (end < text.size() && !isBlank(text.at(end))))
        return std::nullopt;
    SlashCommand command{text.mid(1, end - 1), {}};
    if (isReserved(command.name))
        return std::nullopt;
    qsizetype rest = end;
    while (rest < text.size() && isBlank(text.at(rest)))
        ++rest;
    command.rest = text.mid(rest);
    return command;
}

} // namespace paddock
