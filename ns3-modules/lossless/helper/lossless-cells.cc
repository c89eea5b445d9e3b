/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-cells.h"

#include "ns3/lossless-refusal.h"

#include <algorithm>
#include <array>
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

/// Colour groups of nodes, so that no link joins two of the same colour.
/// @param nodes all. @param groupOf by node: the group, the number of a node.
/// @return by group: 0 or 1; empty: there are no such colours.
std::vector<uint8_t>
ColourGroups(const std::vector<Ptr<FabricNode>>& nodes, const std::vector<uint32_t>& groupOf)
{
    std::vector<std::vector<uint32_t>> neighbours(nodes.size());
    ForEachLink(nodes, [&](const Port& a, const Port& b) {
        const uint32_t group = groupOf[a.GetNodeId()];
        if (group != groupOf[b.GetNodeId()])
        {
            neighbours[group].push_back(groupOf[b.GetNodeId()]);
        }
    });
    constexpr uint8_t NONE = 2;
    std::vector<uint8_t> colours(nodes.size(), NONE);
    std::vector<uint32_t> toDo;
    for (uint32_t first = 0; first < nodes.size(); ++first)
    {
        if (colours[first] == NONE)
        {
            colours[first] = 0;
            toDo.push_back(first);
        }
        while (!toDo.empty())
        {
            const uint32_t group = toDo.back();
            toDo.pop_back();
            for (const uint32_t other : neighbours[group])
            {
                if (colours[other] == colours[group])
                {
                    return {};
                }
                if (colours[other] == NONE)
                {
                    colours[other] = 1 - colours[group];
                    toDo.push_back(other);
                }
            }
        }
    }
    return colours;
}

} // namespace

CellRules
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
    std::vector<uint32_t> groupOf(nodes.size());
    for (uint32_t node = 0; node < nodes.size(); ++node)
    {
        groupOf[node] = rootOf(node);
    }
    const std::vector<uint8_t> colours = ColourGroups(nodes, groupOf);
    // Cells of one colour have odd numbers, those of the other even ones, from 1 and 2. More than
    // there is room for share cells, which is always right.
    std::array<uint32_t, 2> cells{};
    std::vector<uint16_t> cellOf(nodes.size());
    for (uint32_t node = 0; node < nodes.size(); ++node)
    {
        const uint32_t group = groupOf[node];
        const uint8_t colour = colours.empty() ? 0 : colours[group];
        cellOf[node] =
            group == node
                ? static_cast<uint16_t>(1 + colour +
                                        cells[colour]++ * 2 % (eventloop::Place::MOST_CELLS - 1))
                : cellOf[group];
        nodes[node]->SetCell(cellOf[node]);
    }
    int64_t shortest = NEVER;
    int64_t between = NEVER;
    ForEachLink(nodes, [&](const Port& a, const Port& b) {
        shortest = std::min(shortest, a.GetDelay());
        if (cellOf[a.GetNodeId()] != cellOf[b.GetNodeId()])
        {
            between = std::min(between, a.GetDelay());
        }
    });
    return between == NEVER ? CellRules{} : CellRules{between, !colours.empty(), shortest};
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
