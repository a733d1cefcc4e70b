// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "tests/cases/case_registry.h"

#include "core/base/text.h"

#include <QHash>
#include <QSet>

namespace paddock::cases {

namespace {

QHash<QString, Runner> &runners()
{
    static QHash<QString, Runner> table;
    return table;
}

QString shown(const Json &value)
{
    QString text = QString::fromUtf8(dumpJson(value));
    return text.size() > 600 ? text.left(600) + QStringLiteral("…") : text;
}

QString compareMatcher(const Json &expect, const Json &actual, const QString &path, bool &handled)
{
    handled = true;
    if (expect.is_string() && expect == "$any")
        return actual.is_null() ? path + QStringLiteral(": expected something, got nothing") : QString();
    if (expect.is_object() && actual.is_string()) {
        const QString text = textOf(actual);
        if (expect.contains("$starts_with") || expect.contains("$ends_with")) {
            if (!text.startsWith(stringOf(expect, "$starts_with")) || !text.endsWith(stringOf(expect, "$ends_with")))
                return path + QStringLiteral(": expected %1, got %2").arg(shown(expect), shown(actual));
            return {};
        }
        if (expect.contains("chars") && expect.contains("sha256")) {
            if (codePointCount(text) != intOf(expect, "chars") || sha256Hex(text) != stringOf(expect, "sha256"))
                return path + QStringLiteral(": expected %1, got %2 chars starting %3 ending %4")
                                  .arg(shown(expect))
                                  .arg(codePointCount(text))
                                  .arg(shown(toJson(firstCodePoints(text, 80))), shown(toJson(lastCodePoints(text, 80))));
            return {};
        }
    }
    handled = false;
    return {};
}

QString compare(const Json &expect, const Json &actual, const QString &path, bool strict)
{
    bool handled = false;
    const QString special = compareMatcher(expect, actual, path, handled);
    if (handled)
        return special;
    if (expect.is_object() && actual.is_object()) {
        for (auto it = expect.begin(); it != expect.end(); ++it) {
            const QString where = path + QLatin1Char('.') + QString::fromStdString(it.key());
            const auto found = actual.find(it.key());
            const bool emptyExpected = it.value().is_null() || (strict && it.value().is_object() && it.value().empty());
            if (found == actual.end()) {
                if (!emptyExpected)
                    return where + QStringLiteral(": expected %1, got nothing").arg(shown(it.value()));
                continue;
            }
            const QString inner = compare(it.value(), *found, where, strict);
            if (!inner.isEmpty())
                return inner;
        }
        if (strict) {
            for (auto it = actual.begin(); it != actual.end(); ++it) {
                const bool empty = it.value().is_null() || ((it.value().is_object() || it.value().is_array()) && it.value().empty());
                if (!empty && !expect.contains(it.key()))
                    return path + QLatin1Char('.') + QString::fromStdString(it.key())
                        + QStringLiteral(": unexpected %1").arg(shown(it.value()));
            }
        }
        return {};
    }
    if (expect.is_array() && actual.is_array()) {
        if (expect.size() != actual.size())
            return path + QStringLiteral(": expected %1 items %2, got %3 items %4")
                              .arg(expect.size())
                              .arg(shown(expect))
                              .arg(actual.size())
                              .arg(shown(actual));
        for (std::size_t i = 0; i < expect.size(); ++i) {
            const QString inner = compare(expect[i], actual[i], path + QStringLiteral("[%1]").arg(i), strict);
            if (!inner.isEmpty())
                return inner;
        }
        return {};
    }
    if (expect.is_number() && actual.is_number()) {
        const double difference = std::fabs(expect.get<double>() - actual.get<double>());
        if (difference <= 1e-9 * std::max(1.0, std::fabs(expect.get<double>())))
            return {};
    }
    if (expect == actual)
        return {};
    return path + QStringLiteral(": expected %1, got %2").arg(shown(expect), shown(actual));
}

} // namespace

Registrar::Registrar(const char *area, Runner runner, const char *file)
{
    runners().insert(QString::fromLatin1(file) + QLatin1Char('/') + QString::fromLatin1(area), std::move(runner));
}

const Runner *findRunner(const QString &area, const QString &file)
{
    const auto exact = runners().constFind(file + QLatin1Char('/') + area);
    if (exact != runners().constEnd())
        return &*exact;
    const auto general = runners().constFind(QLatin1Char('/') + area);
    return general == runners().constEnd() ? nullptr : &*general;
}

bool isKnownArea(const QString &area)
{
    static const QSet<QString> known = [] {
        QSet<QString> set;
        static const char *const names[] = {
#include "tests/cases/known_areas.inc"
        };
        for (const char *name : names)
            set.insert(QString::fromLatin1(name));
        return set;
    }();
    return known.contains(area);
}

QString mismatch(const Json &expect, const Json &actual, const QString &path)
{
    return compare(expect, actual, path, false);
}

QString strictMismatch(const Json &expect, const Json &actual, const QString &path)
{
    return compare(expect, actual, path, true);
}

Json expandParts(const Json &value)
{
    if (value.is_object()) {
        if (value.size() == 1 && value.contains("parts") && value["parts"].is_array()) {
            QString text;
            for (const Json &part : value["parts"])
                text += stringOf(part, "text").repeated(int(intOf(part, "times", 1)));
            return toJson(text);
        }
        Json out = Json::object();
        for (auto it = value.begin(); it != value.end(); ++it)
            out[it.key()] = expandParts(it.value());
        return out;
    }
    if (value.is_array()) {
        Json out = Json::array();
        for (const Json &item : value)
            out.push_back(expandParts(item));
        return out;
    }
    return value;
}

} // namespace paddock::cases
