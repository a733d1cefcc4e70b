// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "app/cli.h"
#include "core/base/nearest.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace paddock::cli {

namespace {

int outputErrno = 0; // the first failure of standard output; nothing is written after it

bool put(std::FILE *to, const QString &line)
{
    const QByteArray bytes = line.toUtf8() + '\n';
    return std::fwrite(bytes.constData(), 1, size_t(bytes.size()), to) == size_t(bytes.size()) && std::fflush(to) == 0;
}

/// Qt's text, with the command as people type it, examples and exit codes.
QString helpOf(const QCommandLineParser &parser, const CommandForm &form)
{
    QString text = parser.helpText();
    const qsizetype options = text.indexOf(QLatin1String(" [options]"));
    if (text.startsWith(QLatin1String("Usage: ")) && options > 0)
        text.replace(0, options, QStringLiteral("Usage: ") + form.command);
    text = text.trimmed();
    if (!form.examples.isEmpty())
        text += QStringLiteral("\n\nExamples:\n") + form.examples;
    return text + QStringLiteral("\n\nExit codes: 0 done, 1 failed, 2 wrong usage or configuration, 130 cancelled.");
}

QString complaintOf(const QCommandLineParser &parser, const CommandForm &form)
{
    const QStringList unknown = parser.unknownOptionNames();
    if (unknown.isEmpty()) {
        QString text = parser.errorText();
        while (text.endsWith(QLatin1Char('.')))
            text.chop(1);
        return text;
    }
    const auto dashed = [](const QString &name) { return (name.size() > 1 ? QStringLiteral("--") : QStringLiteral("-")) + name; };
    QStringList known{QStringLiteral("help")};
    for (const QCommandLineOption &option : form.options)
        known += option.names();
    const QString near = nearestWord(unknown.constFirst(), known);
    return QStringLiteral("there is no option %1").arg(dashed(unknown.constFirst()))
        + (near.isEmpty() ? QString() : QStringLiteral("; did you mean %1?").arg(dashed(near)));
}

} // namespace

int exitCodeOf(const Error &error)
{
    switch (error.code) {
    case ErrorCode::Internal:
    case ErrorCode::Io:
    case ErrorCode::Unavailable:
    case ErrorCode::ResourceExhausted:
    case ErrorCode::DataLoss: return Failed;
    default: return Usage;
    }
}

void say(const QString &line)
{
    put(stderr, line);
}

void print(const QString &line)
{
    if (outputErrno == 0 && !put(stdout, line))
        outputErrno = errno == 0 ? EIO : errno;
}

QString outputProblem()
{
    return outputErrno == 0 || outputErrno == EPIPE ? QString() : QString::fromLocal8Bit(std::strerror(outputErrno));
}

/// Of our own: with Qt's comes --help-all, which would promise more than there is.
QCommandLineOption helpOption()
{
    return QCommandLineOption({QStringLiteral("h"), QStringLiteral("help")}, QStringLiteral("Displays this help."));
}

QCommandLineOption configOption()
{
    return QCommandLineOption({QStringLiteral("c"), QStringLiteral("config")},
                              QStringLiteral("Configuration file; default: $DEER_FLOW_CONFIG_PATH, else ./config.yaml, else paddock/config.yaml in "
                                             "$XDG_CONFIG_HOME (~/.config), else built-in values."),
                              QStringLiteral("FILE"));
}

QCommandLineOption dataDirOption()
{
    return QCommandLineOption(QStringLiteral("data-dir"),
                              QStringLiteral("Where journal and threads are kept; default: paddock in $XDG_DATA_HOME (~/.local/share)."),
                              QStringLiteral("DIR"));
}

QString complaintOfValues(const QCommandLineParser &parser, const QList<QCommandLineOption> &options)
{
    for (const QCommandLineOption &option : options) {
        if (option.valueName().isEmpty() || !parser.isSet(option))
            continue;
        const QString name = QStringLiteral("--") + option.names().constLast();
        const QStringList values = parser.values(option);
        if (values.size() > 1)
            return QStringLiteral("%1 takes one value, but is given %2 times").arg(name).arg(values.size());
        const bool folder = option.valueName() == u"DIR";
        if ((folder || option.valueName() == u"FILE") && values.constFirst().isEmpty())
            return QStringLiteral("%1 is empty; name a %2, or leave the option out").arg(name, folder ? QStringLiteral("folder") : QStringLiteral("file"));
    }
    return {};
}

std::optional<int> parseOptions(QCommandLineParser &parser, const CommandForm &form, const QStringList &arguments)
{
    const QCommandLineOption help = helpOption();
    parser.addOption(help);
    parser.addOptions(form.options);
    const bool understood = parser.parse(QStringList{form.command} + arguments);
    if (parser.isSet(help)) {
        print(helpOf(parser, form));
        return Done;
    }
    const qsizetype given = parser.positionalArguments().size();
    QString complaint;
    if (!understood)
        complaint = complaintOf(parser, form);
    else if (const QString wrong = complaintOfValues(parser, form.options); !wrong.isEmpty())
        complaint = wrong;
    else if (given > form.mostArguments)
        complaint = QStringLiteral("'%1' is one argument too many").arg(parser.positionalArguments().at(form.mostArguments));
    else if (given < form.fewestArguments)
        complaint = QStringLiteral("an argument is missing");
    if (complaint.isEmpty())
        return std::nullopt;
    const QString end = complaint.endsWith(QLatin1Char('?')) ? QStringLiteral(" ") : QStringLiteral(". ");
    say(QStringLiteral("%1: %2%3Try: %1 --help").arg(form.command, complaint, end));
    return Usage;
}

} // namespace paddock::cli
