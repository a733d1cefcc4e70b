// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Paddock authors
#include "core/middleware/llm_circuit.h"

#include <utility>

namespace paddock {

LlmCircuit::Ticket::Ticket(std::shared_ptr<LlmCircuit> circuit, quint64 number, quint64 generation, bool probe)
    : m_circuit(std::move(circuit)), m_number(number), m_generation(generation), m_probe(probe)
{
}

LlmCircuit::Ticket::Ticket(Ticket &&other) noexcept
    : m_circuit(std::move(other.m_circuit)), m_number(other.m_number), m_generation(other.m_generation), m_probe(other.m_probe)
{
}

LlmCircuit::Ticket::~Ticket()
{
    release();
}

bool LlmCircuit::Ticket::succeed()
{
    const auto circuit = take();
    if (!circuit)
        return false;
    const std::lock_guard lock(circuit->m_mutex);
    if (!circuit->isCurrent(*this))
        return false;
    circuit->m_failures = 0;
    if (m_probe)
        circuit->enter(Phase::Closed);
    return m_probe;
}

bool LlmCircuit::Ticket::fail(Time now, const LlmCircuitOptions &options)
{
    const auto circuit = take();
    if (!circuit)
        return false;
    const std::lock_guard lock(circuit->m_mutex);
    if (!circuit->isCurrent(*this))
        return false;
    ++circuit->m_failures;
    if (!m_probe && circuit->m_failures < options.failureThreshold)
        return false;
    circuit->m_openUntil = now + options.recoveryTimeout;
    circuit->enter(Phase::Open);
    return true;
}

void LlmCircuit::Ticket::release()
{
    const auto circuit = take();
    if (!circuit)
        return;
    const std::lock_guard lock(circuit->m_mutex);
    if (m_probe && circuit->isCurrent(*this))
        circuit->m_probe.reset(); // still half-open: the next call may try
}

std::optional<LlmCircuit::Ticket> LlmCircuit::admit(Time now)
{
    const std::lock_guard lock(m_mutex);
    if (m_phase == Phase::Open) {
        if (now < m_openUntil)
            return std::nullopt;
        enter(Phase::HalfOpen);
    }
    const bool probe = m_phase == Phase::HalfOpen;
    if (probe && m_probe)
        return std::nullopt;
    const quint64 number = m_nextTicket++;
    if (probe)
        m_probe = number;
    return Ticket(shared_from_this(), number, m_generation, probe);
}

LlmCircuit::Phase LlmCircuit::phase() const
{
    const std::lock_guard lock(m_mutex);
    return m_phase;
}

QString LlmCircuit::phaseName(Phase phase)
{
    switch (phase) {
    case Phase::Closed: return QStringLiteral("closed");
    case Phase::Open: return QStringLiteral("open");
    case Phase::HalfOpen: break;
    }
    return QStringLiteral("half_open");
}

bool LlmCircuit::isCurrent(const Ticket &ticket) const
{
    return ticket.m_generation == m_generation && (!ticket.m_probe || m_probe == ticket.m_number);
}

void LlmCircuit::enter(Phase phase)
{
    m_phase = phase;
    m_probe.reset();
    ++m_generation;
    if (phase != Phase::Open)
        m_failures = 0;
}

std::shared_ptr<LlmCircuit> LlmCircuitTable::of(const QString &provider, const QString &model)
{
    const std::lock_guard lock(m_mutex);
    std::shared_ptr<LlmCircuit> &circuit = m_circuits[{provider, model}];
    if (!circuit)
        circuit = std::make_shared<LlmCircuit>();
    return circuit;
}

std::shared_ptr<LlmCircuitTable> LlmCircuitTable::process()
{
    static const auto table = std::make_shared<LlmCircuitTable>();
    return table;
}

} // namespace paddock
