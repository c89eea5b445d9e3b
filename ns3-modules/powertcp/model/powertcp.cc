/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "powertcp.h"

#include "ns3/double.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-event.h"

#include <algorithm>

namespace ns3
{
namespace powertcp
{

using lossless::Frame;
using lossless::NowPs;
using lossless::Telemetry;
using lossless::TelemetryHop;

namespace
{

/// Put a power into a summary if it exceeds the value there.
/// @param summary the summary
/// @param power highest power of a flow
void
ReportHighest(lossless::Summary& summary, double power)
{
    double& highest = summary["powertcp_highest_power"];
    highest = std::max(highest, power);
}

} // namespace

NS_OBJECT_ENSURE_REGISTERED(PowerTcp);
NS_OBJECT_ENSURE_REGISTERED(ThetaPowerTcp);

TypeId
PowerTcp::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::powertcp::PowerTcp")
            .SetParent<TelemetryControl>()
            .SetGroupName("powertcp")
            .AddConstructor<PowerTcp>()
            .AddAttribute("Gamma",
                          "Weight of the new window in an update. 0.9: the public simulator.",
                          DoubleValue(0.9),
                          MakeDoubleAccessor(&PowerTcp::m_gamma),
                          MakeDoubleChecker<double>(0.001, 1))
            .AddAttribute("AdditiveIncrease",
                          "The paper's beta, as a rate: beta / T. 150 Mb/s: the public simulator, "
                          "at any line rate.",
                          DataRateValue(DataRate(150'000'000)),
                          MakeDataRateAccessor(&PowerTcp::m_additiveRate),
                          lossless::MakeRateChecker())
            .AddAttribute("Eta",
                          "Target utilization of a link. 0.95: U_TARGET of the public simulator; "
                          "1: the paper.",
                          DoubleValue(0.95),
                          MakeDoubleAccessor(&PowerTcp::m_eta),
                          MakeDoubleChecker<double>(0.01, 1))
            .AddAttribute("LeastCurrent",
                          "Lower bound of the current, as a share of the link's rate. 0.5: the "
                          "public simulator.",
                          DoubleValue(0.5),
                          MakeDoubleAccessor(&PowerTcp::m_leastCurrent),
                          MakeDoubleChecker<double>(0.001, 1))
            .AddTraceSource("Window",
                            "A change of the window: flow, window, reference window, power.",
                            MakeTraceSourceAccessor(&PowerTcp::m_windowTrace),
                            "ns3::powertcp::WindowCallback");
    return tid;
}

void
PowerTcp::Start(rdma::Sender& sender, uint64_t lineRate)
{
    TelemetryControl::Start(sender, lineRate);
    const auto step = static_cast<double>(m_additiveRate.GetBitRate());
    m_response.Start(m_gamma, WindowAt(step), m_bytes);
}

void
PowerTcp::Rescale(double factor)
{
    m_response.Rescale(factor);
    TelemetryControl::Rescale(factor);
}

bool
PowerTcp::Compare(const Telemetry& now, const Telemetry& before, bool round)
{
    double highest = 0;
    double time = 0;
    for (uint8_t i = 0; i < now.hops; ++i)
    {
        const TelemetryHop& hop = now.hop[i];
        const auto elapsed = static_cast<double>(hop.time - before.hop[i].time);
        const auto sent = static_cast<double>(hop.txBytes - before.hop[i].txBytes);
        const auto grown = static_cast<double>(hop.queue - before.hop[i].queue);
        const double rate = static_cast<double>(hop.rate) / BYTE_RATE; // B / ps
        const double current = std::max((sent + grown) / elapsed / rate, m_leastCurrent);
        const double voltage = static_cast<double>(hop.queue) / (rate * m_baseRtt) + 1;
        const double power = current * voltage / m_eta;
        if (power > highest)
        {
            highest = power;
            time = elapsed;
        }
    }
    SetWindow(m_response.Follow(highest, time / m_baseRtt));
    m_highest = std::max(m_highest, m_response.GetPower());
    if (round)
    {
        m_response.SetReference(m_bytes);
    }
    m_windowTrace(m_connection->GetFlow(),
                  m_bytes,
                  m_response.GetReference(),
                  m_response.GetPower());
    return true;
}

void
PowerTcp::Report(lossless::Summary& summary) const
{
    ReportHighest(summary, m_highest);
}

TypeId
ThetaPowerTcp::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::powertcp::ThetaPowerTcp")
            .SetParent<WindowControl>()
            .SetGroupName("powertcp")
            .AddConstructor<ThetaPowerTcp>()
            .AddAttribute("Gamma",
                          "Weight of the new window in an update. 0.7: the public simulator.",
                          DoubleValue(0.7),
                          MakeDoubleAccessor(&ThetaPowerTcp::m_gamma),
                          MakeDoubleChecker<double>(0.001, 1))
            .AddAttribute("AdditiveIncrease",
                          "The paper's beta, as a rate: beta / T. 150 Mb/s: the public simulator, "
                          "at any line rate.",
                          DataRateValue(DataRate(150'000'000)),
                          MakeDataRateAccessor(&ThetaPowerTcp::m_additiveRate),
                          lossless::MakeRateChecker())
            .AddAttribute("Margin",
                          "Round-trip time, relative to the base one, that does not yet count as "
                          "congestion. 1.05: the public simulator; 1: the paper.",
                          DoubleValue(1.05),
                          MakeDoubleAccessor(&ThetaPowerTcp::m_margin),
                          MakeDoubleChecker<double>(0.5, 100))
            .AddAttribute("LeastCurrent",
                          "Lower bound of 1 plus the time derivative of the round-trip time. 0.5: "
                          "the public simulator.",
                          DoubleValue(0.5),
                          MakeDoubleAccessor(&ThetaPowerTcp::m_leastCurrent),
                          MakeDoubleChecker<double>(0.001, 1))
            .AddTraceSource("Window",
                            "A change of the window: flow, window, reference window, power.",
                            MakeTraceSourceAccessor(&ThetaPowerTcp::m_windowTrace),
                            "ns3::powertcp::WindowCallback");
    return tid;
}

void
ThetaPowerTcp::Start(rdma::Sender& sender, uint64_t lineRate)
{
    WindowControl::Start(sender, lineRate);
    const auto step = static_cast<double>(m_additiveRate.GetBitRate());
    m_response.Start(m_gamma, WindowAt(step), m_bytes);
}

void
ThetaPowerTcp::Rescale(double factor)
{
    m_response.Rescale(factor);
    WindowControl::Rescale(factor);
}

bool
ThetaPowerTcp::WantsRtt() const
{
    return true;
}

void
ThetaPowerTcp::NotifyAck(const rdma::Acknowledgement& ack)
{
    if (ack.rtt < 0)
    {
        return;
    }
    const int64_t now = NowPs();
    const int64_t rtt = ack.rtt;
    const auto next = static_cast<int64_t>(ack.next);
    if (m_lastTime < 0)
    {
        m_roundEnd = next;
    }
    else if (now > m_lastTime)
    {
        const auto elapsed = static_cast<double>(now - m_lastTime);
        const double growth = static_cast<double>(rtt - m_lastRtt) / elapsed;
        const double current = std::max(1 + growth, m_leastCurrent);
        const double power = current * static_cast<double>(rtt) / (m_margin * m_baseRtt);
        SetWindow(m_response.Follow(power, elapsed / m_baseRtt));
        m_highest = std::max(m_highest, m_response.GetPower());
        if (static_cast<int64_t>(ack.answered) >= m_roundEnd)
        {
            m_response.SetReference(m_bytes);
            m_roundEnd = next;
        }
        m_windowTrace(m_connection->GetFlow(),
                      m_bytes,
                      m_response.GetReference(),
                      m_response.GetPower());
    }
    m_lastRtt = rtt;
    m_lastTime = now;
}

void
ThetaPowerTcp::Report(lossless::Summary& summary) const
{
    ReportHighest(summary, m_highest);
}

} // namespace powertcp
} // namespace ns3
