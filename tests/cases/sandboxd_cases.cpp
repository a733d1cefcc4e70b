// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
// server.* of aio-api.json (aio-api.md §11): the real paddock-sandboxd, spoken to byte for byte.
#include "core/base/error.h"
#include "core/base/text.h"
#include "tests/cases/case_registry.h"
#include "tests/support/raw_http.h"
#include "tests/support/sandboxd_process.h"

#include <QRegularExpression>

#include <map>
#include <thread>

namespace paddock::cases::sandboxd_cases {

namespace {

constexpr std::chrono::milliseconds forkToExec{50};

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using test::RawHttp;
using test::RawReply;

QString shown(const Json &value)
{
    const QString text = QString::fromUtf8(dumpJson(value));
    return text.size() > 400 ? text.left(400) + QStringLiteral("…") : text;
}

QString textForm(const Json &value)
{
    return value.is_string() ? textOf(value) : QString::fromUtf8(dumpJson(value));
}

/// Subset match of §11: "*" any non-null, "~re" a search in the text form, lists of equal length.
QString unlike(const Json &expect, const Json &actual, const QString &path)
{
    if (expect.is_string()) {
        const QString text = textOf(expect);
        if (text == u"*")
            return actual.is_null() ? path + QStringLiteral(": expected something") : QString();
        if (text.startsWith(u'~')) {
            const QRegularExpression regex(text.mid(1), QRegularExpression::DotMatchesEverythingOption);
            return regex.match(textForm(actual)).hasMatch() ? QString() : path + QStringLiteral(": %1 does not match %2").arg(shown(actual), text);
        }
    }
    if (expect.is_object() && actual.is_object()) {
        for (auto it = expect.begin(); it != expect.end(); ++it) {
            const QString where = path + u'.' + QString::fromStdString(it.key());
            const QString problem = actual.contains(it.key()) || it->is_null() ? unlike(*it, memberOf(actual, it.key().c_str()), where)
                                                                               : where + QStringLiteral(": missing in ") + shown(actual);
            if (!problem.isEmpty())
                return problem;
        }
        return {};
    }
    if (expect.is_array() && actual.is_array() && expect.size() == actual.size()) {
        for (std::size_t i = 0; i < expect.size(); ++i) {
            const QString problem = unlike(expect[i], actual[i], path + QStringLiteral("[%1]").arg(i));
            if (!problem.isEmpty())
                return problem;
        }
        return {};
    }
    if (expect.is_number() && actual.is_number() && expect.get<double>() == actual.get<double>())
        return {};
    return expect == actual ? QString() : path + QStringLiteral(": expected %1, got %2").arg(shown(expect), shown(actual));
}

struct Outcome {
    RawReply reply;
    Json body;
    std::vector<Outcome> parallel;
    QStringList frames;
    bool upgraded = false;
    int closeCode = 0;
    std::chrono::milliseconds began{}; ///< since the start of the case
    std::chrono::milliseconds ended{};
};

class ServerCase
{
public:
    explicit ServerCase(const Json &testCase)
        : m_request(memberOf(testCase, "request")), m_response(memberOf(testCase, "response")), m_expect(memberOf(testCase, "expect")),
          m_server(QStringLiteral(PADDOCK_BIN_DIR "/paddock-sandboxd"))
    {
    }

    Verdict run()
    {
        if (const QString problem = prepare(); !problem.isEmpty())
            return failed(problem);
        m_begin = Clock::now();
        const auto outcomes = perform();
        m_total = since();
        QString problem = compareAll(outcomes);
        if (problem.isEmpty())
            problem = checkExpectations(outcomes);
        return problem.isEmpty() ? passed() : failed(problem);
    }

private:
    std::chrono::milliseconds since() const { return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - m_begin); }

    QString prepare()
    {
        const Json &setup = memberOf(m_request, "setup");
        QStringList options;
        for (const char *key : {"max_shell_sessions", "max_bash_sessions"}) {
            if (const auto number = optionalInt(setup, key))
                options << QStringLiteral("--") + QString::fromLatin1(key).replace(u'_', u'-') << QString::number(*number);
        }
        m_key = stringOf(setup, "api_key").toUtf8();
        if (!m_key.isEmpty())
            options << QStringLiteral("--api-key") << QString::fromUtf8(m_key);
        if (boolOf(setup, "open_health"))
            options << QStringLiteral("--open-health");
        if (!m_server.start(options))
            return m_server.error;
        RawHttp http(m_server.address());
        const Json &files = memberOf(setup, "files");
        for (auto it = files.begin(); files.is_object() && it != files.end(); ++it)
            admin(http, "/v1/file/write", {{"file", it.key()}, {"content", *it}});
        const Json &links = memberOf(setup, "symlinks");
        for (auto it = links.begin(); links.is_object() && it != links.end(); ++it) {
            const QString command = QStringLiteral("ln -sfn -- %1 %2").arg(shellQuote(textOf(*it)), shellQuote(QString::fromStdString(it.key())));
            admin(http, "/v1/bash/exec", {{"command", toJson(command)}});
        }
        return {};
    }

    Json admin(RawHttp &http, const char *target, const Json &body)
    {
        const auto reply = http.request(body.is_null() ? "GET" : "POST", target, body.is_null() ? QByteArray() : dumpJson(body),
                                        {{"X-AIO-API-Key", m_key}});
        return parseJson(reply.body, 512).value_or(Json());
    }

    // ---- doing ----

    std::vector<Outcome> perform()
    {
        if (const auto count = optionalInt(m_request, "parallel_n")) {
            Json all = Json::array();
            for (qint64 i = 0; i < *count; ++i)
                all.push_back(memberOf(m_request, "do"));
            return {step(Json{{"parallel", all}})};
        }
        std::vector<Outcome> outcomes;
        if (const Json &steps = memberOf(m_request, "steps"); steps.is_array()) {
            for (const Json &one : steps) {
                outcomes.push_back(step(one));
                // A job that was just forked still shows its shell's environment and command line, until it has called exec.
                if (stringOf(memberOf(one, "json"), "command").contains(u" & "))
                    std::this_thread::sleep_for(forkToExec);
            }
        } else {
            outcomes.push_back(step(m_request));
        }
        return outcomes;
    }

    Outcome step(const Json &original)
    {
        Json one = original;
        QString save = stringOf(one, "save");
        if (Json *body = one.contains("json") ? &one["json"] : nullptr; body && body->is_object() && body->contains("save")) {
            save = stringOf(*body, "save");
            body->erase("save");
        }
        one = resolved(one);
        if (const auto delay = optionalInt(one, "delay_ms"))
            std::this_thread::sleep_for(std::chrono::milliseconds(*delay));
        if (one.contains("do"))
            return step(one["do"]);
        Outcome outcome;
        outcome.began = since();
        if (one.contains("parallel"))
            outcome.parallel = together(one["parallel"]);
        else if (one.contains("ws"))
            speakWebSocket(one, &outcome);
        else
            speakHttp(one, &outcome);
        outcome.ended = since();
        if (!save.isEmpty())
            m_saved[save] = outcome.body;
        return outcome;
    }

    std::vector<Outcome> together(const Json &steps)
    {
        std::vector<Outcome> outcomes(steps.size());
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < steps.size(); ++i)
            threads.emplace_back([&, i] { outcomes[i] = step(steps[i]); });
        for (std::thread &thread : threads)
            thread.join();
        return outcomes;
    }

    static QByteArray multipartBody(const Json &parts)
    {
        QByteArray body;
        for (auto it = parts.begin(); it != parts.end(); ++it) {
            body += "--caseboundary\r\nContent-Disposition: form-data; name=\"" + QByteArray::fromStdString(it.key()) + '"';
            if (it->is_object()) {
                body += "; filename=\"" + stringOf(*it, "filename").toUtf8() + "\"\r\nContent-Type: application/octet-stream\r\n\r\n";
                body += it->contains("bytes_hex") ? QByteArray::fromHex(stringOf(*it, "bytes_hex").toLatin1()) : stringOf(*it, "bytes").toUtf8();
            } else {
                body += "\r\n\r\n" + textOf(*it).toUtf8();
            }
            body += "\r\n";
        }
        return body + "--caseboundary--\r\n";
    }

    void speakHttp(const Json &one, Outcome *outcome)
    {
        RawHttp http(m_server.address());
        RawHttp::Headers headers;
        bool sized = false;
        if (const Json &given = memberOf(one, "headers"); given.is_object()) {
            for (auto it = given.begin(); it != given.end(); ++it) {
                headers.emplace_back(QByteArray::fromStdString(it.key()), textOf(*it).toUtf8());
                sized = sized || headers.last().first.toLower() == "content-length";
            }
        }
        QByteArray body;
        if (one.contains("json"))
            body = dumpJson(one["json"]);
        else if (one.contains("raw"))
            body = stringOf(one, "raw").toUtf8();
        else if (one.contains("raw_hex"))
            body = QByteArray::fromHex(stringOf(one, "raw_hex").toLatin1());
        if (one.contains("multipart")) {
            body = multipartBody(one["multipart"]);
            headers.emplace_back("Content-Type", "multipart/form-data; boundary=caseboundary");
        }
        const QByteArray method = stringOf(one, "method", QStringLiteral("POST")).toUtf8();
        const QByteArray target = stringOf(one, "path").toUtf8();
        const auto leave = optionalInt(one, "disconnect_after_ms");
        if (stringOf(one, "then") == u"close" || leave) {
            http.connect();
            QByteArray head = method + ' ' + target + " HTTP/1.1\r\nHost: sandbox\r\n";
            for (const auto &[name, value] : headers)
                head += name + ": " + value + "\r\n";
            if (!sized)
                head += "Content-Length: " + QByteArray::number(body.size()) + "\r\n";
            http.send(head + "\r\n" + body);
            std::this_thread::sleep_for(std::chrono::milliseconds(leave.value_or(50)));
            http.close();
            return;
        }
        outcome->reply = http.request(method, target, body, headers, stringOf(one, "framing") == u"chunked");
        if (const auto parsed = parseJson(outcome->reply.body, 512))
            outcome->body = *parsed;
    }

    void speakWebSocket(const Json &one, Outcome *outcome)
    {
        test::RawWebSocket socket(m_server.address(), stringOf(one, "ws").toUtf8());
        outcome->reply.status = socket.status();
        outcome->upgraded = socket.upgraded();
        if (!socket.upgraded())
            return;
        bool sent = false;
        const auto deadline = Clock::now() + 8s;
        while (Clock::now() < deadline) {
            const auto text = socket.next(sent || !one.contains("send") ? 1000ms : 4000ms);
            if (!text)
                break;
            outcome->frames << QString::fromUtf8(*text);
            if (!sent && one.contains("send") && text->contains("\"ready\"")) {
                for (const Json &message : one["send"])
                    socket.sendText(dumpJson(message));
                sent = true;
            }
        }
        outcome->closeCode = socket.closeCode();
    }

    /// Replaces "@name.path" by the saved value; inside a longer text by its text form.
    Json resolved(const Json &value) const
    {
        if (value.is_object() || value.is_array()) {
            Json out = value;
            for (auto it = out.begin(); it != out.end(); ++it)
                *it = resolved(*it);
            return out;
        }
        if (!value.is_string())
            return value;
        static const QRegularExpression reference(QStringLiteral("@([A-Za-z_]\\w*)((?:\\.\\w+)+)"));
        const QString text = textOf(value);
        const auto match = reference.match(text);
        if (!match.hasMatch() || !m_saved.contains(match.captured(1)))
            return value;
        Json found = m_saved.at(match.captured(1));
        for (const QString &key : match.captured(2).split(u'.', Qt::SkipEmptyParts))
            found = memberOf(found, key.toUtf8().constData());
        if (match.capturedLength() == text.size())
            return found;
        return toJson(text.left(match.capturedStart()) + textForm(found) + text.mid(match.capturedEnd()));
    }

    // ---- comparing ----

    QString compareAll(const std::vector<Outcome> &outcomes) const
    {
        if (m_response.is_null())
            return {};
        if (m_response.is_array()) {
            for (std::size_t i = 0; i < m_response.size() && i < outcomes.size(); ++i) {
                const QString problem = compareOne(m_response[i], outcomes[i]);
                if (!problem.isEmpty())
                    return QStringLiteral("step %1: %2").arg(i).arg(problem);
            }
            return m_response.size() > outcomes.size() ? QStringLiteral("fewer steps than replies") : QString();
        }
        for (const Outcome &outcome : outcomes) {
            // With parallel_n every reply must be alike.
            const bool each = !outcome.parallel.empty() && !m_response.contains("parallel");
            for (const Outcome &one : each ? outcome.parallel : std::vector<Outcome>{outcome}) {
                const QString problem = compareOne(m_response, one);
                if (!problem.isEmpty())
                    return problem;
            }
        }
        return {};
    }

    QString compareOne(const Json &matcher, const Outcome &outcome) const
    {
        if (matcher.contains("parallel")) {
            for (std::size_t i = 0; i < matcher["parallel"].size() && i < outcome.parallel.size(); ++i) {
                const QString problem = compareOne(matcher["parallel"][i], outcome.parallel[i]);
                if (!problem.isEmpty())
                    return QStringLiteral("parallel %1: %2").arg(i).arg(problem);
            }
            return {};
        }
        if (const auto status = optionalInt(matcher, "status"); status && *status != outcome.reply.status)
            return QStringLiteral("expected status %1, got %2 with %3").arg(*status).arg(outcome.reply.status).arg(shown(outcome.body));
        if (boolOf(matcher, "upgraded") && !outcome.upgraded)
            return QStringLiteral("expected an upgrade, got status %1").arg(outcome.reply.status);
        if (matcher.contains("json")) {
            const QString problem = unlike(matcher["json"], outcome.body, QStringLiteral("$"));
            if (!problem.isEmpty())
                return problem;
        }
        if (const Json &headers = memberOf(matcher, "headers"); headers.is_object()) {
            for (auto it = headers.begin(); it != headers.end(); ++it) {
                const QString got = QString::fromUtf8(outcome.reply.headers.value(QByteArray::fromStdString(it.key()).toLower()));
                const QString problem = unlike(*it, toJson(got), QString::fromStdString(it.key()));
                if (!problem.isEmpty())
                    return problem;
            }
        }
        if (matcher.contains("body_hex") && outcome.reply.body.toHex() != stringOf(matcher, "body_hex").toLatin1())
            return QStringLiteral("expected the bytes %1, got %2").arg(stringOf(matcher, "body_hex"), QString::fromLatin1(outcome.reply.body.toHex()));
        if (matcher.contains("raw") && outcome.reply.body != stringOf(matcher, "raw").toUtf8())
            return QStringLiteral("another body: %1").arg(QString::fromUtf8(outcome.reply.body.left(300)));
        return compareFrames(matcher, outcome);
    }

    static QString compareFrames(const Json &matcher, const Outcome &outcome)
    {
        QString output;
        std::vector<Json> frames;
        for (const QString &text : outcome.frames)
            frames.push_back(parseJson(text.toUtf8()).value_or(Json()));
        for (const Json &frame : frames) {
            if (stringOf(frame, "type") == u"output")
                output += stringOf(frame, "data");
        }
        std::size_t at = 0;
        for (const Json &wanted : matcher.value("frames_in_order", Json::array())) {
            QString problem = QStringLiteral("no more frames");
            for (; at < frames.size() && !problem.isEmpty(); ++at) {
                Json frame = frames[at];
                if (stringOf(frame, "type") == u"output")
                    frame["data"] = toJson(output); // text may be split over frames
                problem = unlike(wanted, frame, QStringLiteral("frame"));
            }
            if (!problem.isEmpty())
                return QStringLiteral("no frame like %1 in order, got %2 (%3)").arg(shown(wanted), outcome.frames.join(u'\n'), problem);
        }
        for (const Json &wanted : matcher.value("frames_contain", Json::array())) {
            if (!output.contains(textOf(wanted)))
                return QStringLiteral("the output lacks %1: %2").arg(textOf(wanted), output);
        }
        if (const auto code = optionalInt(matcher, "close"); code && *code != outcome.closeCode)
            return QStringLiteral("expected close code %1, got %2").arg(*code).arg(outcome.closeCode);
        return {};
    }

    // ---- further facts ----

    QString checkExpectations(const std::vector<Outcome> &outcomes)
    {
        for (auto it = m_expect.begin(); m_expect.is_object() && it != m_expect.end(); ++it) {
            const QString problem = checkOne(QString::fromStdString(it.key()), *it, outcomes);
            if (!problem.isEmpty())
                return QString::fromStdString(it.key()) + QStringLiteral(": ") + problem;
        }
        return {};
    }

    QString checkOne(const QString &key, const Json &wanted, const std::vector<Outcome> &outcomes)
    {
        const auto span = [](const Outcome &o) { return (o.ended - o.began).count(); };
        if (key == u"note" || key == u"no_text" || key == u"order")
            return checkTexts(key, wanted, outcomes);
        if (key == u"within_ms") {
            const auto took = span(outcomes.back());
            return took <= slack(wanted.get<qint64>()) ? QString() : QStringLiteral("took %1 ms").arg(took);
        }
        if (key == u"total_ms_below" || key == u"elapsed_ms_below")
            return m_total.count() < slack(wanted.get<qint64>()) ? QString() : QStringLiteral("took %1 ms").arg(m_total.count());
        if (key == u"step_ms") {
            for (auto it = wanted.begin(); it != wanted.end(); ++it) {
                const auto took = span(outcomes.at(std::stoul(it.key())));
                if (took < (*it)[0].get<qint64>() || took > slack((*it)[1].get<qint64>()))
                    return QStringLiteral("step %1 took %2 ms").arg(QString::fromStdString(it.key())).arg(took);
            }
            return {};
        }
        if (key == u"no_process" || key == u"process_alive")
            return checkProcesses(key == u"process_alive", textOf(wanted));
        if (key == u"server_alive")
            return m_server.alive() == wanted.get<bool>() ? QString() : QStringLiteral("the server is gone");
        if (key == u"log_absent") {
            for (const Json &text : wanted) {
                if (m_server.log().contains(textOf(text).toUtf8()))
                    return QStringLiteral("the log holds %1").arg(textOf(text));
            }
            return {};
        }
        if (key == u"commands_started" || key == u"sessions" || key == u"file_lines")
            return checkInside(key, wanted);
        return checkBodies(key, wanted, outcomes);
    }

    /// The machine may be busy with other tests: upper bounds get room, lower bounds none.
    static qint64 slack(qint64 ms) { return ms + std::max<qint64>(ms / 4, 250); }

    static QString checkTexts(const QString &key, const Json &wanted, const std::vector<Outcome> &outcomes)
    {
        if (key != u"no_text")
            return {};
        for (const Outcome &outcome : outcomes) {
            for (const Outcome &one : outcome.parallel.empty() ? std::vector<Outcome>{outcome} : outcome.parallel) {
                if (one.reply.body.contains(textOf(wanted).toUtf8()))
                    return QStringLiteral("a reply holds it");
            }
        }
        return {};
    }

    QString checkProcesses(bool alive, const QString &wanted)
    {
        const auto deadline = Clock::now() + (alive ? 0s : 3s);
        while (true) {
            const QStringList lines = m_server.commandLines();
            const bool found = lines.contains(wanted);
            if (found == alive)
                return {};
            if (Clock::now() >= deadline)
                return QStringLiteral("processes: ") + lines.join(QStringLiteral("; "));
            std::this_thread::sleep_for(20ms);
        }
    }

    QString checkInside(const QString &key, const Json &wanted)
    {
        RawHttp http(m_server.address());
        if (key == u"file_lines") {
            for (auto it = wanted.begin(); it != wanted.end(); ++it) {
                const Json body = admin(http, "/v1/file/read", {{"file", it.key()}});
                const auto lines = stringOf(memberOf(body, "data"), "content").count(u'\n');
                if (lines != it->get<qint64>())
                    return QStringLiteral("%1 has %2 lines").arg(QString::fromStdString(it.key())).arg(lines);
            }
            return {};
        }
        const Json listed = admin(http, "/v1/shell/sessions", nullptr);
        const Json &sessions = memberOf(memberOf(listed, "data"), "sessions");
        qint64 count = key == u"sessions" ? qint64(sessions.size()) : 0;
        for (auto it = sessions.begin(); key == u"commands_started" && it != sessions.end(); ++it) {
            const Json view = admin(http, "/v1/shell/view", {{"id", it.key()}});
            count += qint64(memberOf(memberOf(view, "data"), "console").size());
        }
        return count == wanted.get<qint64>() ? QString() : QStringLiteral("got %1").arg(count);
    }

    static QString checkBodies(const QString &key, const Json &wanted, const std::vector<Outcome> &outcomes)
    {
        const Json &body = outcomes.back().body;
        const Json &data = memberOf(body, "data");
        if (key == u"detail_is_list")
            return memberOf(body, "detail").is_array() ? QString() : shown(body);
        if (key == u"json_body")
            return body.is_object() ? QString() : QStringLiteral("no JSON body");
        if (key == u"lengths") {
            for (auto it = wanted.begin(); it != wanted.end(); ++it) {
                const qint64 length = codePointCount(stringOf(memberOf(outcomes.at(std::stoul(it.key())).body, "data"), "output"));
                const auto words = textOf(*it).split(u' ');
                const qint64 limit = words.value(1).toLongLong();
                const bool good = words[0] == u"<" ? length < limit : words[0] == u">" ? length > limit : length == limit;
                if (!good)
                    return QStringLiteral("step %1 has %2 characters").arg(QString::fromStdString(it.key())).arg(length);
            }
            return {};
        }
        if (key == u"length_below") {
            for (auto it = wanted.begin(); it != wanted.end(); ++it) {
                if (codePointCount(stringOf(data, it.key().c_str())) >= it->get<qint64>())
                    return QString::fromStdString(it.key());
            }
            return {};
        }
        if (key == u"types") {
            for (auto it = wanted.begin(); it != wanted.end(); ++it) {
                QString path = QString::fromStdString(it.key());
                const bool items = path.endsWith(QStringLiteral("[]"));
                if (items)
                    path.chop(2);
                Json value = body;
                for (const QString &part : path.split(u'.'))
                    value = Json(memberOf(value, part.toUtf8().constData()));
                for (const Json &one : items ? value : Json::array({value})) {
                    if (textOf(*it) == u"string" && !one.is_string())
                        return shown(one);
                }
            }
            return {};
        }
        return QStringLiteral("this runner does not know the expectation");
    }

    Json m_request;
    Json m_response;
    Json m_expect;
    test::SandboxdProcess m_server;
    QByteArray m_key;
    std::map<QString, Json> m_saved;
    Clock::time_point m_begin;
    std::chrono::milliseconds m_total{};
};

Verdict runServerCase(const Json &testCase)
{
    return ServerCase(testCase).run();
}

const Registrar httpCases("server.http", runServerCase);
const Registrar authCases("server.auth", runServerCase);
const Registrar shellCases("server.shell", runServerCase);
const Registrar bashCases("server.bash", runServerCase);
const Registrar fileCases("server.file", runServerCase);
const Registrar missingCases("server.unimplemented", runServerCase);
const Registrar socketCases("server.ws", runServerCase);

} // namespace

} // namespace paddock::cases::sandboxd_cases
