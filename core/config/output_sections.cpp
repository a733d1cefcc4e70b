// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/config/section_reader.h"

namespace paddock {

namespace {

constexpr qint64 mostChars = 1'000'000'000;
constexpr qint64 mostWrites = 1'000'000;

void readToolLimits(SectionReader &reader, const char *key, QMap<QString, qint64> &out)
{
    const Json &limits = reader.take(key);
    if (limits.is_null())
        return;
    if (!limits.is_object()) {
        reader.complain(key, QStringLiteral("must be a mapping of tool names to numbers"));
        return;
    }
    SectionReader inner(QStringLiteral("tool_output.") + QString::fromLatin1(key), limits);
    for (const auto &[tool, limit] : limits.items()) {
        qint64 chars = 0;
        if (inner.integer(tool.c_str(), chars, 0, mostChars))
            out.insert(QString::fromStdString(tool), chars);
    }
    reader.adopt(inner);
}

bool isPathSegment(const QString &name)
{
    return !name.isEmpty() && name != u"." && name != u".." && !name.contains(u'/') && !name.contains(u'\\')
        && !name.contains(QChar(0));
}

} // namespace

Result<ToolOutputConfig> toolOutputFromJson(const Json &value)
{
    ToolOutputConfig c;
    SectionReader reader(QStringLiteral("tool_output"), value);
    reader.boolean("enabled", c.enabled);
    reader.integer("externalize_min_chars", c.externalizeMinChars, 0, mostChars);
    reader.integer("preview_head_chars", c.previewHeadChars, 0, mostChars);
    reader.integer("preview_tail_chars", c.previewTailChars, 0, mostChars);
    reader.integer("fallback_max_chars", c.fallbackMaxChars, 0, mostChars);
    reader.integer("fallback_head_chars", c.fallbackHeadChars, 0, mostChars);
    reader.integer("fallback_tail_chars", c.fallbackTailChars, 0, mostChars);
    if (reader.string("storage_subdir", c.storageSubdir) && !isPathSegment(c.storageSubdir))
        reader.complain("storage_subdir", QStringLiteral("must be the name of one folder, without '/' or '\\'"));
    reader.strings("exempt_tools", c.exemptTools, QStringLiteral("must be a list of tool names"));
    readToolLimits(reader, "tool_overrides", c.toolOverrides);
    reader.boolean("elide_superseded_writes", c.elideSupersededWrites);
    reader.integer("superseded_write_min_chars", c.supersededWriteMinChars, 0, mostChars);
    reader.integer("keep_recent_writes", c.keepRecentWrites, 0, mostWrites);
    return reader.finish(c);
}

Result<PiiRedactionConfig> piiRedactionFromJson(const Json &value)
{
    PiiRedactionConfig c;
    SectionReader reader(QStringLiteral("pii_redaction"), value);
    reader.boolean("enabled", c.enabled);
    reader.boolean("redact_email", c.email);
    reader.boolean("redact_api_key", c.apiKey);
    reader.boolean("redact_credit_card", c.creditCard);
    reader.boolean("redact_phone", c.phone);
    reader.boolean("redact_national_id", c.nationalId);
    reader.string("token_secret", c.tokenSecret);
    reader.boolean("fail_closed", c.failClosed);
    if (c.enabled && pythonStrip(c.tokenSecret).isEmpty())
        reader.complain("token_secret", QStringLiteral("must be set when redaction is enabled; without it placeholders can be guessed"));
    return reader.finish(c);
}

} // namespace paddock
