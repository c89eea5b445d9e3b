/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "rdma-connection.h"

#include "ns3/lossless-routes.h"

#include <algorithm>

namespace ns3
{
namespace rdma
{

using lossless::Frame;
using lossless::FrameKind;

void
Connection::SetAddresses(uint32_t src, uint32_t dst)
{
    m_src = src;
    m_dst = dst;
    const uint32_t entropy = m_sourcePort ? m_sourcePort : m_flow;
    m_hash = lossless::Routes::Hash(src, dst, entropy);
    m_reverseHash = lossless::Routes::Hash(dst, src, entropy);
}

void
Connection::SetDemand(const Demand& demand)
{
    m_demand = demand;
    m_packets =
        demand.bytes == 0 ? static_cast<uint64_t>(lossless::NEVER) : CountPackets(demand.bytes);
    m_mostBytes = demand.bytes;
}

uint64_t
Connection::CountPackets(uint64_t bytes) const
{
    return (bytes - 1) / m_payloadSize + 1;
}

void
Connection::Expect(Connection& other)
{
    m_awaited += m_awaited == 0 ? 2 : 1; // its own message is the first one expected
    m_mostBytes = std::max(m_mostBytes, other.m_mostBytes);
    other.m_flow = m_flow;
    other.m_collects = m_collects;
    other.m_sourcePort = m_sourcePort;
    other.SetAddresses(m_src, m_dst);
}

void
Connection::SetAnswerClasses(uint32_t acks, uint32_t cnps)
{
    const auto chosen = [this](uint32_t cls) {
        return static_cast<uint8_t>(cls > lossless::CONTROL_CLASS ? m_answerClass : cls);
    };
    m_ackClass = chosen(acks);
    m_cnpClass = chosen(cnps);
    m_ackDscp = m_ackClass == m_demand.cls ? static_cast<uint8_t>(m_dscp) : Frame::NO_DSCP;
}

std::size_t
Connection::Append(uint32_t flow, uint64_t bytes)
{
    const uint64_t first = m_messages.empty() ? 0 : m_packets;
    m_packets = first + CountPackets(bytes);
    m_messages.push_back({flow, bytes, m_packets});
    --m_awaited;
    return m_messages.size() - 1;
}

std::pair<uint64_t, uint64_t>
Connection::GetRange(std::size_t message) const
{
    if (m_messages.empty())
    {
        return {0, m_packets};
    }
    return {message == 0 ? 0 : m_messages[message - 1].end, m_messages[message].end};
}

std::size_t
Connection::FindMessage(uint64_t psn) const
{
    return std::ranges::upper_bound(m_messages, psn, {}, &Message::end) - m_messages.begin();
}

uint32_t
Connection::FindPayload(uint64_t psn) const
{
    const std::size_t message = FindMessage(psn);
    const auto [first, end] = GetRange(message);
    return psn + 1 < end
               ? m_payloadSize
               : static_cast<uint32_t>(m_messages[message].bytes - (psn - first) * m_payloadSize);
}

uint32_t
Connection::GetFrameBytes(uint32_t payload) const
{
    return std::max(payload + m_headerSize + GetTelemetryBytes(), m_minFrame);
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
    frame.src = m_src;
    frame.dst = m_dst;
    frame.hash = m_hash;
    frame.pinned = m_pinned;
    frame.cls = m_demand.cls;
    frame.dscp = static_cast<uint8_t>(m_dscp);
    frame.ttl = static_cast<uint8_t>(m_ttl);
    frame.ecn = m_ecnCapable ? Frame::ECN_CAPABLE : 0;
    return frame;
}

void
Connection::FillAnswer(Frame& frame) const
{
    frame.kind = FrameKind::ACK;
    frame.flow = m_flow;
    frame.src = m_dst;
    frame.dst = m_src;
    frame.hash = m_reverseHash;
    frame.pinned = m_answersPinned;
    frame.cls = m_ackClass;
    frame.dscp = m_ackDscp;
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
