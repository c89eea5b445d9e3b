/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "deadlock-analyzer.h"

#include "ns3/lossless-fabric-node.h"
#include "ns3/lossless-port.h"

#include <algorithm>

namespace ns3
{
namespace deadlock
{

using lossless::DeadlockModel;
using lossless::FabricNode;
using lossless::Frame;
using lossless::N_CLASSES;
using lossless::Port;

namespace
{

/// Successors of each node of a graph.
using Graph = std::vector<std::vector<std::size_t>>;

/// Mark all reachable nodes.
/// @param graph edges
/// @param from node
/// @param seen marks; marked nodes are not visited again
/// @return the newly marked nodes in postorder
std::vector<std::size_t>
Reach(const Graph& graph, std::size_t from, std::vector<bool>& seen)
{
    std::vector<std::size_t> done;
    std::vector<std::pair<std::size_t, std::size_t>> way; // node, its next edge
    seen[from] = true;
    way.emplace_back(from, 0);
    while (!way.empty())
    {
        auto& [at, edge] = way.back();
        if (edge == graph[at].size())
        {
            done.push_back(at);
            way.pop_back();
            continue;
        }
        const std::size_t next = graph[at][edge++];
        if (!seen[next])
        {
            seen[next] = true;
            way.emplace_back(next, 0);
        }
    }
    return done;
}

/// Reverse all edges.
/// @param graph edges
/// @return the reversed graph
Graph
Turn(const Graph& graph)
{
    Graph turned(graph.size());
    for (std::size_t from = 0; from < graph.size(); ++from)
    {
        for (const std::size_t to : graph[from])
        {
            turned[to].push_back(from);
        }
    }
    return turned;
}

/// The strongly connected components of a graph (Kosaraju).
/// @param graph edges
/// @return components, their nodes in ascending order
Graph
StronglyConnected(const Graph& graph)
{
    std::vector<std::size_t> order;
    std::vector<bool> seen(graph.size(), false);
    for (std::size_t node = 0; node < graph.size(); ++node)
    {
        if (!seen[node])
        {
            const auto done = Reach(graph, node, seen);
            order.insert(order.end(), done.begin(), done.end());
        }
    }
    const Graph turned = Turn(graph);
    Graph sets;
    seen.assign(graph.size(), false);
    for (auto node = order.rbegin(); node != order.rend(); ++node)
    {
        if (!seen[*node])
        {
            sets.push_back(Reach(turned, *node, seen));
            std::sort(sets.back().begin(), sets.back().end());
        }
    }
    return sets;
}

/// Is a control frame in flight that releases a queue?
/// @param port of the queue
/// @param queue it is not empty
/// @return true if so
bool
IsReleased(const Port& port, uint16_t queue)
{
    const Frame& head = *port.GetQueues()[queue].Head();
    bool released = false;
    port.ForEachControlFrame([&](const Frame& frame) {
        for (const DeadlockModel* model : port.GetChain().GetDeadlockModels())
        {
            released = released || model->WouldRelease(queue, head, *frame.control);
        }
    });
    return released;
}

} // namespace

DeadlockAnalyzer::DeadlockAnalyzer(std::vector<Ptr<FabricNode>> nodes)
    : m_nodes(std::move(nodes))
{
    std::size_t ports = 0;
    for (const auto& node : m_nodes)
    {
        m_firstPort.push_back(ports);
        ports += node->GetNPorts();
    }
    m_places = ports * N_CLASSES;
    m_slotAt.assign(m_places, 0);
    m_by.resize(m_nodes.size());
    m_heldAt.resize(m_nodes.size());
}

std::size_t
DeadlockAnalyzer::PlaceOf(uint32_t node, uint16_t port, uint8_t cls) const
{
    return (m_firstPort[node] + port) * N_CLASSES + cls;
}

std::size_t
DeadlockAnalyzer::CountPlaces() const
{
    return m_places;
}

std::size_t
DeadlockAnalyzer::SlotOf(uint32_t node, uint16_t port, uint8_t cls)
{
    const std::size_t place = PlaceOf(node, port, cls);
    if (m_slotAt[place] == 0)
    {
        Slot slot;
        slot.place = place;
        slot.node = node;
        slot.port = port;
        slot.cls = cls;
        m_by[node].push_back(m_slots.size());
        m_slots.push_back(std::move(slot));
        m_slotAt[place] = m_slots.size();
    }
    return m_slotAt[place] - 1;
}

void
DeadlockAnalyzer::Forget()
{
    for (const Slot& slot : m_slots)
    {
        m_slotAt[slot.place] = 0;
        m_by[slot.node].clear();
    }
    for (const Candidate& candidate : m_candidates)
    {
        m_heldAt[candidate.queue.node].clear();
    }
    m_slots.clear();
    m_candidates.clear();
}

void
DeadlockAnalyzer::Collect(const Side& side)
{
    const Port& port = m_nodes[side.node]->GetPort(side.port);
    if (!port.IsUp())
    {
        return;
    }
    const auto& queues = port.GetQueues();
    for (uint16_t number = side.cls; number < queues.size(); number += N_CLASSES)
    {
        if (!port.GetEgress().IsHeld(number))
        {
            continue;
        }
        // One that is released stays a candidate: it may still wait behind another of its port.
        const bool byPeer = port.GetEgress().IsHeldByPeer(number) && !IsReleased(port, number);
        const Port& peer = port.GetPeer();
        Candidate candidate;
        candidate.queue = Queue{side.node, side.port, number};
        candidate.byPeer = byPeer;
        candidate.waits = SlotOf(peer.GetNodeId(), peer.GetIndex(), side.cls);
        m_heldAt[side.node].push_back(m_candidates.size());
        m_candidates.push_back(candidate);
    }
}

bool
DeadlockAnalyzer::MayBeFed(const Slot& slot) const
{
    const auto& held = m_heldAt[slot.node];
    const bool anyClass = m_nodes[slot.node]->GetRoles().ChangesClasses();
    return std::any_of(held.begin(), held.end(), [&](std::size_t number) {
        const Candidate& candidate = m_candidates[number];
        const Queue& queue = candidate.queue;
        return candidate.stuck && (anyClass || queue.queue % N_CLASSES == slot.cls) &&
               (m_nodes[queue.node]->GetPort(queue.port).GetQueues()[queue.queue].GetIngresses() >>
                slot.port % 64) &
                   1U;
    });
}

bool
DeadlockAnalyzer::MayStayOffEmpty(const Slot& slot) const
{
    const FabricNode& node = *m_nodes[slot.node];
    const lossless::BufferPolicy& buffer = node.GetBuffer();
    if (!buffer.GetUsage(slot.port, slot.cls).off)
    {
        return false;
    }
    m_rests.clear();
    for (uint16_t port = 0; port < node.GetNPorts(); ++port)
    {
        for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
        {
            const int64_t bytes = buffer.GetUsage(port, cls).Total();
            if (bytes > 0 && !(port == slot.port && cls == slot.cls))
            {
                m_rests.push_back({port, cls, bytes});
            }
        }
    }
    return buffer.StaysOff(slot.port, slot.cls, m_rests);
}

void
DeadlockAnalyzer::TakeOutUnfed()
{
    // Anticipates what Reduce would remove, before walking over frames: on a tree of pauses that is
    // everything.
    for (bool changed = true; changed;)
    {
        changed = false;
        for (Candidate& candidate : m_candidates)
        {
            if (!candidate.stuck || MayBeFed(m_slots[candidate.waits]) || WaitsBehind(candidate))
            {
                continue;
            }
            const Slot& slot = m_slots[candidate.waits];
            const bool off =
                m_nodes[slot.node]->IsPausingForever(slot.port, slot.cls) || MayStayOffEmpty(slot);
            candidate.stuck = candidate.byPeer && HoldsWith(candidate, off, 0, {});
            changed = changed || !candidate.stuck;
        }
    }
}

void
DeadlockAnalyzer::CollectFeeds()
{
    for (std::size_t holder = 0; holder < m_candidates.size(); ++holder)
    {
        if (!m_candidates[holder].stuck)
        {
            continue;
        }
        const Queue queue = m_candidates[holder].queue;
        const FabricNode& node = *m_nodes[queue.node];
        node.GetPort(queue.port).GetQueues()[queue.queue].ForEach([&](const Frame& frame) {
            if (frame.charged) // others, as of a host, hold up no ingress
            {
                Slot& slot = m_slots[SlotOf(queue.node, frame.ingress, frame.ingressClass)];
                slot.bytes += node.GetBuffer().InCells(frame.bytes);
                slot.frames.push_back(&frame);
                slot.holders.push_back(holder);
            }
        });
    }
}

bool
DeadlockAnalyzer::IsOff(const Slot& slot) const
{
    const lossless::BufferPolicy& buffer = m_nodes[slot.node]->GetBuffer();
    if (!buffer.GetUsage(slot.port, slot.cls).off)
    {
        return false;
    }
    m_rests.clear();
    for (const std::size_t number : m_by[slot.node])
    {
        const Slot& other = m_slots[number];
        if (other.bytes > 0)
        {
            m_rests.push_back({other.port, other.cls, other.bytes});
        }
    }
    return buffer.StaysOff(slot.port, slot.cls, m_rests);
}

bool
DeadlockAnalyzer::WaitsFor(const Candidate& candidate, const Candidate& other) const
{
    if (!other.stuck || other.queue.node != candidate.queue.node ||
        other.queue.port != candidate.queue.port || other.queue.queue == candidate.queue.queue)
    {
        return false;
    }
    const Port& port = m_nodes[candidate.queue.node]->GetPort(candidate.queue.port);
    const Frame& head = *port.GetQueues()[candidate.queue.queue].Head();
    const auto& models = port.GetEgress().GetOrderModels();
    return std::any_of(models.begin(), models.end(), [&](const lossless::OrderModel* model) {
        return model->WaitsFor(candidate.queue.queue, head, other.queue.queue);
    });
}

bool
DeadlockAnalyzer::WaitsBehind(const Candidate& candidate) const
{
    const Port& port = m_nodes[candidate.queue.node]->GetPort(candidate.queue.port);
    return !port.GetEgress().GetOrderModels().empty() &&
           std::any_of(m_candidates.begin(), m_candidates.end(), [&](const Candidate& other) {
               return WaitsFor(candidate, other);
           });
}

bool
DeadlockAnalyzer::HoldsWith(const Candidate& candidate,
                            bool off,
                            int64_t bytes,
                            const std::vector<const Frame*>& frames) const
{
    const Port& port = m_nodes[candidate.queue.node]->GetPort(candidate.queue.port);
    const Frame& head = *port.GetQueues()[candidate.queue.queue].Head();
    const DeadlockModel::Rest rest{bytes, off, frames};
    const auto& models = port.GetPeer().GetChain().GetDeadlockModels();
    return std::any_of(models.begin(), models.end(), [&](const DeadlockModel* model) {
        return model->WouldHold(candidate.queue.queue, head, rest);
    });
}

bool
DeadlockAnalyzer::IsHeldByPeer(const Candidate& candidate, bool roots) const
{
    if (!candidate.byPeer)
    {
        return false;
    }
    const Slot& slot = m_slots[candidate.waits];
    const FabricNode& node = *m_nodes[slot.node];
    const bool off = (roots && node.IsPausingForever(slot.port, slot.cls)) || IsOff(slot);
    return HoldsWith(candidate, off, slot.bytes, slot.frames);
}

void
DeadlockAnalyzer::Reduce(bool roots)
{
    for (bool changed = true; changed;)
    {
        changed = false;
        for (std::size_t number = 0; number < m_candidates.size(); ++number)
        {
            Candidate& candidate = m_candidates[number];
            if (!candidate.stuck || IsHeldByPeer(candidate, roots) || WaitsBehind(candidate))
            {
                continue;
            }
            candidate.stuck = false;
            changed = true;
            const lossless::BufferPolicy& buffer = m_nodes[candidate.queue.node]->GetBuffer();
            for (const std::size_t other : m_by[candidate.queue.node])
            {
                Slot& slot = m_slots[other];
                std::size_t kept = 0;
                for (std::size_t at = 0; at < slot.frames.size(); ++at)
                {
                    if (slot.holders[at] == number)
                    {
                        slot.bytes -= buffer.InCells(slot.frames[at]->bytes);
                        continue;
                    }
                    slot.frames[kept] = slot.frames[at];
                    slot.holders[kept++] = slot.holders[at];
                }
                slot.frames.resize(kept);
                slot.holders.resize(kept);
            }
        }
    }
}

bool
DeadlockAnalyzer::Find()
{
    std::vector<Side> sides;
    for (uint32_t node = 0; node < m_nodes.size(); ++node)
    {
        for (uint16_t port = 0; port < m_nodes[node]->GetNPorts(); ++port)
        {
            for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
            {
                sides.push_back(Side{node, port, cls});
            }
        }
    }
    return Find(sides);
}

bool
DeadlockAnalyzer::Find(const std::vector<Side>& sides)
{
    Forget();
    m_stuck.clear();
    m_cyclic = 0;
    for (const Side& side : sides)
    {
        Collect(side);
    }
    if (m_candidates.empty())
    {
        return false;
    }
    // What is stuck if hosts may pause forever; of these, what is without such hosts is cyclic. The
    // order is no matter: both are greatest fixed points, and removing is monotonic.
    TakeOutUnfed();
    CollectFeeds();
    Reduce(true);
    std::vector<bool> all;
    for (const Candidate& candidate : m_candidates)
    {
        all.push_back(candidate.stuck);
    }
    Reduce(false);
    for (const bool cyclic : {true, false})
    {
        for (std::size_t number = 0; number < m_candidates.size(); ++number)
        {
            if (all[number] && m_candidates[number].stuck == cyclic)
            {
                m_stuck.push_back(m_candidates[number].queue);
            }
        }
        m_cyclic = cyclic ? m_stuck.size() : m_cyclic;
    }
    return !m_stuck.empty();
}

const std::vector<DeadlockAnalyzer::Queue>&
DeadlockAnalyzer::GetStuck() const
{
    return m_stuck;
}

std::size_t
DeadlockAnalyzer::CountCyclic() const
{
    return m_cyclic;
}

std::size_t
DeadlockAnalyzer::NextOf(std::size_t number) const
{
    const Candidate& held = m_candidates[number];
    // It waits for another queue of its port, or for its peer.
    if (!IsHeldByPeer(held, false))
    {
        const auto before =
            std::find_if(m_candidates.begin(), m_candidates.end(), [&](const Candidate& other) {
                return other.stuck && other.queue.node == held.queue.node &&
                       other.queue.port == held.queue.port && &other != &held;
            });
        return static_cast<std::size_t>(before - m_candidates.begin());
    }
    // Of the queues that hold what it waits for: one that suffices alone, else the fullest.
    const Slot& slot = m_slots[held.waits];
    const lossless::BufferPolicy& buffer = m_nodes[slot.node]->GetBuffer();
    std::size_t best = m_candidates.size();
    int64_t most = -1;
    for (std::size_t at = 0; at < slot.holders.size();)
    {
        const std::size_t holder = slot.holders[at];
        std::vector<const Frame*> frames;
        int64_t bytes = 0;
        for (; at < slot.holders.size() && slot.holders[at] == holder; ++at)
        {
            frames.push_back(slot.frames[at]);
            bytes += buffer.InCells(slot.frames[at]->bytes);
        }
        if (HoldsWith(held, false, bytes, frames))
        {
            return holder;
        }
        best = bytes > most ? holder : best;
        most = std::max(most, bytes);
    }
    return best;
}

std::vector<std::size_t>
DeadlockAnalyzer::WaitsOf(std::size_t number) const
{
    const Candidate& held = m_candidates[number];
    std::vector<std::size_t> waits;
    if (IsHeldByPeer(held, false))
    {
        waits = m_slots[held.waits].holders; // in ascending order, one per frame
        waits.erase(std::unique(waits.begin(), waits.end()), waits.end());
    }
    if (m_nodes[held.queue.node]->GetPort(held.queue.port).GetEgress().GetOrderModels().empty())
    {
        return waits;
    }
    for (std::size_t other = 0; other < m_candidates.size(); ++other)
    {
        if (WaitsFor(held, m_candidates[other]))
        {
            waits.push_back(other);
        }
    }
    return waits;
}

std::vector<std::size_t>
DeadlockAnalyzer::Restrict(const std::vector<std::size_t>& members)
{
    // As if only the members' frames were in the network.
    for (Candidate& candidate : m_candidates)
    {
        candidate.stuck = false;
    }
    for (const std::size_t member : members)
    {
        m_candidates[member].stuck = true;
    }
    for (Slot& slot : m_slots)
    {
        slot.bytes = 0;
        slot.frames.clear();
        slot.holders.clear();
    }
    CollectFeeds();
    Reduce(false);
    std::vector<std::size_t> left;
    for (const std::size_t member : members)
    {
        if (m_candidates[member].stuck)
        {
            left.push_back(member);
        }
    }
    return left;
}

void
DeadlockAnalyzer::Divide(const std::vector<std::size_t>& members,
                         std::vector<std::vector<std::size_t>>& cores)
{
    const std::vector<std::size_t> left = Restrict(members);
    if (left.empty())
    {
        return;
    }
    std::vector<std::size_t> placeOf(m_candidates.size(), 0);
    for (std::size_t place = 0; place < left.size(); ++place)
    {
        placeOf[left[place]] = place;
    }
    Graph graph(left.size());
    for (std::size_t place = 0; place < left.size(); ++place)
    {
        for (const std::size_t next : WaitsOf(left[place]))
        {
            graph[place].push_back(placeOf[next]);
        }
    }
    const Graph sets = StronglyConnected(graph);
    if (sets.size() == 1)
    {
        cores.push_back(left);
        return;
    }
    // Each component alone may be free, where it needs frames of others: look again within each.
    const std::size_t before = cores.size();
    for (const auto& set : sets)
    {
        if (set.size() > 1) // a single queue waits for others
        {
            std::vector<std::size_t> part;
            for (const std::size_t place : set)
            {
                part.push_back(left[place]);
            }
            Divide(part, cores);
        }
    }
    if (cores.size() == before)
    {
        cores.push_back(left); // only together do they fill the pool that holds them back
    }
}

std::vector<DeadlockAnalyzer::Queue>
DeadlockAnalyzer::QueuesOf(const std::vector<std::size_t>& members) const
{
    std::vector<Queue> queues;
    queues.reserve(members.size());
    for (const std::size_t member : members)
    {
        queues.push_back(m_candidates[member].queue);
    }
    return queues;
}

std::vector<DeadlockAnalyzer::Core>
DeadlockAnalyzer::FindCores()
{
    std::vector<std::size_t> cyclic;
    for (std::size_t number = 0; number < m_candidates.size(); ++number)
    {
        if (m_candidates[number].stuck)
        {
            cyclic.push_back(number);
        }
    }
    if (cyclic.empty())
    {
        return {};
    }
    Graph waits(m_candidates.size());
    for (const std::size_t number : cyclic)
    {
        waits[number] = WaitsOf(number);
    }
    const Graph waiting = Turn(waits);
    std::vector<std::vector<std::size_t>> sets;
    Divide(cyclic, sets);
    std::vector<Core> cores;
    for (const auto& set : sets)
    {
        Restrict(set);
        Core core;
        core.queues = QueuesOf(set);
        core.cycle = GetCycle();
        std::vector<bool> seen(m_candidates.size(), false);
        std::vector<std::size_t> behind;
        for (const std::size_t member : set)
        {
            if (!seen[member])
            {
                const auto reached = Reach(waiting, member, seen);
                behind.insert(behind.end(), reached.begin(), reached.end());
            }
        }
        std::erase_if(behind, [&set](std::size_t number) {
            return std::binary_search(set.begin(), set.end(), number);
        });
        std::sort(behind.begin(), behind.end());
        core.behind = QueuesOf(behind);
        cores.push_back(std::move(core));
    }
    Restrict(cyclic); // input of GetCycle
    return cores;
}

std::vector<DeadlockAnalyzer::Queue>
DeadlockAnalyzer::GetCycle() const
{
    // The slots hold the frames in queues of the cyclic part: each records which queues hold what
    // it waits for.
    std::vector<std::size_t> way;
    std::size_t next = 0;
    while (next < m_candidates.size() && !m_candidates[next].stuck)
    {
        ++next;
    }
    while (next < m_candidates.size())
    {
        const auto seen = std::find(way.begin(), way.end(), next);
        if (seen != way.end())
        {
            way.erase(way.begin(), seen);
            break;
        }
        way.push_back(next);
        next = NextOf(next);
    }
    std::vector<Queue> cycle;
    for (const std::size_t number : way)
    {
        cycle.push_back(m_candidates[number].queue);
    }
    return cycle;
}

} // namespace deadlock
} // namespace ns3
