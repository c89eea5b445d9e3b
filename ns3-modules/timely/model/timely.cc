/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "timely.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/log.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-rate.h"
#include "ns3/rdma-queue-pair-owner.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace timely
{

using lossless::Frame;
using lossless::NowPs;

NS_LOG_COMPONENT_DEFINE("Timely");

NS_OBJECT_ENSURE_REGISTERED(Timely);

TypeId
Timely::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::timely::Timely")
            .SetParent<CongestionControl>()
            .SetGroupName("timely")
            .AddConstructor<Timely>()
            .AddAttribute("LowRtt",
                          "The paper's T_low: with shorter round trips the rate grows. 50 us: "
                          "TimelyTLow of the HPCC simulator.",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&Timely::m_low),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("HighRtt",
                          "The paper's T_high: with longer round trips the rate shrinks. 500 us: "
                          "TimelyTHigh of the HPCC simulator.",
                          TimeValue(MicroSeconds(500)),
                          MakeTimeAccessor(&Timely::m_high),
                          lossless::MakePicosecondsChecker(1))
            .AddAttribute("MinRtt",
                          "What gradients are a share of. 20 us: TimelyMinRtt of the HPCC "
                          "simulator. 0: the round trip of each flow's own path.",
                          TimeValue(MicroSeconds(20)),
                          MakeTimeAccessor(&Timely::m_givenRtt),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("Weight",
                          "The paper's alpha, the weight of a new difference of round trips in "
                          "their average. 0.875: TimelyAlpha of the HPCC simulator.",
                          DoubleValue(0.875),
                          MakeDoubleAccessor(&Timely::m_weight),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("Beta",
                          "How much of an excess a decrease takes. 0.8: TimelyBeta of the HPCC "
                          "simulator.",
                          DoubleValue(0.8),
                          MakeDoubleAccessor(&Timely::m_beta),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("AdditiveIncrease",
                          "The paper's delta, a step of the rate. 10 Mb/s: ai of the HPCC "
                          "simulator at 10 Gb/s.",
                          DataRateValue(DataRate(10'000'000)),
                          MakeDataRateAccessor(&Timely::m_additiveRate),
                          lossless::MakeRateChecker())
            .AddAttribute("ReferenceRate",
                          "Rate of the sender's line at which AdditiveIncrease holds; it grows in "
                          "proportion to the line. 0: it holds on any line.",
                          DataRateValue(DataRate(10'000'000'000)),
                          MakeDataRateAccessor(&Timely::m_referenceRate),
                          lossless::MakeRateChecker())
            .AddAttribute("MinRate",
                          "Least rate, but not above the line's. 1 Gb/s: MIN_RATE of the HPCC "
                          "simulator.",
                          DataRateValue(DataRate(1'000'000'000)),
                          MakeDataRateAccessor(&Timely::m_minRate),
                          lossless::MakeRateChecker(1))
            .AddAttribute("HyperAfter",
                          "Steps without a decrease before larger ones (HAI). 5 in the HPCC "
                          "simulator.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&Timely::m_hyperAfter),
                          MakeUintegerChecker<uint32_t>(0, 1'000'000))
            .AddAttribute("HyperFactor",
                          "The paper's N: how many times larger these are. 5: hai / ai of the HPCC "
                          "simulator.",
                          DoubleValue(5),
                          MakeDoubleAccessor(&Timely::m_hyperFactor),
                          MakeDoubleChecker<double>(1, 1000))
            .AddAttribute("HyperBelowLow",
                          "Steps by round trips below LowRtt count, and become larger, too, as in "
                          "the HPCC simulator; else only those by the gradient.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&Timely::m_hyperBelowLow),
                          MakeBooleanChecker())
            .AddAttribute("Segment",
                          "Payload from one measured packet to the next. 0: the first packet "
                          "after a sample is measured, as in the HPCC simulator. [B]",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Timely::m_segment),
                          MakeUintegerChecker<uint32_t>(0, 1'000'000'000))
            .AddAttribute("Pacing",
                          "What the rate spaces: Packet, as in the HPCC simulator; Segment, whose "
                          "packets go at the line's rate.",
                          EnumValue(Pacing::PACKET),
                          MakeEnumAccessor<Pacing>(&Timely::m_pacing),
                          MakeEnumChecker(Pacing::PACKET, "Packet", Pacing::SEGMENT, "Segment"))
            .AddTraceSource("Sample",
                            "A round trip: flow, its length, gradient, rate by it.",
                            MakeTraceSourceAccessor(&Timely::m_sampleTrace),
                            "ns3::timely::Timely::SampleCallback");
    return tid;
}

void
Timely::Start(rdma::QueuePair* queuePair, uint64_t lineRate)
{
    CongestionControl::Start(queuePair, lineRate);
    const Time rtt = m_givenRtt.IsZero() ? queuePair->GetBaseRtt() : m_givenRtt;
    m_minRtt = static_cast<double>(rtt.GetTimeStep());
    m_line = static_cast<double>(lineRate);
    m_least = std::min(m_line, static_cast<double>(m_minRate.GetBitRate()));
    m_step = static_cast<double>(lossless::InProportion(m_additiveRate.GetBitRate(),
                                                        lineRate,
                                                        m_referenceRate.GetBitRate(),
                                                        lossless::HIGHEST_RATE));
    const uint32_t packet = queuePair->GetPayload(0);
    m_segmentPackets = m_segment ? (m_segment - 1) / packet + 1 : 0;
    m_current = m_line;
    Apply();
}

std::string
Timely::Check() const
{
    std::string problems;
    if (m_low > m_high)
    {
        problems += "TIMELY: LowRtt is above HighRtt; round trips cannot be both too short and too "
                    "long\n";
    }
    if (m_pacing == Pacing::SEGMENT && m_segment == 0)
    {
        problems += "TIMELY: Pacing Segment needs Segment, which is 0; give it, such as 64KB, or "
                    "space packets (Pacing Packet)\n";
    }
    return problems;
}

/// Is a packet to be measured?
/// @param frame it. @return true if so.
bool
Timely::IsMeasured(const Frame& frame) const
{
    return m_segmentPackets ? (frame.psn + 1) % m_segmentPackets == 0 : m_probes.empty();
}

void
Timely::NotifySent(const Frame& frame)
{
    const bool measured = IsMeasured(frame);
    if (frame.repeat)
    {
        // Which of the two an ACK answers nobody knows.
        std::erase_if(m_probes, [&frame](const Probe& probe) { return probe.psn == frame.psn; });
    }
    else if (measured)
    {
        m_probes.push_back({frame.psn, NowPs()});
    }
    if (m_pacing == Pacing::SEGMENT)
    {
        HoldSegment(frame, measured);
    }
}

/// Keep segments apart.
/// @param frame a packet that goes. @param last it is the last of its segment.
void
Timely::HoldSegment(const Frame& frame, bool last)
{
    if (m_burst == 0)
    {
        m_burstStart = NowPs();
    }
    m_burst += frame.bytes + m_queuePair->GetSource()->GetPort(0).GetOverhead();
    if (last)
    {
        const auto rate = static_cast<uint64_t>(m_current);
        m_queuePair->HoldUntil(m_burstStart + lossless::TransmissionTime(m_burst, rate));
        m_burst = 0;
    }
}

void
Timely::NotifyAck(const Frame& frame)
{
    int64_t sent = -1;
    while (!m_probes.empty() &&
           (frame.word[0] > m_probes.front().psn || frame.word[1] == m_probes.front().psn))
    {
        sent = m_probes.front().sent; // of several that one ACK answers, the last counts
        m_probes.pop_front();
    }
    if (sent >= 0)
    {
        Sample(NowPs() - sent);
    }
}

/// Change the rate by a round trip.
/// @param rtt its length (ps).
void
Timely::Sample(int64_t rtt)
{
    ++m_samples;
    const bool first = m_previous < 0;
    const auto length = static_cast<double>(rtt);
    const double change = first ? 0 : length - static_cast<double>(m_previous);
    m_previous = rtt;
    m_difference = (1 - m_weight) * m_difference + m_weight * change;
    m_gradient = m_difference / m_minRtt;
    const auto high = static_cast<double>(m_high.GetTimeStep());
    if (first)
    {
        return; // nothing to compare it with
    }
    if (rtt < m_low.GetTimeStep())
    {
        Raise(m_hyperBelowLow);
    }
    else if (length > high)
    {
        Lower(1 - high / length);
    }
    else if (m_gradient <= 0)
    {
        Raise(true);
    }
    else
    {
        Lower(m_gradient);
    }
    Apply();
    NS_LOG_LOGIC("flow " << m_queuePair->GetFlow() << " RTT " << rtt << " ps, gradient "
                         << m_gradient << ", rate " << m_current);
    m_sampleTrace(m_queuePair->GetFlow(), rtt, m_gradient, m_current);
}

/// A step up.
/// @param mayBeHyper it counts, and may be a larger one.
void
Timely::Raise(bool mayBeHyper)
{
    const bool hyper = mayBeHyper && m_steps >= m_hyperAfter;
    m_steps += mayBeHyper ? 1 : 0;
    m_current = std::min(m_line, m_current + m_step * (hyper ? m_hyperFactor : 1));
}

/// A decrease.
/// @param share of the rate, before Beta.
void
Timely::Lower(double share)
{
    m_steps = 0;
    ++m_cuts;
    m_current = std::max(m_least, m_current * (1 - m_beta * share));
}

/// Have the NIC keep to the rate.
void
Timely::Apply()
{
    m_rate = m_pacing == Pacing::SEGMENT ? 0 : static_cast<uint64_t>(std::llround(m_current));
}

void
Timely::Report(lossless::Summary& summary) const
{
    summary["timely_samples"] += static_cast<double>(m_samples);
    summary["timely_cuts"] += static_cast<double>(m_cuts);
}

} // namespace timely
} // namespace ns3
