/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "rdma-telemetry-control.h"

#include <algorithm>

namespace ns3
{
namespace rdma
{

using lossless::Telemetry;
using lossless::TelemetryHop;

NS_OBJECT_ENSURE_REGISTERED(TelemetryControl);

namespace
{

/// Were both written by the same ports in the same order?
/// @param now telemetry of this ACK
/// @param last telemetry of the previous ACK
/// @return true if so
bool
IsComparable(const Telemetry& now, const Telemetry& last)
{
    if (now.hops != last.hops)
    {
        return false;
    }
    for (uint8_t i = 0; i < now.hops; ++i)
    {
        const TelemetryHop& hop = now.hop[i];
        const TelemetryHop& before = last.hop[i];
        if (hop.rate != before.rate || hop.time <= before.time || hop.txBytes < before.txBytes)
        {
            return false;
        }
    }
    return true;
}

} // namespace

TypeId
TelemetryControl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::rdma::TelemetryControl").SetParent<WindowControl>().SetGroupName("rdma");
    return tid;
}

bool
TelemetryControl::WantsTelemetry() const
{
    return true;
}

void
TelemetryControl::NotifyAck(const Acknowledgement& ack)
{
    const Telemetry& now = *ack.frame.telemetry;
    const auto next = static_cast<int64_t>(ack.next);
    if (now.hops == 0 || (now.hops == m_before.hops && now.hop[0].time <= m_before.hop[0].time))
    {
        return; // no switch on the path, or overtaken by a later one
    }
    if (m_roundEnd < 0 || !IsComparable(now, m_before))
    {
        m_before.Assign(now); // the first one, or of another path
        m_roundEnd = std::max(m_roundEnd, next);
        return;
    }
    const bool round = static_cast<int64_t>(ack.answered) >= m_roundEnd;
    if (Compare(now, m_before, round))
    {
        m_before.Assign(now);
    }
    if (round)
    {
        m_roundEnd = next;
    }
}

} // namespace rdma
} // namespace ns3
