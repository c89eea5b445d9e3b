/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "forwarding-spray.h"

#include "ns3/enum.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace forwarding
{

NS_OBJECT_ENSURE_REGISTERED(Spray);

TypeId
Spray::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::forwarding::Spray")
            .SetParent<lossless::ForwardingPolicy>()
            .SetGroupName("forwarding")
            .AddConstructor<Spray>()
            .AddAttribute(
                "Order",
                "Which of the equal-cost next hops a frame takes: a Random one, or the next one in "
                "turn (RoundRobin), counted per set of next hops of the switch.",
                EnumValue(Order::RANDOM),
                MakeEnumAccessor<Order>(&Spray::m_order),
                MakeEnumChecker(Order::RANDOM, "Random", Order::ROUND_ROBIN, "RoundRobin"));
    return tid;
}

std::size_t
Spray::Choose(const lossless::Frame& /* frame */, lossless::NextHops hops)
{
    if (m_order == Order::RANDOM)
    {
        return Draw(hops.size());
    }
    auto group = std::find_if(m_groups.begin(), m_groups.end(), [hops](const Group& known) {
        return std::equal(known.ports.begin(), known.ports.end(), hops.begin(), hops.end());
    });
    if (group == m_groups.end())
    {
        // Switches start at different next hops: otherwise all those of a pod would fill the same
        // core.
        group = m_groups.insert(group, Group{{hops.begin(), hops.end()}, Draw(hops.size())});
    }
    return std::exchange(group->next, (group->next + 1) % hops.size());
}

} // namespace forwarding
} // namespace ns3
