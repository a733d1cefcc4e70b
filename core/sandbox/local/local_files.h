// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/sandbox/beneath.h"
#include "core/sandbox/path_map.h"
#include "core/sandbox/sandbox.h"

#include <QSet>

#include <mutex>
#include <stop_token>

namespace paddock {

/// The file side of a local sandbox: access gate, containment, files and searches on the host's folders (sandbox.md §1.4,
/// §1.5, §2.5 to §2.8). Blocking, so it runs on pool threads; thread-safe. Every file is opened beneath a descriptor of its
/// root without following links. Results and errors hold virtual paths only.
class LocalFiles
{
public:
    /// sandbox.md §2.10; larger files are refused.
    static constexpr qint64 maxFileBytes = 104857600;
    /// How often a path is resolved anew when links change under our hands.
    static constexpr int maxResolveTries = 4;

    LocalFiles(ThreadPaths paths, SkillDirs skills, QString skillsRoot, const std::vector<MountSpec> &mounts);

    Result<QString> readFile(const QString &path);
    Result<QByteArray> readBytes(const QString &path, qint64 maxBytes) const;
    Result<FileWritten> writeFile(const QString &path, const QString &content, bool append);
    Result<FileWritten> writeBytes(const QString &path, const QByteArray &content) const;
    Result<QStringList> listDir(const QString &path, int depth, std::stop_token stop) const;
    Result<GlobResult> glob(const QString &path, const QString &pattern, bool includeDirs, int maxResults,
                            std::stop_token stop) const;
    Result<GrepResult> grep(const GrepQuery &query, std::stop_token stop) const;
    /// The resolved place of a path, for locks; the normalised path when it cannot be resolved.
    QString lockPath(const QString &path) const;

    /// Virtual user-data and container paths of a command as host paths.
    QString hostCommand(const QString &command) const;
    QString mask(const QString &text) const { return m_masker.mask(text); }
    const ThreadPaths &paths() const { return m_paths; }
    const QString &skillsRoot() const { return m_skillsRoot; }
    const std::vector<MountRule> &mounts() const { return m_mounts; }
    /// Mounts that were left out, each as a sentence.
    const QStringList &warnings() const { return m_warnings; }

private:
    struct Place {
        UniqueFd root;
        QByteArray rootPath; ///< resolved
        QByteArray relative;
        QByteArray hostPath() const;
    };
    /// One tree that a listing or search covers: where it is and how its entries are called.
    struct Tree {
        UniqueFd dir;
        QByteArray hostPath;
        QString virtualPath;
        QString prefix; ///< of its relative paths, with a trailing "/", or empty
    };

    ThreadDirs dirs() const { return {m_paths.workspace, m_paths.uploads, m_paths.outputs}; }
    Result<Located> locatePath(const QString &path, bool write) const;
    Result<Place> place(const QString &path, bool write) const;
    /// Opens it for reading, resolving again when a link got in between.
    Result<UniqueFd> openForRead(const QString &path, int flags, QByteArray *hostPath = nullptr) const;
    template<typename Write>
    Result<QByteArray> writeWith(const QString &path, Write write) const;
    FileWritten writtenAt(const QByteArray &hostPath) const;
    Result<std::vector<Tree>> treesOf(const QString &path) const;
    void addMappedChildren(const QString &path, QStringList &entries) const;
    QStringList listTree(const Tree &tree, int depth, const std::stop_token &stop) const;
    static Result<void> grepTree(const Tree &tree, const GrepQuery &query, const QRegularExpression &expression,
                                 const std::stop_token &stop, GrepResult &result);

    const ThreadPaths m_paths;
    const QString m_skillsRoot;
    QStringList m_warnings;
    PathMap m_map;
    std::vector<MountRule> m_mounts;
    HostPathMasker m_masker;
    std::mutex m_mutex; // guards m_written
    QSet<QByteArray> m_written; ///< host paths that writeFile wrote
};

} // namespace paddock
