// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/base/error.h"
#include "core/sandbox/unique_fd.h"

#include <QString>

#include <memory>

namespace paddock {

/// A private folder (mode 0700) of this process for sockets and generated files. Its lock says that the process lives, so the
/// next one can sweep what a killed one has left. Removed with the object. Any thread.
class RuntimeDir
{
public:
    /// `root` empty: $XDG_RUNTIME_DIR/paddock, else paddock-<uid> in the temporary folder.
    static Result<std::shared_ptr<RuntimeDir>> make(const QString &root);
    ~RuntimeDir();
    RuntimeDir(const RuntimeDir &) = delete;
    RuntimeDir &operator=(const RuntimeDir &) = delete;

    const QString &path() const { return m_path; }

private:
    RuntimeDir(QString path, UniqueFd lock) : m_path(std::move(path)), m_lock(std::move(lock)) {}
    QString m_path;
    UniqueFd m_lock;
};

/// A listening Unix socket, mode 0600. Who has its descriptor can accept; nothing else is needed to serve on it.
class ListeningSocket
{
public:
    static Result<ListeningSocket> make(const QString &dir, const QString &name);
    ListeningSocket(ListeningSocket &&other) noexcept = default;
    ListeningSocket &operator=(ListeningSocket &&other) noexcept = default;
    ~ListeningSocket() { remove(); }

    const QString &path() const { return m_path; }
    int fd() const { return m_fd.get(); }
    UniqueFd takeFd() { return std::move(m_fd); }
    void remove();

private:
    ListeningSocket(QString path, UniqueFd fd) : m_path(std::move(path)), m_fd(std::move(fd)) {}
    QString m_path;
    UniqueFd m_fd;
};

} // namespace paddock
