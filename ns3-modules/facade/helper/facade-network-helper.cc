/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-network-helper.h"

#include "ns3/lossless-fabric.h"

#include <string>

namespace ns3
{
namespace facade
{

NetworkHelper::NetworkHelper(Simulation& simulation, DataRate rate, Time delay)
    : m_simulation(simulation),
      m_rate(rate),
      m_delay(delay)
{
}

void
NetworkHelper::SetRate(DataRate rate)
{
    m_rate = rate;
}

void
NetworkHelper::SetDelay(Time delay)
{
    m_delay = delay;
}

std::vector<uint32_t>
NetworkHelper::Install(uint8_t kind, char prefix, uint32_t& made, uint32_t n)
{
    std::vector<uint32_t> numbers;
    for (uint32_t i = 0; i < n; ++i)
    {
        numbers.push_back(m_simulation.GetFabric().GetNNodes());
        m_simulation.AddNodes(&kind, prefix + std::to_string(made++), 1);
    }
    return numbers;
}

std::vector<uint32_t>
NetworkHelper::InstallHosts(uint32_t n)
{
    return Install(0, 'h', m_hosts, n);
}

std::vector<uint32_t>
NetworkHelper::InstallSwitches(uint32_t n)
{
    return Install(1, 's', m_switches, n);
}

void
NetworkHelper::InstallLink(uint32_t a, uint32_t b)
{
    m_simulation.GetFabric().AddLink(a, b, m_rate, m_delay);
}

void
NetworkHelper::InstallLinks(const std::vector<uint32_t>& lower, const std::vector<uint32_t>& upper)
{
    for (const uint32_t a : lower)
    {
        for (const uint32_t b : upper)
        {
            InstallLink(a, b);
        }
    }
}

} // namespace facade
} // namespace ns3
