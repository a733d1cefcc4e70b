// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/tracer.h"

#include "core/middleware/ordering.h"

#include <algorithm>

namespace paddock {

namespace {

constexpr std::size_t maxRememberedHashes = 4096;

qint64 tokensOf(const MessagePtr &message)
{
    return message ? estimateTokens(*message) : 0;
}

} // namespace

Tracer::Tracer(QStringList memberNames, TraceOptions options)
    : m_memberNames(std::move(memberNames)), m_options(std::move(options))
{
    for (const QString &name : std::as_const(m_memberNames))
        m_names.append(traceName(name));
}

HookPoint Tracer::point(Hook hook, int index, const RuntimeContext &runtime, const QString &call) const
{
    return {m_memberNames.at(index), hook, index, runtime.turn, call};
}

OpenSpan Tracer::open(Hook hook, int index, const RuntimeContext &runtime, SpanId parent, const QString &call) const
{
    OpenSpan open;
    open.span = runtime.events.newSpan();
    if (!open)
        return open;
    open.parent = parent;
    open.hook = hook;
    open.index = index;
    open.turn = runtime.turn;
    open.call = call;
    open.startUs = runtime.clock->mono().count();
    return open;
}

MiddlewareSpan Tracer::body(const OpenSpan &open, const RuntimeContext &runtime, const Error *error) const
{
    MiddlewareSpan body;
    body.name = m_names.at(open.index);
    body.hook = hookName(open.hook);
    body.turn = open.turn;
    body.index = open.index;
    body.startUs = open.startUs;
    body.durationUs = std::max<qint64>(0, runtime.clock->mono().count() - open.startUs);
    body.call = open.call;
    if (error != nullptr)
        body.error = error->isCancelled() ? QStringLiteral("cancelled") : error->fullMessage();
    return body;
}

QString Tracer::hashOf(const MessagePtr &message)
{
    if (!message)
        return {};
    if (!m_options.blobSink)
        return contentHash(message);
    const auto known = m_hashes.find(message.get());
    if (known != m_hashes.end() && known->second.message.lock() == message)
        return known->second.hash;
    const QString hash = m_options.blobSink(message);
    if (m_hashes.size() >= maxRememberedHashes)
        std::erase_if(m_hashes, [](const auto &entry) { return entry.second.message.expired(); });
    if (m_hashes.size() >= maxRememberedHashes)
        m_hashes.clear();
    m_hashes.insert_or_assign(message.get(), Hashed{message, hash});
    return hash;
}

void Tracer::addChange(MiddlewareSpan &body, const char *kind, qsizetype before, qsizetype after,
                       const MessagePtr &was, const MessagePtr &is)
{
    SpanChange change;
    change.kind = QString::fromLatin1(kind);
    change.before = int(before);
    change.after = int(after);
    change.messageId = is ? is->id : was->id;
    change.beforeHash = hashOf(was);
    change.afterHash = hashOf(is);
    body.changes.push_back(std::move(change));
    if (!was)
        ++body.added;
    else if (!is)
        ++body.removed;
    else if (was != is)
        ++body.edited;
    body.tokens += tokensOf(is) - tokensOf(was);
}

void Tracer::addDiff(MiddlewareSpan &body, const MessageList &before, const MessageList &after)
{
    if (before.isSameAs(after))
        return;
    using Kind = ListDiff::Entry::Kind;
    for (const ListDiff::Entry &entry : diffLists(before, after).entries) {
        switch (entry.kind) {
        case Kind::Added: addChange(body, "added", -1, entry.after, nullptr, entry.is); break;
        case Kind::Removed: addChange(body, "removed", entry.before, -1, entry.was, nullptr); break;
        case Kind::Edited: addChange(body, "edited", entry.before, entry.after, entry.was, entry.is); break;
        case Kind::Moved: addChange(body, "moved", entry.before, entry.after, entry.was, entry.is); break;
        }
    }
}

void Tracer::addOutcome(MiddlewareSpan &body, const OutcomeView &received, const OutcomeView &returned)
{
    const std::size_t common = std::min(received.messages.size(), returned.messages.size());
    for (std::size_t i = 0; i < common; ++i) {
        if (received.messages[i] != returned.messages[i])
            addChange(body, "edited", qsizetype(i), qsizetype(i), received.messages[i], returned.messages[i]);
    }
    for (std::size_t i = common; i < returned.messages.size(); ++i)
        addChange(body, "added", -1, qsizetype(i), nullptr, returned.messages[i]);
    for (std::size_t i = common; i < received.messages.size(); ++i)
        addChange(body, "removed", qsizetype(i), -1, received.messages[i], nullptr);
    for (const QString &key : returned.stateKeys) {
        if (!received.stateKeys.contains(key))
            body.stateKeys.append(key);
    }
}

void Tracer::closeNode(const OpenSpan &open, const RuntimeContext &runtime, const MessageList &before,
                       const MessageList &after, const StateUpdate &update, const Error *error)
{
    if (!open)
        return;
    MiddlewareSpan span = body(open, runtime, error);
    addDiff(span, before, after);
    if (update.channels.is_object()) {
        for (auto it = update.channels.begin(); it != update.channels.end(); ++it)
            span.stateKeys.append(QString::fromStdString(it.key()));
    }
    runtime.events.withParent(open.parent).emitEvent(std::move(span), open.span);
}

void Tracer::closeWrap(const OpenSpan &open, const RuntimeContext &runtime, SpanGroup &group, const WrapView &view,
                       const Error *error)
{
    if (!open)
        return;
    MiddlewareSpan span = body(open, runtime, error);
    if (view.called) {
        addDiff(span, view.in.messages, view.passed.messages);
        if (view.in.system != view.passed.system)
            addChange(span, view.in.system ? (view.passed.system ? "edited" : "removed") : "added", -1, -1,
                      view.in.system, view.passed.system);
    }
    const bool requestEdited = !span.changes.empty();
    const std::size_t requestChanges = span.changes.size();
    if (error == nullptr)
        addOutcome(span, view.received, view.returned);
    span.persistent = !requestEdited || span.changes.size() > requestChanges || !span.stateKeys.isEmpty();
    group.closed.push_back({open.span, open.parent, std::move(span)});
    if (group.depth > 0)
        return;
    std::sort(group.closed.begin(), group.closed.end(),
              [](const auto &a, const auto &b) { return a.span < b.span; });
    for (SpanGroup::Closed &closed : group.closed)
        runtime.events.withParent(closed.parent).emitEvent(std::move(closed.body), closed.span);
    group.closed.clear();
}

} // namespace paddock
