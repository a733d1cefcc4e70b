// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/message/message_list.h"

#include <QHash>

#include <algorithm>

namespace paddock {

namespace {
constexpr qsizetype chunkSize = 64;

const MessagePtr &nullMessage()
{
    static const MessagePtr null;
    return null;
}
} // namespace

MessageList::MessageList(std::initializer_list<MessagePtr> messages) : MessageList(std::vector<MessagePtr>(messages)) {}

MessageList::MessageList(const std::vector<MessagePtr> &messages)
{
    if (messages.empty())
        return;
    auto spine = std::make_shared<Spine>();
    for (std::size_t from = 0; from < messages.size(); from += std::size_t(chunkSize)) {
        const std::size_t to = std::min<std::size_t>(messages.size(), from + std::size_t(chunkSize));
        spine->starts.push_back(qsizetype(from));
        spine->chunks.push_back(std::make_shared<const Chunk>(messages.begin() + qsizetype(from), messages.begin() + qsizetype(to)));
    }
    m_spine = std::move(spine);
    m_size = qsizetype(messages.size());
}

const MessagePtr &MessageList::at(qsizetype index) const
{
    if (index < 0 || index >= m_size)
        return nullMessage();
    const auto &starts = m_spine->starts;
    // Chunks are full except after inserts and removals: guess first, then search.
    std::size_t guess = std::min(std::size_t(index / chunkSize), starts.size() - 1);
    if (starts[guess] > index || (guess + 1 < starts.size() && starts[guess + 1] <= index))
        guess = std::size_t(std::upper_bound(starts.begin(), starts.end(), index) - starts.begin()) - 1;
    return (*m_spine->chunks[guess])[std::size_t(index - starts[guess])];
}

void MessageList::append(MessagePtr message)
{
    insert(m_size, std::move(message));
}

void MessageList::insert(qsizetype index, MessagePtr message)
{
    index = std::clamp<qsizetype>(index, 0, m_size);
    auto spine = m_spine ? std::make_shared<Spine>(*m_spine) : std::make_shared<Spine>();
    if (spine->chunks.empty()) {
        spine->chunks.push_back(std::make_shared<const Chunk>(Chunk{std::move(message)}));
        spine->starts.push_back(0);
    } else {
        const auto it = std::upper_bound(spine->starts.begin(), spine->starts.end(), index);
        const std::size_t c = std::size_t(it - spine->starts.begin()) - 1;
        Chunk chunk = *spine->chunks[c];
        chunk.insert(chunk.begin() + (index - spine->starts[c]), std::move(message));
        if (qsizetype(chunk.size()) > chunkSize) {
            // Appending opens a new chunk with one message; an insert in the middle splits evenly.
            const qsizetype at = index == m_size ? chunkSize : chunkSize / 2;
            Chunk tail(chunk.begin() + at, chunk.end());
            chunk.resize(std::size_t(at));
            spine->chunks.insert(spine->chunks.begin() + qsizetype(c) + 1, std::make_shared<const Chunk>(std::move(tail)));
            spine->starts.insert(spine->starts.begin() + qsizetype(c) + 1, spine->starts[c] + at - 1);
        }
        spine->chunks[c] = std::make_shared<const Chunk>(std::move(chunk));
        for (std::size_t i = c + 1; i < spine->starts.size(); ++i)
            spine->starts[i] = spine->starts[i - 1] + qsizetype(spine->chunks[i - 1]->size());
    }
    m_spine = std::move(spine);
    ++m_size;
}

void MessageList::replace(qsizetype index, MessagePtr message)
{
    if (index < 0 || index >= m_size)
        return;
    auto spine = std::make_shared<Spine>(*m_spine);
    const auto it = std::upper_bound(spine->starts.begin(), spine->starts.end(), index);
    const std::size_t c = std::size_t(it - spine->starts.begin()) - 1;
    Chunk chunk = *spine->chunks[c];
    chunk[std::size_t(index - spine->starts[c])] = std::move(message);
    spine->chunks[c] = std::make_shared<const Chunk>(std::move(chunk));
    m_spine = std::move(spine);
}

void MessageList::remove(qsizetype index)
{
    if (index < 0 || index >= m_size)
        return;
    if (m_size == 1) {
        *this = MessageList();
        return;
    }
    auto spine = std::make_shared<Spine>(*m_spine);
    const auto it = std::upper_bound(spine->starts.begin(), spine->starts.end(), index);
    const std::size_t c = std::size_t(it - spine->starts.begin()) - 1;
    Chunk chunk = *spine->chunks[c];
    chunk.erase(chunk.begin() + (index - spine->starts[c]));
    if (chunk.empty()) {
        spine->chunks.erase(spine->chunks.begin() + qsizetype(c));
        spine->starts.erase(spine->starts.begin() + qsizetype(c));
    } else {
        spine->chunks[c] = std::make_shared<const Chunk>(std::move(chunk));
    }
    qsizetype start = 0;
    for (std::size_t i = 0; i < spine->chunks.size(); ++i) {
        spine->starts[i] = start;
        start += qsizetype(spine->chunks[i]->size());
    }
    m_spine = std::move(spine);
    --m_size;
}

std::vector<MessagePtr> MessageList::toVector() const
{
    std::vector<MessagePtr> all;
    all.reserve(std::size_t(m_size));
    if (m_spine) {
        for (const auto &chunk : m_spine->chunks)
            all.insert(all.end(), chunk->begin(), chunk->end());
    }
    return all;
}

bool MessageList::isSameAs(const MessageList &other) const
{
    return m_size == other.m_size && m_spine == other.m_spine;
}

bool operator==(const MessageList &a, const MessageList &b)
{
    if (a.isSameAs(b))
        return true;
    if (a.m_size != b.m_size)
        return false;
    for (qsizetype i = 0; i < a.m_size; ++i) {
        const MessagePtr &x = a.at(i);
        const MessagePtr &y = b.at(i);
        if (x != y && (!x || !y || !(*x == *y)))
            return false;
    }
    return true;
}

/// Finds the common head and tail by whole chunks before it looks at single messages.
struct ListDiffAccess {
    static qsizetype commonHead(const MessageList &a, const MessageList &b)
    {
        qsizetype i = 0;
        if (a.m_spine && b.m_spine) {
            const auto &x = a.m_spine->chunks;
            const auto &y = b.m_spine->chunks;
            for (std::size_t c = 0; c < std::min(x.size(), y.size()) && x[c] == y[c]; ++c)
                i += qsizetype(x[c]->size());
        }
        while (i < a.size() && i < b.size() && a.at(i) == b.at(i))
            ++i;
        return i;
    }
    static qsizetype commonTail(const MessageList &a, const MessageList &b, qsizetype head)
    {
        qsizetype i = 0;
        if (a.m_spine && b.m_spine) {
            const auto &x = a.m_spine->chunks;
            const auto &y = b.m_spine->chunks;
            for (std::size_t c = 1; c <= std::min(x.size(), y.size()) && x[x.size() - c] == y[y.size() - c]; ++c) {
                const qsizetype more = qsizetype(x[x.size() - c]->size());
                if (head + i + more > std::min(a.size(), b.size()))
                    break;
                i += more;
            }
        }
        while (head + i < a.size() && head + i < b.size() && a.at(a.size() - 1 - i) == b.at(b.size() - 1 - i))
            ++i;
        return i;
    }
};

ListDiff diffLists(const MessageList &before, const MessageList &after)
{
    ListDiff diff;
    if (before.isSameAs(after))
        return diff;
    using Kind = ListDiff::Entry::Kind;
    const qsizetype head = ListDiffAccess::commonHead(before, after);
    const qsizetype tail = ListDiffAccess::commonTail(before, after, head);
    QHash<const Message *, qsizetype> newByPointer;
    QHash<QString, qsizetype> newById;
    for (qsizetype i = head; i < after.size() - tail; ++i) {
        newByPointer.insert(after.at(i).get(), i);
        if (!after.at(i)->id.isEmpty())
            newById.insert(after.at(i)->id, i);
    }
    std::vector<bool> taken(std::size_t(std::max<qsizetype>(0, after.size() - tail - head)), false);
    qsizetype lastKept = -1;
    for (qsizetype i = head; i < before.size() - tail; ++i) {
        const MessagePtr &was = before.at(i);
        qsizetype target = newByPointer.value(was.get(), -1);
        bool edit = false;
        if (target < 0 && !was->id.isEmpty()) {
            target = newById.value(was->id, -1);
            edit = target >= 0;
        } else if (target < 0 && was->id.isEmpty() && i < after.size() - tail && after.at(i)->id.isEmpty()
                   && after.at(i)->role == was->role && before.size() == after.size()) {
            target = i; // no ids: position decides
            edit = true;
        }
        if (target < 0 || taken[std::size_t(target - head)]) {
            diff.entries.push_back({Kind::Removed, i, -1, was, nullptr});
            ++diff.removed;
            continue;
        }
        taken[std::size_t(target - head)] = true;
        const MessagePtr &is = after.at(target);
        if (edit && !(*was == *is)) {
            diff.entries.push_back({Kind::Edited, i, target, was, is});
            ++diff.edited;
        } else if (target < lastKept) {
            diff.entries.push_back({Kind::Moved, i, target, was, is});
        }
        lastKept = std::max(lastKept, target);
    }
    for (qsizetype i = head; i < after.size() - tail; ++i) {
        if (!taken[std::size_t(i - head)]) {
            diff.entries.push_back({Kind::Added, -1, i, nullptr, after.at(i)});
            ++diff.added;
        }
    }
    return diff;
}

} // namespace paddock
