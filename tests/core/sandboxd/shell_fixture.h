// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/base/json.h"
#include "tests/support/raw_http.h"
#include "tests/support/sandboxd_process.h"

#include <QObject>

namespace paddock::test {

/// What an exec request brought back.
struct Done {
    int http = 0;
    QString status;
    QString output;
    Json code;
    QString message;
};

/// The real server and one fresh session of it for each test.
class ShellFixture : public QObject
{
public:
    bool startServer()
    {
        return m_server.start({QStringLiteral("--max-shell-sessions"), QStringLiteral("100")});
    }

    void openSession()
    {
        m_http = std::make_unique<RawHttp>(m_server.address());
        m_id = QStringLiteral("t%1").arg(++m_counter);
        post("/v1/shell/sessions/create", {{"id", toJson(m_id)}});
    }

    Json post(const char *target, const Json &body, int *status = nullptr)
    {
        const auto reply = m_http->postJson(target, dumpJson(body));
        if (status)
            *status = reply.status;
        return parseJson(reply.body).value_or(Json());
    }

    Done exec(const QString &command, Json extra = Json::object())
    {
        extra["id"] = toJson(m_id);
        extra["command"] = toJson(command);
        Done done;
        const Json body = post("/v1/shell/exec", extra, &done.http);
        const Json &data = memberOf(body, "data");
        done.status = stringOf(data, "status");
        done.output = stringOf(data, "output");
        done.code = memberOf(data, "exit_code");
        done.message = stringOf(body, "message");
        return done;
    }

    Json viewData() { return memberOf(post("/v1/shell/view", {{"id", toJson(m_id)}}), "data"); }
    QString view() { return stringOf(viewData(), "output"); }
    QString status() { return stringOf(viewData(), "status"); }

    /// The status the server answers.
    QString type(const QString &text, bool enter = true)
    {
        const Json request{{"id", toJson(m_id)}, {"input", toJson(text)}, {"press_enter", enter}};
        return stringOf(memberOf(post("/v1/shell/write", request), "data"), "status");
    }

    void waitDone() { post("/v1/shell/wait", {{"id", toJson(m_id)}, {"max_wait_seconds", 20}}); }

protected:
    SandboxdProcess m_server{QStringLiteral(PADDOCK_BIN_DIR "/paddock-sandboxd")};
    std::unique_ptr<RawHttp> m_http;
    QString m_id;

private:
    int m_counter = 0;
};

} // namespace paddock::test
