/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "rdma-window-control.h"

#include "rdma-queue-pair-owner.h"

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
            .SetParent<RateControl>()
            .SetGroupName("rdma")
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
WindowControl::Start(Sender& sender, uint64_t lineRate)
{
    RateControl::Start(sender, lineRate);
    SetBaseRtt();
    SetWindow(m_mostBytes);
}

void
WindowControl::SetBaseRtt()
{
    const Time rtt = m_givenRtt.IsZero() ? m_connection->GetBaseRtt() : m_givenRtt;
    m_baseRtt = static_cast<double>(rtt.GetTimeStep());
    m_mostBytes = WindowAt(static_cast<double>(m_line));
    m_leastBytes = WindowAt(static_cast<double>(m_least));
}

void
WindowControl::NotifyPath()
{
    const uint64_t lineRate = m_sender->GetHost()->GetPort(0).GetRate();
    const double before = m_baseRtt;
    if (before == 0)
    {
        Start(*m_sender, lineRate); // there was no path until now
        return;
    }
    SetLine(lineRate);
    SetBaseRtt();
    Rescale(m_baseRtt / before);
}

void
WindowControl::Rescale(double factor)
{
    SetWindow(m_bytes * factor);
}

double
WindowControl::WindowAt(double rate) const
{
    return rate * m_baseRtt / BYTE_RATE;
}

void
WindowControl::SetWindow(double bytes)
{
    m_bytes = std::clamp(bytes, m_leastBytes, m_mostBytes);
    // A packet may be sent while less than W is in flight: the NIC requires room for the whole
    // packet, so that a window of 1.9 packets would count as one.
    m_window = static_cast<uint64_t>(std::ceil(m_bytes)) + m_connection->GetLargestPayload() - 1;
    m_rate = std::max<uint64_t>(1, std::llround(m_bytes / m_baseRtt * BYTE_RATE));
}

} // namespace rdma
} // namespace ns3
