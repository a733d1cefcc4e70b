// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/message/message_list.h"

#include <QHash>

#include <algorithm>

namespace paddock {

namespace {

constexpr qsizetype chunkSize = 64;

using Chunk = std::vector<MessagePtr>;

qsizetype sizeOf(const Chunk &chunk)
{
    return static_cast<qsizetype>(chunk.size());
}

/// The chunk that holds `index`.
qsizetype chunkIndexOf(const std::vector<qsizetype> &starts, qsizetype index)
{
    return std::upper_bound(starts.begin(), starts.end(), index) - starts.begin() - 1;
}

template<typename Spine>
void renumber(Spine &spine, qsizetype from)
{
    spine.starts.resize(spine.chunks.size());
    qsizetype start = from == 0 ? 0 : spine.starts[from - 1] + sizeOf(*spine.chunks[from - 1]);
    for (qsizetype c = from; c < static_cast<qsizetype>(spine.chunks.size()); ++c) {
        spine.starts[c] = start;
        start += sizeOf(*spine.chunks[c]);
    }
}

bool equal(const MessagePtr &a, const MessagePtr &b)
{
    return a == b || *a == *b;
}

} // namespace

MessageList::MessageList(std::initializer_list<MessagePtr> messages) : MessageList(std::vector<MessagePtr>(messages)) {}

MessageList::MessageList(const std::vector<MessagePtr> &messages)
{
    if (messages.empty())
        return;
    auto spine = std::make_shared<Spine>();
    const auto total = static_cast<qsizetype>(messages.size());
    for (qsizetype from = 0; from < total; from += chunkSize) {
        const qsizetype to = std::min(from + chunkSize, total);
        spine->starts.push_back(from);
        spine->chunks.push_back(std::make_shared<const Chunk>(messages.begin() + from, messages.begin() + to));
    }
    m_spine = std::move(spine);
    m_size = total;
}

const MessagePtr &MessageList::at(qsizetype index) const
{
    Q_ASSERT(index >= 0 && index < m_size);
    const qsizetype c = chunkIndexOf(m_spine->starts, index);
    return (*m_spine->chunks[c])[index - m_spine->starts[c]];
}

void MessageList::append(MessagePtr message)
{
    insert(m_size, std::move(message));
}

void MessageList::insert(qsizetype index, MessagePtr message)
{
    Q_ASSERT(index >= 0 && index <= m_size && message);
    auto spine = m_spine ? std::make_shared<Spine>(*m_spine) : std::make_shared<Spine>();
    if (spine->chunks.empty()) {
        spine->chunks.push_back(std::make_shared<const Chunk>(1, std::move(message)));
        renumber(*spine, 0);
    } else {
        const qsizetype c = index == m_size ? static_cast<qsizetype>(spine->chunks.size()) - 1
                                            : chunkIndexOf(spine->starts, index);
        const Chunk &old = *spine->chunks[c];
        const qsizetype at = index - spine->starts[c];
        if (sizeOf(old) >= chunkSize && at == sizeOf(old)) {
            // Growing at the end keeps full chunks full, so long histories stay shared.
            spine->chunks.insert(spine->chunks.begin() + c + 1, std::make_shared<const Chunk>(1, std::move(message)));
        } else {
            auto changed = std::make_shared<Chunk>(old);
            changed->insert(changed->begin() + at, std::move(message));
            if (sizeOf(*changed) > chunkSize) {
                const auto middle = changed->begin() + sizeOf(*changed) / 2;
                auto second = std::make_shared<const Chunk>(middle, changed->end());
                changed->erase(middle, changed->end());
                spine->chunks.insert(spine->chunks.begin() + c + 1, std::move(second));
            }
            spine->chunks[c] = std::move(changed);
        }
        renumber(*spine, c);
    }
    m_spine = std::move(spine);
    ++m_size;
}

void MessageList::replace(qsizetype index, MessagePtr message)
{
    Q_ASSERT(index >= 0 && index < m_size && message);
    if (at(index) == message)
        return;
    auto spine = std::make_shared<Spine>(*m_spine);
    const qsizetype c = chunkIndexOf(spine->starts, index);
    auto changed = std::make_shared<Chunk>(*spine->chunks[c]);
    (*changed)[index - spine->starts[c]] = std::move(message);
    spine->chunks[c] = std::move(changed);
    m_spine = std::move(spine);
}

void MessageList::remove(qsizetype index)
{
    Q_ASSERT(index >= 0 && index < m_size);
    if (--m_size == 0) {
        m_spine.reset();
        return;
    }
    auto spine = std::make_shared<Spine>(*m_spine);
    const qsizetype c = chunkIndexOf(spine->starts, index);
    auto changed = std::make_shared<Chunk>(*spine->chunks[c]);
    changed->erase(changed->begin() + (index - spine->starts[c]));
    if (changed->empty())
        spine->chunks.erase(spine->chunks.begin() + c);
    else
        spine->chunks[c] = std::move(changed);
    renumber(*spine, c);
    m_spine = std::move(spine);
}

std::vector<MessagePtr> MessageList::toVector() const
{
    std::vector<MessagePtr> all;
    all.reserve(m_size);
    if (m_spine) {
        for (const auto &chunk : m_spine->chunks)
            all.insert(all.end(), chunk->begin(), chunk->end());
    }
    return all;
}

bool MessageList::isSameAs(const MessageList &other) const
{
    return m_spine == other.m_spine;
}

bool operator==(const MessageList &a, const MessageList &b)
{
    if (a.isSameAs(b))
        return true;
    if (a.size() != b.size())
        return false;
    for (qsizetype i = 0; i < a.size(); ++i) {
        if (!equal(a.at(i), b.at(i)))
            return false;
    }
    return true;
}

/// Walks two lists from both ends, whole shared chunks at a time.
struct ListDiffAccess {
    static qsizetype commonPrefix(const MessageList &a, const MessageList &b)
    {
        qsizetype n = 0;
        if (!a.m_spine || !b.m_spine)
            return 0;
        const auto &left = a.m_spine->chunks;
        const auto &right = b.m_spine->chunks;
        for (std::size_t c = 0; c < std::min(left.size(), right.size()) && left[c] == right[c]; ++c)
            n += sizeOf(*left[c]);
        const qsizetype limit = std::min(a.size(), b.size());
        while (n < limit && a.at(n) == b.at(n))
            ++n;
        return n;
    }
    static qsizetype commonSuffix(const MessageList &a, const MessageList &b, qsizetype limit)
    {
        qsizetype n = 0;
        if (!a.m_spine || !b.m_spine)
            return 0;
        const auto &left = a.m_spine->chunks;
        const auto &right = b.m_spine->chunks;
        for (std::size_t k = 1; k <= std::min(left.size(), right.size()); ++k) {
            const auto &chunk = left[left.size() - k];
            if (chunk != right[right.size() - k] || n + sizeOf(*chunk) > limit)
                break;
            n += sizeOf(*chunk);
        }
        while (n < limit && a.at(a.size() - 1 - n) == b.at(b.size() - 1 - n))
            ++n;
        return n;
    }
};

namespace {

/// Pairs the messages of two short stretches.
class Matcher
{
public:
    Matcher(const MessageList &before, const MessageList &after, qsizetype from, qsizetype beforeEnd, qsizetype afterEnd)
        : m_before(before), m_after(after), m_from(from), m_beforeEnd(beforeEnd), m_afterEnd(afterEnd)
        , m_partnerOfNew(afterEnd - from, -1), m_taken(beforeEnd - from, false)
    {
        matchIds();
        matchValues();
        matchPositions();
    }

    ListDiff diff() const
    {
        const std::vector<bool> kept = longestIncreasing();
        ListDiff result;
        qsizetype nextOld = m_from;
        const auto flushRemoved = [&](qsizetype upTo) {
            for (; nextOld < upTo; ++nextOld) {
                if (!m_taken[nextOld - m_from]) {
                    result.entries.push_back({ListDiff::Entry::Kind::Removed, nextOld, -1, m_before.at(nextOld), nullptr});
                    ++result.removed;
                }
            }
        };
        for (qsizetype j = m_from; j < m_afterEnd; ++j) {
            const qsizetype i = m_partnerOfNew[j - m_from];
            const MessagePtr &is = m_after.at(j);
            if (i < 0) {
                result.entries.push_back({ListDiff::Entry::Kind::Added, -1, j, nullptr, is});
                ++result.added;
                continue;
            }
            flushRemoved(i);
            const MessagePtr &was = m_before.at(i);
            if (!equal(was, is)) {
                result.entries.push_back({ListDiff::Entry::Kind::Edited, i, j, was, is});
                ++result.edited;
            } else if (!kept[j - m_from]) {
                result.entries.push_back({ListDiff::Entry::Kind::Moved, i, j, was, is});
            }
        }
        flushRemoved(m_beforeEnd);
        return result;
    }

private:
    void pair(qsizetype i, qsizetype j)
    {
        m_partnerOfNew[j - m_from] = i;
        m_taken[i - m_from] = true;
    }
    void matchIds()
    {
        QHash<QString, qsizetype> byId;
        for (qsizetype i = m_from; i < m_beforeEnd; ++i) {
            if (!m_before.at(i)->id.isEmpty() && !byId.contains(m_before.at(i)->id))
                byId.insert(m_before.at(i)->id, i);
        }
        for (qsizetype j = m_from; j < m_afterEnd; ++j) {
            const auto found = byId.constFind(m_after.at(j)->id);
            if (found != byId.constEnd() && !m_taken[*found - m_from])
                pair(*found, j);
        }
    }
    /// Messages without ids: the same object or an equal value, first come first served.
    void matchValues()
    {
        QHash<QString, std::vector<qsizetype>> byHash;
        for (qsizetype i = m_from; i < m_beforeEnd; ++i) {
            if (m_before.at(i)->id.isEmpty() && !m_taken[i - m_from])
                byHash[contentHash(m_before.at(i))].push_back(i);
        }
        if (byHash.isEmpty())
            return;
        for (qsizetype j = m_from; j < m_afterEnd; ++j) {
            if (m_partnerOfNew[j - m_from] >= 0 || !m_after.at(j)->id.isEmpty())
                continue;
            const auto found = byHash.find(contentHash(m_after.at(j)));
            if (found != byHash.end() && !found->empty()) {
                pair(found->front(), j);
                found->erase(found->begin());
            }
        }
    }
    /// What is left without ids: the k-th old one became the k-th new one.
    void matchPositions()
    {
        qsizetype i = m_from;
        for (qsizetype j = m_from; j < m_afterEnd; ++j) {
            if (m_partnerOfNew[j - m_from] >= 0)
                continue;
            while (i < m_beforeEnd && m_taken[i - m_from])
                ++i;
            if (i == m_beforeEnd)
                return;
            // A reducer gives ids to messages that had none: that is an edit of the same message, not a new one.
            if (m_before.at(i)->id.isEmpty() && m_before.at(i)->role == m_after.at(j)->role)
                pair(i, j);
            else
                ++i;
        }
    }
    /// The pairs that kept their relative order; all others moved.
    std::vector<bool> longestIncreasing() const
    {
        std::vector<qsizetype> tails; // indices into m_partnerOfNew
        std::vector<qsizetype> previous(m_partnerOfNew.size(), -1);
        for (std::size_t k = 0; k < m_partnerOfNew.size(); ++k) {
            if (m_partnerOfNew[k] < 0)
                continue;
            const auto place = std::lower_bound(tails.begin(), tails.end(), m_partnerOfNew[k],
                                                [this](qsizetype t, qsizetype v) { return m_partnerOfNew[t] < v; });
            if (place != tails.begin())
                previous[k] = *std::prev(place);
            if (place == tails.end())
                tails.push_back(static_cast<qsizetype>(k));
            else
                *place = static_cast<qsizetype>(k);
        }
        std::vector<bool> kept(m_partnerOfNew.size(), false);
        for (qsizetype k = tails.empty() ? -1 : tails.back(); k >= 0; k = previous[k])
            kept[k] = true;
        return kept;
    }

    const MessageList &m_before;
    const MessageList &m_after;
    qsizetype m_from;
    qsizetype m_beforeEnd;
    qsizetype m_afterEnd;
    std::vector<qsizetype> m_partnerOfNew; ///< old index, or -1
    std::vector<bool> m_taken;             ///< per old message
};

} // namespace

ListDiff diffLists(const MessageList &before, const MessageList &after)
{
    if (before.isSameAs(after))
        return {};
    const qsizetype prefix = ListDiffAccess::commonPrefix(before, after);
    const qsizetype suffix =
        ListDiffAccess::commonSuffix(before, after, std::min(before.size(), after.size()) - prefix);
    if (prefix + suffix == before.size() && prefix + suffix == after.size())
        return {};
    return Matcher(before, after, prefix, before.size() - suffix, after.size() - suffix).diff();
}

} // namespace paddock
