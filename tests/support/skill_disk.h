// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/skill/skill_store.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>

namespace paddock::test {

/// A skills folder on disk that a test fills, and the store that reads it.
class SkillDisk
{
public:
    Json states = Json::object(); ///< as in extensions_config.json
    bool fails = false;           ///< the switches cannot be read

    QString root() const { return m_dir.path() + QStringLiteral("/skills"); }
    QString folder() const { return m_dir.path(); }
    /// The folder of a skill, "public/x".
    QString at(const QString &place) const { return root() + u'/' + place; }

    void write(const QString &relative, const QByteArray &bytes) const
    {
        const QString path = root() + u'/' + relative;
        QDir().mkpath(QFileInfo(path).path());
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
            qFatal("cannot write %ls", qUtf16Printable(path));
    }
    void add(const QString &place, const QByteArray &head = {}, const QByteArray &body = "Body\n") const
    {
        const QByteArray name = place.section(u'/', -1).toUtf8();
        write(place + QStringLiteral("/SKILL.md"), "---\nname: " + name + "\ndescription: About " + name + "\n" + head + "---\n" + body);
    }
    std::shared_ptr<const SkillStore> store() const
    {
        SkillStore::Options options;
        options.root = root();
        options.states = [states = states, fails = fails]() -> Result<Json> {
            if (fails)
                return fail(ErrorCode::Io, QStringLiteral("no switches"));
            return states;
        };
        return std::make_shared<const SkillStore>(std::move(options));
    }

private:
    QTemporaryDir m_dir;
};

} // namespace paddock::test
