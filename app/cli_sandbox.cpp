// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "app/cli.h"
#include "app/unix_signals.h"
#include "core/run/sandbox_serve.h"

#include <QCoreApplication>

namespace paddock::cli {

namespace {

/// Serves until a signal or until the server ends by itself.
int serveUntilAsked(const ServedSandbox::Options &options)
{
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
        return started.error().code == ErrorCode::Unsupported ? Failed : exitCodeOf(started.error()); // no bubblewrap is the machine's fault
    }
    QCoreApplication::exec();
    return exit;
}

int serve(const QStringList &arguments)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(QStringLiteral(
        "Serves an embedded sandbox to any AIO client, without a container engine. The folder appears inside as\n"
        "/mnt/user-data/workspace. Ctrl-C ends it and everything in it."));
    const QCommandLineOption listen(QStringLiteral("listen"), QStringLiteral("127.0.0.1:PORT (0 picks one) or unix:PATH."), QStringLiteral("WHERE"), QStringLiteral("127.0.0.1:0"));
    const QCommandLineOption workspace({QStringLiteral("w"), QStringLiteral("workspace")}, QStringLiteral("Folder to work on."), QStringLiteral("DIR"), QStringLiteral("."));
    const QCommandLineOption token(QStringLiteral("token-file"), QStringLiteral("File whose first line is the API key that clients must send."), QStringLiteral("FILE"));
    const QCommandLineOption sessions(QStringLiteral("max-shell-sessions"), QStringLiteral("Shell sessions at once."), QStringLiteral("N"), QStringLiteral("64"));
    const QCommandLineOption network(QStringLiteral("network"), QStringLiteral("none (default) or host."), QStringLiteral("KIND"), QStringLiteral("none"));
    const CommandForm form{QStringLiteral("paddock sandbox serve"), 0, 0,
                           QStringLiteral("  paddock sandbox serve --workspace ~/project\n"
                                          "  paddock sandbox serve --listen unix:/run/user/1000/box.sock\n"
                                          "  paddock sandbox serve --listen 127.0.0.1:8080 --token-file ~/box.token\n"
                                          "  curl -H \"X-AIO-API-Key: $(head -n 1 ~/box.token)\" -d '{\"command\": \"pwd\"}' http://127.0.0.1:8080/v1/shell/exec"),
                           {listen, workspace, token, sessions, network}};
    if (const auto over = parseOptions(parser, form, arguments))
        return *over;
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

    return serveUntilAsked(options);
}

} // namespace

int sandbox(const QStringList &arguments)
{
    if (arguments.value(0) == u"serve")
        return serve(arguments.mid(1));
    const QString verb = arguments.value(0);
    if (verb.isEmpty() || verb == u"--help" || verb == u"-h") {
        (verb.isEmpty() ? say : print)(QStringLiteral(
            "Usage: paddock sandbox serve [--listen 127.0.0.1:PORT|unix:PATH] [--workspace DIR] [--token-file FILE]\n"
            "A local AIO sandbox for any AIO client. Try: paddock sandbox serve --help"));
        return verb.isEmpty() ? Usage : Done;
    }
    say(QStringLiteral("paddock sandbox: there is no '%1'; the only one is serve. Try: paddock sandbox serve --help").arg(verb));
    return Usage;
}

} // namespace paddock::cli
