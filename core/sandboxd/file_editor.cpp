// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/sandboxd/file_editor.h"

#include <dirent.h>
#include <sys/stat.h>

#include <cstring>

namespace paddock::sandboxd {

namespace {

constexpr qsizetype undoDepth = 10; // §4.13
constexpr qsizetype maxRememberedFiles = 200;

wire::EditorResult failedEdit(const wire::EditorRequest &request, const QString &error, bool existed)
{
    wire::EditorResult result;
    result.path = request.path;
    result.error = error;
    result.prevExist = existed;
    return result;
}

bool exists(const QString &path)
{
    struct stat facts;
    return ::stat(path.toUtf8().constData(), &facts) == 0;
}

QString numbered(const QStringList &lines, qsizetype first)
{
    QString out;
    for (qsizetype i = 0; i < lines.size(); ++i)
        out += QStringLiteral("%1\t%2\n").arg(first + i, 6).arg(lines.at(i));
    return out;
}

} // namespace

wire::EditorResult FileEditor::run(const wire::EditorRequest &request)
{
    if (request.documentOptions)
        return failedEdit(request, QStringLiteral("Only text files are supported: PDF, sheet and slide options are not"), exists(request.path));
    const std::lock_guard lock(m_mutex);
    if (request.command == u"view")
        return view(request);
    if (request.command == u"create")
        return create(request);
    if (request.command == u"str_replace")
        return replace(request);
    if (request.command == u"insert")
        return insert(request);
    return undo(request);
}

void FileEditor::remember(const QString &path, const QString &before)
{
    if (!m_history.contains(path) && m_history.size() >= maxRememberedFiles)
        m_history.erase(m_history.begin());
    QStringList &history = m_history[path];
    history.append(before);
    if (history.size() > undoDepth)
        history.removeFirst();
}

wire::EditorResult FileEditor::store(wire::EditorResult result, const QString &before, const QString &after, const QString &what)
{
    if (const int error = writeBytes(result.path, after.toUtf8(), false)) {
        result.error = QString::fromLocal8Bit(std::strerror(error));
        return result;
    }
    result.output = what;
    if (result.prevExist)
        result.oldContent = before;
    result.newContent = after;
    return result;
}

wire::EditorResult FileEditor::view(const wire::EditorRequest &request)
{
    wire::EditorResult result;
    result.path = request.path;
    result.prevExist = exists(request.path);
    struct stat facts;
    if (::stat(request.path.toUtf8().constData(), &facts) == 0 && S_ISDIR(facts.st_mode)) {
        wire::FileListRequest list;
        list.path = request.path;
        list.recursive = true;
        list.showHidden = false;
        list.maxDepth = 2;
        const auto entries = listFiles(list);
        if (!entries)
            return failedEdit(request, entries.error().error.message, true);
        for (const wire::ListEntry &entry : entries->files)
            result.output += entry.path + (entry.isDirectory ? QStringLiteral("/\n") : QStringLiteral("\n"));
        return result;
    }
    const auto text = readText("view", request.path);
    if (!text)
        return failedEdit(request, text.error().error.message, result.prevExist);
    QStringList lines = text->split(u'\n');
    if (lines.last().isEmpty())
        lines.removeLast();
    qint64 first = 1, last = lines.size();
    if (request.viewRange) {
        if (request.viewRange->size() != 2)
            return failedEdit(request, QStringLiteral("view_range must hold two line numbers"), true);
        first = request.viewRange->at(0);
        last = request.viewRange->at(1) == -1 ? lines.size() : request.viewRange->at(1);
        if (first < 1 || first > std::max<qsizetype>(lines.size(), 1) || last < first)
            return failedEdit(request, QStringLiteral("view_range is outside the file, which has %1 lines").arg(lines.size()), true);
        last = std::min<qint64>(last, lines.size());
    }
    result.output = numbered(lines.mid(first - 1, last - first + 1), first);
    return result;
}

wire::EditorResult FileEditor::create(const wire::EditorRequest &request)
{
    if (!request.fileText)
        return failedEdit(request, QStringLiteral("file_text is required for create"), exists(request.path));
    wire::EditorResult result;
    result.path = request.path;
    result.prevExist = exists(request.path);
    QString before;
    if (result.prevExist) {
        const auto text = readText("create", request.path);
        if (!text)
            return failedEdit(request, text.error().error.message, true);
        before = *text;
        remember(request.path, before);
    }
    return store(std::move(result), before, *request.fileText, QStringLiteral("File created successfully at: %1").arg(request.path));
}

wire::EditorResult FileEditor::replace(const wire::EditorRequest &request)
{
    if (!request.oldText || request.oldText->isEmpty())
        return failedEdit(request, QStringLiteral("old_str is required for str_replace"), exists(request.path));
    const auto text = readText("str_replace", request.path);
    if (!text)
        return failedEdit(request, text.error().error.message, exists(request.path));
    const QString &from = *request.oldText;
    const QString to = request.newText.value_or(QString());
    const qsizetype count = text->count(from);
    if (count == 0)
        return failedEdit(request, QStringLiteral("No replacement was performed: old_str was not found in %1").arg(request.path), true);
    if (count > 1 && !request.replaceMode) {
        return failedEdit(request, QStringLiteral("No replacement was performed: old_str occurs %1 times in %2; make it unique or give replace_mode")
                                       .arg(count)
                                       .arg(request.path), true);
    }
    QString after = *text;
    if (request.replaceMode == QStringLiteral("ALL"))
        after.replace(from, to);
    else
        after.replace(request.replaceMode == QStringLiteral("LAST") ? after.lastIndexOf(from) : after.indexOf(from), from.size(), to);
    wire::EditorResult result;
    result.path = request.path;
    result.prevExist = true;
    remember(request.path, *text);
    return store(std::move(result), *text, after, QStringLiteral("The file %1 has been edited.").arg(request.path));
}

wire::EditorResult FileEditor::insert(const wire::EditorRequest &request)
{
    if (!request.insertLine || !request.newText)
        return failedEdit(request, QStringLiteral("insert_line and new_str are required for insert"), exists(request.path));
    const auto text = readText("insert", request.path);
    if (!text)
        return failedEdit(request, text.error().error.message, exists(request.path));
    qsizetype at = 0;
    for (qint64 line = 0; line < *request.insertLine; ++line) {
        const qsizetype end = text->indexOf(u'\n', at);
        if (end < 0 && (at >= text->size() || line + 1 < *request.insertLine))
            return failedEdit(request, QStringLiteral("insert_line %1 is behind the end of the file").arg(*request.insertLine), true);
        at = end < 0 ? text->size() : end + 1;
    }
    QString piece = *request.newText;
    if (at == text->size() && !text->isEmpty() && !text->endsWith(u'\n'))
        piece.prepend(u'\n');
    else if (!piece.endsWith(u'\n'))
        piece.append(u'\n');
    QString after = *text;
    after.insert(at, piece);
    wire::EditorResult result;
    result.path = request.path;
    result.prevExist = true;
    remember(request.path, *text);
    return store(std::move(result), *text, after, QStringLiteral("The file %1 has been edited.").arg(request.path));
}

wire::EditorResult FileEditor::undo(const wire::EditorRequest &request)
{
    QStringList &history = m_history[request.path];
    if (history.isEmpty())
        return failedEdit(request, QStringLiteral("No edit history found for %1").arg(request.path), exists(request.path));
    const auto text = readText("undo_edit", request.path);
    wire::EditorResult result;
    result.path = request.path;
    result.prevExist = text.has_value();
    const QString before = history.takeLast();
    return store(std::move(result), text.value_or(QString()), before, QStringLiteral("Last edit to %1 undone successfully.").arg(request.path));
}

} // namespace paddock::sandboxd
