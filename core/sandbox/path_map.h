// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/sandbox/masking.h"
#include "core/sandbox/thread_paths.h"
#include "core/sandbox/virtual_paths.h"

#include <QRegularExpression>
#include <QString>
#include <QStringList>

#include <vector>

namespace paddock {

struct PathMapping {
    QString containerPath;
    QString localPath;
    bool readOnly = false;
};

/// sandbox.mounts[] of the configuration.
struct MountSpec {
    QString hostPath;
    QString containerPath;
    bool readOnly = false;
};

/// Container paths to host paths and back, the sandbox layer of sandbox.md §1.5. Immutable; thread-safe. The constructor
/// and the two look-ups that resolve read links from the disk; the text functions do not.
class PathMap
{
public:
    PathMap() = default;
    explicit PathMap(std::vector<PathMapping> mappings);

    /// Longest container path first.
    const std::vector<PathMapping> &mappings() const { return m_mappings; }
    /// The mapping that holds a container path, or nullptr.
    const PathMapping *find(QStringView containerPath) const;
    /// Host path with links resolved, inside its mapping; unmapped paths unchanged. PermissionDenied (`details.errno`
    /// EACCES, `details.path` the container path) when it leaves the mapping.
    Result<QString> resolve(const QString &containerPath) const;
    /// Host path to container path; unmapped paths unchanged.
    QString reverse(const QString &hostPath) const;
    /// The mapping is read-only, or the most specific mapping that holds the resolved path is.
    bool isReadOnly(const QString &containerPath) const;
    /// Container paths of a command (to the end of the word) and of file content replaced by host paths; in a command the
    /// host folder is quoted as its place asks.
    QString mapCommand(const QString &command) const;
    QString mapContent(const QString &content) const;
    /// Host paths of file content or output back to container paths.
    QString mask(const QString &text) const { return m_masker.mask(text); }

private:
    template<typename Spell>
    QString mapText(const QString &text, const QRegularExpression &pattern, Spell spell) const;

    std::vector<PathMapping> m_mappings;
    std::vector<QString> m_resolvedRoots; ///< beside m_mappings
    QRegularExpression m_commandPattern;
    QRegularExpression m_contentPattern;
    HostPathMasker m_masker;
};

struct SkillDirs {
    QString publicDir;
    QString custom;
    QString legacy;
    QString integrations;

    /// {base}/skills_view/public and {base}/users/{user}/skills_view/…
    static SkillDirs of(const QString &base, const QString &user);
};

/// The mappings of a thread's sandbox in the order of §1.5. Mounts that break the rules are left out, each with a sentence
/// in `warnings`.
std::vector<PathMapping> threadMappings(const ThreadPaths &paths, const SkillDirs &skills, const QString &skillsRoot,
                                        const std::vector<MountSpec> &mounts, QStringList *warnings = nullptr);
/// What host paths output may show, in the order of §1.6.
std::vector<MaskSource> threadMaskSources(const ThreadPaths &paths, const SkillDirs &skills, const QString &skillsRoot);

} // namespace paddock
