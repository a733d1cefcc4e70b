// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "tests/rooms/room_lists.h"

namespace paddock::rooms {
namespace {

QStringList words(const char *text)
{
    return QString::fromLatin1(text).simplified().split(u' ');
}

ArrowList makeArrows()
{
    ArrowList list;
    const auto core = [&list](const char *room, const char *to) {
        for (const QString &target : words(to))
            list[QStringLiteral("core/") + QLatin1StringView(room)] += QStringLiteral("core/") + target;
    };
    core("lease", "base");
    core("message", "base");
    core("config", "base");
    core("wire", "base");
    core("term", "base");
    core("event", "message base");
    core("journal", "event message base");
    core("llm", "message base");
    core("sandbox", "lease wire event base");
    core("sandboxd", "wire base");
    core("tool", "sandbox event message base");
    core("mcp", "tool base");
    core("skill", "sandbox base");
    core("middleware", "tool skill llm sandbox event message base");
    core("agent", "middleware tool skill llm lease event message base");
    core("run", "agent middleware tool mcp skill llm sandbox lease journal config event message base");

    for (const QString &panel : words("run trace lease shell workspace approval settings")) {
        list[QStringLiteral("ui/") + panel] =
            words("ui/store ui/paint ui/text ui/action ui/dock core/run core/event core/message core/base");
    }
    list[QStringLiteral("ui/shell")] += QStringLiteral("core/term"); // it paints what a terminal holds
    list[QStringLiteral("ui/store")] = words("core/event core/message core/base");
    list[QStringLiteral("ui/text")] = words("core/base");   // the difference of two texts
    list[QStringLiteral("ui/paint")] = words("core/base");  // spans of time as words
    list[QStringLiteral("ui/action")] = words("ui/paint");  // icons and colours of the palette
    list[QStringLiteral("ui/dock")] = words("ui/paint");    // tabs and colours of the docks

    list[QStringLiteral("app")] = words("ui/run ui/trace ui/lease ui/shell ui/workspace ui/approval ui/settings ui/store ui/paint ui/text "
                                        "ui/action ui/dock core/run core/sandboxd core/config "
                                        "core/event core/message core/base"); // the command line prints events and errors, and knows ids
    return list;
}

} // namespace

const ArrowList &allowedArrows()
{
    static const ArrowList list = makeArrows();
    return list;
}

const QList<ThirdParty> &thirdParties()
{
    static const QList<ThirdParty> list{
        {QStringLiteral("QCoro"), words("core/base tests"), QStringLiteral("a test may wait for a task with QCoro::waitFor")},
        {QStringLiteral("qcoro"), words("core/base tests"), {}},
        {QStringLiteral("yaml-cpp/"), words("core/base"), {}},
        {QStringLiteral("sqlite3"), words("core/journal tests/core/journal"), QStringLiteral("a test breaks a database on purpose")},
        {QStringLiteral("zstd"), words("core/journal"), {}},
        {QStringLiteral("microhttpd"), words("core/sandboxd tests/support"), {}},
        {QStringLiteral("QWebSocket"), words("core/sandbox/aio"), {}},
        {QStringLiteral("seccomp"), words("core/sandboxd"), {}},
        {QStringLiteral("qt6keychain/"), words("core/run"), {}},
        {QStringLiteral("vterm"), words("core/term tests/bench"), QStringLiteral("the benchmark's peer is libvterm's own screen")},
        {QStringLiteral("KSyntaxHighlighting/"), words("ui/text"), {}},
        {QStringLiteral("nlohmann/"), words("core/base/json.h cmake"), QStringLiteral("cmake/ has the precompiled headers")},
    };
    return list;
}

const QStringList &handedOn()
{
    static const QStringList list{
        QStringLiteral("core/base/task.h"), // Task<T> is QCoro's task under our name: an alias needs the header
        QStringLiteral("core/base/json.h"), // Json is a value of every room; the alias fixes its template arguments
    };
    return list;
}

const QList<Exemption> &exemptions()
{
    static const QList<Exemption> list{
        {QStringLiteral("nested-loop"), QStringLiteral("core/run/doctor.cpp"), QStringLiteral("waitForFinished"),
         QStringLiteral("`paddock doctor` asks one program after another before there is a loop")},
        {QStringLiteral("nested-loop"), QStringLiteral("core/sandbox/backend/embedded_backend.cpp"), QStringLiteral("waitForFinished"),
         QStringLiteral("a trial on a pool thread, which has no loop")},
        {QStringLiteral("nested-loop"), QStringLiteral("core/sandbox/backend/supervised_process.cpp"), QStringLiteral("waitForFinished"),
         QStringLiteral("the destructor reaps what it killed")},
        {QStringLiteral("connects"), QStringLiteral("core/base/loop.cpp"), QStringLiteral("DirectConnection"),
         QStringLiteral("a thread's own signal, to run something in the thread itself")},
        {QStringLiteral("class-size"), QStringLiteral("app/main_window.h"), QStringLiteral("MainWindow"),
         QStringLiteral("one function for each command of the menu; it decides nothing")},
        {QStringLiteral("class-size"), QStringLiteral("core/run/run_service.h"), QStringLiteral("RunService"),
         QStringLiteral("the facade of core; the window and the command line see nothing else of it")},
        {QStringLiteral("class-size"), QStringLiteral("core/sandbox/sandbox.h"), QStringLiteral("Sandbox"),
         QStringLiteral("what every kind of sandbox must be able to do; the shells have defaults")},
        {QStringLiteral("class-size"), QStringLiteral("core/wire/field_reader.h"), QStringLiteral("FieldReader"),
         QStringLiteral("one verb for each type of member, required, optional or with a default")},
    };
    return list;
}

const QStringList &guiHeaders()
{
    static const QStringList list =
        words("QAccessible QAction QActionGroup QApplication QBitmap QBrush QClipboard QCloseEvent QColor QCursor QDesktopServices QDrag "
              "QFont QFontDatabase QFontMetrics QFontMetricsF QGuiApplication QIcon QImage QImageReader QImageWriter QKeyEvent "
              "QKeySequence QMouseEvent QMovie QPaintDevice QPaintEvent QPainter QPainterPath QPalette QPen QPicture QPixmap "
              "QPixmapCache QPolygon QRegion QScreen QShortcut QStandardItemModel QStyleHints QSyntaxHighlighter QTextBlock QTextCursor "
              "QTextDocument QTextDocumentFragment QTextLayout QTextOption QTransform QUndoStack QValidator QVector2D QWheelEvent "
              "QWindow QAbstractButton QAbstractItemView QAbstractScrollArea QBoxLayout QButtonGroup QCheckBox QComboBox QCompleter "
              "QDialog QDialogButtonBox QDockWidget QErrorMessage QFileDialog QFormLayout QFrame QGraphicsView QGridLayout QGroupBox "
              "QHBoxLayout QHeaderView QInputDialog QLabel QLayout QLineEdit QListView QListWidget QMainWindow QMenu QMenuBar "
              "QMessageBox QPlainTextEdit QProgressBar QPushButton QRadioButton QScrollArea QScrollBar QSlider QSpinBox QSplitter "
              "QStackedWidget QStatusBar QStyle QStyledItemDelegate QSvgRenderer QSystemTrayIcon QTabBar QTabWidget QTableView "
              "QTextBrowser QTextEdit QToolBar QToolButton QToolTip QTreeView QTreeWidget QVBoxLayout QWidget QWidgetAction");
    return list;
}

const QStringList &virtualHomes()
{
    static const QStringList list = words("gem "          // the user inside an AIO sandbox
                                          "user me u");   // examples of tests and cases
    return list;
}

const QStringList &knownHosts()
{
    static const QStringList list = words("www.apache.org "                                  // the licence's own address
                                          "example.com example.org example.net e.com "       // examples
                                          "host.docker.internal containers.internal "        // names that container engines give the host
                                          "8.8.8.8 169.254.1.1 10.0.0.8 ");                  // addresses of cases about private networks
    return list;
}

} // namespace paddock::rooms
