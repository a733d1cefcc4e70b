// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#pragma once

#include <QHash>
#include <QString>

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

namespace paddock {

/// `circuit_breaker:`
struct LlmCircuitOptions {
    int failureThreshold = 5;                ///< at least 1
    std::chrono::seconds recoveryTimeout{60}; ///< not negative
};

/// Keeps a broken provider from being hammered (middleware-base §10.5): closed, open for the recovery time, then half-open
/// with one probe at a time. Time is given from outside (monotonic). Thread-safe; shared by all agents that use one
/// provider and model, so it must be held in a shared_ptr. Calls nobody under its lock.
class LlmCircuit : public std::enable_shared_from_this<LlmCircuit>
{
public:
    enum class Phase { Closed, Open, HalfOpen };
    using Time = std::chrono::microseconds;

    /// The right to make one call. Exactly one of the three ends is taken into account; a ticket that is dropped without
    /// one is released, so that a call which ends in an unforeseen way never keeps the probe. A ticket of an older state
    /// changes nothing (#5197).
    class Ticket
    {
    public:
        Ticket(Ticket &&other) noexcept;
        Ticket &operator=(Ticket &&) = delete;
        ~Ticket();
        /// These two: true when the phase changed by it.
        bool succeed();
        bool fail(Time now, const LlmCircuitOptions &options);
        /// No verdict about the provider.
        void release();

    private:
        friend class LlmCircuit;
        Ticket(std::shared_ptr<LlmCircuit> circuit, quint64 number, quint64 generation, bool probe);
        std::shared_ptr<LlmCircuit> take() { return std::exchange(m_circuit, nullptr); }
        std::shared_ptr<LlmCircuit> m_circuit;
        quint64 m_number;
        quint64 m_generation;
        bool m_probe;
    };

    /// Nothing: the call is refused.
    std::optional<Ticket> admit(Time now);
    Phase phase() const;
    /// "closed", "open", "half_open".
    static QString phaseName(Phase phase);

private:
    bool isCurrent(const Ticket &ticket) const;
    void enter(Phase phase);

    mutable std::mutex m_mutex; // guards all below
    Phase m_phase = Phase::Closed;
    int m_failures = 0;
    Time m_openUntil{0};
    quint64 m_generation = 0; ///< one more at each change of the phase
    quint64 m_nextTicket = 1;
    std::optional<quint64> m_probe; ///< whose call may settle the half-open state
};

/// The circuits of a process, one per provider and model: every subagent has a chain of its own, where a circuit would
/// never open. Thread-safe.
class LlmCircuitTable
{
public:
    std::shared_ptr<LlmCircuit> of(const QString &provider, const QString &model);
    static std::shared_ptr<LlmCircuitTable> process();

private:
    std::mutex m_mutex; // guards m_circuits
    QHash<std::pair<QString, QString>, std::shared_ptr<LlmCircuit>> m_circuits;
};

} // namespace paddock
