// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "tests/cases/aio_case_support.h"

#include <QHash>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

namespace paddock::cases {

/// Plays the server of one script: replies in order, echoes filled in, sessions named S1…, B1… in order of creation. Where a
/// case leaves the order between scopes free, a command gets the reply, and its session the name, of its place in the
/// expected requests.
class ScriptServer
{
public:
    ScriptServer(const Json &input, const Json &expected)
        : m_replies(memberOf(input, "server")), m_expected(boolOf(input, "unordered_between_scopes") ? expected : Json::array())
    {
        for (const Json &call : memberOf(input, "calls"))
            m_holdExec = m_holdExec || stringOf(call, "op") == QLatin1String("server_answers");
        fake.setHandler([this](const FakeRequest &request) { return answer(request); });
    }

    void answers()
    {
        m_holdExec = false;
        fake.answerHeld(m_heldReply);
    }
    QString nameOf(const QString &id) const { return m_names.value(id, id); }
    /// What was sent, in the order of the expected requests as far as the case leaves the order free.
    std::vector<FakeRequest> requests() const
    {
        std::vector<FakeRequest> sent(fake.requests().begin(), fake.requests().end());
        std::ranges::stable_sort(sent, {}, [this](const FakeRequest &request) { return placeOf(request).value_or(0); });
        return sent;
    }

    FakeAio fake;

private:
    /// Where the expected requests have it: a command by its words, anything else by its session's name.
    std::optional<std::size_t> placeOf(const FakeRequest &request) const
    {
        const Json body = request.json();
        for (std::size_t i = 0; i < m_expected.size(); ++i) {
            const Json wanted = memberOf(m_expected[i], "body");
            const bool same = body.contains("command") ? memberOf(wanted, "command") == body["command"]
                                                       : stringOf(wanted, "id") == nameOf(stringOf(body, "id"));
            if (same && stringOf(m_expected[i], "path") == QString::fromLatin1(request.path()))
                return i;
        }
        return std::nullopt;
    }

    /// The reply of this request; the session's name comes with it where the order is free.
    std::optional<Json> replyTo(const FakeRequest &request)
    {
        const auto place = request.json().contains("command") ? placeOf(request) : std::nullopt;
        if (place && *place < m_replies.size()) {
            m_names.insert(stringOf(request.json(), "id"), stringOf(m_expected[*place]["body"], "id"));
            ++m_next;
            return m_replies[*place];
        }
        return m_next < m_replies.size() ? std::optional(m_replies[m_next++]) : std::nullopt;
    }

    std::optional<FakeReply> answer(const FakeRequest &request)
    {
        const Json body = request.json();
        const QByteArray path = request.path();
        if (path == "/v1/shell/sessions/create" && m_expected.empty())
            m_names.insert(stringOf(body, "id"), QStringLiteral("S%1").arg(++m_shells));
        else if (path == "/v1/bash/sessions/create")
            m_names.insert(stringOf(body, "session_id"), QStringLiteral("B%1").arg(++m_bashes));
        const auto step = replyTo(request);
        if (!step)
            return FakeReply::json(Json{{"success", false}, {"message", "the script is over"}}, 500);
        const FakeReply reply = shaped(*step, path, body);
        if (m_holdExec && path == "/v1/shell/exec") {
            m_heldReply = reply;
            return std::nullopt;
        }
        return reply;
    }

    static FakeReply shaped(const Json &step, const QByteArray &path, const Json &request)
    {
        if (const QString how = stringOf(step, "transport"); !how.isEmpty()) {
            FakeReply reply;
            reply.fault = how == QLatin1String("read_timeout") ? QStringLiteral("accept_never_answer") : QStringLiteral("rst_before_headers");
            return reply;
        }
        const int status = int(intOf(step, "status", 200));
        if (step.contains("body")) {
            if (step["body"].is_string())
                return FakeReply::text(stringOf(step, "body").toUtf8(), status, "text/plain");
            return FakeReply::json(step["body"], status);
        }
        Json data = memberOf(step, "data");
        if (data.is_object()) { // the case lists what matters; the rest of the schema is filled in
            const bool bash = path.startsWith("/v1/bash");
            const Json echo = memberOf(request, bash ? "session_id" : "id");
            if (!data.contains("session_id") || data["session_id"] == "*")
                data["session_id"] = echo.is_null() ? Json("implicit") : echo;
            if (path.endsWith("/exec")) {
                for (const auto &[key, value] : std::map<std::string, Json>{{"command", memberOf(request, "command")}, {"command_id", "c1"}}) {
                    if (!data.contains(key))
                        data[key] = value;
                }
            } else if (!data.contains("working_dir")) {
                data["working_dir"] = "/w";
            }
        }
        FakeReply reply = FakeReply::data(data);
        reply.status = status;
        return reply;
    }

    const Json m_replies;
    const Json m_expected; ///< empty where the order counts
    std::size_t m_next = 0;
    int m_shells = 0;
    int m_bashes = 0;
    bool m_holdExec = false;
    FakeReply m_heldReply;
    QHash<QString, QString> m_names;
};

} // namespace paddock::cases
