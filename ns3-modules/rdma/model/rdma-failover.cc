/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "rdma-failover.h"

#include "ns3/lossless-routes.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace ns3
{
namespace rdma
{

namespace
{

/// Links of a path that does not exist.
constexpr std::size_t NO_PATH = std::numeric_limits<std::size_t>::max();

} // namespace

void
Failover::Add(const std::vector<Host*>& hosts, bool ports)
{
    m_groups.push_back(std::make_unique<Group>(Group{{hosts.begin(), hosts.end()}, ports}));
    for (Host* host : hosts)
    {
        m_groupOf[host] = m_groups.back().get();
        host->SetLinkCallback(MakeCallback(&Failover::NotifyLink, this));
        m_any = host;
    }
}

bool
Failover::IsPort(const QueuePairOwner* end) const
{
    const auto group = m_groupOf.find(end);
    return group != m_groupOf.end() && group->second->ports;
}

/// Where an end of a flow may be.
/// @param end where it is. @param all also elsewhere, even if its link is up.
/// @return hosts whose links are up, or only where it is if there are none.
Failover::Ends
Failover::FindEnds(QueuePairOwner* end, bool all) const
{
    const auto group = m_groupOf.find(end);
    Ends up;
    if (group != m_groupOf.end() && (all || !end->GetPort(0).IsUp()))
    {
        std::ranges::copy_if(group->second->hosts,
                             std::back_inserter(up),
                             [](const QueuePairOwner* host) { return host->GetPort(0).IsUp(); });
    }
    return up.empty() ? Ends{end} : up;
}

std::size_t
Failover::CountHops(const QueuePair& queuePair,
                    const QueuePairOwner& src,
                    const QueuePairOwner& dst)
{
    lossless::Frame header = queuePair.GetHeader();
    header.dst = dst.GetId();
    const std::size_t hops = src.GetRoutes().Trace(src.GetId(), header).size();
    return hops ? hops : NO_PATH;
}

/// Move a flow to the ends with the shortest path; of several to those where it is already, else by
/// its number.
void
Failover::Move(QueuePair& queuePair, uint32_t flow, const Ends& sources, const Ends& sinks)
{
    QueuePairOwner* from = queuePair.GetSource();
    QueuePairOwner* to = queuePair.GetDestination();
    std::pair best{NO_PATH, 3}; // hops, and ends that move: any pair is better
    std::pair ends{from, to};
    for (std::size_t i = 0; i < sources.size(); ++i)
    {
        QueuePairOwner* src = sources[(flow + i) % sources.size()];
        for (std::size_t j = 0; j < sinks.size(); ++j)
        {
            QueuePairOwner* dst = sinks[(flow + j) % sinks.size()];
            const std::pair cost{CountHops(queuePair, *src, *dst), (src != from) + (dst != to)};
            if (cost < best)
            {
                best = cost;
                ends = {src, dst};
            }
        }
    }
    if (best.second > 0)
    {
        from->Forget(queuePair.GetSendQueue());
        queuePair.Move(ends.first, ends.second);
    }
}

void
Failover::NotifyLink()
{
    for (uint32_t flow = 0; flow < m_any->GetNFlows(); ++flow)
    {
        QueuePair& queuePair = m_any->GetQueuePair(flow);
        QueuePairOwner* src = queuePair.GetSource();
        QueuePairOwner* dst = queuePair.GetDestination();
        if (!queuePair.MayMove() || (src->GetPort(0).IsUp() && dst->GetPort(0).IsUp()))
        {
            continue;
        }
        Ends sources = FindEnds(src, IsPort(src));
        Ends sinks = FindEnds(dst, IsPort(dst));
        if (!IsPort(src) && !IsPort(dst))
        {
            const Ends source{sources[flow % sources.size()]};
            const Ends sink{sinks[flow % sinks.size()]};
            if (CountHops(queuePair, *source.front(), *sink.front()) != NO_PATH)
            {
                sources = source;
                sinks = sink;
            }
        }
        Move(queuePair, flow, sources, sinks);
    }
}

} // namespace rdma
} // namespace ns3
