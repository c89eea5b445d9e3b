/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "rdma-window-control.h"

#include "rdma-queue-pair-owner.h"
#include "rdma-queue-pair.h"

#include "ns3/lossless-attribute.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace rdma
{

NS_OBJECT_ENSURE_REGISTERED(WindowControl);

TypeId
WindowControl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::rdma::WindowControl")
            .SetParent<CongestionControl>()
            .SetGroupName("rdma")
            .AddAttribute("MinRate",
                          "Minimum rate, capped at the line rate. 1 Gb/s: MIN_RATE of the HPCC "
                          "simulator.",
                          DataRateValue(DataRate(1'000'000'000)),
                          MakeDataRateAccessor(&WindowControl::m_minRate),
                          lossless::MakeRateChecker(1))
            .AddAttribute("BaseRtt",
                          "T, the base round-trip time (on an idle network), the same for all "
                          "flows. 0: that of each flow's own path, for its first packet; when "
                          "routes change it becomes that of the new path.",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&WindowControl::m_givenRtt),
                          lossless::MakePicosecondsChecker());
    return tid;
}

void
WindowControl::Start(QueuePair* queuePair, uint64_t lineRate)
{
    CongestionControl::Start(queuePair, lineRate);
    SetBaseRtt(lineRate);
    SetWindow(m_most);
}

void
WindowControl::SetBaseRtt(uint64_t lineRate)
{
    const Time rtt = m_givenRtt.IsZero() ? m_queuePair->GetBaseRtt() : m_givenRtt;
    m_baseRtt = static_cast<double>(rtt.GetTimeStep());
    const auto line = static_cast<double>(lineRate);
    m_most = WindowAt(line);
    m_least = WindowAt(std::min(line, static_cast<double>(m_minRate.GetBitRate())));
}

void
WindowControl::NotifyPath()
{
    const uint64_t lineRate = m_queuePair->GetSource()->GetPort(0).GetRate();
    const double before = m_baseRtt;
    if (before == 0)
    {
        Start(m_queuePair, lineRate); // there was no path until now
        return;
    }
    SetBaseRtt(lineRate);
    Rescale(m_baseRtt / before);
}

void
WindowControl::Rescale(double factor)
{
    SetWindow(m_bytes * factor);
}

void
WindowControl::NotifySent(const lossless::Frame& frame)
{
    m_next = std::max(m_next,
                      static_cast<int64_t>(frame.psn) + 1); // retransmissions start no round trip
}

double
WindowControl::WindowAt(double rate) const
{
    return rate * m_baseRtt / BYTE_RATE;
}

void
WindowControl::SetWindow(double bytes)
{
    m_bytes = std::clamp(bytes, m_least, m_most);
    // A packet may be sent while less than W is in flight: the NIC requires room for the whole
    // packet, so that a window of 1.9 packets would count as one.
    m_window = static_cast<uint64_t>(std::ceil(m_bytes)) + m_queuePair->GetPayload(0) - 1;
    m_rate = std::max<uint64_t>(1, std::llround(m_bytes / m_baseRtt * BYTE_RATE));
}

} // namespace rdma
} // namespace ns3
