/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef RDMA_ROCE_SERIALIZER_H
#define RDMA_ROCE_SERIALIZER_H

#include "ns3/observe-frame-serializer.h"

#include <cstddef>
#include <vector>

namespace ns3
{
namespace rdma
{

class Host;
class QueuePair;

/// UDP destination port of RoCEv2 (InfiniBand Architecture, Annex A17.3.1).
inline constexpr uint16_t ROCE_PORT = 4791;
/// Length of a base transport header (InfiniBand Architecture, 9.2). [B]
inline constexpr uint32_t BTH_BYTES = 12;
/// Length of an RDMA extended transport header (9.3.3). [B]
inline constexpr uint32_t RETH_BYTES = 16;
/// Length of an ACK extended transport header (9.3.5). [B]
inline constexpr uint32_t AETH_BYTES = 4;
/// Reserved bytes of a CNP (Annex A17.9.3). [B]
inline constexpr uint32_t CNP_BYTES = 16;
/// Length of an invariant CRC. [B]
inline constexpr uint32_t ICRC_BYTES = 4;

/// Opcodes of a BTH that are used (InfiniBand Architecture, table 38; Annex A17.9.3).
enum class BthOpcode : uint8_t
{
    RC_WRITE_FIRST = 0x06,  ///< RDMA WRITE First
    RC_WRITE_MIDDLE = 0x07, ///< RDMA WRITE Middle
    RC_WRITE_LAST = 0x08,   ///< RDMA WRITE Last
    RC_WRITE_ONLY = 0x0a,   ///< RDMA WRITE Only
    RC_ACKNOWLEDGE = 0x11,  ///< Acknowledge
    CNP = 0x81,             ///< congestion notification packet
};

/**
 * @ingroup rdma
 * @brief The invariant CRC of a RoCEv2 packet over IPv4 (InfiniBand Architecture, 7.8.1; Annex
 * A17.3.3).
 *
 * CRC-32 over eight bytes of ones in place of the LRH and over the packet, with the bits that a
 * switch may change replaced by ones: type of service, time to live and checksum of IPv4, the UDP
 * checksum, and the byte of the BTH that holds FECN and BECN.
 *
 * @param packet from the first byte of the IPv4 header, without options, to the last before the
 * ICRC.
 * @param n its length, at least IPV4_BYTES + UDP_BYTES + BTH_BYTES.
 * @return the CRC; it is sent least significant byte first.
 */
uint32_t InvariantCrc(const uint8_t* packet, std::size_t n);

/**
 * @ingroup rdma
 * @brief Serializes the frames of queue pairs as RoCEv2 over IPv4.
 *
 * Each message of a queue pair is one RDMA WRITE of a reliable connection: First, Middle .. Last,
 * or Only, with the RETH (DMA length: the message, 2^31 for an endless one) in the first packet.
 * Flow f has the queue pair number f + 2 at both ends, as 0 and 1 are reserved. The UDP source port
 * is that of the queue pair, or derived from the hash that ECMP uses. An ACK carries the last
 * packet in order, a NAK (PSN sequence error) the expected one; the further information of
 * Selective has no equivalent in RoCE. BECN is set in a CNP, and in an ACK or NAK that echoes an
 * ECN mark.
 *
 * Telemetry precedes the payload, or follows the header of an ACK: the number of hops in 4 bits, 12
 * bits of 0, then 64 bits per hop as in HPCC's simulator (int-header.h): rate (3: 0..4 are 25, 50,
 * 100, 200 and 400 Gb/s, 7 any other), time (24, ns), bytes sent (20, units of 128), queue (17,
 * units of 80). The leading count is our choice. RoCE does not define it: protocol analysers take
 * it for payload.
 *
 * Payload bytes are 0. Their number is what the model's frame has room for besides the headers, in
 * whole words of four bytes, and at most the payload of the model's packet.
 */
class RoceSerializer : public observe::FrameSerializer
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    void SetNodes(const std::vector<const lossless::FabricNode*>& nodes) override;
    bool Serialize(const lossless::Frame& frame,
                   uint32_t sender,
                   bool tagged,
                   observe::FrameBytes& bytes) const override;

  private:
    /// Contents of the BTH and the headers after it.
    struct Transport;

    const QueuePair* FindQueuePair(uint32_t node, uint32_t flow) const;
    uint16_t SourcePortOf(const lossless::Frame& frame) const;
    Transport DataOf(const lossless::Frame& frame, bool tagged) const;
    Transport AnswerOf(const lossless::Frame& frame) const;

    std::vector<const Host*> m_hosts; //!< node n at index n, or null
};

} // namespace rdma
} // namespace ns3

#endif /* RDMA_ROCE_SERIALIZER_H */
