/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "@module@-forwarding-policy.h"

#include "ns3/lossless-switch.h"
#include "ns3/uinteger.h"

namespace ns3
{
namespace @namespace@
{

NS_OBJECT_ENSURE_REGISTERED(@Class@);

TypeId
@Class@::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::@namespace@::@Class@")
            .SetParent<lossless::ForwardingPolicy>()
            .SetGroupName("@module@")
            .AddConstructor<@Class@>()
            .AddAttribute("Limit",
                          "Queue length of a frame's class above which it leaves the next hop of "
                          "ECMP. [B]",
                          UintegerValue(10'000),
                          MakeUintegerAccessor(&@Class@::m_limit),
                          MakeUintegerChecker<int64_t>(0, 1LL << 40));
    return tid;
}

std::size_t
@Class@::Choose(const lossless::Frame& frame, lossless::NextHops hops)
{
    const std::size_t home =
        m_switch->GetRoutes().HashTo(m_switch->GetId(), frame, hops.size());
    // Frames of the control queue get here only with Answers; they never wait.
    if (frame.cls >= lossless::N_CLASSES ||
        m_switch->GetPort(hops[home]).GetEgressBytes(frame.cls) <= m_limit)
    {
        return home;
    }
    ++m_left;
    return Draw(hops.size());
}

void
@Class@::Report(lossless::Summary& summary) const
{
    summary["@name@_frames_left"] += static_cast<double>(m_left);
}

} // namespace @namespace@
} // namespace ns3
