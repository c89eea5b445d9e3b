/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-port.h"

#include "ns3/lossless-state-visitor.h"

namespace ns3
{
namespace lossless
{

eventloop::Place
Port::GetArrivalPlace() const
{
    return m_inbound.GetPlace();
}

eventloop::Place
Port::GetEndPlace() const
{
    return m_transmitEnd.GetPlace();
}

uint64_t
Port::CountWaiting() const
{
    return m_controlQueue.GetFrames() + m_egress.CountFrames();
}

void
Port::Visit(StateVisitor& visitor)
{
    visitor.Inside(*this);
    // Constant: m_node, m_outbound, m_peer, m_idealOutbound, m_states,
    // m_controlDelayPs, m_neighbour, m_classService, m_queueService, m_quantum, m_weights,
    // m_minRates, m_maxRates, m_dscpClasses, m_classGroups, m_classQueues, m_classMarks.
    visitor.Require(m_macQueue.IsEmpty() && m_pending.GetCount() + m_ideal.GetCount() == 0,
                    "a control frame is on its way");
    visitor.Require(!m_errors && !m_retry, "links lose or repeat frames");
    visitor.Require(m_wakeAt == NEVER, "a port waits for a time");
    visitor.Require(m_releaseAt == ReleaseAt::END, "buffers are released at the start of frames");
    visitor.Require(
        m_transmitTrace.IsEmpty() && m_egressTrace.IsEmpty() && m_receiveTrace.IsEmpty() &&
            m_ingressTrace.IsEmpty(),
        "a table or a capture has every change"); // m_pausedTrace, m_pauseSentTrace: none
    visitor.Same(m_up, m_busy, m_releaseDue, m_inserted);
    const auto& [flow, ingress, egress, bytes, cls, scheme] = m_departure;
    visitor.Same(flow, ingress, egress, bytes, cls);
    for (const uint8_t& byte : scheme)
    {
        visitor.Same(byte);
    }
    auto& [dataIn, controlOut, pausesSent, wireIn, wireOut] = m_counters;
    visitor.Count(dataIn);
    visitor.Same(controlOut, pausesSent);
    for (std::size_t i = 0; i < wireIn.size(); ++i)
    {
        visitor.Count(wireIn[i]);
        visitor.Count(wireOut[i]);
    }
    const auto inFlight = [&visitor](Frame& frame) { lossless::Visit(visitor, frame, nullptr); };
    m_inbound.Visit(visitor, inFlight);
    m_pending.Visit(visitor, inFlight);
    m_ideal.Visit(visitor, inFlight);
    m_transmitEnd.Visit(visitor);
    m_wake.Visit(visitor);
    m_controlQueue.Visit(visitor, nullptr);
    m_egress.Visit(visitor);
    m_chain.Visit(visitor);
}

} // namespace lossless
} // namespace ns3
