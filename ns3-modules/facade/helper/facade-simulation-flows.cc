/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-simulation-flows.h"

#include "facade-simulation-state.h"

#include <utility>

namespace ns3
{
namespace facade
{

SimulationFlows::SimulationFlows(std::shared_ptr<SimulationState> state)
    : m_state(std::move(state))
{
}

SimulationFlows::~SimulationFlows() = default;

void
SimulationFlows::SetCongestionControl(const std::string& typeId)
{
    m_state->fabric->RequireOpen("SetCongestionControl");
    m_state->traffic.SetCongestionControl(typeId);
}

void
SimulationFlows::SetStopWhenDone(bool stop, bool acknowledged)
{
    m_state->traffic.SetStopWhenDone(stop, acknowledged);
}

uint32_t
SimulationFlows::AddFlows(const uint32_t* src,
                          const uint32_t* dst,
                          const uint64_t* sizes,
                          const int64_t* starts,
                          const int64_t* stops,
                          const uint8_t* classes,
                          const uint64_t* rates,
                          const uint64_t* windows,
                          uint32_t n)
{
    m_state->fabric->RequireOpen("AddFlows");
    return m_state->traffic.AddFlows(src, dst, sizes, starts, stops, classes, rates, windows, n);
}

uint32_t
SimulationFlows::AddFlow(uint32_t src, uint32_t dst, uint8_t cls, uint64_t size)
{
    const uint64_t none = 0;
    const int64_t start = 0;
    const int64_t never = -1;
    return AddFlows(&src, &dst, &size, &start, &never, &cls, &none, &none, 1);
}

void
SimulationFlows::AddDependencies(const uint32_t* flows,
                                 const uint32_t* after,
                                 const int64_t* delays,
                                 uint32_t n)
{
    m_state->fabric->RequireOpen("AddDependencies");
    m_state->traffic.AddDependencies(flows, after, delays, n);
}

void
SimulationFlows::SetNics(const uint32_t* flows, const uint32_t* out, const uint32_t* in, uint32_t n)
{
    m_state->fabric->RequireOpen("SetNics");
    m_state->traffic.SetNics(flows, out, in, n);
}

void
SimulationFlows::SetFlowAttribute(const uint32_t* flows,
                                  uint32_t n,
                                  const std::string& name,
                                  const std::string& value)
{
    m_state->fabric->RequireOpen("SetFlowAttribute");
    m_state->traffic.SetFlowAttribute(flows, n, name, value);
}

void
SimulationFlows::SetConnections(const uint32_t* flows, const uint32_t* connections, uint32_t n)
{
    m_state->fabric->RequireOpen("SetConnections");
    m_state->traffic.SetConnections(flows, connections, n);
}

void
SimulationFlows::SetSourcePorts(const uint32_t* flows, const uint16_t* ports, uint32_t n)
{
    m_state->fabric->RequireOpen("SetSourcePorts");
    m_state->traffic.SetSourcePorts(flows, ports, n);
}

uint32_t
SimulationFlows::AddShares(const uint32_t* messages, const uint64_t* sizes, uint32_t n)
{
    m_state->fabric->RequireOpen("AddShares");
    return m_state->traffic.AddShares(messages, sizes, n);
}

void
SimulationFlows::SetOnOff(uint32_t flow, int64_t on, int64_t off)
{
    m_state->fabric->RequireOpen("SetOnOff");
    m_state->traffic.SetOnOff(flow, on, off);
}

void
SimulationFlows::SetPath(uint32_t flow, const uint32_t* nodes, uint32_t n)
{
    SetPaths(&flow, &n, nodes, 1);
}

void
SimulationFlows::SetPaths(const uint32_t* flows,
                          const uint32_t* lengths,
                          const uint32_t* nodes,
                          uint32_t n)
{
    m_state->fabric->RequireOpen("SetPaths");
    m_state->traffic.SetPaths(flows, lengths, nodes, n, false);
}

void
SimulationFlows::SetAckPaths(const uint32_t* flows,
                             const uint32_t* lengths,
                             const uint32_t* nodes,
                             uint32_t n)
{
    m_state->fabric->RequireOpen("SetAckPaths");
    m_state->traffic.SetPaths(flows, lengths, nodes, n, true);
}

void
SimulationFlows::SetAckRouting(const uint32_t* flows, const uint8_t* reverse, uint32_t n)
{
    m_state->fabric->RequireOpen("SetAckRouting");
    m_state->traffic.SetAckRouting(flows, reverse, n);
}

uint64_t
SimulationFlows::GetFinishedFlows() const
{
    return m_state->traffic.GetProgress().finished;
}

double
SimulationFlows::GetDeliveredShare() const
{
    return m_state->traffic.GetDeliveredShare();
}

uint64_t
SimulationFlows::GetDeliveredBytes(uint32_t flow) const
{
    return m_state->traffic.GetFlow(flow).GetOutcome().delivered;
}

} // namespace facade
} // namespace ns3
