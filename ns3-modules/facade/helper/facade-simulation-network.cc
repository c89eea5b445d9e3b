/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-simulation-network.h"

#include "facade-arguments.h"
#include "facade-host-faults.h"
#include "facade-memory.h"
#include "facade-simulation-state.h"

#include <sstream>
#include <utility>

namespace ns3
{
namespace facade
{

SimulationNetwork::SimulationNetwork(std::shared_ptr<SimulationState> state)
    : m_state(std::move(state))
{
}

SimulationNetwork::~SimulationNetwork() = default;

void
SimulationNetwork::SetAttribute(const std::string& typeId,
                                const std::string& name,
                                const std::string& value)
{
    m_state->fabric->SetAttribute(typeId, name, value);
}

void
SimulationNetwork::AddFlowControl(const std::string& typeId)
{
    m_state->fabric->AddFlowControl(typeId);
}

void
SimulationNetwork::AddAgent(const std::string& typeId)
{
    m_state->fabric->AddAgent(typeId);
}

void
SimulationNetwork::AddHostAgent(const std::string& typeId)
{
    m_state->fabric->AddHostAgent(typeId);
}

void
SimulationNetwork::SetBufferPolicy(const std::string& typeId)
{
    m_state->fabric->SetBufferPolicy(typeId);
}

void
SimulationNetwork::SetForwarding(const std::string& typeId)
{
    m_state->fabric->SetForwarding(typeId);
}

void
SimulationNetwork::SetAllowLoss(bool allow)
{
    m_state->fabric->SetAllowLoss(allow);
}

void
SimulationNetwork::AddNodes(const uint8_t* kinds, const std::string& names, uint32_t n)
{
    m_state->fabric->RequireOpen("AddNodes");
    RequireNames(names, n);
    std::istringstream list(names);
    for (uint32_t i = 0; i < n; ++i)
    {
        std::string name;
        std::getline(list, name);
        RequireKind(name, kinds[i]);
        if (kinds[i] == 1)
        {
            m_state->fabric->AddSwitch(name);
            continue;
        }
        m_state->fabric->AddHost(name, m_state->traffic.MakeHost());
    }
}

void
SimulationNetwork::AddLinks(const uint32_t* a,
                            const uint32_t* b,
                            const uint64_t* rates,
                            const int64_t* delays,
                            uint32_t n)
{
    constexpr std::size_t BYTES_A_PORT = 8192; // including its share of the node and the frames
    PreferLargePages(2 * BYTES_A_PORT * n);
    for (uint32_t i = 0; i < n; ++i)
    {
        m_state->fabric->AddLink(a[i],
                                 b[i],
                                 DataRate(rates[i]),
                                 TimeStep(static_cast<uint64_t>(delays[i])));
    }
}

void
SimulationNetwork::SetNodeAttribute(uint32_t node,
                                    const std::string& typeId,
                                    const std::string& name,
                                    const std::string& value)
{
    m_state->fabric->SetNodeAttribute(node, typeId, name, value);
}

void
SimulationNetwork::SetPortAttribute(uint32_t node,
                                    uint32_t neighbour,
                                    const std::string& typeId,
                                    const std::string& name,
                                    const std::string& value)
{
    m_state->fabric->SetPortAttribute(node, neighbour, typeId, name, value);
}

void
SimulationNetwork::FailLink(uint32_t link, int64_t down, int64_t up)
{
    m_state->fabric->FailLink(link, Time::From(down, Time::PS), Time::From(up, Time::PS));
}

void
SimulationNetwork::DivertRoute(uint32_t node,
                               uint32_t dst,
                               uint32_t neighbour,
                               int64_t at,
                               int64_t until)
{
    m_state->fabric->DivertRoute(node,
                                 dst,
                                 neighbour,
                                 Time::From(at, Time::PS),
                                 Time::From(until, Time::PS));
}

void
SimulationNetwork::SetHostPorts(const uint32_t* nodes, uint32_t n)
{
    m_state->fabric->RequireOpen("SetHostPorts");
    m_state->traffic.GetMachines().SetHostPorts(nodes, n);
}

void
SimulationNetwork::AddServer(const uint32_t* hosts,
                             uint32_t n,
                             uint64_t rate,
                             int64_t delay,
                             bool failover)
{
    m_state->fabric->RequireOpen("AddServer");
    m_state->traffic.GetMachines().AddServer(hosts, n, rate, delay, failover);
}

void
SimulationNetwork::SetReceiveRate(uint32_t host, uint64_t rate, int64_t start)
{
    m_state->fabric->RequireOpen("SetReceiveRate");
    ScheduleReceiveRate(*m_state->fabric, host, rate, start);
}

void
SimulationNetwork::AddPauseStorm(uint32_t host, uint8_t cls, int64_t start, int64_t stop)
{
    m_state->fabric->RequireOpen("AddPauseStorm");
    RequireHost(*m_state->fabric, host, "the source of a pause storm");
    AddStorm(host, -1, cls, start, stop, 0, 0, false);
}

void
SimulationNetwork::AddStorm(uint32_t node,
                            int64_t peer,
                            uint8_t cls,
                            int64_t start,
                            int64_t stop,
                            int64_t on,
                            int64_t off,
                            bool resumes)
{
    m_state->fabric->RequireOpen("AddStorm");
    ForEachPort(*m_state->fabric, &node, &peer, 1, [&](lossless::Port& port) {
        ScheduleStorm(port, {cls, start, stop, on, off, resumes});
    });
    m_state->silenced |= stop < 0 && on == 0;
}

lossless::Fabric&
SimulationNetwork::GetFabric() const
{
    return *m_state->fabric;
}

} // namespace facade
} // namespace ns3
