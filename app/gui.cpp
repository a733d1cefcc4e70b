// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "app/gui.h"

#include "app/cli.h"
#include "app/display_guard.h"
#include "app/main_window.h"
#include "app/screenshot.h"
#include "core/run/run_service.h"
#include "ui/paint/theme.h"
#include "ui/settings/view_settings.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QIcon>
#include <QLocale>
#include <QRegularExpression>
#include <QTranslator>

namespace paddock {

namespace {

std::optional<QSize> sizeFrom(const QString &text)
{
    static const QRegularExpression form(QStringLiteral("^(\\d{3,5})x(\\d{3,5})$"));
    const auto match = form.match(text);
    return match.hasMatch() ? std::optional(QSize(match.captured(1).toInt(), match.captured(2).toInt())) : std::nullopt;
}

/// The person's language where we have it, else English with its plural forms.
void installTranslations(QApplication &app)
{
    auto *translator = new QTranslator(&app);
    if (translator->load(QLocale(), QStringLiteral("paddock"), QStringLiteral("_"), QStringLiteral(":/paddock/translations"))
        || translator->load(QStringLiteral("paddock_en"), QStringLiteral(":/paddock/translations")))
        QApplication::installTranslator(translator);
}

QList<QCommandLineOption> windowOptions()
{
    QList<QCommandLineOption> options;
    const auto option = [&](const char *name, const char *text, const char *value = nullptr) {
        const QString id = QString::fromLatin1(name);
        options.append(value ? QCommandLineOption(id, QString::fromLatin1(text), QString::fromLatin1(value))
                             : QCommandLineOption(id, QString::fromLatin1(text)));
    };
    option("open", "Show this run: its id, the beginning of it, or 'last'.", "run");
    option("sample", "Start the sample run at once.");
    option("scenario", "Start this scenario at once.", "name or file");
    option("task", "The task for the scenario.", "text");
    option("workspace", "The folder to work on.", "DIR");
    option("config", "Use this configuration file.", "FILE");
    option("data-dir", "Keep runs in this folder.", "DIR");
    option("theme", "dark or light; by default what the desktop says.", "name");
    option("size", "Size of the window, for example 1600x1000.", "WxH");
    option("screenshot", "Write a picture of the window and quit.", "file.png");
    option("panel", "Picture of this panel only.", "name");
    option("at", "Picture so many milliseconds after the run began, instead of at its end.", "ms");
    return options;
}

} // namespace

int runGui(int &argc, char **argv, const GuiOptions &options)
{
    if (qEnvironmentVariableIsEmpty("DISPLAY") && qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY")
        && qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) {
        if (options.screenshot.isEmpty()) { // Qt would abort
            cli::say(QStringLiteral("paddock: there is no display for the window (DISPLAY and WAYLAND_DISPLAY are not set). "
                                    "Without one: paddock run TASK, paddock show RUN; see paddock --help"));
            return cli::Failed;
        }
        qputenv("QT_QPA_PLATFORM", "offscreen"); // a picture needs no display
    }
    auto guard = std::make_unique<DisplayGuard>();
    QApplication app(argc, argv);
    guard.reset(); // what goes wrong from here on is not the display
    QApplication::setApplicationDisplayName(QStringLiteral("Paddock"));
    QApplication::setWindowIcon(QIcon::fromTheme(QStringLiteral("paddock"), QIcon::fromTheme(QStringLiteral("utilities-terminal"))));
    QApplication::setQuitOnLastWindowClosed(false);
    installTranslations(app);
    QSettings settings;
    const ThemeChoice theme = options.theme.isEmpty() ? ViewSettings::load(settings).theme : themeChoiceFromName(options.theme);
    applyTheme(app, theme);

    RunService::Options serviceOptions;
    serviceOptions.configPath = options.configPath;
    serviceOptions.dataDir = options.dataDir;
    auto service = RunService::open(serviceOptions);
    if (!service) {
        cli::say(QStringLiteral("paddock: %1").arg(service.error().fullMessage()));
        return cli::Usage;
    }
    int code = 0;
    {
        MainWindow::Options windowOptions;
        windowOptions.keepLayout = options.screenshot.isEmpty();
        windowOptions.size = options.size;
        MainWindow window(service->get(), windowOptions);
        std::unique_ptr<Screenshot> screenshot;
        if (!options.screenshot.isEmpty())
            screenshot = std::make_unique<Screenshot>(&window, options.screenshot, options.panel, options.momentMs,
                                                      !options.openRun.isEmpty() || options.sample || !options.scenario.isEmpty() || !options.task.isEmpty());
        window.show();
        if (!options.openRun.isEmpty()) {
            window.openByName(options.openRun);
        } else if (options.sample || !options.scenario.isEmpty()) {
            RunRequest request;
            request.scenario = options.scenario.isEmpty() ? QStringLiteral("survey") : options.scenario;
            request.task = options.task;
            request.workspace = options.workspace;
            window.start(request);
        } else if (!options.task.isEmpty()) {
            RunRequest request;
            request.task = options.task;
            request.workspace = options.workspace;
            window.start(request);
        }
        code = QApplication::exec();
    }
    return code;
}

int runWindow(int &argc, char **argv, const QStringList &arguments)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(QStringLiteral("Opens the window. See also: paddock --help"));
    const QList<QCommandLineOption> known = windowOptions();
    parser.addOptions(known);
    parser.addOption(cli::helpOption());
    if (!parser.parse(QStringList{QStringLiteral("paddock")} + arguments)) {
        cli::say(QStringLiteral("paddock: %1").arg(parser.errorText()));
        return cli::Usage;
    }
    if (parser.isSet(QStringLiteral("help"))) {
        cli::print(parser.helpText().trimmed());
        return cli::Done;
    }
    if (const QString wrong = cli::complaintOfValues(parser, known); !wrong.isEmpty()) {
        cli::say(QStringLiteral("paddock: %1. Try: paddock --help").arg(wrong));
        return cli::Usage;
    }
    GuiOptions options;
    options.openRun = parser.value(QStringLiteral("open"));
    options.sample = parser.isSet(QStringLiteral("sample"));
    options.scenario = parser.value(QStringLiteral("scenario"));
    options.task = parser.value(QStringLiteral("task"));
    options.workspace = parser.value(QStringLiteral("workspace"));
    options.configPath = parser.value(QStringLiteral("config"));
    options.dataDir = parser.value(QStringLiteral("data-dir"));
    options.theme = parser.value(QStringLiteral("theme"));
    options.screenshot = parser.value(QStringLiteral("screenshot"));
    options.panel = parser.value(QStringLiteral("panel"));
    if (!options.theme.isEmpty() && options.theme != u"dark" && options.theme != u"light" && options.theme != u"system") {
        cli::say(QStringLiteral("paddock: --theme is dark, light or system, not '%1'").arg(options.theme));
        return cli::Usage;
    }
    if (parser.isSet(QStringLiteral("size"))) {
        options.size = sizeFrom(parser.value(QStringLiteral("size")));
        if (!options.size) {
            cli::say(QStringLiteral("paddock: --size is WIDTHxHEIGHT, for example 1600x1000, not '%1'").arg(parser.value(QStringLiteral("size"))));
            return cli::Usage;
        }
    }
    if (parser.isSet(QStringLiteral("at"))) {
        bool number = false;
        options.momentMs = parser.value(QStringLiteral("at")).toInt(&number);
        if (!number || options.momentMs < 0) {
            cli::say(QStringLiteral("paddock: --at is a number of milliseconds, not '%1'").arg(parser.value(QStringLiteral("at"))));
            return cli::Usage;
        }
    }
    if (!options.panel.isEmpty() && !MainWindow::panelNames().contains(options.panel)) {
        cli::say(QStringLiteral("paddock: there is no panel '%1'. There are: %2").arg(options.panel, MainWindow::panelNames().join(QStringLiteral(", "))));
        return cli::Usage;
    }
    return runGui(argc, argv, options);
}

} // namespace paddock
