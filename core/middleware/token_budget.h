// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include "core/middleware/run_scope.h"

#include <QHash>

#include <list>

namespace paddock {

struct TokenBudgetOptions {
    qint64 maxTokens = 200000;
    std::optional<qint64> maxInputTokens;
    std::optional<qint64> maxOutputTokens;
    double warnThreshold = 0.8;
    double hardStopThreshold = 1.0;
};

struct BudgetVerdict {
    enum class Action { None, Warn, HardStop } action = Action::None;
    QString kind; ///< total, input, output: which limit is used most
    qint64 used = 0;
    qint64 limit = 0;
    double fraction = 0;
};

/// What one run used of its budget. Each ai message counts once, by its id; what is filled into it later counts as the
/// difference.
class TokenMeter
{
public:
    /// What is there before the run is nobody's cost.
    void markSeen(const MessageList &messages);
    BudgetVerdict account(const MessageList &messages, const TokenBudgetOptions &options);

private:
    struct Spent {
        qint64 input = 0;
        qint64 output = 0;
    };
    QHash<QString, Spent> m_seen;
    Spent m_used;
    bool m_warned = false;
};

/// Warns a run that has used most of its tokens, once, and takes the tool calls away from one that has used all of them
/// (runtime §4.8).
class TokenBudgetMiddleware : public Middleware
{
public:
    explicit TokenBudgetMiddleware(TokenBudgetOptions options) : m_options(std::move(options)) {}

    QString name() const override { return QStringLiteral("TokenBudgetMiddleware"); }
    Hooks hooks() const override { return Hook::BeforeAgent | Hook::WrapModelCall | Hook::AfterModel | Hook::AfterAgent; }
    Task<Result<StateUpdate>> beforeAgent(AgentState state, RuntimePtr runtime) override;
    Task<Result<ModelResponse>> wrapModelCall(ModelCall call, ModelNext next) override;
    Task<Result<StateUpdate>> afterModel(AgentState state, RuntimePtr runtime) override;
    Task<Result<StateUpdate>> afterAgent(AgentState state, RuntimePtr runtime) override;
    std::optional<QString> consumeStopReason(const QString &runId) override;

    static QString warningText(const BudgetVerdict &verdict);
    static QString stopText(const BudgetVerdict &verdict);

private:
    struct Run {
        QString scope;
        TokenMeter meter;
    };
    TokenMeter &meterOf(const QString &scope);
    void forget(const QString &scope);

    const TokenBudgetOptions m_options;
    std::list<Run> m_runs; ///< most recently used first; bounded
    PendingNotes m_notes{QStringLiteral("budget_warning")};
    StoppedRuns m_stopped;
};

} // namespace paddock
