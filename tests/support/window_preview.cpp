// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// Shows the window over recorded events; with --grab FILE it writes a picture and ends. Not installed.
#include "app/main_window.h"
#include "app/window_panels.h"
#include "tests/support/sample_service.h"
#include "ui/paint/lane_view.h"
#include "ui/paint/theme.h"
#include "ui/trace/trace_panel.h"

#include <QApplication>
#include <QCommandLineParser>
#include <QTimer>
#include <QTranslator>

using namespace paddock;

int main(int argc, char **argv)
{
    QApplication app(argc, argv);
    QTranslator translator;
    if (translator.load(QStringLiteral(":/paddock/translations/paddock_en.qm")))
        QApplication::installTranslator(&translator);
    QCommandLineParser parser;
    for (const char *name : {"grab", "theme", "panel", "size", "large"})
        parser.addOption({QString::fromLatin1(name), {}, QStringLiteral("value")});
    for (const char *name : {"empty", "past", "all"})
        parser.addOption(QCommandLineOption(QString::fromLatin1(name)));
    parser.process(app);
    applyTheme(app, themeChoiceFromName(parser.value(QStringLiteral("theme"))));
    test::SampleService service;
    const qint64 now = Clock::system()->mono().count();
    if (!parser.isSet(QStringLiteral("empty"))) {
        service.store(test::makeSampleRun(QStringLiteral("yesterday1"), 1, 5'000'000, true), QStringLiteral("completed"));
        service.store(test::makeSampleRun(QStringLiteral("yesterday2"), 1, 5'000'000, false), QStringLiteral("failed"));
    }
    MainWindow::Options options;
    options.keepLayout = false;
    const QStringList size = parser.value(QStringLiteral("size")).split(u'x');
    options.size = size.size() == 2 ? QSize(size[0].toInt(), size[1].toInt()) : QSize(1600, 1000);
    MainWindow window(&service, options);
    window.show();
    if (parser.isSet(QStringLiteral("large")))
        service.play(test::makeLargeRun(QStringLiteral("large"), parser.value(QStringLiteral("large")).toInt(), 100));
    else if (parser.isSet(QStringLiteral("past")))
        window.openByName(QStringLiteral("yesterday1"));
    else if (!parser.isSet(QStringLiteral("empty")))
        service.play(test::makeSampleRun(QStringLiteral("r1"), 1000, now - test::SampleRun::length, false));
    QTimer::singleShot(300, &window, [&] {
        if (!window.selection()->run() && !parser.isSet(QStringLiteral("empty")) && window.hub()->count() > 0)
            window.selection()->set(window.hub()->find(window.hub()->entry(0).shown().id), AgentId(QString::fromLatin1(test::sampleC41f)));
        window.showPanel(parser.isSet(QStringLiteral("panel")) ? parser.value(QStringLiteral("panel")) : QStringLiteral("trace"));
        if (parser.isSet(QStringLiteral("all")))
            window.panels().trace->setAllUnfolded(true);
        RunStore *run = window.selection()->run();
        for (SpanIndex span = 0; run && span < run->trace().size(); ++span) {
            if (run->trace().laneOf(span).name == u"tool_output_budget" && (run->trace().flags(span) & SpanChanged))
                window.panels().trace->lanes()->select(span, false);
        }
    });
    if (parser.isSet(QStringLiteral("grab"))) {
        QTimer::singleShot(1500, &window, [&] {
            window.grab().save(parser.value(QStringLiteral("grab")));
            QApplication::exit(0);
        });
    }
    return QApplication::exec();
}
