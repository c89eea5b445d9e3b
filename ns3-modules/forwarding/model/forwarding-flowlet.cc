/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "forwarding-flowlet.h"

#include "ns3/lossless-attribute.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-switch.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{
namespace forwarding
{

NS_OBJECT_ENSURE_REGISTERED(Flowlet);

TypeId
Flowlet::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::forwarding::Flowlet")
            .SetParent<lossless::ForwardingPolicy>()
            .SetGroupName("forwarding")
            .AddConstructor<Flowlet>()
            .AddAttribute("Gap",
                          "Idle time of a flow after which its next frame may take another path.",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&Flowlet::m_gap),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("TableSize",
                          "Number of entries of the flowlet table. Flows whose hashes map to the "
                          "same entry share its flowlets.",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&Flowlet::m_tableSize),
                          MakeUintegerChecker<uint32_t>(1, 1U << 24));
    return tid;
}

void
Flowlet::Start()
{
    m_table.resize(m_tableSize);
}

std::size_t
Flowlet::Choose(const lossless::Frame& frame, lossless::NextHops hops)
{
    const int64_t now = lossless::NowPs();
    Entry& entry = m_table[m_switch->GetRoutes().HashTo(m_switch->GetId(), frame, m_table.size())];
    auto place = std::find(hops.begin(), hops.end(), entry.port);
    // A next hop that no longer exists, or that is not one of this flow's, also ends the flowlet.
    if (place == hops.end() || now - entry.last >= m_gap.GetTimeStep())
    {
        place = hops.begin() + static_cast<std::ptrdiff_t>(Draw(hops.size()));
        entry.port = *place;
        ++m_flowlets;
    }
    entry.last = now;
    return static_cast<std::size_t>(place - hops.begin());
}

void
Flowlet::Report(lossless::Summary& summary) const
{
    summary["flowlets"] += static_cast<double>(m_flowlets);
}

} // namespace forwarding
} // namespace ns3
