/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "deadlock-dependency.h"

#include <algorithm>
#include <queue>

namespace ns3
{
namespace deadlock
{

void
DependencyGraph::Add(const std::vector<Egress>& path)
{
    for (std::size_t i = 0; i + 1 < path.size(); ++i)
    {
        const auto& [node, port] = path[i];
        const uint64_t key = uint64_t{node} << 32 | uint64_t{port} << 16 | path[i + 1].second;
        if (m_known.insert(key).second) // flows share these pairs
        {
            m_next[path[i]].insert(path[i + 1]);
        }
    }
}

void
DependencyGraph::Add(const lossless::Routes& routes, uint32_t src, const lossless::Frame& header)
{
    std::vector<Egress> reached{{src, routes.GetEdges(src).front().port}};
    std::set<Egress> known(reached.begin(), reached.end());
    for (std::size_t i = 0; i < reached.size(); ++i)
    {
        const Egress egress = reached[i];
        const uint32_t node = routes.GetEdges(egress.first)[egress.second].peer;
        if (!routes.IsSwitch(node))
        {
            continue;
        }
        for (const uint16_t port : routes.GetNextHops(node, header))
        {
            Add({egress, {node, port}});
            if (known.emplace(node, port).second)
            {
                reached.emplace_back(node, port);
            }
        }
    }
}

std::vector<DependencyGraph::Egress>
DependencyGraph::FindCycle() const
{
    // An egress without successors or predecessors is in no cycle: remove them until nothing
    // changes. In a fabric without cycles nothing is left to search.
    std::map<Egress, std::set<Egress>> left = m_next;
    std::set<Egress> waitedFor;
    for (std::size_t before = 0; before != left.size();)
    {
        before = left.size();
        waitedFor.clear();
        for (auto& [egress, next] : left)
        {
            std::erase_if(next, [&](const Egress& other) { return !left.contains(other); });
            waitedFor.insert(next.begin(), next.end());
        }
        std::erase_if(left, [&](const auto& entry) {
            return entry.second.empty() || !waitedFor.contains(entry.first);
        });
    }
    std::vector<Egress> shortest;
    for (const auto& [start, unused] : left)
    {
        // breadth-first search for a path back to the start
        std::map<Egress, Egress> from;
        std::queue<Egress> waiting({start});
        while (!waiting.empty() && !from.contains(start))
        {
            const Egress egress = waiting.front();
            waiting.pop();
            const auto found = left.find(egress);
            if (found == left.end())
            {
                continue;
            }
            for (const Egress& next : found->second)
            {
                if (from.emplace(next, egress).second)
                {
                    waiting.push(next);
                }
            }
        }
        if (!from.contains(start))
        {
            continue;
        }
        std::vector<Egress> cycle{start};
        for (Egress at = from[start]; at != start; at = from[at])
        {
            cycle.push_back(at);
        }
        std::reverse(cycle.begin() + 1, cycle.end());
        if (shortest.empty() || cycle.size() < shortest.size())
        {
            shortest = cycle;
        }
    }
    return shortest;
}

} // namespace deadlock
} // namespace ns3
