// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/json.h"

#include <QString>

#include <functional>

namespace paddock::cases {

struct Verdict {
    enum class Kind { Passed, Failed, Skipped } kind = Kind::Passed;
    QString detail; ///< for Failed: what was expected and what came; for Skipped: why
};
inline Verdict passed() { return {}; }
inline Verdict failed(QString detail) { return {Verdict::Kind::Failed, std::move(detail)}; }
inline Verdict skipped(QString why) { return {Verdict::Kind::Skipped, std::move(why)}; }

/// Runs one case (the whole object of the file). May spin a local event loop; must not touch the network but loopback.
using Runner = std::function<Verdict(const Json &testCase)>;

/// Registers the runner of an area, e.g. "path.translate". `file` is the stem of the case file when one area name means
/// different things in two files (empty: any file). Called from static registrars in *_cases.cpp.
struct Registrar {
    Registrar(const char *area, Runner runner, const char *file = "");
};

const Runner *findRunner(const QString &area, const QString &file);
/// An area that a spec names but that is not built yet: counted as skipped. An area in neither list fails.
bool isKnownArea(const QString &area);

/// Key-by-key comparison: keys not listed in `expect` are free; "$any" and {"$starts_with","$ends_with"} and
/// {"chars","sha256","starts","ends"} as in middleware-base §20. Returns an empty string when equal, else where and what.
QString mismatch(const Json &expect, const Json &actual, const QString &path = QStringLiteral("$"));
/// The same, but actual objects may not hold keys that `expect` lacks (empty members ignored).
QString strictMismatch(const Json &expect, const Json &actual, const QString &path = QStringLiteral("$"));
/// Replaces {"parts":[{"text","times"}]} by the string it stands for, recursively.
Json expandParts(const Json &value);

} // namespace paddock::cases
