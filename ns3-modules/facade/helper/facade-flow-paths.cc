/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-flow-paths.h"

#include "ns3/lossless-fabric.h"
#include "ns3/lossless-refusal.h"

namespace ns3
{
namespace facade
{

void
FlowPaths::Pin(uint32_t flow, const uint32_t* nodes, uint32_t n, bool answers)
{
    if (!Check(flow, nodes, n, answers))
    {
        return;
    }
    lossless::Routes& routes = m_fabric.GetRoutes();
    if (answers)
    {
        m_own.insert(flow);
        m_problems << routes.PinAnswers(flow, {nodes, nodes + n});
        return;
    }
    m_problems << routes.Pin(flow, {nodes, nodes + n});
}

void
FlowPaths::SetAnswerRouting(uint32_t flow, bool reverse)
{
    m_routing[flow] = reverse;
}

bool
FlowPaths::RouteAnswers(uint32_t flow, const Hops& hops)
{
    lossless::Routes& routes = m_fabric.GetRoutes();
    const auto routing = m_routing.find(flow);
    const bool own = m_own.contains(flow);
    if (!own && routing != m_routing.end())
    {
        routes.FreeAnswers(flow);
        if (routing->second && !hops.empty())
        {
            std::vector<uint32_t> path{m_ends[flow].second};
            for (auto hop = hops.rbegin(); hop != hops.rend(); ++hop)
            {
                const lossless::FabricNode& node = m_fabric.GetNode(hop->first);
                path.push_back(node.GetPort(hop->second).GetPeer().GetNeighbour());
            }
            m_problems << routes.PinAnswers(flow, path);
        }
    }
    return routes.AreAnswersPinned(flow);
}

bool
FlowPaths::Check(uint32_t flow, const uint32_t* nodes, uint32_t n, bool answers)
{
    const uint32_t nNodes = m_fabric.GetNNodes();
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; ++i)
    {
        // Other numbers than those of nodes name one of several links, see Fabric::FindPort.
        const bool isLink = i > 0 && nodes[i] >= nNodes;
        const lossless::Port* port = isLink ? m_fabric.FindPort(at, nodes[i]) : nullptr;
        if (nodes[i] >= nNodes && !port)
        {
            lossless::Refuse("the path of flow ",
                             flow,
                             " contains node ",
                             nodes[i],
                             "; there are ",
                             nNodes,
                             ", counted from 0");
        }
        at = port ? port->GetPeerId() : nodes[i];
    }
    const auto [src, dst] = m_ends[flow];
    const bool leads =
        n >= 3 && nodes[0] == (answers ? dst : src) && nodes[n - 1] == (answers ? src : dst);
    if (!leads)
    {
        m_problems << "path of flow " << flow << ": it must lead from its source to its destination"
                   << (answers ? ", and that of its ACKs back\n" : "\n");
    }
    return leads;
}

} // namespace facade
} // namespace ns3
