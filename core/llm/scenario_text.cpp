// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/llm/scenario_text.h"

namespace paddock {

namespace {

/// Walks the text; `onName` returns what stands in the place of `${name}`, nullopt to leave it.
QString walk(const QString &text, const std::function<std::optional<QString>(const QString &)> &onName)
{
    QString out;
    out.reserve(text.size());
    qsizetype i = 0;
    while (i < text.size()) {
        const qsizetype dollar = text.indexOf(u'$', i);
        if (dollar < 0)
            break;
        out += QStringView(text).sliced(i, dollar - i);
        const QStringView rest = QStringView(text).sliced(dollar);
        if (rest.startsWith(u"$${")) {
            out += u"${";
            i = dollar + 3;
            continue;
        }
        const qsizetype close = rest.startsWith(u"${") ? text.indexOf(u'}', dollar) : -1;
        if (close < 0) {
            out += u'$';
            i = dollar + 1;
            continue;
        }
        const QString name = text.sliced(dollar + 2, close - dollar - 2);
        const auto value = onName(name);
        out += value ? *value : text.sliced(dollar, close - dollar + 1);
        i = close + 1;
    }
    out += QStringView(text).sliced(i);
    return out;
}

void collect(const Json &value, QStringList &names)
{
    if (value.is_string()) {
        names += referencesIn(textOf(value));
    } else if (value.is_structured()) {
        for (const Json &item : value)
            collect(item, names);
    }
}

} // namespace

QStringList referencesIn(const QString &text)
{
    QStringList names;
    walk(text, [&](const QString &name) {
        names.append(name);
        return std::optional<QString>();
    });
    return names;
}

QStringList referencesIn(const Json &value)
{
    QStringList names;
    collect(value, names);
    return names;
}

QString fillIn(const QString &text, const NameLookup &lookup)
{
    return walk(text, lookup);
}

Json fillIn(const Json &value, const NameLookup &lookup)
{
    if (value.is_string())
        return toJson(fillIn(textOf(value), lookup));
    if (!value.is_structured())
        return value;
    Json out = value;
    for (Json &item : out)
        item = fillIn(item, lookup);
    return out;
}

} // namespace paddock
