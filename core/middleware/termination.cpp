// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/termination.h"

#include "core/middleware/message_edits.h"

#include <algorithm>

namespace paddock {

namespace {

/// More is not a remark of the provider but a document.
constexpr qsizetype maxExtrasBytes = 8192;

QString metadata(const Message &ai, const QString &field)
{
    const QByteArray key = field.toUtf8();
    const QString value = stringOf(ai.responseMetadata, key.constData());
    return value.isEmpty() ? stringOf(ai.kwargs, key.constData()) : value;
}

Json extrasOf(const Message &ai, const QString &field)
{
    Json extras = Json::object();
    if (field.isEmpty())
        return extras;
    const QByteArray key = field.toUtf8();
    for (const Json *place : {&ai.responseMetadata, &ai.kwargs}) {
        const Json &value = memberOf(*place, key.constData());
        if (!isTruthy(value))
            continue;
        if (dumpJson(value).size() <= maxExtrasBytes)
            extras[key.toStdString()] = value;
        break;
    }
    return extras;
}

/// "deerflow.x:OpenAICompatibleContentFilterDetector" and the like.
QString nameOfClass(const QString &use)
{
    const QString type = use.mid(std::max(use.lastIndexOf(QLatin1Char(':')), use.lastIndexOf(QLatin1Char('.'))) + 1);
    if (type == u"OpenAICompatibleContentFilterDetector")
        return QStringLiteral("openai_compatible_content_filter");
    if (type == u"AnthropicRefusalDetector")
        return QStringLiteral("anthropic_refusal");
    if (type == u"GeminiSafetyDetector")
        return QStringLiteral("gemini_safety");
    return use;
}

std::unexpected<Error> wrong(const QString &what)
{
    return fail(ErrorCode::InvalidArgument, QStringLiteral("safety_finish_reason.detectors: ") + what,
                Json{{"key", "safety_finish_reason.detectors"}});
}

Result<TerminationDetector> detectorFrom(const Json &entry)
{
    const QString use = entry.is_string() ? textOf(entry) : stringOf(entry, "use");
    const auto known = std::ranges::find(safetyDetectors(), nameOfClass(use), &TerminationDetector::name);
    if (known == safetyDetectors().end()) {
        QStringList names;
        for (const TerminationDetector &detector : safetyDetectors())
            names.append(detector.name);
        return wrong(QStringLiteral("'%1' is not one of %2").arg(use, names.join(QStringLiteral(", "))));
    }
    TerminationDetector detector = *known;
    const QByteArray key = detector.field.toUtf8() + 's';
    const Json &values = memberOf(memberOf(entry, "config"), key.constData());
    if (values.is_null())
        return detector;
    detector.values.clear();
    if (values.is_array()) {
        for (const Json &value : values)
            detector.values.append(textOf(value));
    }
    if (detector.values.isEmpty() || detector.values.contains(QString()))
        return wrong(QStringLiteral("%1 of '%2' must be a list of texts").arg(QString::fromUtf8(key), use));
    return detector;
}

} // namespace

std::optional<Termination> detectTermination(const Message &ai, const std::vector<TerminationDetector> &detectors)
{
    for (const TerminationDetector &detector : detectors) {
        const QString value = metadata(ai, detector.field);
        if (!value.isEmpty() && detector.values.contains(value, Qt::CaseInsensitive))
            return Termination{detector.name, detector.field, value, extrasOf(ai, detector.extras)};
    }
    return std::nullopt;
}

const std::vector<TerminationDetector> &safetyDetectors()
{
    static const QString finish = QStringLiteral("finish_reason");
    static const std::vector<TerminationDetector> detectors{
        {QStringLiteral("openai_compatible_content_filter"), finish, {QStringLiteral("content_filter")},
         QStringLiteral("content_filter_results")},
        {QStringLiteral("anthropic_refusal"), QStringLiteral("stop_reason"), {QStringLiteral("refusal")}, {}},
        {QStringLiteral("gemini_safety"), finish,
         {QStringLiteral("SAFETY"), QStringLiteral("BLOCKLIST"), QStringLiteral("PROHIBITED_CONTENT"), QStringLiteral("SPII"),
          QStringLiteral("RECITATION"), QStringLiteral("IMAGE_SAFETY"), QStringLiteral("IMAGE_PROHIBITED_CONTENT"),
          QStringLiteral("IMAGE_RECITATION")},
         QStringLiteral("safety_ratings")},
    };
    return detectors;
}

const std::vector<TerminationDetector> &lengthDetectors()
{
    static const QString finish = QStringLiteral("finish_reason");
    static const std::vector<TerminationDetector> detectors{
        {QStringLiteral("openai_compatible_length"), finish, {QStringLiteral("length")}, {}},
        {QStringLiteral("anthropic_max_tokens"), QStringLiteral("stop_reason"), {QStringLiteral("max_tokens")}, {}},
        {QStringLiteral("gemini_max_tokens"), finish, {QStringLiteral("MAX_TOKENS")}, {}},
    };
    return detectors;
}

Result<std::vector<TerminationDetector>> safetyDetectorsFrom(const Json &list)
{
    if (list.is_null())
        return safetyDetectors();
    if (!list.is_array() || list.empty())
        return wrong(QStringLiteral("must name at least one detector, or be left out; enabled: false turns the check off"));
    std::vector<TerminationDetector> detectors;
    for (const Json &entry : list) {
        auto detector = detectorFrom(entry);
        if (!detector)
            return fail(detector.error());
        detectors.push_back(std::move(*detector));
    }
    return detectors;
}

} // namespace paddock
