// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/run/workspace_copy.h"

#include <filesystem>

#include <QFile>

namespace paddock {

namespace fs = std::filesystem;

Result<void> copyWorkspace(const QString &from, const QString &to, std::stop_token stop)
{
    const fs::path source(QFile::encodeName(from).toStdString());
    const fs::path target(QFile::encodeName(to).toStdString());
    const auto problem = [](const fs::path &path, const std::error_code &ec) {
        return fail(ec == std::errc::no_space_on_device ? ErrorCode::ResourceExhausted : ErrorCode::Io,
                    QStringLiteral("Cannot copy %1: %2").arg(QFile::decodeName(QByteArray::fromStdString(path.string())),
                                                           QString::fromStdString(ec.message())));
    };
    std::error_code ec;
    fs::recursive_directory_iterator it(source, fs::directory_options::skip_permission_denied, ec);
    if (ec)
        return problem(source, ec);
    for (; it != fs::recursive_directory_iterator(); it.increment(ec)) {
        if (ec)
            return problem(source, ec);
        if (stop.stop_requested())
            return cancelled();
        const fs::path relative = it->path().lexically_relative(source);
        const fs::file_status status = it->symlink_status(ec);
        if (fs::is_directory(status))
            fs::create_directory(target / relative, it->path(), ec);
        else if (fs::is_symlink(status))
            fs::copy_symlink(it->path(), target / relative, ec);
        else if (fs::is_regular_file(status))
            fs::copy_file(it->path(), target / relative, fs::copy_options::overwrite_existing, ec);
        if (ec && ec != std::errc::permission_denied)
            return problem(it->path(), ec);
        ec.clear();
    }
    return {};
}

} // namespace paddock
