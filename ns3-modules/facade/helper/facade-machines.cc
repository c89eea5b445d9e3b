/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-machines.h"

#include "facade-arguments.h"

#include "ns3/lossless-refusal.h"

namespace ns3
{
namespace facade
{

using lossless::Refuse;

Machines::Machines(lossless::Fabric& fabric)
    : m_fabric(fabric)
{
}

void
Machines::AddServer(const uint32_t* hosts, uint32_t n, uint64_t rate, int64_t delay, bool failover)
{
    RequireTime("the delay of a scale-up domain", delay);
    std::vector<rdma::Host*> members;
    for (uint32_t i = 0; i < n; ++i)
    {
        members.push_back(&RequireHost(m_fabric, hosts[i], "a host of a server"));
        if (!m_serverOf.emplace(hosts[i], m_servers.size()).second)
        {
            Refuse(members.back()->GetName(), " cannot belong to two servers, or twice to one");
        }
        if (m_hostOf.contains(hosts[i]) && (failover || HostOf(hosts[i]) != hosts[i]))
        {
            Refuse(members.back()->GetName(),
                   " is a port of a host with several links; a server has the host itself, whose "
                   "flows fail over among its own ports only");
        }
    }
    m_servers.push_back(rate > 0 ? std::make_unique<rdma::ScaleUp>(rate, delay) : nullptr);
    if (failover && n > 0)
    {
        m_failover.Add(members, false);
    }
}

void
Machines::SetHostPorts(const uint32_t* nodes, uint32_t n)
{
    std::vector<rdma::Host*> ports;
    for (uint32_t i = 0; i < n; ++i)
    {
        ports.push_back(&RequireHost(m_fabric, nodes[i], "a port of a host"));
        if (!m_hostOf.emplace(nodes[i], nodes[0]).second || m_serverOf.contains(nodes[i]))
        {
            Refuse(ports.back()->GetName(),
                   " cannot be a port of two hosts, or twice of one, or in a server already");
        }
    }
    if (n > 0)
    {
        m_failover.Add(ports, true);
    }
}

uint32_t
Machines::HostOf(uint32_t node) const
{
    const auto found = m_hostOf.find(node);
    return found == m_hostOf.end() ? node : found->second;
}

bool
Machines::AreTogether(uint32_t node, uint32_t other) const
{
    return HostOf(node) == HostOf(other) || AreInOneServer(node, other);
}

bool
Machines::AreInOneServer(uint32_t node, uint32_t other) const
{
    const auto one = m_serverOf.find(HostOf(node));
    const auto two = m_serverOf.find(HostOf(other));
    return one != m_serverOf.end() && two != m_serverOf.end() && one->second == two->second;
}

rdma::ScaleUp*
Machines::FindScaleUp(uint32_t node) const
{
    const auto server = m_serverOf.find(HostOf(node));
    return server == m_serverOf.end() ? nullptr : m_servers[server->second].get();
}

bool
Machines::HavePorts() const
{
    return !m_hostOf.empty();
}

std::string
Machines::FindCellObstacle() const
{
    if (HavePorts() && m_fabric.Changes())
    {
        return "flows may move between the links of a host";
    }
    return m_servers.empty() ? "" : "the hosts of a server share flows";
}

} // namespace facade
} // namespace ns3
