// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "app/cli.h"
#include "app/unix_signals.h"
#include "core/run/sandbox_serve.h"

#include <QCommandLineParser>
#include <QCoreApplication>

namespace paddock::cli {

namespace {

int serve(const QStringList &arguments)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(QStringLiteral(
        "Serves an embedded sandbox to any AIO client, without a container engine. The folder appears inside as\n"
        "/mnt/user-data/workspace. Ctrl-C ends it and everything in it."));
    const QCommandLineOption help = parser.addHelpOption();
    const QCommandLineOption listen(QStringLiteral("listen"), QStringLiteral("127.0.0.1:PORT (0 picks one) or unix:PATH."), QStringLiteral("WHERE"), QStringLiteral("127.0.0.1:0"));
    const QCommandLineOption workspace({QStringLiteral("w"), QStringLiteral("workspace")}, QStringLiteral("Folder to work on."), QStringLiteral("DIR"), QStringLiteral("."));
    const QCommandLineOption token(QStringLiteral("token-file"), QStringLiteral("File whose first line is the API key that clients must send."), QStringLiteral("FILE"));
    const QCommandLineOption sessions(QStringLiteral("max-shell-sessions"), QStringLiteral("Shell sessions at once."), QStringLiteral("N"), QStringLiteral("64"));
    const QCommandLineOption network(QStringLiteral("network"), QStringLiteral("none (default) or host."), QStringLiteral("KIND"), QStringLiteral("none"));
    parser.addOptions({listen, workspace, token, sessions, network});
    if (!parser.parse(QStringList{QStringLiteral("paddock sandbox serve")} + arguments) || !parser.positionalArguments().isEmpty()) {
        say(QStringLiteral("paddock sandbox serve: %1. Try: paddock sandbox serve --help").arg(parser.errorText()));
        return Usage;
    }
    if (parser.isSet(help)) {
        print(parser.helpText());
        return Done;
    }
    ServedSandbox::Options options;
    options.listen = parser.value(listen);
    options.workspace = parser.value(workspace);
    options.tokenFile = parser.value(token);
    bool ok = false;
    options.maxShellSessions = parser.value(sessions).toInt(&ok);
    if (!ok || options.maxShellSessions < 1) {
        say(QStringLiteral("paddock sandbox serve: --max-shell-sessions takes a whole number above 0"));
        return Usage;
    }
    const QString kind = parser.value(network);
    if (kind != u"none" && kind != u"host") {
        say(QStringLiteral("paddock sandbox serve: --network is none or host"));
        return Usage;
    }
    options.hostNetwork = kind == u"host";
    if (options.hostNetwork)
        say(QStringLiteral("paddock: the sandbox shares this machine's network"));

    ServedSandbox sandbox(options);
    UnixSignals signals_;
    int exit = Done;
    int caught = 0;
    QObject::connect(&signals_, &UnixSignals::caught, &sandbox, [&](int) {
        exit = CancelledByPerson;
        if (++caught == 1)
            sandbox.stop();
    });
    QObject::connect(&sandbox, &ServedSandbox::ready, &sandbox, [&] { print(QStringLiteral("serving at %1").arg(sandbox.address())); });
    QObject::connect(&sandbox, &ServedSandbox::ended, &sandbox, [&](const QString &problem) {
        if (!problem.isEmpty()) {
            say(QStringLiteral("paddock: ") + problem);
            exit = Failed;
        }
        QCoreApplication::quit();
    });
    if (auto started = sandbox.start(); !started) {
        say(QStringLiteral("paddock: ") + started.error().fullMessage());
        return started.error().code == ErrorCode::InvalidArgument ? Usage : Failed;
    }
    QCoreApplication::exec();
    return exit;
}

} // namespace

int sandbox(const QStringList &arguments)
{
    if (arguments.value(0) == u"serve")
        return serve(arguments.mid(1));
    const bool asked = arguments.value(0) == u"--help" || arguments.value(0) == u"-h";
    (asked ? print : say)(QStringLiteral("Usage: paddock sandbox serve [--listen 127.0.0.1:PORT|unix:PATH] [--workspace DIR] [--token-file FILE]\n"
                                         "A local AIO sandbox for any AIO client. Try: paddock sandbox serve --help"));
    return asked ? Done : Usage;
}

} // namespace paddock::cli
