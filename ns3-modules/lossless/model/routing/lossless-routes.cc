/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-routes.h"

#include "ns3/lossless-hash.h"

#include <algorithm>
#include <limits>
#include <map>
#include <sstream>

namespace ns3
{
namespace lossless
{

namespace
{

constexpr uint32_t NO_GROUP = std::numeric_limits<uint32_t>::max();

} // namespace

void
Routes::AddNode(bool isSwitch)
{
    m_edges.emplace_back();
    m_isSwitch.push_back(isSwitch);
    m_salt.push_back(0);
}

void
Routes::AddLink(uint32_t a, uint16_t portA, uint32_t b, uint16_t portB)
{
    m_edges[a].push_back(Edge{portA, b, portB, true, 2 * m_links + 1});
    m_edges[b].push_back(Edge{portB, a, portA, true, 2 * m_links});
    ++m_links;
}

void
Routes::SetLink(uint32_t a, uint16_t port, bool up)
{
    Edge& edge = m_edges[a][port];
    edge.up = up;
    m_edges[edge.peer][edge.peerPort].up = up;
}

void
Routes::SetSalt(uint32_t node, uint32_t salt)
{
    m_salt[node] = salt;
}

void
Routes::Compute()
{
    m_tables = Find();
}

void
Routes::FindTree()
{
    const std::size_t n = m_edges.size();
    m_tree.assign(n, {});
    std::vector<bool> reached(n, false);
    for (uint32_t root = 0; root < n; ++root)
    {
        if (!m_isSwitch[root] || reached[root])
        {
            continue;
        }
        reached[root] = true;
        std::vector<uint32_t> queue{root};
        for (std::size_t i = 0; i < queue.size(); ++i)
        {
            for (const Edge& edge : m_edges[queue[i]])
            {
                if (!edge.up || reached[edge.peer])
                {
                    continue;
                }
                reached[edge.peer] = true;
                m_tree[queue[i]].push_back(edge.port);
                m_tree[edge.peer].push_back(edge.peerPort);
                if (m_isSwitch[edge.peer])
                {
                    queue.push_back(edge.peer);
                }
            }
        }
    }
    for (auto& ports : m_tree)
    {
        std::sort(ports.begin(), ports.end());
    }
}

const std::vector<uint16_t>&
Routes::GetTree(uint32_t node) const
{
    return m_tree[node];
}

Routes::Tables
Routes::Find()
{
    FindTree();
    // A group has the same number whichever links are down, so that tables of different times can
    // be combined.
    const std::size_t n = m_edges.size();
    m_group.assign(n, NO_GROUP);
    m_lastPort.assign(n, NO_PORT);
    m_lastSwitch.clear();
    std::vector<uint32_t> groupOf(n, NO_GROUP);
    for (uint32_t host = 0; host < n; ++host)
    {
        if (m_isSwitch[host] || m_edges[host].empty())
        {
            continue;
        }
        const Edge& edge = m_edges[host].front();
        if (groupOf[edge.peer] == NO_GROUP)
        {
            groupOf[edge.peer] = static_cast<uint32_t>(m_lastSwitch.size());
            m_lastSwitch.push_back(edge.peer);
        }
        m_group[host] = edge.up ? groupOf[edge.peer] : NO_GROUP;
        m_lastPort[host] = edge.peerPort;
    }
    Tables tables(n);
    std::vector<std::map<std::vector<uint16_t>, uint32_t>> known(n); // sets, and their offsets
    std::vector<uint16_t> set;
    for (uint32_t node = 0; node < n; ++node)
    {
        if (m_isSwitch[node])
        {
            tables[node].start.assign(m_lastSwitch.size(), 0);
        }
    }
    std::vector<uint32_t> distance(n);
    std::vector<uint32_t> queue;
    for (uint32_t group = 0; group < m_lastSwitch.size(); ++group)
    {
        constexpr uint32_t FAR = std::numeric_limits<uint32_t>::max();
        std::fill(distance.begin(), distance.end(), FAR);
        queue.assign(1, m_lastSwitch[group]);
        distance[m_lastSwitch[group]] = 0;
        for (std::size_t i = 0; i < queue.size(); ++i)
        {
            for (const Edge& edge : m_edges[queue[i]])
            {
                if (edge.up && m_isSwitch[edge.peer] && distance[edge.peer] == FAR)
                {
                    distance[edge.peer] = distance[queue[i]] + 1;
                    queue.push_back(edge.peer);
                }
            }
        }
        for (uint32_t node = 0; node < n; ++node)
        {
            if (!m_isSwitch[node])
            {
                continue;
            }
            set.assign(1, 0);
            for (const Edge& edge : m_edges[node])
            {
                if (edge.up && m_isSwitch[edge.peer] && distance[node] != FAR &&
                    distance[edge.peer] + 1 == distance[node])
                {
                    set.push_back(edge.port);
                }
            }
            set.front() = static_cast<uint16_t>(set.size() - 1);
            Table& table = tables[node];
            auto place = known[node].find(set);
            if (place == known[node].end())
            {
                place = known[node].emplace(set, static_cast<uint32_t>(table.sets.size())).first;
                table.sets.insert(table.sets.end(), set.begin(), set.end());
            }
            table.start[group] = place->second;
        }
    }
    return tables;
}

void
Routes::Adopt(uint32_t node, Table table)
{
    m_tables[node] = std::move(table);
}

void
Routes::Divert(uint32_t node, uint32_t dst, uint16_t port)
{
    m_diverted[uint64_t{node} << 32 | dst] = port;
}

bool
Routes::IsDiverted(uint32_t dst) const
{
    return std::any_of(m_diverted.begin(), m_diverted.end(), [dst](const auto& entry) {
        return static_cast<uint32_t>(entry.first) == dst;
    });
}

void
Routes::Restore(uint32_t node, uint32_t dst)
{
    m_diverted.erase(uint64_t{node} << 32 | dst);
}

Routes::Walk
Routes::Follow(uint32_t flow, const std::vector<uint32_t>& nodes) const
{
    std::ostringstream problem;
    problem << "path of flow " << flow << ": ";
    Walk walk;
    uint32_t at = nodes.front();
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i)
    {
        if (i > 0 && !m_isSwitch[at])
        {
            problem << "it leads through node " << at << ", which is a host and cannot forward\n";
            walk.problem = problem.str();
            return walk;
        }
        const Edge* edge = FindEdge(at, nodes[i + 1], true);
        if (!edge)
        {
            problem << "there is no link that is up from node " << at << " to node " << nodes[i + 1]
                    << "\n";
            walk.problem = problem.str();
            return walk;
        }
        at = edge->peer;
        if (i > 0)
        {
            walk.forward.push_back(edge->port);
        }
        if (i + 2 < nodes.size())
        {
            walk.backward.push_back(edge->peerPort);
        }
    }
    std::reverse(walk.backward.begin(), walk.backward.end());
    return walk;
}

std::string
Routes::Pin(uint32_t flow, const std::vector<uint32_t>& nodes)
{
    Walk walk = Follow(flow, nodes);
    if (walk.problem.empty())
    {
        m_pinned[flow] = Pinned{.dst = nodes.back(),
                                .forward = std::move(walk.forward),
                                .backward = std::move(walk.backward),
                                .data = true,
                                .answers = true};
    }
    return walk.problem;
}

std::string
Routes::PinAnswers(uint32_t flow, const std::vector<uint32_t>& nodes)
{
    Walk walk = Follow(flow, nodes);
    if (walk.problem.empty())
    {
        Pinned& pinned = m_pinned[flow];
        pinned.dst = nodes.front();
        pinned.backward = std::move(walk.forward);
        pinned.answers = true;
    }
    return walk.problem;
}

void
Routes::FreeAnswers(uint32_t flow)
{
    if (const auto pinned = m_pinned.find(flow); pinned != m_pinned.end())
    {
        pinned->second.answers = false;
    }
}

bool
Routes::IsPinned(uint32_t flow) const
{
    const auto pinned = m_pinned.find(flow);
    return pinned != m_pinned.end() && pinned->second.data;
}

bool
Routes::AreAnswersPinned(uint32_t flow) const
{
    const auto pinned = m_pinned.find(flow);
    return pinned != m_pinned.end() && pinned->second.answers;
}

NextHops
Routes::GetNextHops(uint32_t node, const Frame& frame) const
{
    if (frame.pinned)
    {
        const auto pinned = m_pinned.find(frame.flow);
        if (pinned == m_pinned.end())
        {
            return {};
        }
        const Path& path =
            pinned->second.dst == frame.dst ? pinned->second.forward : pinned->second.backward;
        return frame.hop < path.size() ? NextHops(&path[frame.hop], 1) : NextHops();
    }
    if (!m_diverted.empty())
    {
        const auto diverted = m_diverted.find(uint64_t{node} << 32 | frame.dst);
        if (diverted != m_diverted.end())
        {
            return {&diverted->second, 1};
        }
    }
    if (frame.dst >= m_group.size())
    {
        return {}; // broadcast: it follows the tree
    }
    const uint32_t group = m_group[frame.dst];
    if (group == NO_GROUP)
    {
        return {};
    }
    if (m_lastSwitch[group] == node)
    {
        return {&m_lastPort[frame.dst], 1};
    }
    const Table& table = m_tables[node];
    const uint16_t* set = &table.sets[table.start[group]];
    return {set + 1, set[0]};
}

uint16_t
Routes::Next(uint32_t node, const Frame& frame) const
{
    const NextHops hops = GetNextHops(node, frame);
    if (hops.size() <= 1)
    {
        return hops.empty() ? NO_PORT : hops.front();
    }
    return hops[HashTo(node, frame, hops.size())];
}

std::size_t
Routes::HashTo(uint32_t node, const Frame& frame, std::size_t count) const
{
    const auto hash =
        static_cast<uint32_t>(Mix(static_cast<uint64_t>(m_salt[node]) << 32 | frame.hash));
    return static_cast<uint64_t>(hash) * count >> 32;
}

std::vector<uint16_t>
Routes::FindDetours(uint32_t node, const Frame& header) const
{
    Frame frame = header;
    frame.pinned = false;
    std::vector<uint16_t> detours;
    if (frame.dst == ALL_NODES)
    {
        return detours;
    }
    for (const Edge& edge : m_edges[node])
    {
        uint32_t at = edge.up ? edge.peer : node;
        for (std::size_t hops = 0; hops < m_edges.size() && at != frame.dst && at != node; ++hops)
        {
            const uint16_t port = m_isSwitch[at] ? Next(at, frame) : NO_PORT;
            at = port == NO_PORT ? node : m_edges[at][port].peer;
        }
        if (at == frame.dst)
        {
            detours.push_back(edge.port);
        }
    }
    return detours;
}

std::vector<std::pair<uint32_t, uint16_t>>
Routes::Trace(uint32_t src, const Frame& header) const
{
    Frame frame = header;
    std::vector<std::pair<uint32_t, uint16_t>> hops;
    if (m_edges[src].empty() || !m_edges[src].front().up)
    {
        return hops;
    }
    hops.emplace_back(src, m_edges[src].front().port);
    uint32_t node = m_edges[src].front().peer;
    while (node != frame.dst)
    {
        const uint16_t port = m_isSwitch[node] && hops.size() <= 255 ? Next(node, frame) : NO_PORT;
        if (port == NO_PORT || !m_edges[node][port].up)
        {
            return {}; // a pinned path may contain a link that is down
        }
        ++frame.hop;
        hops.emplace_back(node, port);
        node = m_edges[node][port].peer;
    }
    return hops;
}

const Routes::Edge*
Routes::FindEdge(uint32_t node, uint32_t neighbour, bool up) const
{
    const auto count = static_cast<uint32_t>(m_edges.size());
    const auto& edges = m_edges[node];
    const auto edge = std::find_if(edges.begin(), edges.end(), [=](const Edge& e) {
        return (neighbour < count ? e.peer == neighbour : e.farEnd == neighbour - count) &&
               (e.up || !up);
    });
    return edge == edges.end() ? nullptr : &*edge;
}

const std::vector<Routes::Edge>&
Routes::GetEdges(uint32_t node) const
{
    return m_edges[node];
}

bool
Routes::IsSwitch(uint32_t node) const
{
    return m_isSwitch[node];
}

uint32_t
Routes::Hash(uint32_t src, uint32_t dst, uint32_t flow)
{
    return static_cast<uint32_t>(Mix(Mix(static_cast<uint64_t>(src) << 32 | dst) ^ flow));
}

} // namespace lossless
} // namespace ns3
