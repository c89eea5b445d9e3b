/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "@module@-congestion-control.h"

#include "ns3/lossless-attribute.h"

#include <algorithm>

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
            .SetParent<rdma::CongestionControl>()
            .SetGroupName("@module@")
            .AddConstructor<@Class@>()
            .AddAttribute("Target",
                          "Largest round-trip time at which the rate still grows.",
                          TimeValue(MicroSeconds(20)),
                          MakeTimeAccessor(&@Class@::m_target),
                          lossless::MakePicosecondsChecker(1'000))
            .AddAttribute("Step",
                          "Increase of the rate after a short round trip; also the minimum rate.",
                          DataRateValue(DataRate("50Mbps")),
                          MakeDataRateAccessor(&@Class@::m_step),
                          lossless::MakeRateChecker(1));
    return tid;
}

void
@Class@::Start(rdma::Sender& sender, uint64_t lineRate)
{
    rdma::CongestionControl::Start(sender, lineRate);
    m_line = lineRate;
    m_rate = lineRate;
}

bool
@Class@::WantsRtt() const
{
    return true;
}

void
@Class@::NotifyAck(const rdma::Acknowledgement& ack)
{
    if (ack.rtt < 0 || ack.answered < m_roundEnd)
    {
        return;
    }
    m_roundEnd = ack.next;
    const int64_t target = m_target.GetPicoSeconds();
    if (ack.rtt <= target)
    {
        m_rate = std::min(m_line, m_rate + m_step.GetBitRate());
        return;
    }
    ++m_decreases;
    const double factor = static_cast<double>(target) / static_cast<double>(ack.rtt);
    const auto lower = static_cast<uint64_t>(static_cast<double>(m_rate) * std::max(0.5, factor));
    m_rate = std::min(m_line, std::max(lower, m_step.GetBitRate()));
}

void
@Class@::Report(lossless::Summary& summary) const
{
    summary["@name@_decreases"] += static_cast<double>(m_decreases);
}

} // namespace @namespace@
} // namespace ns3
