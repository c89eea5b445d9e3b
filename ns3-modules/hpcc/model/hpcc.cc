/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "hpcc.h"

#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/log.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-frame.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{
namespace hpcc
{

using lossless::Telemetry;
using lossless::TelemetryHop;

NS_LOG_COMPONENT_DEFINE("Hpcc");

NS_OBJECT_ENSURE_REGISTERED(Hpcc);

TypeId
Hpcc::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::hpcc::Hpcc")
            .SetParent<TelemetryControl>()
            .SetGroupName("hpcc")
            .AddConstructor<Hpcc>()
            .AddAttribute("Eta",
                          "Target utilization of a link. 0.95: U_TARGET of the HPCC simulator.",
                          DoubleValue(0.95),
                          MakeDoubleAccessor(&Hpcc::m_eta),
                          MakeDoubleChecker<double>(0.01, 1))
            .AddAttribute("MaxStage",
                          "Maximum number of additive steps before a multiplicative one, although "
                          "the link has room. 5: MiThresh of the HPCC simulator; its run.py sets "
                          "0.",
                          UintegerValue(5),
                          MakeUintegerAccessor(&Hpcc::m_maxStage),
                          MakeUintegerChecker<uint32_t>(0, 1'000'000))
            .AddAttribute("AdditiveIncrease",
                          "The paper's W_AI, as a rate: W_AI / T. 10 Mb/s: ai of the HPCC "
                          "simulator at 25 Gb/s.",
                          DataRateValue(DataRate(10'000'000)),
                          MakeDataRateAccessor(&Hpcc::m_additiveRate),
                          lossless::MakeRateChecker())
            .AddAttribute("ReferenceRate",
                          "Line rate of the sender for which AdditiveIncrease is given; it scales "
                          "in proportion to the line rate. 0: no scaling.",
                          DataRateValue(DataRate(25'000'000'000)),
                          MakeDataRateAccessor(&Hpcc::m_referenceRate),
                          lossless::MakeRateChecker())
            .AddAttribute("Reaction",
                          "When the window follows the telemetry: Both, the window at every ACK "
                          "and its reference once per round trip, as HPCC does; PerRtt; PerAck.",
                          EnumValue(Reaction::BOTH),
                          MakeEnumAccessor<Reaction>(&Hpcc::m_reaction),
                          MakeEnumChecker(Reaction::BOTH,
                                          "Both",
                                          Reaction::PER_RTT,
                                          "PerRtt",
                                          Reaction::PER_ACK,
                                          "PerAck"))
            .AddTraceSource("Window",
                            "A change of the window: flow, window, reference window, utilization, "
                            "stage.",
                            MakeTraceSourceAccessor(&Hpcc::m_windowTrace),
                            "ns3::hpcc::Hpcc::WindowCallback");
    return tid;
}

void
Hpcc::Start(rdma::Sender& sender, uint64_t lineRate)
{
    TelemetryControl::Start(sender, lineRate);
    m_step = WindowAt(static_cast<double>(Scale(m_additiveRate, m_referenceRate)));
    m_reference = m_bytes;
}

void
Hpcc::Rescale(double factor)
{
    m_step *= factor;
    m_reference *= factor;
    TelemetryControl::Rescale(factor);
}

bool
Hpcc::Compare(const Telemetry& now, const Telemetry& before, bool round)
{
    if (m_reaction == Reaction::PER_RTT && !round)
    {
        return false;
    }
    Measure(now, before);
    Update(round || m_reaction == Reaction::PER_ACK);
    m_rounds += round;
    return true;
}

/// Update U.
/// @param now telemetry of this ACK.
/// @param last telemetry of the previous ACK.
void
Hpcc::Measure(const Telemetry& now, const Telemetry& last)
{
    double highest = 0;
    double time = 0;
    for (uint8_t i = 0; i < now.hops; ++i)
    {
        const TelemetryHop& hop = now.hop[i];
        const TelemetryHop& before = last.hop[i];
        const auto elapsed = static_cast<double>(hop.time - before.time);
        const auto sent = static_cast<double>(hop.txBytes - before.txBytes);
        const auto queue = static_cast<double>(std::min(hop.queue, before.queue));
        const double load =
            (queue / m_baseRtt + sent / elapsed) * BYTE_RATE / static_cast<double>(hop.rate);
        if (load > highest)
        {
            highest = load;
            time = elapsed;
        }
    }
    const double weight = std::min(time / m_baseRtt, 1.0);
    m_utilization = (1 - weight) * m_utilization + weight * highest;
    m_highest = std::max(m_highest, m_utilization);
}

/// Compute W from Wc and U.
/// @param reference whether Wc is updated, too.
void
Hpcc::Update(bool reference)
{
    const bool byTelemetry = m_utilization >= m_eta || m_stage >= m_maxStage;
    const double base = byTelemetry ? m_reference * m_eta / m_utilization : m_reference;
    SetWindow(base + m_step);
    if (reference)
    {
        m_reference = m_bytes;
        m_stage = byTelemetry ? 0 : m_stage + 1;
    }
    NS_LOG_LOGIC("flow " << m_connection->GetFlow() << " W " << m_bytes << " U " << m_utilization);
    m_windowTrace(m_connection->GetFlow(), m_bytes, m_reference, m_utilization, m_stage);
}

void
Hpcc::Report(lossless::Summary& summary) const
{
    double& highest = summary["hpcc_highest_utilization"];
    highest = std::max(highest, m_highest);
    summary["hpcc_rounds"] += static_cast<double>(m_rounds);
}

} // namespace hpcc
} // namespace ns3
