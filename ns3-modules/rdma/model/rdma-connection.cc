/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "rdma-connection.h"

#include "rdma-queue-pair-owner.h"

#include "ns3/lossless-routes.h"

#include <algorithm>

namespace ns3
{
namespace rdma
{

using lossless::Frame;
using lossless::FrameKind;

void
Connection::SetHosts(QueuePairOwner* src, QueuePairOwner* dst)
{
    m_src = src;
    m_dst = dst;
    m_hash = lossless::Routes::Hash(src->GetId(), dst->GetId(), m_flow);
    m_reverseHash = lossless::Routes::Hash(dst->GetId(), src->GetId(), m_flow);
}

void
Connection::SetDemand(const Demand& demand)
{
    m_demand = demand;
    m_packets = demand.bytes == 0 ? static_cast<uint64_t>(lossless::NEVER)
                                  : (demand.bytes - 1) / m_payloadSize + 1;
}

uint32_t
Connection::GetFrameBytes(uint64_t psn) const
{
    return std::max(GetPayload(psn) + m_headerSize + GetTelemetryBytes(), m_minFrame);
}

Time
Connection::GetBaseRtt() const
{
    return Time::From(m_baseRtt, Time::PS);
}

Frame
Connection::GetHeader() const
{
    Frame frame;
    frame.flow = m_flow;
    frame.src = m_src->GetId();
    frame.dst = m_dst->GetId();
    frame.hash = m_hash;
    frame.pinned = m_pinned;
    frame.cls = m_demand.cls;
    frame.ttl = static_cast<uint8_t>(m_ttl);
    frame.ecn = m_ecnCapable ? Frame::ECN_CAPABLE : 0;
    return frame;
}

void
Connection::FillAnswer(Frame& frame) const
{
    frame.kind = FrameKind::ACK;
    frame.flow = m_flow;
    frame.src = m_dst->GetId();
    frame.dst = m_src->GetId();
    frame.hash = m_reverseHash;
    frame.pinned = m_answersPinned;
    frame.cls = static_cast<uint8_t>(m_answerClass);
    frame.ttl = static_cast<uint8_t>(m_ttl);
    frame.bytes = static_cast<uint16_t>(m_ackSize + GetTelemetryBytes());
}

Frame
Connection::GetAnswerHeader() const
{
    Frame frame;
    FillAnswer(frame);
    return frame;
}

} // namespace rdma
} // namespace ns3
