// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/yaml.h"

#include <QRegularExpression>

#include <chrono>
#include <initializer_list>
#include <optional>

namespace paddock {

/// Typed reading of YAML nodes that remembers the first complaint with its place. After a complaint every reader returns
/// its fallback, so that callers need no check in between. Used while one scenario is parsed.
class ScenarioReader
{
public:
    explicit ScenarioReader(QString file) : m_file(std::move(file)) {}

    const std::optional<Error> &error() const { return m_error; }
    bool failed() const { return m_error.has_value(); }
    void complain(const YamlNode &at, const QString &what) { complain(at.line, at.column, what); }
    void complain(int line, int column, const QString &what);

    /// A mapping whose keys are all in `known`.
    bool mapping(const YamlNode &node, const char16_t *what, std::initializer_list<const char16_t *> known);
    bool sequence(const YamlNode &node, const char16_t *what);

    QString text(const YamlNode &node, const char16_t *what);
    QString text(const YamlNode &mapping, const char16_t *key, bool required);
    int number(const YamlNode &node, const char16_t *what, int min, int max);
    bool flag(const YamlNode &node, const char16_t *what);
    /// "20ms", "1.5s", "2m", or a plain number of seconds.
    std::chrono::milliseconds duration(const YamlNode &node, const char16_t *what);
    /// Checks that the text is a regular expression once `${name}` is filled in.
    QString pattern(const YamlNode &node, const char16_t *what);
    QStringList names(const YamlNode &node, const char16_t *what);

private:
    QString m_file;
    std::optional<Error> m_error;
};

/// How scenario patterns are compiled, at the check and at run time.
QRegularExpression scenarioRegex(const QString &pattern);

} // namespace paddock
