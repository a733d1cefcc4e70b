// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "app/cli.h"
#ifdef PADDOCK_GUI
#include "app/gui.h"
#endif
#include "core/base/nearest.h"

#include <QCoreApplication>
#include <QHash>
#include <QLoggingCategory>
#include <QStringConverter>

#include <cerrno>
#include <fcntl.h>
#include <functional>
#include <optional>

using namespace paddock;

namespace {

const char *const helpText = R"(Paddock runs and supervises agents on this machine.

Usage:
  paddock [--open RUN | --sample]          open the window
  paddock run [OPTIONS] "TASK"             run without a window: progress on stderr, the answer on stdout
  paddock show [RUN]                       list runs, or tell what happened in one
  paddock export RUN --format FORMAT       jsonl, markdown or otlp
  paddock scenario list|check FILE         the scripted models that come along, and a check of your own
  paddock chain [--agent lead|subagent]    the middleware chain: who stands where, its hooks and settings
  paddock sandbox serve [OPTIONS]          a local AIO sandbox for any AIO client
  paddock doctor                           check this machine and say what to do

Try this first (no key and no network needed; the model is scripted, everything else is real):
  paddock run --scenario survey --workspace .

Every command explains itself with --help.
Exit codes: 0 done, 1 failed (also: no display for the window), 2 wrong usage or configuration, 130 cancelled.
)";

/// A closed standard stream would hand its number to the next file or socket, and our lines would be written into that.
void openStandardStreams()
{
    for (int fd = 0; fd < 3; ++fd) {
        if (::fcntl(fd, F_GETFD) == -1 && errno == EBADF)
            (void)::open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY); // takes the lowest free number, which is this one
    }
}

/// Qt's strings cannot carry bytes that are not UTF-8: such a name would be looked for under another one.
std::optional<QString> notUtf8(const char *argument)
{
    QStringDecoder decoder(QStringDecoder::Utf8, QStringConverter::Flag::Stateless);
    const QString text = decoder.decode(QByteArrayView(argument));
    if (!decoder.hasError())
        return std::nullopt;
    QString shown;
    for (const char c : QByteArrayView(argument)) {
        const auto byte = static_cast<unsigned char>(c);
        shown += byte >= 0x20 && byte < 0x7f ? QString(QLatin1Char(c)) : QStringLiteral("\\x%1").arg(uint(byte), 2, 16, QLatin1Char('0'));
    }
    return shown;
}

} // namespace

int main(int argc, char **argv)
{
    openStandardStreams();
    QCoreApplication::setApplicationName(QStringLiteral("paddock"));
    QCoreApplication::setOrganizationName(QStringLiteral("paddock"));
    QCoreApplication::setApplicationVersion(QStringLiteral(PADDOCK_VERSION));
    QStringList arguments;
    for (int i = 1; i < argc; ++i)
        arguments.append(QString::fromLocal8Bit(argv[i]));
    for (int i = 1; i < argc; ++i) {
        if (const auto shown = notUtf8(argv[i])) {
            cli::say(QStringLiteral("paddock: the argument %1 is not UTF-8 text, so Paddock cannot use a file or folder of that name; rename it")
                         .arg(*shown));
            return cli::Usage;
        }
    }

    static const QHash<QString, int (*)(const QStringList &)> commands = {
        {QStringLiteral("run"), cli::run},           {QStringLiteral("show"), cli::show},
        {QStringLiteral("export"), cli::exportRun},  {QStringLiteral("scenario"), cli::scenario},
        {QStringLiteral("sandbox"), cli::sandbox},   {QStringLiteral("doctor"), cli::doctor},
        {QStringLiteral("chain"), cli::chain},
    };
    const QString first = arguments.value(0);
    if (first == u"--help" || first == u"-h" || first == u"help") {
        cli::print(QString::fromUtf8(helpText).trimmed());
        return cli::Done;
    }
    if (first == u"--version" || first == u"-v") {
        cli::print(QStringLiteral("paddock " PADDOCK_VERSION));
        return cli::Done;
    }
    if (const auto command = commands.constFind(first); command != commands.constEnd()) {
        QCoreApplication app(argc, argv);
        return (*command)(arguments.mid(1));
    }
    if (!first.isEmpty() && !first.startsWith(QLatin1Char('-'))) {
        const QString near = nearestWord(first, commands.keys());
        cli::say(QStringLiteral("paddock: there is no command '%1'%2 Try: paddock --help")
                     .arg(first, near.isEmpty() ? QStringLiteral(".") : QStringLiteral("; did you mean %1?").arg(near)));
        return cli::Usage;
    }
#ifdef PADDOCK_GUI
    return runWindow(argc, argv, arguments);
#else
    cli::say(QStringLiteral("paddock: this build has no window. Try: paddock run --scenario survey --workspace ."));
    return cli::Usage;
#endif
}
