// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"

#include <QString>

#include <memory>
#include <vector>

namespace paddock {

/// One node of a parsed YAML document with its place in the file, so that every complaint can name line and column.
/// A value; children are shared. Scalars keep their text and whether they were quoted.
class YamlNode
{
public:
    enum class Kind { Null, Scalar, Sequence, Mapping };
    struct Entry;

    Kind kind = Kind::Null;
    QString scalar;       ///< the text of a Scalar
    bool quoted = false;  ///< "12" is a string, 12 is a number
    int line = 0;         ///< 1-based; 0 when unknown
    int column = 0;       ///< 1-based
    std::vector<YamlNode> items;   ///< of a Sequence
    std::vector<Entry> entries;    ///< of a Mapping, in file order

    bool isNull() const { return kind == Kind::Null; }
    bool isScalar() const { return kind == Kind::Scalar; }
    bool isSequence() const { return kind == Kind::Sequence; }
    bool isMapping() const { return kind == Kind::Mapping; }
    /// The value of `key` in a mapping, or nullptr.
    const YamlNode *find(QStringView key) const;
    /// YAML 1.2 core schema: null, bool, int, float, string; mappings and sequences recursively.
    Json toJson() const;
    /// "line 3, column 7"
    QString place() const;
};

struct YamlNode::Entry {
    QString key;
    int line = 0;
    int column = 0;
    YamlNode value;
};

struct YamlLimits {
    qsizetype maxBytes = 4 * 1024 * 1024;
    int maxDepth = 64;
    int maxNodes = 200000; ///< counts alias expansions too
};

/// Parses one document of untrusted text. Duplicate keys, aliases beyond the limits and several documents are errors.
/// The message starts with `name:line:column: `.
Result<YamlNode> parseYaml(const QByteArray &utf8, const QString &name, const YamlLimits &limits = {});

} // namespace paddock
