/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-cells.h"

#include "ns3/lossless-refusal.h"

#include <algorithm>
#include <numeric>

namespace ns3
{
namespace lossless
{

namespace
{

/// Call a function with both ends of every link.
/// @param nodes all. @param look called with two ports, one of each end.
template <class F>
void
ForEachLink(const std::vector<Ptr<FabricNode>>& nodes, F look)
{
    for (const auto& node : nodes)
    {
        for (uint16_t index = 0; index < node->GetNPorts(); ++index)
        {
            const Port& port = node->GetPort(index);
            look(port, port.GetPeer());
        }
    }
}

} // namespace

int64_t
AssignCells(const std::vector<Ptr<FabricNode>>& nodes)
{
    if (nodes.size() > eventloop::Place::MOST_NODES)
    {
        RefuseNow("ns3::eventloop::CellLoop has room for ",
                  eventloop::Place::MOST_NODES,
                  " nodes, and the network has ",
                  nodes.size(),
                  "; choose ns3::eventloop::EventLoop");
    }
    std::vector<uint32_t> above(
        nodes.size()); // union-find; the smallest node of a cell is its root
    std::iota(above.begin(), above.end(), 0);
    const auto rootOf = [&above](uint32_t node) {
        while (above[node] != node)
        {
            node = above[node] = above[above[node]];
        }
        return node;
    };
    ForEachLink(nodes, [&](const Port& a, const Port& b) {
        if (a.GetDelay() == 0 || !a.GetNode().IsSwitch())
        {
            const auto [low, high] = std::minmax({rootOf(a.GetNodeId()), rootOf(b.GetNodeId())});
            above[high] = low;
        }
    });
    // More than there is room for share cells, which is always right.
    uint32_t cells = 0;
    std::vector<uint16_t> cellOf(nodes.size());
    for (uint32_t node = 0; node < nodes.size(); ++node)
    {
        const uint32_t root = rootOf(node);
        cellOf[node] = root == node
                           ? static_cast<uint16_t>(1 + cells++ % eventloop::Place::MOST_CELLS)
                           : cellOf[root];
        nodes[node]->SetCell(cellOf[node]);
    }
    int64_t shortest = NEVER;
    ForEachLink(nodes, [&](const Port& a, const Port& b) {
        if (cellOf[a.GetNodeId()] != cellOf[b.GetNodeId()])
        {
            shortest = std::min(shortest, a.GetDelay());
        }
    });
    return shortest == NEVER ? 0 : shortest;
}

std::string
FindCellObstacle(const std::vector<Ptr<FabricNode>>& nodes)
{
    for (const auto& node : nodes)
    {
        if (node->GetPacketReceiver())
        {
            return "packets of ns-3's own stack, which hosts share, reach " + node->GetName();
        }
        for (const auto& agent : node->GetAgents())
        {
            if (dynamic_cast<const NetworkAgent*>(PeekPointer(agent)))
            {
                return agent->GetInstanceTypeId().GetName() + " acts on other nodes than its own";
            }
        }
    }
    return {};
}

} // namespace lossless
} // namespace ns3
