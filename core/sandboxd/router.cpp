// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/router.h"

namespace paddock::sandboxd {

Router::Router()
{
    // aio-api.md §5.1. "{x}" is one segment of any text, "**" any rest.
    addMissing("hooks", "POST /v1/sandbox/hooks|GET /v1/sandbox/hooks|DELETE /v1/sandbox/hooks/{x}");
    addMissing("observe", "GET /v1/sandbox/observe/**|POST /v1/sandbox/observe/**|DELETE /v1/sandbox/observe/**");
    addMissing("file_watch", "POST /v1/file/watch|GET /v1/file/watch|POST /v1/file/watch/**|GET /v1/file/watch/**|DELETE /v1/file/watch/**");
    addMissing("jupyter", "POST /v1/jupyter/execute|GET /v1/jupyter/info|GET /v1/jupyter/sessions|DELETE /v1/jupyter/sessions|"
                          "POST /v1/jupyter/sessions/create|DELETE /v1/jupyter/sessions/{x}");
    addMissing("nodejs", "POST /v1/nodejs/execute|GET /v1/nodejs/info|GET /v1/nodejs/sessions|DELETE /v1/nodejs/sessions|"
                         "POST /v1/nodejs/sessions|POST /v1/nodejs/sessions/create|GET /v1/nodejs/sessions/{x}|"
                         "DELETE /v1/nodejs/sessions/{x}|PATCH /v1/nodejs/sessions/{x}");
    addMissing("code", "POST /v1/code/execute|GET /v1/code/info");
    addMissing("browser", "GET /v1/browser/info|GET /v1/browser/screenshot|POST /v1/browser/actions|POST /v1/browser/config|"
                          "POST /v1/browser/restart|GET /v1/browser/restart|GET /v1/browser/proxy.pac|"
                          "GET /v1/browser/page/**|POST /v1/browser/page/**|DELETE /v1/browser/page/**|"
                          "GET /v1/browser/tabs|POST /v1/browser/tabs|GET /v1/browser/tabs/**|POST /v1/browser/tabs/**|DELETE /v1/browser/tabs/**|"
                          "GET /v1/browser/cookies|POST /v1/browser/cookies|DELETE /v1/browser/cookies|GET /v1/browser/cookies/**|"
                          "POST /v1/browser/cookies/**|DELETE /v1/browser/cookies/**|GET /v1/browser/state|POST /v1/browser/state|"
                          "GET /v1/browser/state/**|POST /v1/browser/state/**|GET /v1/browser/network/**|POST /v1/browser/network/**|"
                          "DELETE /v1/browser/network/**|GET /v1/browser/captcha/**|POST /v1/browser/captcha/**");
    addMissing("mcp", "GET /v1/mcp/{x}/tools|POST /v1/mcp/{x}/tools/{x}");
    addMissing("util", "POST /v1/util/convert_to_markdown");
    addMissing("skills", "POST /v1/skills/register|GET /v1/skills/metadatas|GET /v1/skills/{x}/content|DELETE /v1/skills|DELETE /v1/skills/{x}");
    addMissing("proxy", "GET /v1/proxy/**|POST /v1/proxy/**|PUT /v1/proxy/**|PATCH /v1/proxy/**|DELETE /v1/proxy/**");
    addMissing("display", "POST /v1/display/record");
    addMissing("auth", "GET /auth");
}

void Router::addMissing(const char *capability, const char *routes)
{
    for (const QByteArray &route : QByteArray(routes).split('|')) {
        const qsizetype space = route.indexOf(' ');
        m_routes.push_back({route.left(space), route.mid(space + 1), {}, capability});
    }
}

void Router::add(const char *method, const char *pattern, Handler handler)
{
    m_routes.push_back({method, pattern, std::move(handler), {}});
}

bool Router::fits(const QByteArray &pattern, const QByteArray &path, QByteArray *id)
{
    if (pattern.endsWith("/**"))
        return path.size() >= pattern.size() - 2 && path.startsWith(pattern.chopped(2));
    const qsizetype open = pattern.indexOf('{');
    if (open < 0)
        return pattern == path;
    if (pattern.contains("{id}")) {
        const QByteArray before = pattern.left(open);
        const QByteArray after = pattern.mid(pattern.indexOf('}') + 1);
        if (path.size() <= before.size() + after.size() || !path.startsWith(before) || !path.endsWith(after))
            return false;
        *id = path.mid(before.size(), path.size() - before.size() - after.size());
        return true;
    }
    const auto wanted = pattern.split('/');
    const auto given = path.split('/');
    if (wanted.size() != given.size())
        return false;
    for (qsizetype i = 0; i < wanted.size(); ++i) {
        if (wanted[i] != "{x}" ? wanted[i] != given[i] : given[i].isEmpty())
            return false;
    }
    return true;
}

Router::Match Router::match(const QByteArray &method, const QByteArray &rawPath) const
{
    Match result;
    const Route *best = nullptr;
    QByteArray bestId;
    bool bestFixed = false;
    for (const Route &route : m_routes) {
        QByteArray id;
        if (!fits(route.pattern, rawPath, &id))
            continue;
        if (result.kind == Match::Kind::Unknown)
            result.kind = Match::Kind::WrongMethod;
        // A whole path wins over one with a free part.
        const bool fixed = !route.pattern.contains('{') && !route.pattern.contains('*');
        if (route.method == method && (!best || (fixed && !bestFixed))) {
            best = &route;
            bestFixed = fixed;
            bestId = id;
        }
    }
    if (!best)
        return result;
    result.kind = best->handler ? Match::Kind::Found : Match::Kind::NotImplemented;
    result.handler = &best->handler;
    result.id = QString::fromUtf8(percentDecoded(bestId, false));
    result.capability = QString::fromLatin1(best->capability);
    return result;
}

QList<std::pair<QByteArray, QByteArray>> Router::implemented() const
{
    QList<std::pair<QByteArray, QByteArray>> out;
    for (const Route &route : m_routes) {
        if (route.handler)
            out.append({route.method, route.pattern});
    }
    return out;
}

} // namespace paddock::sandboxd
