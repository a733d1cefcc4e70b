// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"

#include <QString>

namespace paddock {

/// A file locked for as long as its owner lives: the kernel drops the lock however the process ends. Runs name their
/// owner, so that another process can tell a run that is under way from one that was cut off. Value; any thread.
class OwnerLock
{
public:
    OwnerLock() = default;
    OwnerLock(OwnerLock &&other) noexcept
        : m_fd(std::exchange(other.m_fd, -1)), m_path(std::move(other.m_path)), m_name(std::move(other.m_name)), m_noted(other.m_noted)
    {
    }
    OwnerLock &operator=(OwnerLock &&other) noexcept;
    ~OwnerLock();

    /// Makes and locks a new owner file in `folder` (created when missing).
    static Result<OwnerLock> create(const QString &folder);
    /// Locks a dead owner's file, so that only one process cleans up after it. Not held when the owner lives.
    static OwnerLock tryAdopt(const QString &folder, const QString &name);
    /// Whether somebody holds the lock now. Takes none.
    static bool isAlive(const QString &folder, const QString &name);

    bool isHeld() const { return m_fd >= 0; }
    const QString &name() const { return m_name; }
    /// Writes a few words into room that the file took when it was made, so that they can be kept when the disk is full.
    /// A noted file stays behind for whoever cleans up. False when the words are too many or there is no such room; an
    /// empty note takes the last one back.
    bool note(const QByteArray &words);
    /// What an owner noted; empty when nothing.
    static QByteArray noteOf(const QString &folder, const QString &name);
    static constexpr qsizetype noteRoom = 4096;

    /// Unlocks and removes the file, unless it carries a note.
    void release();
    /// Unlocks and leaves the file.
    void leave();

private:
    int m_fd = -1;
    QString m_path;
    QString m_name;
    bool m_noted = false;
};

} // namespace paddock
