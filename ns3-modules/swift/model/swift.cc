/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "swift.h"

#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-event.h"
#include "ns3/rdma-queue-pair-owner.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

namespace ns3
{
namespace swift
{

using lossless::Frame;
using lossless::FrameKind;
using lossless::FramePool;
using lossless::NowPs;

NS_LOG_COMPONENT_DEFINE("Swift");

NS_OBJECT_ENSURE_REGISTERED(Swift);

namespace
{

constexpr double SECOND = 1e12;     //!< ps
constexpr int64_t NANO = 1'000;     //!< ps
constexpr uint32_t DELAY_BYTES = 4; //!< of Frame::scheme

} // namespace

TypeId
Swift::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::swift::Swift")
            .SetParent<CongestionControl>()
            .SetGroupName("swift")
            .AddConstructor<Swift>()
            .AddAttribute("BaseTarget",
                          "Target of the fabric delay without switches and with large windows. 20 "
                          "us: a guess of the htsim simulator.",
                          TimeValue(MicroSeconds(20)),
                          MakeTimeAccessor(&Swift::m_baseTarget),
                          lossless::MakePicosecondsChecker(1))
            .AddAttribute("HopTarget",
                          "Added to the target for each switch on the path. 3.05 us: BaseTarget / "
                          "6.55, a guess of the htsim simulator.",
                          TimeValue(NanoSeconds(3'053)),
                          MakeTimeAccessor(&Swift::m_hopTarget),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("FlowRange",
                          "Maximum added to the target for small windows. 100 us: 5 BaseTarget in "
                          "the htsim simulator. 0: no scaling with the window.",
                          TimeValue(MicroSeconds(100)),
                          MakeTimeAccessor(&Swift::m_flowRange),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("FlowLeastWindow",
                          "Window at or below which all of FlowRange is added, in packets. 0.1 in "
                          "the htsim simulator.",
                          DoubleValue(0.1),
                          MakeDoubleAccessor(&Swift::m_flowLeastWindow),
                          MakeDoubleChecker<double>(1e-6, 1e6))
            .AddAttribute("FlowMostWindow",
                          "Window at or above which nothing is added, in packets. 100 in the htsim "
                          "simulator.",
                          DoubleValue(100),
                          MakeDoubleAccessor(&Swift::m_flowMostWindow),
                          MakeDoubleChecker<double>(1e-6, 1e6))
            .AddAttribute("EndpointTarget",
                          "Target of the delay in the hosts of a packet and its ACK.",
                          TimeValue(MicroSeconds(100)),
                          MakeTimeAccessor(&Swift::m_endpointTarget),
                          lossless::MakePicosecondsChecker(1))
            .AddAttribute("AdditiveIncrease",
                          "Additive increase per round trip below the target, in packets. 1 in the "
                          "htsim simulator.",
                          DoubleValue(1),
                          MakeDoubleAccessor(&Swift::m_increase),
                          MakeDoubleChecker<double>(0, 1e6))
            .AddAttribute("Beta",
                          "Gain of a decrease: it is multiplied by the excess over the target as a "
                          "share of the delay. 0.8 in the htsim simulator.",
                          DoubleValue(0.8),
                          MakeDoubleAccessor(&Swift::m_beta),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("MostDecrease",
                          "The paper's max_mdf: the largest share by which a decrease cuts a "
                          "window, and the cut after a loss. 0.5 in the htsim simulator.",
                          DoubleValue(0.5),
                          MakeDoubleAccessor(&Swift::m_mostDecrease),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("LeastWindow",
                          "Minimum window, in packets: below one, packets are spaced out. 0.001: "
                          "the paper's.",
                          DoubleValue(0.001),
                          MakeDoubleAccessor(&Swift::m_leastWindow),
                          MakeDoubleChecker<double>(1e-6, 1e6))
            .AddAttribute("MostWindow",
                          "Largest window, in packets. 1000 in the htsim simulator.",
                          DoubleValue(1'000),
                          MakeDoubleAccessor(&Swift::m_mostWindow),
                          MakeDoubleChecker<double>(1, 1e6))
            .AddAttribute("InitialWindow",
                          "Initial window of a flow, in packets. 0: the BDP of the flow's path, so "
                          "that it starts at line rate.",
                          DoubleValue(0),
                          MakeDoubleAccessor(&Swift::m_initialWindow),
                          MakeDoubleChecker<double>(0, 1e6))
            .AddAttribute("ResetThreshold",
                          "Number of consecutive timeouts after which the window is LeastWindow. "
                          "5: a guess of the htsim simulator.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&Swift::m_resetThreshold),
                          MakeUintegerChecker<uint32_t>(1))
            .AddTraceSource("Sample",
                            "A measured round trip: flow, fabric delay and host delay, and the "
                            "window that each gives.",
                            MakeTraceSourceAccessor(&Swift::m_sampleTrace),
                            "ns3::swift::Swift::SampleCallback");
    return tid;
}

std::string
Swift::Check() const
{
    std::ostringstream problems;
    if (m_flowLeastWindow >= m_flowMostWindow)
    {
        problems << "Swift: FlowLeastWindow must be below FlowMostWindow; the target grows as the "
                    "window shrinks between them\n";
    }
    if (m_leastWindow > m_mostWindow)
    {
        problems << "Swift: LeastWindow is above MostWindow; it must be at most that\n";
    }
    return problems.str();
}

void
Swift::Start(rdma::Sender& sender, uint64_t lineRate)
{
    CongestionControl::Start(sender, lineRate);
    m_schemeByte = FramePool::ReserveSchemeBytes("swift", DELAY_BYTES);
    const uint32_t overhead = sender.GetHost()->GetPort(0).GetOverhead();
    m_wireBits = 8.0 * (m_connection->GetFrameBytes(m_connection->GetLargestPayload()) + overhead);
    m_rtt = m_connection->GetBaseRtt().GetTimeStep();
    const double bdp =
        static_cast<double>(lineRate) * static_cast<double>(m_rtt) / SECOND / m_wireBits;
    const double initial = m_initialWindow > 0 ? m_initialWindow : std::ceil(bdp);
    m_fabric.packets = std::clamp(initial, m_leastWindow, m_mostWindow);
    m_endpoint.packets = m_mostWindow;
    Apply();
}

double
Swift::GetTarget(double window) const
{
    const double steps =
        1 / std::sqrt(m_flowLeastWindow) - 1 / std::sqrt(m_flowMostWindow); // share of FlowRange
    const auto range = static_cast<double>(m_flowRange.GetTimeStep());
    const double scaled = range / steps * (1 / std::sqrt(window) - 1 / std::sqrt(m_flowMostWindow));
    return static_cast<double>(m_baseTarget.GetTimeStep()) +
           m_connection->GetHops() * static_cast<double>(m_hopTarget.GetTimeStep()) +
           std::clamp(scaled, 0.0, range);
}

bool
Swift::WantsRtt() const
{
    return true;
}

std::unique_ptr<rdma::CongestionReceiver>
Swift::MakeReceiver() const
{
    return std::make_unique<DelayReporter>();
}

DelayReporter::DelayReporter()
    : m_schemeByte(FramePool::ReserveSchemeBytes("swift", DELAY_BYTES))
{
}

void
DelayReporter::NotifyAnswer(const rdma::QueuePairOwner& host, const Frame& data, Frame& answer)
{
    const int64_t delay = NowPs() - data.queued + host.GetLatency() + host.GetAckDelay();
    const int64_t most = std::numeric_limits<uint32_t>::max();
    const auto nanoseconds = static_cast<uint32_t>(std::min(delay / NANO, most));
    std::memcpy(&answer.scheme[m_schemeByte], &nanoseconds, DELAY_BYTES);
}

void
Swift::NotifyAck(const rdma::Acknowledgement& ack)
{
    m_timeouts = 0;
    if (ack.rtt >= 0)
    {
        uint32_t nanoseconds = 0;
        std::memcpy(&nanoseconds, &ack.frame.scheme[m_schemeByte], DELAY_BYTES);
        const int64_t remote = NANO * static_cast<int64_t>(nanoseconds);
        Sample(ack.rtt, remote + m_sender->GetHost()->GetLatency(), ack.news);
    }
    // All NACKs for packets sent before a cut belong to the same loss.
    if (ack.IsNack() && ack.first >= m_lossEnd)
    {
        m_lossEnd = ack.next;
        Cut(m_fabric, m_mostDecrease);
    }
    Apply();
}

/// A delay was measured.
/// @param rtt round-trip time (ps). @param endpoint the part of it spent in the hosts (ps).
/// @param acknowledged packets that the ACK acknowledges.
void
Swift::Sample(int64_t rtt, int64_t endpoint, uint64_t acknowledged)
{
    m_rtt = rtt;
    const int64_t fabric = rtt - std::min(endpoint, rtt);
    Adjust(m_fabric, static_cast<double>(fabric), GetTarget(m_fabric.packets), acknowledged);
    Adjust(m_endpoint,
           static_cast<double>(endpoint),
           static_cast<double>(m_endpointTarget.GetTimeStep()),
           acknowledged);
    NS_LOG_LOGIC("flow " << m_connection->GetFlow() << " delays " << fabric << " and " << endpoint
                         << " ps, windows " << m_fabric.packets << " and " << m_endpoint.packets);
    m_sampleTrace(m_connection->GetFlow(), fabric, endpoint, m_fabric.packets, m_endpoint.packets);
}

/// Adjust a window to a delay.
/// @param window the window. @param delay ps. @param target of the delay (ps).
/// @param acknowledged packets that the ACK acknowledges.
void
Swift::Adjust(Window& window, double delay, double target, uint64_t acknowledged)
{
    if (delay >= target)
    {
        Cut(window, std::min(m_beta * (delay - target) / delay, m_mostDecrease));
        return;
    }
    const double step = m_increase * static_cast<double>(acknowledged);
    window.packets += window.packets >= 1 ? step / window.packets : step;
    window.packets = std::min(window.packets, m_mostWindow);
}

/// Cut a window, unless it was cut less than a round trip ago.
/// @param window the window. @param share by which it is cut.
void
Swift::Cut(Window& window, double share)
{
    const int64_t now = NowPs();
    if (now - window.cut < m_rtt || share == 0)
    {
        return;
    }
    window.cut = now;
    window.packets = std::max(window.packets * (1 - share), m_leastWindow);
    ++m_cuts;
}

void
Swift::NotifyTimeout()
{
    if (++m_timeouts >= m_resetThreshold)
    {
        m_fabric = {m_leastWindow, NowPs()};
    }
    else
    {
        Cut(m_fabric, m_mostDecrease);
    }
    Apply();
}

/// Apply the smaller window to the NIC.
void
Swift::Apply()
{
    const double packets = std::min(m_fabric.packets, m_endpoint.packets);
    const uint32_t payload = m_connection->GetLargestPayload();
    m_window = std::max<uint64_t>(payload, std::llround(packets * payload));
    // Below one packet: one packet per (round trip / window).
    m_rate = packets >= 1 || m_rtt == 0
                 ? 0
                 : std::max<uint64_t>(
                       1,
                       std::llround(m_wireBits * packets * SECOND / static_cast<double>(m_rtt)));
}

void
Swift::Report(lossless::Summary& summary) const
{
    summary["swift_cuts"] += static_cast<double>(m_cuts);
}

} // namespace swift
} // namespace ns3
