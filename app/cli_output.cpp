// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "app/cli.h"

#include <cstdio>

namespace paddock::cli {

namespace {
void put(std::FILE *to, const QString &line)
{
    const QByteArray bytes = line.toUtf8() + '\n';
    std::fwrite(bytes.constData(), 1, size_t(bytes.size()), to);
    std::fflush(to);
}
} // namespace

void say(const QString &line)
{
    put(stderr, line);
}

void print(const QString &line)
{
    put(stdout, line);
}

} // namespace paddock::cli
