/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "dctcp.h"

#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-ecn-marking.h"
#include "ns3/lossless-frame.h"

namespace ns3
{
namespace dctcp
{

NS_LOG_COMPONENT_DEFINE("Dctcp");

NS_OBJECT_ENSURE_REGISTERED(Dctcp);

TypeId
Dctcp::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::dctcp::Dctcp")
            .SetParent<WindowControl>()
            .SetGroupName("dctcp")
            .AddConstructor<Dctcp>()
            .AddAttribute("Gain",
                          "g, the weight of a new sample of the share of marked packets in its "
                          "average alpha. 1/16: EWMA_GAIN of the HPCC simulator.",
                          DoubleValue(0.0625),
                          MakeDoubleAccessor(&Dctcp::m_gain),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("AdditiveIncrease",
                          "Additive increase of W per round trip without a cut, as a rate: W / T. "
                          "0: the payload of a packet. 615 Mb/s: DCTCP_RATE_AI of the HPCC "
                          "simulator, a packet of 1 KB in 13 us.",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&Dctcp::m_additiveRate),
                          lossless::MakeRateChecker())
            .AddTraceSource("Window",
                            "A change of the window: flow, window, alpha.",
                            MakeTraceSourceAccessor(&Dctcp::m_windowTrace),
                            "ns3::dctcp::Dctcp::WindowCallback");
    return tid;
}

std::string
Dctcp::GetSignaller() const
{
    return lossless::EcnMarking::GetTypeId().GetName();
}

void
Dctcp::Start(rdma::Sender& sender, uint64_t lineRate)
{
    WindowControl::Start(sender, lineRate);
    const uint64_t rate = m_additiveRate.GetBitRate();
    m_step = rate ? WindowAt(static_cast<double>(rate)) : m_connection->GetLargestPayload();
}

void
Dctcp::Rescale(double factor)
{
    m_step *= m_additiveRate.GetBitRate() ? factor : 1;
    WindowControl::Rescale(factor);
}

void
Dctcp::NotifyAck(const rdma::Acknowledgement& ack)
{
    const auto answered = static_cast<int64_t>(ack.answered);
    const auto next = static_cast<int64_t>(ack.next);
    const bool marked = ack.IsMarked();
    ++m_answers;
    m_marked += marked;
    const bool isRoundOver = m_roundEnd >= 0 && answered >= m_roundEnd;
    if (isRoundOver)
    {
        EndRound();
    }
    if (m_roundEnd < 0 || isRoundOver)
    {
        m_roundEnd = next;
    }
    m_isCutting = m_isCutting && answered < m_cutEnd;
    if (marked && !m_isCutting)
    {
        m_isCutting = true;
        m_cutEnd = next;
        ++m_cuts;
        SetWindow(m_bytes * (1 - m_alpha / 2));
    }
    else if (isRoundOver && !m_isCutting)
    {
        SetWindow(m_bytes + m_step);
    }
    else if (!isRoundOver)
    {
        return;
    }
    NS_LOG_LOGIC("flow " << m_connection->GetFlow() << " W " << m_bytes << " alpha " << m_alpha);
    m_windowTrace(m_connection->GetFlow(), m_bytes, m_alpha);
}

/// Update alpha.
void
Dctcp::EndRound()
{
    const double share = static_cast<double>(m_marked) / static_cast<double>(m_answers);
    m_alpha = (1 - m_gain) * m_alpha + m_gain * share;
    m_answers = 0;
    m_marked = 0;
    ++m_rounds;
}

void
Dctcp::Report(lossless::Summary& summary) const
{
    summary["dctcp_cuts"] += static_cast<double>(m_cuts);
    summary["dctcp_rounds"] += static_cast<double>(m_rounds);
}

} // namespace dctcp
} // namespace ns3
