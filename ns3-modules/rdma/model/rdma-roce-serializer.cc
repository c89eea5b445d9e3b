/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "rdma-roce-serializer.h"

#include "rdma-host.h"
#include "rdma-queue-pair.h"

#include "ns3/crc32.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ns3
{
namespace rdma
{

using lossless::Frame;
using lossless::FrameKind;
using observe::FrameBytes;
using observe::IPV4_BYTES;
using observe::UDP_BYTES;

NS_OBJECT_ENSURE_REGISTERED(RoceSerializer);

namespace
{

constexpr uint32_t LRH_BYTES = 8;
constexpr uint32_t WORD_BYTES = 4;
constexpr uint64_t LONGEST_MESSAGE = UINT64_C(1) << 31; // InfiniBand Architecture, 9.7.1
constexpr uint8_t FIRST_QUEUE_PAIR = 2;
constexpr uint8_t MIGRATED = 0x40; // MigReq: the path is the primary one
constexpr uint16_t DEFAULT_PARTITION = 0xffff;
constexpr uint32_t BECN = UINT32_C(1) << 30;
constexpr uint32_t ACK_REQUEST = UINT32_C(1) << 31;
constexpr uint32_t LOW_24 = 0xffffff;
constexpr uint8_t ACK_WITHOUT_CREDITS = 0x1f; // table 46: the count of credits is not used
constexpr uint8_t PSN_SEQUENCE_ERROR = 0x60;  // tables 46 and 47
constexpr uint8_t CONGESTED = 3;              // Frame::ecn and RFC 3168: congestion experienced
constexpr uint8_t ECT_0 = 2;                  // RFC 3168
constexpr uint16_t DYNAMIC_PORTS = 0xc000;    // RFC 6335
constexpr uint16_t DYNAMIC_PORT_BITS = 0x3fff;

/// The ECN field of a data packet.
/// @param frame the frame. @return RFC 3168's codepoint.
uint8_t
EcnOf(const Frame& frame)
{
    if (frame.ecn == CONGESTED)
    {
        return CONGESTED;
    }
    return frame.ecn ? ECT_0 : 0;
}

} // namespace

/// Contents of the BTH and the headers after it.
struct RoceSerializer::Transport
{
    BthOpcode opcode{BthOpcode::RC_WRITE_MIDDLE}; //!< of the BTH
    uint32_t psn{0};                              //!< of the BTH
    bool ackRequest{false};                       //!< of the BTH
    bool becn{false};                             //!< of the BTH
    uint8_t ecn{0};                               //!< of the IPv4 header
    uint32_t headerBytes{0};                      //!< of the extended header
    uint32_t messageBytes{0};                     //!< RETH: DMA length
    uint8_t syndrome{0};                          //!< AETH
    uint32_t messages{0};                         //!< AETH: messages received completely
    uint32_t telemetry{0};                        //!< B
    uint32_t payload{0};                          //!< B
};

namespace
{

/// Append telemetry.
/// @param telemetry the telemetry. @param size bytes for all of it; truncated if there is no room.
/// @param bytes output.
void
PutTelemetry(const lossless::Telemetry& telemetry, uint32_t size, FrameBytes& bytes)
{
    constexpr std::array<uint64_t, 5> GBPS{25, 50, 100, 200, 400};
    constexpr uint64_t OTHER_RATE = 7;
    constexpr int64_t PS_PER_NS = 1000;
    constexpr int64_t SENT_UNIT = 128;
    constexpr int64_t QUEUE_UNIT = 80;
    const std::size_t end = bytes.GetSize() + size;
    bytes.Put(static_cast<uint64_t>(telemetry.hops) << 12, 2);
    for (uint8_t i = 0; i < telemetry.hops; ++i)
    {
        const lossless::TelemetryHop& hop = telemetry.hop[i];
        const auto* rate = std::ranges::find(GBPS, hop.rate / 1'000'000'000);
        const uint64_t code =
            rate == GBPS.end() ? OTHER_RATE : static_cast<uint64_t>(rate - GBPS.begin());
        const auto time = static_cast<uint64_t>(hop.time / PS_PER_NS);
        const auto sent = static_cast<uint64_t>(hop.txBytes / SENT_UNIT);
        const auto queue = static_cast<uint64_t>(hop.queue / QUEUE_UNIT);
        bytes.Put(code << 61 | (time & 0xff'ffff) << 37 | (sent & 0xf'ffff) << 17 |
                      std::min<uint64_t>(queue, 0x1'ffff),
                  8);
    }
    bytes.CutTo(end);
    bytes.PadTo(end);
}

/// Bytes of telemetry in a frame.
/// @param frame the frame. @param queuePair its queue pair, or null. @return bytes.
uint32_t
TelemetryOf(const Frame& frame, const QueuePair* queuePair)
{
    return frame.telemetry && queuePair ? queuePair->GetTelemetryBytes() : 0;
}

} // namespace

uint32_t
InvariantCrc(const uint8_t* packet, std::size_t n)
{
    constexpr std::size_t BTH_AT = IPV4_BYTES + UDP_BYTES;
    constexpr std::size_t CHANGEABLE[] = {1, 8, 10, 11, IPV4_BYTES + 6, IPV4_BYTES + 7, BTH_AT + 4};
    std::vector<uint8_t> masked(LRH_BYTES + n, 0xff);
    std::copy_n(packet, n, masked.begin() + LRH_BYTES);
    for (const std::size_t at : CHANGEABLE)
    {
        masked[LRH_BYTES + at] = 0xff;
    }
    return CRC32Calculate(masked.data(), static_cast<int>(masked.size()));
}

TypeId
RoceSerializer::GetTypeId()
{
    static TypeId tid = TypeId("ns3::rdma::RoceSerializer")
                            .SetParent<observe::FrameSerializer>()
                            .SetGroupName("rdma")
                            .AddConstructor<RoceSerializer>();
    return tid;
}

void
RoceSerializer::SetNodes(const std::vector<const lossless::FabricNode*>& nodes)
{
    m_hosts.clear();
    for (const auto* node : nodes)
    {
        m_hosts.push_back(dynamic_cast<const Host*>(node));
    }
}

const QueuePair*
RoceSerializer::FindQueuePair(uint32_t node, uint32_t flow) const
{
    const Host* host = node < m_hosts.size() ? m_hosts[node] : nullptr;
    return host ? host->FindSender(flow) : nullptr;
}

uint16_t
RoceSerializer::SourcePortOf(const Frame& frame) const
{
    const uint32_t sender = frame.kind == FrameKind::DATA ? frame.src : frame.dst;
    const QueuePair* queuePair = FindQueuePair(sender, frame.flow);
    return queuePair && queuePair->GetSourcePort()
               ? queuePair->GetSourcePort()
               : DYNAMIC_PORTS | ((frame.hash ^ frame.hash >> 16) & DYNAMIC_PORT_BITS);
}

RoceSerializer::Transport
RoceSerializer::DataOf(const Frame& frame, bool tagged) const
{
    Transport transport;
    const QueuePair* queuePair = FindQueuePair(frame.src, frame.flow);
    const std::size_t message = queuePair ? queuePair->GetMessageOf(frame.psn) : 0;
    const auto [begin, end] =
        queuePair ? queuePair->GetRange(message) : std::pair<uint64_t, uint64_t>{};
    const bool last = frame.psn + UINT64_C(1) == end;
    if (frame.psn == begin)
    {
        transport.opcode = last ? BthOpcode::RC_WRITE_ONLY : BthOpcode::RC_WRITE_FIRST;
        transport.headerBytes = RETH_BYTES;
        const uint64_t bytes = queuePair ? queuePair->GetBytesOf(message) : 0;
        transport.messageBytes =
            static_cast<uint32_t>(bytes ? std::min(bytes, LONGEST_MESSAGE) : LONGEST_MESSAGE);
    }
    else if (last)
    {
        transport.opcode = BthOpcode::RC_WRITE_LAST;
    }
    transport.psn = frame.psn;
    transport.ackRequest = frame.word[0] != 0;
    transport.ecn = EcnOf(frame);
    transport.telemetry = TelemetryOf(frame, queuePair);
    const uint32_t headers = observe::EthernetBytes(tagged) + IPV4_BYTES + UDP_BYTES + BTH_BYTES +
                             transport.headerBytes + ICRC_BYTES + observe::FCS_BYTES;
    const uint32_t room = std::max<uint32_t>(frame.bytes, headers) - headers;
    const uint32_t body =
        std::min(transport.telemetry + frame.payload, room / WORD_BYTES * WORD_BYTES);
    transport.payload = std::max(body, transport.telemetry) - transport.telemetry;
    return transport;
}

RoceSerializer::Transport
RoceSerializer::AnswerOf(const Frame& frame) const
{
    Transport transport;
    if (frame.kind == FrameKind::CNP)
    {
        transport.opcode = BthOpcode::CNP;
        transport.becn = true;
        transport.headerBytes = CNP_BYTES;
        return transport;
    }
    const uint64_t expected = frame.word[0];
    const QueuePair* queuePair = FindQueuePair(frame.dst, frame.flow);
    transport.opcode = BthOpcode::RC_ACKNOWLEDGE;
    transport.becn = frame.ecn == CONGESTED;
    transport.headerBytes = AETH_BYTES;
    transport.telemetry = TelemetryOf(frame, queuePair);
    transport.messages =
        queuePair ? static_cast<uint32_t>(queuePair->CountMessagesBefore(expected)) : 0;
    const bool missing = frame.kind == FrameKind::NACK;
    transport.syndrome = missing ? PSN_SEQUENCE_ERROR : ACK_WITHOUT_CREDITS;
    transport.psn = static_cast<uint32_t>(missing ? expected : expected - 1);
    return transport;
}

bool
RoceSerializer::Serialize(const Frame& frame,
                          uint32_t /* sender */,
                          bool tagged,
                          FrameBytes& bytes) const
{
    Transport transport;
    switch (frame.kind)
    {
    case FrameKind::DATA:
        transport = DataOf(frame, tagged);
        break;
    case FrameKind::ACK:
    case FrameKind::NACK:
    case FrameKind::CNP:
        transport = AnswerOf(frame);
        break;
    default:
        return false;
    }
    const uint32_t body = transport.telemetry + transport.payload;
    const uint32_t padding = (WORD_BYTES - body % WORD_BYTES) % WORD_BYTES;
    const uint32_t length = BTH_BYTES + transport.headerBytes + body + padding + ICRC_BYTES;
    bytes.PutUdp(frame, transport.ecn, SourcePortOf(frame), ROCE_PORT, length, tagged);
    bytes.Put(static_cast<uint8_t>(transport.opcode), 1);
    bytes.Put(MIGRATED | padding << 4, 1);
    bytes.Put(DEFAULT_PARTITION, 2);
    bytes.Put((transport.becn ? BECN : 0) | ((frame.flow + FIRST_QUEUE_PAIR) & LOW_24), 4);
    bytes.Put((transport.ackRequest ? ACK_REQUEST : 0) | (transport.psn & LOW_24), 4);
    switch (transport.opcode)
    {
    case BthOpcode::RC_WRITE_FIRST:
    case BthOpcode::RC_WRITE_ONLY:
        bytes.Put(0, 8); // virtual address
        bytes.Put(0, 4); // key
        bytes.Put(transport.messageBytes, 4);
        break;
    case BthOpcode::RC_ACKNOWLEDGE:
        bytes.Put(static_cast<uint64_t>(transport.syndrome) << 24 | (transport.messages & LOW_24),
                  4);
        break;
    default:
        break;
    }
    if (transport.telemetry)
    {
        PutTelemetry(*frame.telemetry, transport.telemetry, bytes);
    }
    const std::size_t ethernet = observe::EthernetBytes(tagged);
    bytes.PadTo(ethernet + IPV4_BYTES + UDP_BYTES + length - ICRC_BYTES);
    bytes.PutCrc(InvariantCrc(bytes.GetData() + ethernet, bytes.GetSize() - ethernet));
    return true;
}

} // namespace rdma
} // namespace ns3
