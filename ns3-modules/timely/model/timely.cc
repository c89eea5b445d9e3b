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
            .SetParent<RateControl>()
            .SetGroupName("timely")
            .AddConstructor<Timely>()
            .AddAttribute("LowRtt",
                          "The paper's T_low: below this round-trip time the rate grows. 50 us: "
                          "TimelyTLow of the HPCC simulator.",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&Timely::m_low),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("HighRtt",
                          "The paper's T_high: above this round-trip time the rate shrinks. 500 "
                          "us: TimelyTHigh of the HPCC simulator.",
                          TimeValue(MicroSeconds(500)),
                          MakeTimeAccessor(&Timely::m_high),
                          lossless::MakePicosecondsChecker(1))
            .AddAttribute("MinRtt",
                          "Round-trip time by which gradients are normalised. 20 us: TimelyMinRtt "
                          "of the HPCC simulator. 0: the base round-trip time of each flow's path.",
                          TimeValue(MicroSeconds(20)),
                          MakeTimeAccessor(&Timely::m_givenRtt),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("Weight",
                          "The paper's alpha, the weight of a new round-trip time difference in "
                          "the average. 0.875: TimelyAlpha of the HPCC simulator.",
                          DoubleValue(0.875),
                          MakeDoubleAccessor(&Timely::m_weight),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("Beta",
                          "Gain of a decrease: it is multiplied by the excess. 0.8: TimelyBeta of "
                          "the HPCC simulator.",
                          DoubleValue(0.8),
                          MakeDoubleAccessor(&Timely::m_beta),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("AdditiveIncrease",
                          "The paper's delta, the additive step of the rate. 10 Mb/s: ai of the "
                          "HPCC simulator at 10 Gb/s.",
                          DataRateValue(DataRate(10'000'000)),
                          MakeDataRateAccessor(&Timely::m_additiveRate),
                          lossless::MakeRateChecker())
            .AddAttribute("ReferenceRate",
                          "Line rate of the sender for which AdditiveIncrease is given; it scales "
                          "in proportion to the line rate. 0: no scaling.",
                          DataRateValue(DataRate(10'000'000'000)),
                          MakeDataRateAccessor(&Timely::m_referenceRate),
                          lossless::MakeRateChecker())
            .AddAttribute("HyperAfter",
                          "Steps without a decrease before hyperactive increase (HAI). 5 in the "
                          "HPCC simulator.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&Timely::m_hyperAfter),
                          MakeUintegerChecker<uint32_t>(0, 1'000'000))
            .AddAttribute("HyperFactor",
                          "The paper's N: steps of a hyperactive increase. 5: hai / ai of the HPCC "
                          "simulator.",
                          DoubleValue(5),
                          MakeDoubleAccessor(&Timely::m_hyperFactor),
                          MakeDoubleChecker<double>(1, 1000))
            .AddAttribute("HyperBelowLow",
                          "Whether steps for round-trip times below LowRtt count towards "
                          "hyperactive increase and use it, as in the HPCC simulator; otherwise "
                          "only steps by the gradient do.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&Timely::m_hyperBelowLow),
                          MakeBooleanChecker())
            .AddAttribute("Segment",
                          "Payload between two measured packets. 0: the first packet after a "
                          "sample is measured, as in the HPCC simulator. [B]",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Timely::m_segment),
                          MakeUintegerChecker<uint32_t>(0, 1'000'000'000))
            .AddAttribute("Pacing",
                          "What is paced: Packet, single packets as in the HPCC simulator; "
                          "Segment, segments whose packets are sent at line rate.",
                          EnumValue(Pacing::PACKET),
                          MakeEnumAccessor<Pacing>(&Timely::m_pacing),
                          MakeEnumChecker(Pacing::PACKET, "Packet", Pacing::SEGMENT, "Segment"))
            .AddTraceSource("Sample",
                            "A measured round trip: flow, round-trip time, gradient, resulting "
                            "rate.",
                            MakeTraceSourceAccessor(&Timely::m_sampleTrace),
                            "ns3::timely::Timely::SampleCallback");
    return tid;
}

void
Timely::Start(rdma::Sender& sender, uint64_t lineRate)
{
    RateControl::Start(sender, lineRate);
    NotifyPath();
    m_step = static_cast<double>(Scale(m_additiveRate, m_referenceRate));
    const uint32_t packet = m_connection->GetLargestPayload();
    m_segmentPackets = m_segment ? (m_segment - 1) / packet + 1 : 0;
    m_due = m_segmentPackets ? m_segmentPackets - 1 : 0;
    m_current = static_cast<double>(lineRate);
    Apply();
}

void
Timely::NotifyPath()
{
    const Time rtt = m_givenRtt.IsZero() ? m_connection->GetBaseRtt() : m_givenRtt;
    m_minRtt = static_cast<double>(rtt.GetTimeStep());
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
        problems += "TIMELY: Pacing Segment needs a Segment above 0; set it, such as 64KB, or pace "
                    "packets (Pacing Packet)\n";
    }
    return problems;
}

bool
Timely::WantsRtt() const
{
    return true;
}

/// Is a packet the last one of a segment?
/// @param frame the packet. @return true if so.
bool
Timely::EndsSegment(const Frame& frame) const
{
    return (frame.psn + 1) % m_segmentPackets == 0;
}

/// Which answer is the next sample?
/// @param ack the last one that was due.
/// @return its packet; an answer to a later one takes its place.
uint64_t
Timely::GetNextDue(const rdma::Acknowledgement& ack) const
{
    if (m_segmentPackets == 0)
    {
        return ack.next;
    }
    const uint64_t segments = (ack.answered + 1) / m_segmentPackets; // complete
    return (segments + 1) * m_segmentPackets - 1;
}

void
Timely::NotifySent(const Frame& frame)
{
    if (m_pacing == Pacing::SEGMENT)
    {
        HoldSegment(frame, EndsSegment(frame));
    }
}

/// Pace segments.
/// @param frame a packet being sent. @param last whether it ends its segment.
void
Timely::HoldSegment(const Frame& frame, bool last)
{
    if (m_burst == 0)
    {
        m_burstStart = NowPs();
    }
    m_burst += frame.bytes + m_sender->GetHost()->GetPort(0).GetOverhead();
    if (last)
    {
        const auto rate = static_cast<uint64_t>(m_current);
        m_sender->HoldUntil(m_burstStart + lossless::TransmissionTime(m_burst, rate));
        m_burst = 0;
    }
}

void
Timely::NotifyAck(const rdma::Acknowledgement& ack)
{
    if (ack.answered < m_due)
    {
        return;
    }
    m_due = GetNextDue(ack);
    if (ack.rtt >= 0)
    {
        Sample(ack.rtt);
    }
}

/// Adjust the rate to a round trip.
/// @param rtt round-trip time (ps).
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
        return; // no previous sample
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
    NS_LOG_LOGIC("flow " << m_connection->GetFlow() << " RTT " << rtt << " ps, gradient "
                         << m_gradient << ", rate " << m_current);
    m_sampleTrace(m_connection->GetFlow(), rtt, m_gradient, m_current);
}

/// An additive increase.
/// @param mayBeHyper whether it counts towards hyperactive increase.
void
Timely::Raise(bool mayBeHyper)
{
    const bool hyper = mayBeHyper && m_steps >= m_hyperAfter;
    m_steps += mayBeHyper ? 1 : 0;
    m_current =
        std::min(static_cast<double>(m_line), m_current + m_step * (hyper ? m_hyperFactor : 1));
}

/// A multiplicative decrease.
/// @param share of the rate, before Beta.
void
Timely::Lower(double share)
{
    m_steps = 0;
    ++m_cuts;
    m_current = std::max(static_cast<double>(m_least), m_current * (1 - m_beta * share));
}

/// Apply the rate to the NIC.
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
