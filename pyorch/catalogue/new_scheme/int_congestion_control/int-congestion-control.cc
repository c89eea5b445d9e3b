/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "@module@-int-congestion-control.h"

#include "ns3/double.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-frame.h"

#include <algorithm>

namespace ns3
{
namespace @namespace@
{

using lossless::Telemetry;
using lossless::TelemetryHop;

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
                          "Target load of the busiest link, as a share of its rate.",
                          DoubleValue(0.95),
                          MakeDoubleAccessor(&@Class@::m_target),
                          MakeDoubleChecker<double>(0.01, 1))
            .AddAttribute("Step",
                          "Increase of the rate at each change; also the minimum rate.",
                          DataRateValue(DataRate("20Mbps")),
                          MakeDataRateAccessor(&@Class@::m_step),
                          lossless::MakeRateChecker(1));
    return tid;
}

bool
@Class@::WantsTelemetry() const
{
    return true;
}

void
@Class@::Start(rdma::Sender& sender, uint64_t lineRate)
{
    rdma::CongestionControl::Start(sender, lineRate);
    m_line = lineRate;
    m_rate = lineRate;
}

void
@Class@::NotifyAck(const rdma::Acknowledgement& ack)
{
    const Telemetry& now = *ack.frame.telemetry;
    if (ack.answered < m_roundEnd || now.hops == 0)
    {
        return; // sent before the last change
    }
    if (m_before.hops != now.hops || now.hop[0].txBytes < m_before.hop[0].txBytes)
    {
        m_before.Assign(now); // the first one, or of another path
        return;
    }
    if (now.hop[0].time - m_before.hop[0].time < m_connection->GetBaseRtt().GetTimeStep())
    {
        return;
    }
    const double load = LoadOf(now);
    m_highest = std::max(m_highest, load);
    const double factor = load > 0 ? std::min(2.0, m_target / load) : 2.0;
    const auto rate = static_cast<uint64_t>(static_cast<double>(m_rate) * (1 + factor) / 2);
    m_rate = std::clamp(rate + m_step.GetBitRate(), std::min(m_step.GetBitRate(), m_line), m_line);
    m_before.hops = 0;
    m_roundEnd = ack.next;
}

double
@Class@::LoadOf(const Telemetry& now) const
{
    constexpr double PS_BITS = 8e12; // bits per byte, picoseconds per second
    double highest = 0;
    for (uint8_t i = 0; i < now.hops; ++i)
    {
        const TelemetryHop& hop = now.hop[i];
        const auto sent = static_cast<double>(hop.txBytes - m_before.hop[i].txBytes + hop.queue);
        const auto time = static_cast<double>(hop.time - m_before.hop[i].time);
        highest = std::max(highest, sent * PS_BITS / (time * static_cast<double>(hop.rate)));
    }
    return highest;
}

void
@Class@::Report(lossless::Summary& summary) const
{
    double& highest = summary["@name@_highest_load"];
    highest = std::max(highest, m_highest);
}

} // namespace @namespace@
} // namespace ns3
