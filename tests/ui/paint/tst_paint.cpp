// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "tests/support/test_main.h"
#include "ui/paint/figures.h"
#include "ui/paint/lane_fold.h"
#include "ui/paint/lane_view.h"
#include "ui/paint/theme.h"

#include <QAccessible>
#include <QApplication>
#include <QSignalSpy>
#include <QTest>

namespace tst_paint {

using namespace paddock;

namespace {

/// Two rows; the second has many tiny spans.
class FixedSource : public LaneSource
{
public:
    FixedSource()
    {
        m_starts[0] = {0, 1000, 5000};
        m_ends[0] = {800, 4000, 9000};
        m_ids[0] = {0, 1, 2};
        for (int i = 0; i < 10'000; ++i) {
            m_starts[1].push_back(i);
            m_ends[1].push_back(i + 1);
            m_ids[1].push_back(quint32(100 + i));
        }
    }
    int rowCount() const override { return 2; }
    LaneRow row(int row) const override { return {m_starts[row], m_ends[row], m_ids[row]}; }
    LaneHeading heading(int row) const override
    {
        LaneHeading heading;
        heading.title = row == 0 ? QStringLiteral("first") : QStringLiteral("second");
        heading.expandable = row == 0;
        return heading;
    }
    BarLook look(quint32 id) const override { return {Tint::Tool, QString::number(id)}; }
    QString describe(quint32 id) const override { return QStringLiteral("span %1").arg(id); }
    qint64 now() const override { return 10'000; }

private:
    std::vector<qint64> m_starts[2];
    std::vector<qint64> m_ends[2];
    std::vector<quint32> m_ids[2];
};

} // namespace

class TestPaint : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void shortBarsSayNothing();
    void toolTipsAreNoMarkup();
    void foldKeepsWideSpans();
    void foldJoinsNarrowSpans();
    void foldCountsEverySpanOnce_data();
    void foldCountsEverySpanOnce();
    void foldCostsPixels();
    void openSpansEndNow();
    void spanAtFinds();
    void rangeFollowsAndFits();
    void figures_data();
    void figures();
    void rolesDifferFromBackground_data();
    void rolesDifferFromBackground();
    void viewKeys();
    void viewMouse();
    void viewIsAccessible();
    void viewPaints();
};

void TestPaint::shortBarsSayNothing()
{
    const QFontMetrics metrics{QFont()};
    const QString label = QStringLiteral("wrap_model_call");
    const int whole = metrics.horizontalAdvance(label);
    QCOMPARE(barLabel(metrics, label, whole + 1), label);
    QCOMPARE(barLabel(metrics, label, metrics.horizontalAdvance(QStringLiteral("wr…")) + 1), QString());
    QVERIFY(barLabel(metrics, label, whole * 3 / 4).startsWith(QStringLiteral("wrap_mo")));
    QCOMPARE(barLabel(metrics, QStringLiteral("3"), metrics.horizontalAdvance(u'3') + 1), QStringLiteral("3")); // whole, if short
    QCOMPARE(barLabel(metrics, label, 0), QString());
    QCOMPARE(barLabel(metrics, {}, 100), QString());
}

void TestPaint::toolTipsAreNoMarkup()
{
    QCOMPARE(plainToolTip(QStringLiteral("Debt\nid")), QStringLiteral("Debt\nid"));
    QVERIFY(!plainToolTip(QStringLiteral("<img src=\"/x\"> a")).contains(QStringLiteral("<img")));
}

void TestPaint::foldKeepsWideSpans()
{
    const std::vector<qint64> starts{0, 100, 200};
    const std::vector<qint64> ends{50, 150, 250};
    std::vector<LaneItem> items;
    foldTrack(starts, ends, 0, 300, 1.0, 1000, items);
    QCOMPARE(items.size(), size_t(3));
    QCOMPARE(items[1].x0, 100.0);
    QCOMPARE(items[1].x1, 150.0);
    items.clear();
    foldTrack(starts, ends, 60, 180, 1.0, 1000, items); // only what is in view
    QCOMPARE(items.size(), size_t(1));
    QCOMPARE(items[0].first, 1u);
}

void TestPaint::foldJoinsNarrowSpans()
{
    std::vector<qint64> starts;
    std::vector<qint64> ends;
    for (int i = 0; i < 100; ++i) {
        starts.push_back(i * 10);
        ends.push_back(i * 10 + 9);
    }
    starts.push_back(5000); // far away: not part of the fold
    ends.push_back(5009);
    std::vector<LaneItem> items;
    foldTrack(starts, ends, 0, 10'000, 0.1, 100'000, items);
    QCOMPARE(items.size(), size_t(2));
    QCOMPARE(items[0].count, 100u);
    QCOMPARE(items[1].first, 100u);
}

void TestPaint::foldCountsEverySpanOnce_data()
{
    QTest::addColumn<double>("scale");
    for (const double scale : {1e-6, 1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0})
        QTest::newRow(qPrintable(QString::number(scale))) << scale;
}

void TestPaint::foldCountsEverySpanOnce()
{
    QFETCH(double, scale);
    std::vector<qint64> starts;
    std::vector<qint64> ends;
    qint64 time = 0;
    quint32 random = 12345;
    for (int i = 0; i < 5000; ++i) {
        random = random * 1664525u + 1013904223u;
        time += random % 97;
        starts.push_back(time);
        time += (random >> 8) % (i % 100 == 0 ? 9000 : 60);
        ends.push_back(time);
    }
    std::vector<LaneItem> items;
    foldTrack(starts, ends, 0, time + 1, scale, time + 1, items);
    quint32 next = 0;
    for (const LaneItem &item : items) {
        QCOMPARE(item.first, next);
        next += item.count;
        QVERIFY(item.x1 >= item.x0);
    }
    QCOMPARE(next, 5000u);
}

void TestPaint::foldCostsPixels()
{
    constexpr int spans = 1'000'000;
    std::vector<qint64> starts(spans);
    std::vector<qint64> ends(spans);
    for (int i = 0; i < spans; ++i) {
        starts[size_t(i)] = i * 10;
        ends[size_t(i)] = i * 10 + 9;
    }
    for (const int width : {1600, 400}) {
        std::vector<LaneItem> items;
        foldTrack(starts, ends, 0, spans * 10ll, double(width) / (spans * 10.0), spans * 10ll, items);
        QVERIFY2(items.size() <= size_t(width), qPrintable(QString::number(items.size())));
    }
}

void TestPaint::openSpansEndNow()
{
    const std::vector<qint64> starts{0};
    const std::vector<qint64> ends{std::numeric_limits<qint64>::max()};
    std::vector<LaneItem> items;
    foldTrack(starts, ends, 0, 1000, 1.0, 400, items);
    QCOMPARE(items.size(), size_t(1));
    QCOMPARE(items[0].x1, 400.0);
}

void TestPaint::spanAtFinds()
{
    const std::vector<qint64> starts{0, 100, 200};
    const std::vector<qint64> ends{50, 150, 250};
    QCOMPARE(spanAt(starts, ends, 120, 0), 1);
    QCOMPARE(spanAt(starts, ends, 60, 5), -1);
    QCOMPARE(spanAt(starts, ends, 54, 5), 0);
    QCOMPARE(spanAt(starts, ends, 96, 5), 1);
    QCOMPARE(spanAt({}, {}, 1, 100), -1);
}

void TestPaint::rangeFollowsAndFits()
{
    TimeRange range;
    range.reset(0, 10'000'000, true);
    QVERIFY(range.begin() <= 0 && range.end() >= 10'000'000);
    range.setBounds(0, 200'000'000); // longer than the window that following shows
    QCOMPARE(range.end(), 200'000'000);
    QCOMPARE(range.length(), TimeRange::followWindow);
    range.pan(-50'000'000);
    QVERIFY(!range.isFollowing());
    const qint64 begin = range.begin();
    range.setBounds(0, 300'000'000);
    QCOMPARE(range.begin(), begin); // a reader is left in peace
    range.zoom(0.5, range.begin());
    QCOMPARE(range.length(), TimeRange::followWindow / 2);
    for (int i = 0; i < 200; ++i)
        range.zoom(0.5, range.begin());
    QCOMPARE(range.length(), TimeRange::shortest);
    range.fit();
    QVERIFY(range.begin() == 0 && range.end() >= 300'000'000);
}

void TestPaint::figures_data()
{
    QTest::addColumn<QString>("got");
    QTest::addColumn<QString>("wanted");
    QTest::newRow("us") << formatSpan(410) << "0.41 ms";
    QTest::newRow("ms") << formatSpan(12'000) << "12 ms";
    QTest::newRow("s") << formatSpan(7'900'000) << "7.9 s";
    QTest::newRow("min") << formatSpan(252'000'000) << "4:12";
    QTest::newRow("hours") << formatSpan(3'723'000'000) << "1:02:03";
    QTest::newRow("clock") << formatElapsed(12'999'999) << "12 s";
    QTest::newRow("before start") << formatElapsed(-5) << "0 s";
    QTest::newRow("tokens") << formatTokens(812) << "812";
    QTest::newRow("kilo") << formatTokens(9'400) << "9.4k";
    QTest::newRow("edge") << formatTokens(999'951) << "1.0M";
}

void TestPaint::figures()
{
    QFETCH(QString, got);
    QTEST(got, "wanted");
}

void TestPaint::rolesDifferFromBackground_data()
{
    QTest::addColumn<bool>("dark");
    QTest::newRow("dark") << true;
    QTest::newRow("light") << false;
}

void TestPaint::rolesDifferFromBackground()
{
    QFETCH(bool, dark);
    applyTheme(*qApp, dark ? ThemeChoice::Dark : ThemeChoice::Light);
    const QPalette palette = qApp->palette();
    QCOMPARE(isDark(palette), dark);
    const auto luminance = [](const QColor &c) {
        const auto part = [](double v) { return v <= 0.03928 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
        return 0.2126 * part(c.redF()) + 0.7152 * part(c.greenF()) + 0.0722 * part(c.blueF());
    };
    const auto contrast = [&](const QColor &a, const QColor &b) {
        const double x = luminance(a), y = luminance(b);
        return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
    };
    const QColor panel = themeColor(palette, Tint::Panel);
    QVERIFY(contrast(themeColor(palette, Tint::Text), panel) >= 7);
    for (const Tint text : {Tint::Dim, Tint::Ok, Tint::Warn, Tint::Error})
        QVERIFY2(contrast(themeColor(palette, text), panel) >= 3.9, qPrintable(QString::number(int(text))));
    for (const Tint bar : {Tint::Model, Tint::Tool, Tint::Hook, Tint::Queued, Tint::Waiting, Tint::Lease, Tint::Error})
        QVERIFY2(contrast(themeColor(palette, bar), panel) >= 2, qPrintable(QString::number(int(bar))));
}

void TestPaint::viewKeys()
{
    FixedSource source;
    TimeRange range;
    range.reset(0, 10'000, false);
    LaneView view(&range);
    view.resize(800, 300);
    view.setSource(&source);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    view.setFocus();
    QSignalSpy selected(&view, &LaneView::selectionChanged);
    QSignalSpy toggled(&view, &LaneView::rowToggled);
    QSignalSpy activated(&view, &LaneView::activated);
    QTest::keyClick(&view, Qt::Key_Right);
    QCOMPARE(view.selected(), 0u);
    QTest::keyClick(&view, Qt::Key_Right);
    QCOMPARE(view.selected(), 1u);
    QTest::keyClick(&view, Qt::Key_Down);
    QVERIFY(view.selected() >= 100);
    QTest::keyClick(&view, Qt::Key_Up);
    QVERIFY(view.selected() < 3);
    QCOMPARE(selected.count(), 4);
    QTest::keyClick(&view, Qt::Key_Space);
    QCOMPARE(toggled.count(), 1);
    QTest::keyClick(&view, Qt::Key_Return);
    QCOMPARE(activated.count(), 1);
    const qint64 length = range.length();
    QTest::keyClick(&view, Qt::Key_Plus);
    QVERIFY(range.length() < length);
    QTest::keyClick(&view, Qt::Key_0);
    QVERIFY(range.length() >= length);
}

void TestPaint::viewMouse()
{
    FixedSource source;
    TimeRange range;
    range.reset(0, 10'000, false);
    range.setView(0, 10'000);
    LaneView view(&range);
    view.resize(800, 300);
    view.setSource(&source);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    const int lane = view.laneArea().width();
    const QPoint inside(view.laneArea().left() + lane * 2500 / 10'000, view.rowRect(0).center().y());
    QCOMPARE(view.hit(inside), 1u);
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, inside);
    QCOMPARE(view.selected(), 1u);
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, QPoint(view.laneArea().left() + lane * 4500 / 10'000, inside.y()));
    QCOMPARE(view.selected(), LaneView::nothing);
    QSignalSpy toggled(&view, &LaneView::rowToggled);
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, QPoint(5, inside.y()));
    QCOMPARE(toggled.count(), 1);
}

void TestPaint::viewIsAccessible()
{
    FixedSource source;
    TimeRange range;
    range.reset(0, 10'000, false);
    LaneView view(&range);
    view.setSource(&source);
    QAccessibleInterface *interface = QAccessible::queryAccessibleInterface(&view);
    QVERIFY(interface);
    QCOMPARE(interface->role(), QAccessible::List);
    QCOMPARE(interface->childCount(), 2);
    QVERIFY(interface->child(0)->text(QAccessible::Name).contains(QStringLiteral("first")));
    view.select(2);
    QCOMPARE(interface->text(QAccessible::Value), QStringLiteral("span 2"));
}

void TestPaint::viewPaints()
{
    FixedSource source;
    TimeRange range;
    range.reset(0, 10'000, false);
    LaneView view(&range);
    view.resize(600, 200);
    view.setSource(&source);
    const QImage image = view.grab().toImage();
    const QColor bar = themeColor(view.palette(), Tint::Tool);
    int pixels = 0;
    for (int y = 0; y < image.height(); ++y) {
        for (int x = 0; x < image.width(); ++x)
            pixels += image.pixelColor(x, y) == bar;
    }
    QVERIFY(pixels > 500);
}

} // namespace tst_paint

PADDOCK_GUI_TEST(tst_paint, TestPaint)
#include "tst_paint.moc"
