/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef OBSERVE_FRAME_BYTES_H
#define OBSERVE_FRAME_BYTES_H

#include "ns3/lossless-frame.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{
namespace observe
{

/// Length of an FCS. [B]
inline constexpr uint32_t FCS_BYTES = 4;
/// Length of an IPv4 header without options (RFC 791). [B]
inline constexpr uint32_t IPV4_BYTES = 20;
/// Length of a UDP header (RFC 768). [B]
inline constexpr uint32_t UDP_BYTES = 8;

/**
 * @ingroup observe
 * @brief MAC address of a node in a capture: locally administered, its number in the last 32 bits.
 *
 * @param node its number.
 * @return 48 bits.
 */
uint64_t MacAddressOf(uint32_t node);
/**
 * @ingroup observe
 * @brief IPv4 address of a node in a capture: 10.0.0.1 for node 0, and so on.
 *
 * @param node its number, below 2^24 - 1.
 * @return 32 bits.
 */
uint32_t Ipv4AddressOf(uint32_t node);
/**
 * @ingroup observe
 * @brief Priority code point of a class.
 *
 * @param cls class, or CONTROL_CLASS, which has no number of its own on the wire: 6, as NICs use
 * for notifications by default.
 * @return 0..7; the DSCP is eight times that (class selectors, RFC 2474), unless the frame has one.
 */
uint8_t PriorityOf(uint8_t cls);
/**
 * @ingroup observe
 * @brief Length of an Ethernet header.
 *
 * @param tagged whether it has an 802.1Q tag.
 * @return bytes.
 */
uint32_t EthernetBytes(bool tagged);

/**
 * @ingroup observe
 * @brief Buffer for composing the bytes of a frame, from the destination address on, in network
 * byte order.
 */
class FrameBytes
{
  public:
    /// Clear the buffer; its memory is kept.
    void Clear();

    /// Number of bytes. @return count.
    std::size_t GetSize() const
    {
        return m_bytes.size();
    }

    /// The bytes. @return pointer to the first one.
    const uint8_t* GetData() const
    {
        return m_bytes.data();
    }

    /// Append a number, most significant byte first.
    /// @param value the number. @param n number of bytes, 1..8.
    void Put(uint64_t value, uint32_t n);
    /// Append bytes.
    /// @param from pointer to the first one. @param n number of bytes.
    void Append(const uint8_t* from, std::size_t n);
    /// Append zeros up to a size; does nothing if it is reached already.
    /// @param size bytes.
    void PadTo(std::size_t size);
    /// Truncate to a size.
    /// @param size maximum number of bytes.
    void CutTo(std::size_t size);
    /// Append 32 bits, least significant byte first, as CRCs are sent.
    /// @param crc the CRC.
    void PutCrc(uint32_t crc);
    /// Append bytes that the caller fills in.
    /// @param n number of bytes. @return pointer to the first one.
    uint8_t* Extend(std::size_t n);

    /// Ethernet header (IEEE 802.3), optionally with a priority tag (IEEE 802.1Q, VLAN 0).
    /// @param destination MAC address. @param source MAC address. @param cls class.
    /// @param tagged whether to add the tag. @param etherType of the payload.
    void PutEthernet(uint64_t destination,
                     uint64_t source,
                     uint8_t cls,
                     bool tagged,
                     uint16_t etherType);
    /**
     * @brief Ethernet, IPv4 and UDP headers of a routed frame, from its source to its destination.
     *
     * The IPv4 header has its checksum, no options, identification 0 and DF; the UDP checksum is 0
     * (not used), as in RoCEv2.
     *
     * @param frame the frame.
     * @param ecn ECN field (RFC 3168), 0..3.
     * @param sourcePort UDP port.
     * @param destinationPort UDP port.
     * @param length bytes after the UDP header, without padding. [B]
     * @param tagged whether to add an 802.1Q tag.
     */
    void PutUdp(const lossless::Frame& frame,
                uint8_t ecn,
                uint16_t sourcePort,
                uint16_t destinationPort,
                uint32_t length,
                bool tagged);
    /// Header of a MAC control frame with a class-enable vector: addresses, EtherType 0x8808,
    /// opcode, vector. 18 bytes.
    /// @param control the frame. @param sender node that sends it.
    void PutMacControl(const lossless::ControlFrame& control, uint32_t sender);

  private:
    std::vector<uint8_t> m_bytes; //!< all bytes
};

} // namespace observe
} // namespace ns3

#endif /* OBSERVE_FRAME_BYTES_H */
