/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "observe-frame-bytes.h"

#include <algorithm>

namespace ns3
{
namespace observe
{

namespace
{

constexpr uint64_t LOCALLY_ADMINISTERED = UINT64_C(0x02) << 40;
constexpr uint64_t MAC_CONTROL_ADDRESS = UINT64_C(0x0180c2000001);
constexpr uint16_t MAC_CONTROL = 0x8808;
constexpr uint16_t TAG = 0x8100;
constexpr uint16_t IPV4 = 0x0800;
constexpr uint32_t FIRST_ADDRESS = 0x0a000001;
constexpr uint8_t CONTROL_PRIORITY = 6;
constexpr uint8_t UDP = 17;

/// Checksum of an IPv4 header (RFC 1071).
/// @param header 20 bytes, the checksum field 0. @return the checksum.
uint16_t
Checksum(const uint8_t* header)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < IPV4_BYTES; i += 2)
    {
        sum += static_cast<uint32_t>(header[i] << 8 | header[i + 1]);
    }
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<uint16_t>(~sum);
}

} // namespace

uint64_t
MacAddressOf(uint32_t node)
{
    return LOCALLY_ADMINISTERED | node;
}

uint32_t
Ipv4AddressOf(uint32_t node)
{
    return FIRST_ADDRESS + node;
}

uint8_t
PriorityOf(uint8_t cls)
{
    return cls < lossless::N_CLASSES ? cls : CONTROL_PRIORITY;
}

uint32_t
EthernetBytes(bool tagged)
{
    return tagged ? 18 : 14;
}

void
FrameBytes::Clear()
{
    m_bytes.clear();
}

void
FrameBytes::Put(uint64_t value, uint32_t n)
{
    while (n-- > 0)
    {
        m_bytes.push_back(static_cast<uint8_t>(value >> (8 * n)));
    }
}

void
FrameBytes::Append(const uint8_t* from, std::size_t n)
{
    m_bytes.insert(m_bytes.end(), from, from + n);
}

void
FrameBytes::PadTo(std::size_t size)
{
    if (m_bytes.size() < size)
    {
        m_bytes.resize(size, 0);
    }
}

void
FrameBytes::CutTo(std::size_t size)
{
    if (m_bytes.size() > size)
    {
        m_bytes.resize(size);
    }
}

void
FrameBytes::PutCrc(uint32_t crc)
{
    for (int i = 0; i < 4; ++i)
    {
        m_bytes.push_back(static_cast<uint8_t>(crc >> (8 * i)));
    }
}

uint8_t*
FrameBytes::Extend(std::size_t n)
{
    m_bytes.resize(m_bytes.size() + n);
    return m_bytes.data() + m_bytes.size() - n;
}

void
FrameBytes::PutEthernet(uint64_t destination,
                        uint64_t source,
                        uint8_t cls,
                        bool tagged,
                        uint16_t etherType)
{
    Put(destination, 6);
    Put(source, 6);
    if (tagged)
    {
        Put(TAG, 2);
        Put(static_cast<uint64_t>(PriorityOf(cls)) << 13, 2);
    }
    Put(etherType, 2);
}

void
FrameBytes::PutUdp(const lossless::Frame& frame,
                   uint8_t ecn,
                   uint16_t sourcePort,
                   uint16_t destinationPort,
                   uint32_t length,
                   bool tagged)
{
    PutEthernet(MacAddressOf(frame.dst), MacAddressOf(frame.src), frame.cls, tagged, IPV4);
    const std::size_t at = m_bytes.size();
    Put(0x45, 1); // version 4, five words
    const bool marked = frame.dscp != lossless::Frame::NO_DSCP;
    const auto dscp = static_cast<uint64_t>(marked ? frame.dscp : 8 * PriorityOf(frame.cls));
    Put(dscp << 2 | ecn, 1);
    Put(IPV4_BYTES + UDP_BYTES + length, 2);
    Put(0, 2);
    Put(0x4000, 2); // DF
    Put(frame.ttl, 1);
    Put(UDP, 1);
    Put(0, 2);
    Put(Ipv4AddressOf(frame.src), 4);
    Put(Ipv4AddressOf(frame.dst), 4);
    const uint16_t checksum = Checksum(m_bytes.data() + at);
    m_bytes[at + 10] = static_cast<uint8_t>(checksum >> 8);
    m_bytes[at + 11] = static_cast<uint8_t>(checksum);
    Put(sourcePort, 2);
    Put(destinationPort, 2);
    Put(UDP_BYTES + length, 2);
    Put(0, 2);
}

void
FrameBytes::PutMacControl(const lossless::ControlFrame& control, uint32_t sender)
{
    PutEthernet(MAC_CONTROL_ADDRESS,
                MacAddressOf(sender),
                lossless::CONTROL_CLASS,
                false,
                MAC_CONTROL);
    Put(control.opcode, 2);
    Put(control.classes, 2);
}

} // namespace observe
} // namespace ns3
