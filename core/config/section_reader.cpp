// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/config/section_reader.h"

namespace paddock {

SectionReader::SectionReader(QString section, const Json &value) : m_section(std::move(section)), m_value(value)
{
    if (!value.is_null() && !value.is_object())
        m_error = Error{ErrorCode::InvalidArgument, QStringLiteral("%1 must be a mapping").arg(m_section),
                        Json{{"key", toUtf8(m_section)}}, nullptr};
}

const Json &SectionReader::take(const char *key)
{
    m_known.append(QString::fromLatin1(key));
    return memberOf(m_value, key);
}

void SectionReader::complain(const char *key, const QString &what)
{
    if (m_error)
        return;
    const QString path = m_section.isEmpty() ? QString::fromLatin1(key) : m_section + QLatin1Char('.') + QString::fromLatin1(key);
    m_error = Error{ErrorCode::InvalidArgument, QStringLiteral("%1: %2").arg(path, what), Json{{"key", toUtf8(path)}}, nullptr};
}

void SectionReader::adopt(const SectionReader &other)
{
    if (!m_error)
        m_error = other.m_error;
}

bool SectionReader::boolean(const char *key, bool &out)
{
    const Json &member = take(key);
    if (member.is_null())
        return false;
    if (!member.is_boolean()) {
        complain(key, QStringLiteral("must be true or false"));
        return false;
    }
    out = member.get<bool>();
    return true;
}

bool SectionReader::integer(const char *key, qint64 &out, qint64 min, qint64 max)
{
    const Json &member = take(key);
    if (member.is_null())
        return false;
    if (!member.is_number_integer()
        || (member.is_number_unsigned() && member.get<quint64>() > quint64(std::numeric_limits<qint64>::max()))) {
        complain(key, QStringLiteral("must be a whole number"));
        return false;
    }
    const qint64 value = member.get<qint64>();
    if (value < min || value > max) {
        complain(key, max >= std::numeric_limits<qint64>::max() / 2
                          ? QStringLiteral("%1 must be at least %2").arg(value).arg(min)
                          : QStringLiteral("%1 must be between %2 and %3").arg(value).arg(min).arg(max));
        return false;
    }
    out = value;
    return true;
}

bool SectionReader::integer(const char *key, int &out, qint64 min, qint64 max)
{
    qint64 wide = 0;
    if (!integer(key, wide, min, std::min<qint64>(max, std::numeric_limits<int>::max())))
        return false;
    out = int(wide);
    return true;
}

bool SectionReader::number(const char *key, double &out, double min, double max)
{
    const Json &member = take(key);
    if (member.is_null())
        return false;
    if (!member.is_number()) {
        complain(key, QStringLiteral("must be a number"));
        return false;
    }
    const double value = member.get<double>();
    if (!(value >= min && value <= max)) {
        complain(key, QStringLiteral("%1 must be between %2 and %3").arg(value).arg(min).arg(max));
        return false;
    }
    out = value;
    return true;
}

bool SectionReader::string(const char *key, QString &out)
{
    const Json &member = take(key);
    if (member.is_null())
        return false;
    if (!member.is_string()) {
        complain(key, QStringLiteral("must be text"));
        return false;
    }
    out = textOf(member);
    return true;
}

bool SectionReader::strings(const char *key, QStringList &out, const QString &what)
{
    const Json &list = take(key);
    if (list.is_null())
        return false;
    QStringList read;
    bool good = list.is_array();
    if (good) {
        for (const Json &entry : list) {
            good = good && entry.is_string();
            read.append(textOf(entry));
        }
    }
    if (!good) {
        complain(key, what);
        return false;
    }
    out = read;
    return true;
}

bool SectionReader::oneOf(const char *key, QString &out, std::initializer_list<QString> allowed)
{
    QString value;
    if (!string(key, value))
        return false;
    for (const QString &option : allowed) {
        if (option == value) {
            out = value;
            return true;
        }
    }
    complain(key, QStringLiteral("'%1' is not one of %2").arg(value, QStringList(allowed).join(QStringLiteral(", "))));
    return false;
}

QStringList SectionReader::unknownKeys() const
{
    QStringList unknown;
    if (m_value.is_object()) {
        for (auto it = m_value.begin(); it != m_value.end(); ++it) {
            const QString key = QString::fromStdString(it.key());
            if (!m_known.contains(key))
                unknown.append(key);
        }
    }
    return unknown;
}

} // namespace paddock
