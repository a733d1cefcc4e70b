// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/framing.h"

#include "core/base/text.h"

#include <QRegularExpression>

namespace paddock::framing {

namespace {

const QRegularExpression &tagPattern()
{
    static const QRegularExpression pattern = [] {
        QStringList names;
        for (const QString &name : blockedTags())
            names.append(QRegularExpression::escape(name));
        names.sort();
        return QRegularExpression(QStringLiteral(R"((*LIMIT_MATCH=10000000)<\s*/?\s*(%1)\b[^>]*>?)").arg(names.join(u'|')),
                                  QRegularExpression::UseUnicodePropertiesOption | QRegularExpression::CaseInsensitiveOption);
    }();
    return pattern;
}

QString escaped(QString text)
{
    return text.replace(u'<', QLatin1String("&lt;")).replace(u'>', QLatin1String("&gt;"));
}

Result<Neutralized> withoutTags(const QString &text)
{
    Neutralized out;
    qsizetype copied = 0;
    QRegularExpressionMatchIterator it = tagPattern().globalMatch(text);
    if (!it.isValid())
        return fail(ErrorCode::ResourceExhausted, QStringLiteral("the tag pattern exceeded its limit"));
    while (it.hasNext()) {
        const QRegularExpressionMatch match = it.next();
        out.text += QStringView(text).mid(copied, match.capturedStart() - copied);
        out.text += escaped(match.captured());
        out.tags.append(match.captured(1).toLower());
        copied = match.capturedEnd();
    }
    if (copied == 0) {
        out.text = text;
        return out;
    }
    out.text += QStringView(text).mid(copied);
    return out;
}

int replaceMarkers(QString &text)
{
    const QString begin = beginMarker();
    const QString end = endMarker();
    const int found = int(text.count(begin) + text.count(end));
    if (found > 0)
        text.replace(begin, QStringLiteral("[BEGIN USER INPUT]")).replace(end, QStringLiteral("[END USER INPUT]"));
    return found;
}

bool isBlank(const QString &text)
{
    return pythonStrip(text).isEmpty();
}

} // namespace

const QStringList &blockedTags()
{
    static const QStringList tags =
        QStringLiteral("analysis available-deferred-tools available_skills background_task_event citations clarification_system "
                       "critical_reminders current_date current_uploads disabled_skills durable_context_data "
                       "file_editing_workflow goal_continuation guidelines ignore important instruction mcp_routing_hints "
                       "memory memory_tool_system output_format override prompt response_style role self_update skill_index "
                       "skill_system slash_skill_activation soul subagent_system system system-reminder system_reminder think "
                       "thinking_style todo_list_system tool_restrictions uploaded_files working_directory")
            .split(u' ');
    return tags;
}

QString beginMarker()
{
    return QStringLiteral("--- BEGIN USER INPUT ---");
}

QString endMarker()
{
    return QStringLiteral("--- END USER INPUT ---");
}

Result<Neutralized> neutralize(const QString &text)
{
    if (isBlank(text))
        return Neutralized{text, {}, 0};
    Result<Neutralized> out = withoutTags(text);
    if (out)
        out->markers = replaceMarkers(out->text);
    return out;
}

Result<QString> frame(const QString &text)
{
    if (isBlank(text))
        return text;
    Result<Neutralized> clean = withoutTags(text);
    if (!clean)
        return std::unexpected(clean.error());
    const QString begin = beginMarker();
    const QString end = endMarker();
    QString out = clean->text;
    // Both borders and no overlap of their dashes: else "BEGIN" alone would suppress the frame, "END" would leave it.
    if (out.startsWith(begin) && out.endsWith(end) && out.size() >= begin.size() + end.size()) {
        QString inner = out.mid(begin.size(), out.size() - begin.size() - end.size());
        replaceMarkers(inner);
        return begin + inner + end;
    }
    replaceMarkers(out);
    return begin + u'\n' + out + u'\n' + end;
}

} // namespace paddock::framing
