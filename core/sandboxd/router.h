// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandboxd/http_server.h"

#include <QStringList>

#include <functional>
#include <vector>

namespace paddock::sandboxd {

/// Which code answers which route. Patterns are whole paths; "{id}" stands for the percent-decoded rest up to the next
/// fixed part (it may hold slashes: one SDK does not encode them). Routes that AIO has and we do not are known as such (§5).
class Router
{
public:
    using Handler = std::function<void(const ExchangePtr &, const QString &id)>;
    struct Match {
        enum class Kind { Found, NotImplemented, WrongMethod, Unknown } kind = Kind::Unknown;
        const Handler *handler = nullptr;
        QString id;
        QString capability; ///< NotImplemented
    };

    Router();
    void add(const char *method, const char *pattern, Handler handler);
    Match match(const QByteArray &method, const QByteArray &rawPath) const;
    /// "METHOD path" of everything that is implemented, for the OpenAPI page.
    QList<std::pair<QByteArray, QByteArray>> implemented() const;

private:
    struct Route {
        QByteArray method;
        QByteArray pattern;
        Handler handler; ///< empty: not implemented here
        QByteArray capability;
    };
    void addMissing(const char *capability, const char *routes);
    static bool fits(const QByteArray &pattern, const QByteArray &path, QByteArray *id);

    std::vector<Route> m_routes;
};

} // namespace paddock::sandboxd
