// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/middleware.h"

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

namespace paddock {

/// Keeps a message's content retrievable and returns its hash (contentHash). Called on the chain's loop once for each
/// message that a span names, before that span's event (style.md C2.2); must not block.
using BlobSink = std::function<QString(const MessagePtr &)>;

/// Which hook run is about to start or has just ended.
struct HookPoint {
    QString member; ///< "ThreadDataMiddleware"
    Hook hook = Hook::BeforeAgent;
    int index = 0; ///< place in the chain, outermost first
    int turn = 0;
    QString call; ///< tool call id for wrap_tool_call
};

/// The seam for breakpoints (design.md §5): awaited before each hook run. An Error ends the run (abort). Absent, it
/// costs one branch.
class HookGate
{
public:
    virtual ~HookGate() = default;
    virtual Task<Result<void>> reached(HookPoint point, RuntimePtr runtime) = 0;
};

struct TraceOptions {
    BlobSink blobSink; ///< empty: hashes only
    std::shared_ptr<HookGate> gate;
};

/// What one hook run looked like from outside, filled while it runs.
struct OpenSpan {
    SpanId span = 0; ///< 0: nothing listens, nothing is recorded
    SpanId parent = 0;
    Hook hook = Hook::BeforeAgent;
    int index = 0;
    int turn = 0;
    qint64 startUs = 0;
    QString call;
    explicit operator bool() const { return span != 0; }
};

/// Spans of one walk through a wrap chain. They close inner first; they are emitted outermost first, when the
/// outermost closes, so that sequence numbers, span ids and the list of the seed agree.
struct SpanGroup {
    struct Closed {
        SpanId span;
        SpanId parent;
        MiddlewareSpan body;
    };
    std::vector<Closed> closed;
    int depth = 0;
};

/// What passed a wrap hook on its way in and out, and came back from inside.
struct ModelView {
    MessageList messages;
    MessagePtr system;
};
struct OutcomeView {
    std::vector<MessagePtr> messages;
    QStringList stateKeys;
};
struct WrapView {
    ModelView in;     ///< model calls only
    ModelView passed; ///< the last call of next
    OutcomeView received;
    OutcomeView returned;
    bool called = false;
};

/// Turns hook runs into middleware.span events, from outside: no member knows of it. One per chain; lives on its loop.
/// The clock is the runtime's. Nothing here throws or changes behaviour.
class Tracer
{
public:
    Tracer(QStringList memberNames, TraceOptions options);

    HookGate *gate() const { return m_options.gate.get(); }
    HookPoint point(Hook hook, int index, const RuntimeContext &runtime, const QString &call = {}) const;

    OpenSpan open(Hook hook, int index, const RuntimeContext &runtime, SpanId parent, const QString &call = {}) const;
    void closeNode(const OpenSpan &open, const RuntimeContext &runtime, const MessageList &before,
                   const MessageList &after, const StateUpdate &update, const Error *error);
    void closeWrap(const OpenSpan &open, const RuntimeContext &runtime, SpanGroup &group, const WrapView &view,
                   const Error *error);

private:
    MiddlewareSpan body(const OpenSpan &open, const RuntimeContext &runtime, const Error *error) const;
    void addDiff(MiddlewareSpan &body, const MessageList &before, const MessageList &after);
    void addChange(MiddlewareSpan &body, const char *kind, qsizetype before, qsizetype after, const MessagePtr &was,
                   const MessagePtr &is);
    void addOutcome(MiddlewareSpan &body, const OutcomeView &received, const OutcomeView &returned);
    QString hashOf(const MessagePtr &message);

    QStringList m_names; ///< as the trace shows them
    QStringList m_memberNames;
    TraceOptions m_options;
    struct Hashed {
        std::weak_ptr<const Message> message;
        QString hash;
    };
    std::unordered_map<const Message *, Hashed> m_hashes;
};

} // namespace paddock
