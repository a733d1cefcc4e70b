// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "tests/rooms/rules.h"

#include "tests/rooms/source_text.h"

#include <QRegularExpression>

#include <algorithm>

namespace paddock::rooms {
namespace {

constexpr int headerLines = 250;
constexpr int sourceLines = 600;
constexpr int mainWindowLines = 400;
constexpr int functionLines = 60;
constexpr int classFunctions = 15;

bool exempt(const QString &rule, const QString &path, const QString &what)
{
    return std::ranges::any_of(exemptions(), [&](const Exemption &one) {
        return one.rule == rule && one.path == path && what.contains(one.what);
    });
}

bool within(const QString &path, const QString &place)
{
    return path == place || path.startsWith(place + u'/');
}

/// Each match of `pattern` in the code (comments and literals left out) is a finding.
Findings findInCode(const Source &source, const QString &rule, const QRegularExpression &pattern, const QString &advice)
{
    Findings found;
    const QString code = codeOf(source.text);
    auto matches = pattern.globalMatch(code);
    while (matches.hasNext()) {
        const auto match = matches.next();
        const QString hit = match.captured().simplified();
        if (!exempt(rule, source.path, hit))
            found.append({source.path, lineAt(code, match.capturedStart()), rule, QStringLiteral("\"%1\": %2").arg(hit, advice)});
    }
    return found;
}

const ThirdParty *thirdPartyOf(const Include &include)
{
    if (include.quoted)
        return nullptr;
    const auto &list = thirdParties();
    const auto at = std::ranges::find_if(list, [&](const ThirdParty &one) { return include.name.startsWith(one.headers); });
    return at == list.end() ? nullptr : &*at;
}

} // namespace

QString Finding::text() const
{
    return QStringLiteral("%1:%2: [%3] %4").arg(path).arg(line).arg(rule, what);
}

QString roomOf(const QString &path)
{
    const QStringList parts = path.split(u'/');
    if (parts.size() > 2 && (parts[0] == u"core" || parts[0] == u"ui"))
        return parts[0] + u'/' + parts[1];
    return parts[0];
}

Findings checkArrows(const Source &source, const ArrowList &allowed)
{
    Findings found;
    if (!source.isProduct() || !source.isCpp())
        return found;
    const QString from = roomOf(source.path);
    for (const Include &include : includesOf(source.text)) {
        const QString to = roomOf(include.name);
        if (!include.quoted || to == from || !include.name.contains(u'/') || allowed.value(from).contains(to))
            continue;
        found.append({source.path, include.line, QStringLiteral("arrow"),
                      QStringLiteral("%1 must not include %2 (\"%3\"). Move what is needed to a room that both may include, or add the "
                                     "arrow with its reason to tests/rooms/room_lists.cpp and an ADR.").arg(from, to, include.name)});
    }
    return found;
}

Findings checkThirdParties(const Source &source)
{
    Findings found;
    for (const Include &include : includesOf(source.text)) {
        const ThirdParty *library = thirdPartyOf(include);
        if (!library || std::ranges::any_of(library->places, [&](const QString &place) { return within(source.path, place); }))
            continue;
        found.append({source.path, include.line, QStringLiteral("third-party"),
                      QStringLiteral("<%1> belongs to %2 only. Use what that room offers.")
                          .arg(include.name, library->places.isEmpty() ? library->why : library->places.join(u", "))});
    }
    return found;
}

Findings checkNoGui(const Source &source)
{
    Findings found;
    if (!source.path.startsWith(u"core/") && !source.path.startsWith(u"ui/store/"))
        return found;
    const QString rule = QStringLiteral("no-gui");
    for (const Include &include : includesOf(source.text)) {
        const QString name = include.name.section(u'/', -1);
        if (include.quoted || (!include.name.startsWith(u"QtGui") && !include.name.startsWith(u"QtWidgets") && !guiHeaders().contains(name)))
            continue;
        found.append({source.path, include.line, rule,
                      QStringLiteral("<%1> is of Qt Gui or Widgets; core and ui/store know neither. Move the code to ui.").arg(include.name)});
    }
    static const QRegularExpression linked(QStringLiteral("Qt6::(Gui|Widgets|Svg|SvgWidgets|PrintSupport|Quick)\\b"));
    if (source.path.endsWith(u"CMakeLists.txt")) {
        if (const auto match = linked.match(source.text); match.hasMatch())
            found.append({source.path, lineAt(source.text, match.capturedStart()), rule,
                          match.captured() + QStringLiteral(" must not be linked here: core and ui/store run without a display.")});
    }
    return found;
}

Findings checkIncludeForm(const Source &source)
{
    static const QRegularExpression rooted(QStringLiteral("^(core|ui|app|tests)/[^.]"));
    Findings found;
    if (!source.isCpp())
        return found;
    for (const Include &include : includesOf(source.text)) {
        const bool mocOfItself = include.name.endsWith(u".moc") && source.path.section(u'/', -1).section(u'.', 0, 0) == include.name.section(u'.', 0, 0);
        const bool isOurs = include.quoted || rooted.match(include.name).hasMatch();
        if (!isOurs || mocOfItself)
            continue;
        if (include.quoted && rooted.match(include.name).hasMatch() && !include.name.contains(u".."))
            continue;
        found.append({source.path, include.line, QStringLiteral("include-form"),
                      QStringLiteral("\"%1\" must begin at the top of the tree and stand in quotes, like \"core/base/error.h\".").arg(include.name)});
    }
    return found;
}

Findings checkFileSize(const Source &source)
{
    if (!source.isCpp())
        return {};
    const int lines = int(source.text.count(u'\n'));
    const int limit = source.path == u"app/main_window.cpp" ? mainWindowLines : source.isHeader() ? headerLines : sourceLines;
    if (lines <= limit)
        return {};
    return {{source.path, limit + 1, QStringLiteral("file-size"),
             QStringLiteral("%1 lines; at most %2. Split it by what its parts are about.").arg(lines).arg(limit)}};
}

Findings checkFunctionSize(const Source &source)
{
    Findings found;
    if (!source.isCpp())
        return found;
    for (const FunctionSpan &function : functionsOf(source.text)) {
        if (function.lines > functionLines)
            found.append({source.path, function.line, QStringLiteral("function-size"),
                          QStringLiteral("%1 lines; at most %2: %3. Give its parts names of their own.")
                              .arg(function.lines).arg(functionLines).arg(function.head.left(80))});
    }
    return found;
}

Findings checkClassSize(const Source &source)
{
    const QString rule = QStringLiteral("class-size");
    Findings found;
    if (!source.isCpp() || !source.isProduct())
        return found;
    for (const ClassShape &shape : classesOf(source.text)) {
        if (shape.functions.size() > classFunctions && !exempt(rule, source.path, shape.name))
            found.append({source.path, shape.line, rule,
                          QStringLiteral("%1 has %2 public functions; at most %3 (%4). Split the class, or name the reason in "
                                         "tests/rooms/room_lists.cpp.")
                              .arg(shape.name).arg(shape.functions.size()).arg(classFunctions).arg(shape.functions.join(u", "))});
    }
    return found;
}

Findings checkLicence(const Source &source)
{
    const QString name = source.path.section(u'/', -1);
    const bool wanted = source.isCpp() || name == u"CMakeLists.txt" || name.endsWith(u".cmake") || name.endsWith(u".sh")
        || name.endsWith(u".yaml") || source.text.startsWith(u"#!");
    const QString head = source.text.section(u'\n', 0, 4);
    if (!wanted || (head.contains(u"SPDX-License-Identifier: Apache-2.0") && head.contains(u"SPDX-FileCopyrightText: ")))
        return {};
    return {{source.path, 1, QStringLiteral("licence"),
             QStringLiteral("the two SPDX lines are missing at the top; copy them from a neighbour.")}};
}

Findings checkNestedLoops(const Source &source)
{
    if (!source.isProduct() || !source.isCpp())
        return {};
    static const QRegularExpression spins(QStringLiteral(
        R"(\bprocessEvents\b|\bQEventLoop\b|\bwaitFor(Finished|Started|ReadyRead|BytesWritten|Connected|Disconnected|Encrypted|NewConnection|Done)\s*\(|\bQCoro::waitFor\b)"));
    static const QRegularExpression executes(QStringLiteral(R"(\w*(\.|->)exec\s*\()"));
    static const QRegularExpression bare(QStringLiteral(R"((?<!Application)::exec\s*\(\s*\)|(\.|->)exec\s*\(\s*\))"));
    const QString rule = QStringLiteral("nested-loop");
    const QString advice = QStringLiteral("no event loop inside the event loop. Await it (core/base/async.h), or open() the dialog and connect "
                                          "to its end.");
    // A shell, a table and a database have an exec of their own, with arguments; a dialog's or a menu's is in ui and app.
    return findInCode(source, rule, spins, advice)
        + findInCode(source, rule, source.path.startsWith(u"core/") ? bare : executes, advice);
}

Findings checkConnects(const Source &source)
{
    if (!source.isProduct() || !source.isCpp())
        return {};
    static const QRegularExpression pattern(
        QStringLiteral(R"(\bBlockingQueuedConnection\b|\bDirectConnection\b|\bsender\s*\(\s*\)|\b(SIGNAL|SLOT)\s*\()"));
    return findInCode(source, QStringLiteral("connects"), pattern,
                      QStringLiteral("connect with a context object and a pointer to a function; capture the sender; cross loops with runOn."));
}

Findings checkTracer(const Source &source)
{
    Findings found;
    static const QStringList outside{QStringLiteral("core/middleware/chain.h"), QStringLiteral("core/middleware/chain.cpp"),
                                     QStringLiteral("core/middleware/tracer.cpp")};
    if (!source.path.startsWith(u"core/middleware/") || outside.contains(source.path))
        return found;
    for (const Include &include : includesOf(source.text)) {
        if (include.name == u"core/middleware/tracer.h")
            found.append({source.path, include.line, QStringLiteral("tracer"),
                          QStringLiteral("no middleware knows of the tracer; it wraps every hook from outside, in chain.cpp.")});
    }
    return found;
}

Findings checkMachines(const Source &source)
{
    static const QRegularExpression homes(QStringLiteral(R"((?<![\w.])/(?:(root)(?=/)|(?:home|Users)/([A-Za-z][\w.-]*)))"));
    static const QRegularExpression hosts(QStringLiteral(R"(\b(?:https?|wss?|ssh|git)://(?:[^\s/@"']*@)?([A-Za-z0-9][A-Za-z0-9.-]*\.[A-Za-z0-9.-]*[A-Za-z0-9]))"));
    const QString rule = QStringLiteral("machine-name");
    Findings found;
    for (auto matches = homes.globalMatch(source.text); matches.hasNext();) {
        const auto match = matches.next();
        if (match.captured(1).isEmpty() && virtualHomes().contains(match.captured(2)))
            continue;
        found.append({source.path, lineAt(source.text, match.capturedStart()), rule,
                      QStringLiteral("\"%1\" is a folder of somebody's machine. Use a virtual path, or a name of tests/rooms/room_lists.cpp.")
                          .arg(match.captured())});
    }
    for (auto matches = hosts.globalMatch(source.text); matches.hasNext();) {
        const auto match = matches.next();
        const QString host = match.captured(1);
        const bool known = host.startsWith(u"127.") || host.endsWith(u".localhost") || host.endsWith(u".example") || host.endsWith(u".invalid")
            || std::ranges::any_of(knownHosts(), [&](const QString &one) { return host == one || host.endsWith(u'.' + one); });
        if (!known)
            found.append({source.path, lineAt(source.text, match.capturedStart()), rule,
                          QStringLiteral("the host \"%1\" is not known. Use one of example.com, or add a public one with its reason to "
                                         "tests/rooms/room_lists.cpp.").arg(host)});
    }
    return found;
}

Findings checkNoCycle(const ArrowList &list)
{
    // Rooms that only point at rooms already known to be sound, round by round; what is left over goes in circles.
    QStringList left = list.keys();
    for (qsizetype before = -1; before != left.size();) {
        before = left.size();
        const QStringList open = left;
        left.removeIf([&](const QString &room) {
            return std::ranges::none_of(list[room], [&](const QString &to) { return open.contains(to); });
        });
    }
    if (left.isEmpty())
        return {};
    return {{QStringLiteral("tests/rooms/room_lists.cpp"), 1, QStringLiteral("cycle"),
             QStringLiteral("these rooms include each other in a circle: %1. Take out the arrow that points up.").arg(left.join(u", "))}};
}

Findings checkReadmes(const QStringList &paths)
{
    Findings found;
    QStringList rooms;
    for (const QString &path : paths) {
        if (path.count(u'/') >= 2 && (path.startsWith(u"core/") || path.startsWith(u"ui/")))
            rooms.append(roomOf(path));
    }
    rooms.removeDuplicates();
    for (const QString &room : std::as_const(rooms)) {
        if (!paths.contains(room + QStringLiteral("/README.md")))
            found.append({room + QStringLiteral("/README.md"), 1, QStringLiteral("readme"),
                          QStringLiteral("the room has none. One paragraph: its job, its threads, who may include it.")});
    }
    return found;
}

Findings checkListed(const QList<Source> &sources)
{
    static const QRegularExpression separators(QStringLiteral("[\\s()\"]+"));
    QMap<QString, QStringList> lists; // folder of a CMakeLists.txt -> what it names
    for (const Source &source : sources) {
        if (source.path.endsWith(u"CMakeLists.txt"))
            lists[source.path.section(u'/', 0, -2)] = source.text.split(separators);
    }
    Findings found;
    for (const Source &source : sources) {
        if (!source.path.endsWith(u".cpp"))
            continue;
        bool listed = false;
        for (QString folder = source.path.section(u'/', 0, -2); !listed; folder = folder.section(u'/', 0, -2)) {
            listed = lists.value(folder).contains(folder.isEmpty() ? source.path : source.path.sliced(folder.size() + 1));
            if (folder.isEmpty())
                break;
        }
        if (!listed && source.path != u"cmake/pch.cpp")
            found.append({source.path, 1, QStringLiteral("not-built"),
                          QStringLiteral("no CMakeLists.txt names it. List it in its room's, or take it away.")});
    }
    return found;
}

Findings checkHandedOn(const QList<Source> &sources)
{
    QMap<QString, Include> holders; // header of ours -> the library's header in it
    for (const Source &source : sources) {
        if (!source.isHeader() || !source.isProduct() || handedOn().contains(source.path))
            continue;
        for (const Include &include : includesOf(source.text)) {
            if (thirdPartyOf(include))
                holders[source.path] = include;
        }
    }
    Findings found;
    for (const Source &source : sources) {
        if (!source.isProduct() || !source.isCpp())
            continue;
        for (const Include &include : includesOf(source.text)) {
            if (holders.contains(include.name) && roomOf(include.name) != roomOf(source.path))
                found.append({include.name, holders[include.name].line, QStringLiteral("handed-on"),
                              QStringLiteral("it includes <%1>, and %2 includes it. Keep the library behind a forward declaration.")
                                  .arg(holders[include.name].name, source.path)});
        }
    }
    return found;
}

} // namespace paddock::rooms
