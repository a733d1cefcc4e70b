// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/wire/bash_api.h"
#include "core/wire/envelope.h"
#include "core/wire/file_api.h"
#include "core/wire/file_query_api.h"
#include "core/wire/sandbox_api.h"
#include "core/wire/shell_api.h"
#include "tests/support/test_main.h"

#include <QTest>

#include <cerrno>

namespace tst_wire {

using namespace paddock;
using namespace paddock::wire;

class TestWire : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void requestsSurviveTheWire_data();
    void requestsSurviveTheWire();
    void issues_data();
    void issues();
    void nullsAreAbsent();
    void emptyBodyIsAnObject();
    void malformedBodyNamesTheOffset();
    void decodingOrder_data();
    void decodingOrder();
    void lostSessionIsRecognised();
    void missingDataFieldIsNamed();
    void timestamps();
    void sessionIds_data();
    void sessionIds();
    void writtenBytes_data();
    void writtenBytes();
    void errnoBecomesAFileError();
    void grepSizes();
    void contextWithoutDetail();
};

namespace {

template<typename T>
Json again(const Json &json)
{
    const auto value = decodeRequest<T>(json);
    return value ? value->write() : Json("refused");
}

template<typename T>
Json firstIssue(const Json &json)
{
    const auto value = decodeRequest<T>(json);
    return value ? Json(nullptr) : Json::array({toJson(value.error().first().path()), toJson(value.error().first().type)});
}

using Pass = Json (*)(const Json &);

RawReply reply(int status, const QByteArray &body)
{
    return {status, {}, body};
}

} // namespace


void TestWire::requestsSurviveTheWire_data()
{
    QTest::addColumn<Pass>("pass");
    QTest::addColumn<QByteArray>("json");
    QTest::newRow("exec") << Pass(&again<ShellExecRequest>)
                          << QByteArray(R"({"command":"a","id":"s","exec_dir":"/x","async_mode":true,"timeout":1.5,"strict":true,)"
                                        R"("no_change_timeout":7,"hard_timeout":2.5,"preserve_symlinks":true,"truncate":false})");
    QTest::newRow("exec, defaults") << Pass(&again<ShellExecRequest>) << QByteArray(R"({"command":""})");
    QTest::newRow("wait") << Pass(&again<ShellWaitRequest>) << QByteArray(R"({"id":"s","max_wait_seconds":1})");
    QTest::newRow("write") << Pass(&again<ShellWriteRequest>) << QByteArray(R"({"id":"s","input":"\u0003","press_enter":false})");
    QTest::newRow("create") << Pass(&again<ShellCreateRequest>) << QByteArray(R"({"id":"app-agent:conv 1","no_change_timeout":3})");
    QTest::newRow("create, empty") << Pass(&again<ShellCreateRequest>) << QByteArray("{}");
    QTest::newRow("bash") << Pass(&again<BashExecRequest>)
                          << QByteArray(R"({"session_id":"b","command":"x","env":{"A":"1"},"hard_timeout":2.0,"max_output_length":0})");
    QTest::newRow("output") << Pass(&again<BashOutputRequest>)
                            << QByteArray(R"({"session_id":"b","offset":4,"stderr_offset":0,"wait":true,"wait_timeout":10})");
    QTest::newRow("read") << Pass(&again<FileReadRequest>) << QByteArray(R"({"file":"/a","start_line":0,"end_line":2})");
    QTest::newRow("write file") << Pass(&again<FileWriteRequest>)
                                << QByteArray(R"({"file":"/a","content":"é","append":true,"trailing_newline":true})");
    QTest::newRow("grep") << Pass(&again<FileGrepRequest>)
                          << QByteArray(R"({"path":"/w","pattern":"T.DO","case_insensitive":true,"fixed_strings":false,"max_results":150,)"
                                        R"("max_file_size":"1M","recursive":true})");
    QTest::newRow("list") << Pass(&again<FileListRequest>) << QByteArray(R"({"path":"/w","recursive":true,"show_hidden":false})");
}

void TestWire::requestsSurviveTheWire()
{
    QFETCH(Pass, pass);
    QFETCH(QByteArray, json);
    const Json parsed = *parseJson(json);
    QCOMPARE(QString::fromUtf8(dumpJson(pass(parsed))), QString::fromUtf8(dumpJson(parsed)));
}

void TestWire::issues_data()
{
    QTest::addColumn<Pass>("first");
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QString>("path");
    const auto exec = Pass(&firstIssue<ShellExecRequest>);
    QTest::newRow("missing") << exec << QByteArray("{}") << QStringLiteral("body.command");
    QTest::newRow("null") << exec << QByteArray(R"({"command":null})") << QStringLiteral("body.command");
    QTest::newRow("wrong type") << exec << QByteArray(R"({"command":7})") << QStringLiteral("body.command");
    QTest::newRow("not an object") << exec << QByteArray("[1]") << QStringLiteral("body");
    QTest::newRow("zero timer") << exec << QByteArray(R"({"command":"a","timeout":0})") << QStringLiteral("body.timeout");
    QTest::newRow("negative idle limit") << exec << QByteArray(R"({"command":"a","no_change_timeout":-1})") << QStringLiteral("body.no_change_timeout");
    QTest::newRow("fractional integer") << exec << QByteArray(R"({"command":"a","no_change_timeout":1.5})") << QStringLiteral("body.no_change_timeout");
    QTest::newRow("relative directory") << exec << QByteArray(R"({"command":"a","exec_dir":"x"})") << QStringLiteral("body.exec_dir");
    QTest::newRow("environment name") << Pass(&firstIssue<BashExecRequest>) << QByteArray(R"({"command":"a","env":{"A-B":"1"}})") << QStringLiteral("body.env");
    QTest::newRow("environment value") << Pass(&firstIssue<BashExecRequest>) << QByteArray(R"({"command":"a","env":{"A":1}})") << QStringLiteral("body.env");
    QTest::newRow("signal") << Pass(&firstIssue<BashKillRequest>) << QByteArray(R"({"session_id":"a","signal":"SIGHUP"})") << QStringLiteral("body.signal");
    QTest::newRow("relative file") << Pass(&firstIssue<FileReadRequest>) << QByteArray(R"({"file":"a"})") << QStringLiteral("body.file");
    QTest::newRow("negative line") << Pass(&firstIssue<FileReadRequest>) << QByteArray(R"({"file":"/a","start_line":-1})") << QStringLiteral("body.start_line");
    QTest::newRow("base64") << Pass(&firstIssue<FileWriteRequest>) << QByteArray(R"({"file":"/a","content":"!!","encoding":"base64"})") << QStringLiteral("body.content");
    QTest::newRow("raw") << Pass(&firstIssue<FileWriteRequest>) << QByteArray(R"({"file":"/a","content":"€","encoding":"raw"})") << QStringLiteral("body.content");
    QTest::newRow("empty old_str") << Pass(&firstIssue<FileReplaceRequest>) << QByteArray(R"({"file":"/a","old_str":"","new_str":""})") << QStringLiteral("body.old_str");
    QTest::newRow("context") << Pass(&firstIssue<FileGrepRequest>) << QByteArray(R"({"path":"/a","pattern":"x","context_before":21})") << QStringLiteral("body.context_before");
}

void TestWire::issues()
{
    QFETCH(Pass, first);
    QFETCH(QByteArray, json);
    QFETCH(QString, path);
    const Json issue = first(*parseJson(json));
    QVERIFY(issue.is_array());
    QCOMPARE(textOf(issue[0]), path);
}

void TestWire::nullsAreAbsent()
{
    const auto request = decodeRequest<ShellExecRequest>(*parseJson(R"({"command":"a","id":null,"timeout":null,"truncate":null,"zzz":1})"));
    QVERIFY(request);
    QVERIFY(!request->id && !request->timeout && request->truncate);
}

void TestWire::emptyBodyIsAnObject()
{
    QVERIFY(parseRequestBody({})->is_object());
    QVERIFY(decodeRequest<ShellCreateRequest>(*parseRequestBody({})));
}

void TestWire::malformedBodyNamesTheOffset()
{
    const auto body = parseRequestBody("{bad");
    QVERIFY(!body);
    const Json detail = validationBody(body.error())["detail"];
    QVERIFY(detail.is_array());
    QCOMPARE(textOf(detail[0]["type"]), QStringLiteral("value_error.jsondecode"));
    QVERIFY(detail[0]["loc"][1].is_number_integer());
    QVERIFY(!parseRequestBody(QByteArray(100, '[') + QByteArray(100, ']')));
}

void TestWire::decodingOrder_data()
{
    QTest::addColumn<int>("status");
    QTest::addColumn<QByteArray>("body");
    QTest::addColumn<QString>("kind");
    QTest::newRow("html") << 502 << QByteArray("<html>") << QStringLiteral("ApiError");
    QTest::newRow("html with 200") << 200 << QByteArray("<html>") << QStringLiteral("ApiError");
    QTest::newRow("empty") << 200 << QByteArray() << QStringLiteral("ApiError");
    QTest::newRow("cut off") << 200 << QByteArray(R"({"success":true,"da)") << QStringLiteral("ApiError");
    QTest::newRow("a list") << 200 << QByteArray("[1]") << QStringLiteral("DecodeError");
    QTest::newRow("refused") << 200 << QByteArray(R"({"success":false,"message":"no","data":null})") << QStringLiteral("OperationError");
    QTest::newRow("refused with an error status") << 404 << QByteArray(R"({"success":false,"message":"no"})") << QStringLiteral("ApiError");
    QTest::newRow("no data") << 200 << QByteArray(R"({"success":true,"data":null})") << QStringLiteral("DecodeError");
    QTest::newRow("good") << 200 << QByteArray(R"({"data":{"status":"paused_by_admin","x":1}})") << QString();
    QTest::newRow("byte order mark") << 200 << QByteArray("\xef\xbb\xbf{\"data\":{\"status\":\"running\"}}") << QString();
}

void TestWire::decodingOrder()
{
    QFETCH(int, status);
    QFETCH(QByteArray, body);
    QFETCH(QString, kind);
    const auto decoded = decodeData<ShellStatusResult>(reply(status, body));
    QCOMPARE(decoded ? QString() : failureKindName(decoded.error().kind), kind);
}

void TestWire::lostSessionIsRecognised()
{
    const auto lost = [](int status, const QByteArray &body) {
        const auto decoded = decodeEnvelope(reply(status, body));
        return !decoded && decoded.error().isLostSession();
    };
    QVERIFY(lost(404, R"({"success":false,"message":"Session not found","data":null})"));
    QVERIFY(lost(404, R"({"message":"shell SESSION NOT FOUND: x"})"));
    QVERIFY(!lost(404, R"({"detail":"Not Found"})"));
    QVERIFY(!lost(404, R"(["session not found"])"));
    QVERIFY(!lost(400, R"({"message":"Session not found"})"));
}

void TestWire::missingDataFieldIsNamed()
{
    const auto decoded = decodeData<ShellExecResult>(reply(200, R"({"success":true,"data":{"session_id":"s1"}})"));
    QVERIFY(!decoded);
    QCOMPARE(decoded.error().field, QStringLiteral("data.command"));
}

void TestWire::timestamps()
{
    const Timestamp time(std::chrono::milliseconds(1767225600123));
    QCOMPARE(formatTimestamp(time), QStringLiteral("2026-01-01T00:00:00.123Z"));
    QVERIFY(parseTimestamp(QStringLiteral("2026-01-01T00:00:00.123456")) == time); // naive means UTC
    QVERIFY(parseTimestamp(QStringLiteral("2026-01-01T01:00:00.123+01:00")) == time);
    QVERIFY(!parseTimestamp(QStringLiteral("yesterday")));
}

void TestWire::sessionIds_data()
{
    QTest::addColumn<QString>("id");
    QTest::addColumn<bool>("good");
    QTest::newRow("uuid") << QStringLiteral("b2c9b0b6-6a9b-4c62-9f7e-000000000000") << true;
    QTest::newRow("colon and space") << QStringLiteral("app-agent:conv 1") << true;
    QTest::newRow("empty") << QString() << false;
    QTest::newRow("slash") << QStringLiteral("a/b") << false;
    QTest::newRow("control") << QStringLiteral("a\nb") << false;
    QTest::newRow("128 bytes") << QString(128, u'x') << true;
    QTest::newRow("129 bytes") << QString(129, u'x') << false;
    QTest::newRow("bytes, not characters") << QString(65, u'é') << false;
}

void TestWire::sessionIds()
{
    QFETCH(QString, id);
    QFETCH(bool, good);
    QCOMPARE(!invalidSessionId(id).has_value(), good);
}

void TestWire::writtenBytes_data()
{
    QTest::addColumn<QByteArray>("json");
    QTest::addColumn<QByteArray>("bytes");
    QTest::newRow("text") << QByteArray(R"({"file":"/a","content":"é","leading_newline":true,"trailing_newline":true})") << QByteArray("\n\xc3\xa9\n");
    QTest::newRow("base64 with blanks") << QByteArray(R"({"file":"/a","content":"AP\n8K","encoding":"base64","trailing_newline":true})") << QByteArray("\x00\xff\n", 3);
    QTest::newRow("raw") << QByteArray(R"({"file":"/a","content":"\u0000ÿ","encoding":"raw"})") << QByteArray("\x00\xff", 2);
    QTest::newRow("byte order mark") << QByteArray("{\"file\":\"/a\",\"content\":\"\xef\xbb\xbfx\"}") << QByteArray("\xef\xbb\xbfx");
}

void TestWire::writtenBytes()
{
    QFETCH(QByteArray, json);
    QFETCH(QByteArray, bytes);
    const auto request = decodeRequest<FileWriteRequest>(*parseJson(json));
    QVERIFY(request);
    QCOMPARE(*request->bytes(), bytes);
}

void TestWire::errnoBecomesAFileError()
{
    const auto error = FileError::fromErrno(ENOENT, QStringLiteral("read"), QStringLiteral("/tmp/x"));
    QCOMPARE(error.message, QStringLiteral("Failed to read file: [Errno 2] No such file or directory: '/tmp/x'"));
    QCOMPARE(error.errorType, QStringLiteral("not_found"));
    QCOMPARE(*error.exceptionType, QStringLiteral("FileNotFoundError"));
    QVERIFY(FileError::fromErrno(ENOSPC, QStringLiteral("write"), {}).retryable);
    QCOMPARE(FileError::fromErrno(EROFS, QStringLiteral("write"), {}).errorType, QStringLiteral("read_only_filesystem"));
}

void TestWire::grepSizes()
{
    QCOMPARE(*FileGrepRequest::sizeOf(QStringLiteral("1M")), 1024 * 1024);
    QCOMPARE(*FileGrepRequest::sizeOf(QStringLiteral("10")), 10);
    QCOMPARE(*FileGrepRequest::sizeOf(QStringLiteral("2k")), 2048);
    QVERIFY(!FileGrepRequest::sizeOf(QStringLiteral("much")));
    QVERIFY(!FileGrepRequest::sizeOf(QStringLiteral("9999999999999G")));
}

void TestWire::contextWithoutDetail()
{
    const auto context = decodeSandboxContext(reply(200, R"({"success":true,"message":"ok","data":"x","home_dir":"/home/gem","version":"1.0"})"));
    QVERIFY(context);
    QCOMPARE(context->homeDir, QStringLiteral("/home/gem"));
    QVERIFY(!context->detail);
    const auto missing = decodeSandboxContext(reply(200, R"({"success":true})"));
    QVERIFY(!missing);
    QCOMPARE(missing.error().field, QStringLiteral("home_dir"));
}

} // namespace tst_wire

PADDOCK_TEST(tst_wire, TestWire)
#include "tst_wire.moc"
