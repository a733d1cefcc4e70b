// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/loop_detector.h"

#include "core/base/text.h"

#include <QCryptographicHash>

#include <algorithm>
#include <limits>
#include <optional>

namespace paddock {

namespace {

constexpr qint64 linesPerBucket = 200;
constexpr qint64 maxLine = std::numeric_limits<qint64>::max() / 4;

/// The arguments as an object, and the key to use instead where they are none.
struct Arguments {
    Json object = Json::object();
    std::optional<QString> fallback;
};

QString canonical(const Json &value)
{
    return QString::fromLatin1(dumpJsonPythonSorted(value));
}

Arguments argumentsOf(const Json &args)
{
    if (args.is_object())
        return {args, std::nullopt};
    if (args.is_null())
        return {};
    if (!args.is_string())
        return {Json::object(), canonical(args)};
    const auto parsed = parseJson(QByteArray::fromStdString(args.get_ref<const std::string &>()));
    if (!parsed)
        return {Json::object(), textOf(args)};
    if (parsed->is_object())
        return {*parsed, std::nullopt};
    return {Json::object(), canonical(*parsed)};
}

/// int() of Python over what a model may send as a line number.
std::optional<qint64> lineNumber(const Json &value)
{
    if (value.is_boolean())
        return value.get<bool>() ? 1 : 0;
    if (value.is_number_unsigned())
        return qint64(std::min<quint64>(value.get<quint64>(), quint64(maxLine)));
    if (value.is_number_integer())
        return std::max(value.get<qint64>(), -maxLine);
    if (value.is_number_float()) {
        const double number = value.get<double>();
        if (!(number > -double(maxLine) && number < double(maxLine)))
            return std::nullopt;
        return qint64(number);
    }
    bool ok = false;
    const qint64 number = pythonStrip(textOf(value)).toLongLong(&ok);
    return ok ? std::optional(std::clamp(number, -maxLine, maxLine)) : std::nullopt;
}

QString readKey(const Json &args)
{
    const Json &startValue = memberOf(args, "start_line");
    const Json &endValue = memberOf(args, "end_line");
    qint64 start = startValue.is_null() ? 1 : lineNumber(startValue).value_or(1);
    qint64 end = endValue.is_null() ? start : lineNumber(endValue).value_or(start);
    if (start > end)
        std::swap(start, end);
    start = std::max<qint64>(start, 1);
    end = std::max<qint64>(end, 1);
    const Json &path = memberOf(args, "path");
    const QString shown = path.is_string() ? textOf(path) : path.is_null() ? QString() : canonical(path);
    return QStringLiteral("%1:%2-%3").arg(shown).arg((start - 1) / linesPerBucket).arg((end - 1) / linesPerBucket);
}

QString callKey(const QString &name, const Json &rawArgs)
{
    const Arguments args = argumentsOf(rawArgs);
    if (name == u"read_file" && !args.fallback)
        return readKey(args.object);
    if (name == u"write_file" || name == u"str_replace")
        return args.fallback.value_or(canonical(args.object));
    Json salient = Json::object();
    for (const char *field : {"path", "url", "query", "command", "pattern", "glob", "cmd"}) {
        const Json &value = memberOf(args.object, field);
        if (!value.is_null())
            salient[field] = value;
    }
    if (!salient.empty())
        return canonical(salient);
    return args.fallback.value_or(canonical(args.object));
}

} // namespace

QString loopHash(const std::vector<ToolCall> &calls)
{
    std::vector<std::string> keys;
    for (const ToolCall &call : calls)
        keys.push_back(toUtf8(call.name + QLatin1Char(':') + callKey(call.name, call.args)));
    std::sort(keys.begin(), keys.end()); // UTF-8 order is code point order
    const QByteArray text = dumpJsonPythonSorted(Json(keys));
    return QString::fromLatin1(QCryptographicHash::hash(text, QCryptographicHash::Md5).toHex().left(12));
}

LoopDetector::LoopDetector(LoopOptions options) : m_options(std::move(options))
{
    int window = std::max(m_options.windowSize, m_options.toolFreqHardLimit);
    for (const auto &[warn, hard] : std::as_const(m_options.toolFreqOverrides))
        window = std::max(window, hard);
    m_nameWindow = std::size_t(std::max(1, window));
}

LoopDetector::History &LoopDetector::historyOf(const QString &scope)
{
    const auto known = std::find_if(m_histories.begin(), m_histories.end(),
                                    [&scope](const History &history) { return history.scope == scope; });
    if (known != m_histories.end()) {
        m_histories.splice(m_histories.begin(), m_histories, known);
    } else {
        m_histories.emplace_front();
        m_histories.front().scope = scope;
        while (m_histories.size() > std::size_t(std::max(1, m_options.maxScopes)))
            m_histories.pop_back();
    }
    return m_histories.front();
}

std::pair<int, int> LoopDetector::limitsOf(const QString &tool) const
{
    const auto own = m_options.toolFreqOverrides.constFind(tool);
    return own == m_options.toolFreqOverrides.constEnd()
        ? std::pair(m_options.toolFreqWarn, m_options.toolFreqHardLimit)
        : *own;
}

LoopDetector::Frequency LoopDetector::countNames(History &history, const std::vector<ToolCall> &calls) const
{
    using Action = LoopVerdict::Action;
    using Layer = LoopVerdict::Layer;
    Frequency found;
    for (const ToolCall &call : calls) {
        history.names.push_back(call.name);
        ++history.nameCounts[call.name];
        if (history.names.size() > m_nameWindow) {
            const QString oldest = history.names.front();
            history.names.pop_front();
            if (--history.nameCounts[oldest] == 0)
                history.nameCounts.remove(oldest);
        }
        const int count = history.nameCounts.value(call.name);
        const auto [warn, hard] = limitsOf(call.name);
        if (count >= hard) {
            if (found.hard.action == Action::None)
                found.hard = {Action::HardStop, Layer::ToolFrequency, {call.name}, count, hard};
        } else if (count >= warn) {
            if (found.warn.action == Action::None && !history.warnedNames.contains(call.name))
                found.warn = {Action::Warn, Layer::ToolFrequency, {call.name}, count, warn};
        } else {
            history.warnedNames.remove(call.name);
        }
    }
    return found;
}

LoopVerdict LoopDetector::track(const QString &scope, const std::vector<ToolCall> &calls)
{
    using Action = LoopVerdict::Action;
    if (calls.empty())
        return {};
    History &history = historyOf(scope);
    const QString hash = loopHash(calls);
    history.hashes.push_back(hash);
    while (history.hashes.size() > std::size_t(std::max(1, m_options.windowSize)))
        history.hashes.pop_front();
    history.warnedHashes.removeIf([&history](const QString &warned) {
        return std::find(history.hashes.begin(), history.hashes.end(), warned) == history.hashes.end();
    });
    const int count = int(std::count(history.hashes.begin(), history.hashes.end(), hash));
    const Frequency frequency = countNames(history, calls);

    QStringList names;
    for (const ToolCall &call : calls) {
        if (!names.contains(call.name))
            names.append(call.name);
    }
    if (count >= m_options.hardLimit)
        return {Action::HardStop, LoopVerdict::Layer::IdenticalCallSet, names, count, m_options.hardLimit};
    if (frequency.hard.action != Action::None)
        return frequency.hard;
    if (count >= m_options.warnThreshold && !history.warnedHashes.contains(hash)) {
        history.warnedHashes.insert(hash);
        return {Action::Warn, LoopVerdict::Layer::IdenticalCallSet, names, count, m_options.warnThreshold};
    }
    if (frequency.warn.action != Action::None)
        history.warnedNames.insert(frequency.warn.toolNames.first());
    return frequency.warn;
}

} // namespace paddock
