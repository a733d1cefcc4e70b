// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/message/message.h"

#include <array>
#include <iterator>
#include <vector>

namespace paddock {

/// A list of shared messages as a value. Copies are cheap and share structure (chunks of up to 64 pointers); an edit
/// copies one chunk and the spine, so the cost follows the change and not the history. Not thread-safe while edited;
/// copies may be used from different threads.
class MessageList
{
public:
    MessageList() = default;
    MessageList(std::initializer_list<MessagePtr> messages);
    explicit MessageList(const std::vector<MessagePtr> &messages);

    qsizetype size() const { return m_size; }
    bool isEmpty() const { return m_size == 0; }
    const MessagePtr &at(qsizetype index) const;
    const MessagePtr &operator[](qsizetype index) const { return at(index); }
    const MessagePtr &first() const { return at(0); }
    const MessagePtr &last() const { return at(m_size - 1); }

    void append(MessagePtr message);
    void insert(qsizetype index, MessagePtr message);
    void replace(qsizetype index, MessagePtr message);
    void remove(qsizetype index);
    std::vector<MessagePtr> toVector() const;

    /// True when both share all structure; a cheap "nothing changed".
    bool isSameAs(const MessageList &other) const;
    friend bool operator==(const MessageList &a, const MessageList &b); // by pointer first, then by value

    class const_iterator
    {
    public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = MessagePtr;
        using difference_type = qsizetype;
        using pointer = const MessagePtr *;
        using reference = const MessagePtr &;
        const_iterator() = default;
        const_iterator(const MessageList *list, qsizetype index) : m_list(list), m_index(index) {}
        reference operator*() const { return m_list->at(m_index); }
        pointer operator->() const { return &m_list->at(m_index); }
        const_iterator &operator++() { ++m_index; return *this; }
        const_iterator operator++(int) { auto copy = *this; ++m_index; return copy; }
        friend bool operator==(const const_iterator &, const const_iterator &) = default;

    private:
        const MessageList *m_list = nullptr;
        qsizetype m_index = 0;
    };
    const_iterator begin() const { return {this, 0}; }
    const_iterator end() const { return {this, m_size}; }

private:
    friend struct ListDiffAccess;
    using Chunk = std::vector<MessagePtr>;
    struct Spine {
        std::vector<std::shared_ptr<const Chunk>> chunks;
        std::vector<qsizetype> starts; ///< index of the first message of each chunk
    };
    std::shared_ptr<const Spine> m_spine;
    qsizetype m_size = 0;
};

/// How one list became another: what a span shows. Found by pointer comparison first, in the time of what changed.
struct ListDiff {
    struct Entry {
        enum class Kind { Added, Removed, Edited, Moved } kind;
        qsizetype before = -1; ///< index in the old list, -1 when added
        qsizetype after = -1;  ///< index in the new list, -1 when removed
        MessagePtr was;
        MessagePtr is;
    };
    std::vector<Entry> entries;
    int added = 0;
    int removed = 0;
    int edited = 0;
    bool isEmpty() const { return entries.empty(); }
};

/// An edit is a pair with one id and different values; without ids, position decides.
ListDiff diffLists(const MessageList &before, const MessageList &after);

} // namespace paddock
