/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "lossless-deadlock.h"

#include "lossless-fabric-node.h"
#include "lossless-port.h"

#include <algorithm>

namespace ns3
{
namespace lossless
{

DeadlockTest::DeadlockTest(std::vector<Ptr<FabricNode>> nodes)
    : m_nodes(std::move(nodes))
{
    std::size_t ports = 0;
    for (const auto& node : m_nodes)
    {
        m_firstPort.push_back(ports);
        ports += node->GetNPorts();
    }
    m_rest.assign(ports * N_CLASSES, 0);
    m_pool.assign(m_nodes.size(), 0);
}

std::size_t
DeadlockTest::RestIndex(uint32_t node, uint16_t port, uint8_t cls) const
{
    return (m_firstPort[node] + port) * N_CLASSES + cls;
}

bool
DeadlockTest::IsHeld(const Queue& queue, int64_t rest, int64_t pool) const
{
    const Port& port = m_nodes[queue.node]->GetPort(queue.port);
    const Port& peer = port.GetPeer();
    const uint8_t cls = queue.queue % N_CLASSES;
    const SharedBuffer& buffer = peer.GetNode().GetBuffer();
    const SharedBuffer::Usage& usage = buffer.GetUsage(peer.GetIndex(), cls);
    const FlowControl::Rest left{rest,
                                 usage.Total(),
                                 buffer.StaysOff(buffer.Shrink(usage, rest), pool)};
    const Frame& head = *port.GetQueues()[queue.queue].Head();
    const auto& chain = peer.GetFlowControls();
    return std::any_of(chain.begin(), chain.end(), [&](const auto& flowControl) {
        return flowControl->WouldHold(queue.queue, head, left);
    });
}

void
DeadlockTest::CollectHeld()
{
    m_candidates.clear();
    for (uint32_t node = 0; node < m_nodes.size(); ++node)
    {
        for (uint16_t index = 0; index < m_nodes[node]->GetNPorts(); ++index)
        {
            const Port& port = m_nodes[node]->GetPort(index);
            if (!port.IsUp())
            {
                continue;
            }
            for (uint16_t number = 0; number < port.GetQueues().size(); ++number)
            {
                const Queue queue{node, index, number};
                if (port.GetQueues()[number].GetFrames() == 0 || !port.IsHeldForGood(number))
                {
                    continue;
                }
                const Port& peer = port.GetPeer();
                const uint8_t cls = number % N_CLASSES;
                const SharedBuffer& buffer = peer.GetNode().GetBuffer();
                const int64_t held = buffer.GetUsage(peer.GetIndex(), cls).Total();
                if (IsHeld(queue, held, buffer.GetSharedUsed()))
                {
                    const std::size_t ingress = RestIndex(peer.GetNodeId(), peer.GetIndex(), cls);
                    m_candidates.push_back({queue, ingress, 0, 0});
                }
            }
        }
    }
}

void
DeadlockTest::CountFeeds()
{
    m_feeds.clear();
    std::fill(m_rest.begin(), m_rest.end(), 0);
    for (Candidate& candidate : m_candidates)
    {
        const Queue& queue = candidate.queue;
        const uint8_t cls = queue.queue % N_CLASSES;
        candidate.firstFeed = m_feeds.size();
        m_nodes[queue.node]
            ->GetPort(queue.port)
            .GetQueues()[queue.queue]
            .ForEach([&](const Frame& frame) {
                if (!frame.charged)
                {
                    return;
                }
                const std::size_t ingress = RestIndex(queue.node, frame.ingress, cls);
                const auto feed =
                    std::find_if(m_feeds.begin() + static_cast<std::ptrdiff_t>(candidate.firstFeed),
                                 m_feeds.end(),
                                 [&](const Feed& known) { return known.ingress == ingress; });
                if (feed == m_feeds.end())
                {
                    m_feeds.push_back({ingress, frame.bytes});
                }
                else
                {
                    feed->bytes += frame.bytes;
                }
                m_rest[ingress] += frame.bytes;
            });
        candidate.endFeed = m_feeds.size();
    }
}

int64_t
DeadlockTest::PoolOf(uint32_t node) const
{
    const SharedBuffer& buffer = m_nodes[node]->GetBuffer();
    int64_t pool = 0;
    for (uint16_t port = 0; port < m_nodes[node]->GetNPorts(); ++port)
    {
        for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
        {
            const int64_t rest = m_rest[RestIndex(node, port, cls)];
            pool += rest == 0 ? 0 : buffer.Shrink(buffer.GetUsage(port, cls), rest).shared;
        }
    }
    return pool;
}

bool
DeadlockTest::Reduce()
{
    for (uint32_t node = 0; node < m_nodes.size(); ++node)
    {
        m_pool[node] = PoolOf(node);
    }
    const auto goes = [this](const Candidate& candidate) {
        const Port& port = m_nodes[candidate.queue.node]->GetPort(candidate.queue.port);
        const uint32_t peer = port.GetPeerId();
        if (IsHeld(candidate.queue, m_rest[candidate.ingress], m_pool[peer]))
        {
            return false;
        }
        for (std::size_t feed = candidate.firstFeed; feed < candidate.endFeed; ++feed)
        {
            m_rest[m_feeds[feed].ingress] -= m_feeds[feed].bytes;
        }
        return true;
    };
    // erase_if looks at every candidate once, in order; those before one that goes are looked at
    // again in the next round
    return std::erase_if(m_candidates, goes) > 0;
}

bool
DeadlockTest::Find()
{
    CollectHeld();
    if (!m_candidates.empty())
    {
        CountFeeds();
    }
    while (!m_candidates.empty() && Reduce())
    {
    }
    return !m_candidates.empty();
}

std::vector<DeadlockTest::Queue>
DeadlockTest::GetStuck() const
{
    std::vector<Queue> stuck;
    for (const Candidate& candidate : m_candidates)
    {
        stuck.push_back(candidate.queue);
    }
    return stuck;
}

std::vector<DeadlockTest::Queue>
DeadlockTest::GetCycle() const
{
    std::vector<const Candidate*> way;
    const Candidate* next = m_candidates.empty() ? nullptr : &m_candidates.front();
    while (next)
    {
        const auto seen = std::find(way.begin(), way.end(), next);
        if (seen != way.end())
        {
            way.erase(way.begin(), seen);
            break;
        }
        way.push_back(next);
        // a stuck queue of the next node that holds frames from this one: it is among those that
        // keep this one waiting
        const auto found =
            std::find_if(m_candidates.begin(), m_candidates.end(), [&](const Candidate& other) {
                return std::any_of(m_feeds.begin() + static_cast<std::ptrdiff_t>(other.firstFeed),
                                   m_feeds.begin() + static_cast<std::ptrdiff_t>(other.endFeed),
                                   [&](const Feed& feed) { return feed.ingress == next->ingress; });
            });
        next = found == m_candidates.end() ? nullptr : &*found;
    }
    std::vector<Queue> cycle;
    for (const Candidate* candidate : way)
    {
        cycle.push_back(candidate->queue);
    }
    return cycle;
}

} // namespace lossless
} // namespace ns3
