/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "gfc-time-based.h"

#include "gfc-conceptual.h"
#include "gfc-gentle.h"

#include "ns3/lossless-attribute.h"
#include "ns3/lossless-port.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <sstream>

namespace ns3
{
namespace gfc
{

using lossless::Frame;
using lossless::N_CLASSES;

NS_OBJECT_ENSURE_REGISTERED(TimeBasedGfc);

TypeId
TimeBasedGfc::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::gfc::TimeBasedGfc")
            .SetParent<cbfc::Credit>()
            .SetGroupName("gfc")
            .AddConstructor<TimeBasedGfc>()
            .AddAttribute("B0",
                          "Queue length up to which the sender uses line rate. About 159 KB in the "
                          "paper's simulations (unverified). [B]",
                          UintegerValue(159'000),
                          MakeUintegerAccessor(&TimeBasedGfc::m_b0),
                          MakeUintegerChecker<int64_t>(0, 1ULL << 36))
            .AddAttribute("Bm",
                          "Queue length at which the mapping reaches 0; 0: two largest frames "
                          "below Buffer, so that a sender has credit for a frame at any rate. At "
                          "Buffer itself it would stop and wait as soon as less than a frame is "
                          "free. [B]",
                          UintegerValue(0),
                          MakeUintegerAccessor(&TimeBasedGfc::m_bm),
                          MakeUintegerChecker<int64_t>(0, 1ULL << 36))
            .AddAttribute(
                "MinRate",
                "Lower bound of the mapping, so that a sender whose peer is full tries again.",
                DataRateValue(DataRate("8kbps")),
                MakeDataRateAccessor(&TimeBasedGfc::m_minRate),
                lossless::MakeRateChecker());
    return tid;
}

void
TimeBasedGfc::Start()
{
    cbfc::Credit::Start();
    if (m_bm == 0)
    {
        m_bm = GetBuffer() - 2 * static_cast<int64_t>(m_port->GetLargestFrame());
    }
    m_lowest = m_port->GetRate();
    for (auto& limiter : m_limiter)
    {
        limiter.SetRate(m_port->GetRate(), 0);
    }
}

std::string
TimeBasedGfc::Check() const
{
    std::ostringstream problems;
    problems << cbfc::Credit::Check();
    if (m_b0 >= m_bm || m_bm > GetBuffer())
    {
        problems << "TimeBasedGfc: B0 " << m_b0 << " B, Bm " << m_bm << " B and Buffer "
                 << GetBuffer() << " B must satisfy B0 < Bm <= Buffer\n";
    }
    return problems.str();
}

std::string
TimeBasedGfc::Warn() const
{
    const auto overhead = static_cast<int64_t>(m_port->GetOverhead());
    const uint64_t rate = m_port->GetRate();
    const int64_t tau = FeedbackLatency(rate,
                                        m_port->GetDelay(),
                                        m_port->GetLargestFrame() + overhead,
                                        m_port->GetControlFrameSize() + overhead,
                                        m_port->GetPeer().GetControlDelay());
    const int64_t period = GetPeriod().GetTimeStep();
    const std::string warning =
        WarnOutside({"Bm - B0", m_bm - m_b0},
                    {"C (Period + tau)", lossless::BytesInTime(rate, period + tau)},
                    "a linear mapping on periodic credits (derived, not the paper's)",
                    "a sender may run out of credit and wait (C " + Spell(rate, RATES) +
                        ", Period " + Spell(period, TIMES) + ", tau " + Spell(tau, TIMES) + ")");
    return warning.empty() ? warning : GetInstanceTypeId().GetName() + ": " + warning;
}

void
TimeBasedGfc::NotifyCredit(uint8_t cls, int64_t now)
{
    const int64_t held = GetBuffer() - static_cast<int64_t>(GetCredit(cls)) * cbfc::BLOCK_BYTES;
    const uint64_t rate =
        std::max(m_minRate.GetBitRate(), LinearRate(held, m_b0, m_bm, m_port->GetRate()));
    m_limiter[cls].SetRate(rate, now);
    m_lowest = std::min(m_lowest, rate);
}

int64_t
TimeBasedGfc::GetEarliest(uint16_t queue, const Frame& head, int64_t now) const
{
    return std::max(cbfc::Credit::GetEarliest(queue, head, now),
                    m_limiter[queue % N_CLASSES].GetEarliest(now));
}

void
TimeBasedGfc::NotifySent(uint16_t queue, Frame& frame, int64_t now)
{
    cbfc::Credit::NotifySent(queue, frame, now);
    m_limiter[queue % N_CLASSES].Start(frame.bytes + static_cast<int64_t>(m_port->GetOverhead()),
                                       now);
}

void
TimeBasedGfc::Report(lossless::Summary& summary) const
{
    cbfc::Credit::Report(summary);
    const auto [lowest, isNew] =
        summary.try_emplace("gfc_lowest_rate_bps", static_cast<double>(m_lowest));
    lowest->second = std::min(lowest->second, static_cast<double>(m_lowest));
}

} // namespace gfc
} // namespace ns3
