// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/config/config.h"
#include "core/config/section_reader.h"

#include <QRegularExpression>

namespace paddock {

namespace {

constexpr qint64 highestPort = 65535;
constexpr qint64 mostReplicas = 10000;
constexpr qint64 longestIdleSeconds = 30LL * 86400;
constexpr qint64 longestRenewalSeconds = 3600;
constexpr qint64 largestTtlMultiplier = 1000;

} // namespace

void readContainerKeys(SectionReader &reader, ContainerConfig &out)
{
    reader.oneOf("runtime", out.runtime, {QStringLiteral("auto"), QStringLiteral("docker"), QStringLiteral("podman"), QStringLiteral("container")});
    reader.string("image", out.image);
    if (out.image.startsWith(u'-')) // it would be read as an option
        reader.complain("image", QStringLiteral("must be the name of an image"));
    reader.integer("port", out.port, 1, highestPort);
    reader.integer("replicas", out.replicas, 1, mostReplicas);
    reader.string("container_prefix", out.prefix);
    static const QRegularExpression name(QStringLiteral("\\A[A-Za-z0-9][A-Za-z0-9_.-]*\\z"));
    if (!out.prefix.isEmpty() && !name.match(out.prefix).hasMatch())
        reader.complain("container_prefix", QStringLiteral("must begin with a letter or digit and hold letters, digits, '_', '.' and '-' only"));
    reader.integer("idle_timeout", out.idleTimeout, 0, longestIdleSeconds);
    const Json &ownership = reader.take("ownership");
    if (ownership.is_null())
        return;
    SectionReader inner(QStringLiteral("sandbox.ownership"), ownership);
    inner.string("type", out.ownershipType);
    inner.integer("renewal_interval_seconds", out.renewalSeconds, 1, longestRenewalSeconds);
    inner.integer("ttl_multiplier", out.ttlMultiplier, 2, largestTtlMultiplier);
    inner.take("key_prefix");
    reader.adopt(inner);
}

} // namespace paddock
