// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/scrub.h"

#include "core/sandbox/masking.h"
#include "core/sandbox/secrets.h"

#include <QRegularExpression>

namespace paddock {

QString scrubSecrets(const QString &text, const RuntimeContext *runtime)
{
    static const QRegularExpression keys(
        QStringLiteral(R"(\b(?:sk-[A-Za-z0-9_-]{20,}|AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{20,})"
                       R"(|xox[baprs]-[A-Za-z0-9-]{10,}|AIza[0-9A-Za-z_-]{35})\b)"));
    static const QRegularExpression authorization(
        QStringLiteral(R"((authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token)\s+)?)([^\s"',;]+))"),
        QRegularExpression::CaseInsensitiveOption);
    QString out = text;
    out.replace(keys, QStringLiteral("[redacted]"));
    out.replace(authorization, QStringLiteral("\\1[redacted]"));
    if (runtime != nullptr && runtime->values.is_object())
        out = maskSecrets(out, secretOverlay(runtime->values, text));
    return out;
}

QString scrubHostPaths(const QString &text, const AgentState &state)
{
    const Json &data = memberOf(state.channels, "thread_data");
    if (!data.is_object() || !text.contains(u'/'))
        return text;
    std::vector<MaskSource> sources;
    for (const auto &[key, base] : {std::pair{"workspace_path", "/mnt/user-data/workspace"},
                                    std::pair{"uploads_path", "/mnt/user-data/uploads"},
                                    std::pair{"outputs_path", "/mnt/user-data/outputs"}}) {
        const QString host = stringOf(data, key);
        if (!host.isEmpty())
            sources.push_back({host, QString::fromLatin1(base)});
    }
    return sources.empty() ? text : HostPathMasker(sources).mask(text);
}

} // namespace paddock
