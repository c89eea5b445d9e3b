/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "rdma-rate-control.h"

#include "ns3/lossless-attribute.h"
#include "ns3/lossless-rate.h"

#include <algorithm>

namespace ns3
{
namespace rdma
{

NS_OBJECT_ENSURE_REGISTERED(RateControl);

TypeId
RateControl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::rdma::RateControl")
            .SetParent<CongestionControl>()
            .SetGroupName("rdma")
            .AddAttribute("MinRate",
                          "Minimum rate, capped at the line rate. 1 Gb/s: MIN_RATE of the HPCC "
                          "simulator.",
                          DataRateValue(DataRate(1'000'000'000)),
                          MakeDataRateAccessor(&RateControl::m_minRate),
                          lossless::MakeRateChecker(1));
    return tid;
}

void
RateControl::Start(Sender& sender, uint64_t lineRate)
{
    CongestionControl::Start(sender, lineRate);
    SetLine(lineRate);
}

void
RateControl::SetLine(uint64_t rate)
{
    m_line = rate;
    m_least = std::min(rate, m_minRate.GetBitRate());
}

uint64_t
RateControl::Scale(const DataRate& step, const DataRate& reference) const
{
    return lossless::InProportion(
        step.GetBitRate(),
        m_line,
        reference.GetBitRate(),
        lossless::HIGHEST_RATE); // equivalent to any rate above the line's
}

} // namespace rdma
} // namespace ns3
