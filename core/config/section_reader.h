// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"

#include <QStringList>

#include <initializer_list>

namespace paddock {

/// Reads one mapping of the configuration key by key: types and ranges are checked, what stays unread is unknown. Used
/// by this room only. Booleans never pass as integers (runtime §1.4).
class SectionReader
{
public:
    SectionReader(QString section, const Json &value);

    bool boolean(const char *key, bool &out);
    bool integer(const char *key, int &out, qint64 min, qint64 max);
    bool integer(const char *key, qint64 &out, qint64 min, qint64 max);
    bool number(const char *key, double &out, double min, double max);
    bool string(const char *key, QString &out);
    /// A list of strings; anything else gets the complaint `what`.
    bool strings(const char *key, QStringList &out, const QString &what);
    bool oneOf(const char *key, QString &out, std::initializer_list<QString> allowed);
    /// The raw member (null when absent), counted as read.
    const Json &take(const char *key);
    void complain(const char *key, const QString &what);
    /// Takes over another reader's complaints.
    void adopt(const SectionReader &other);
    QStringList unknownKeys() const;
    QStringList knownKeys() const { return m_known; }

    template<typename T>
    Result<T> finish(T value) const
    {
        if (m_error)
            return fail(*m_error);
        return value;
    }

private:
    QString m_section;
    const Json &m_value;
    QStringList m_known;
    std::optional<Error> m_error;
};

struct ContainerConfig;
/// The keys of `sandbox:` about containers, which the caller's reader then counts as read.
void readContainerKeys(SectionReader &reader, ContainerConfig &out);

} // namespace paddock
