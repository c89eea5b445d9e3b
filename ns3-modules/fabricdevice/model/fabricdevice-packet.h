/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef FABRICDEVICE_PACKET_H
#define FABRICDEVICE_PACKET_H

#include "ns3/lossless-frame.h"
#include "ns3/mac48-address.h"
#include "ns3/packet.h"
#include "ns3/ptr.h"

#include <cstdint>

namespace ns3
{

class QueueItem;

namespace fabricdevice
{

inline constexpr uint32_t ETHERNET_BYTES = 14; //!< addresses and EtherType
inline constexpr uint32_t TAG_BYTES = 4;       //!< of IEEE 802.1Q
inline constexpr uint8_t CONGESTED = 3;        //!< Frame::ecn, and the ECN field of IP

/// A parsed Ethernet header.
struct LinkHeader
{
    Mac48Address source;   //!< address
    Mac48Address dest;     //!< address
    uint16_t etherType{0}; //!< of the payload, after the tag if there is one
};

/**
 * @ingroup fabricdevice
 * @brief Remove the Ethernet header, and the 802.1Q tag if there is one, from a packet.
 *
 * @param packet the packet.
 * @param link set to their contents.
 * @return false if the packet is too short.
 */
bool RemoveLinkHeader(Ptr<Packet> packet, LinkHeader* link);

/**
 * @ingroup fabricdevice
 * @brief Add the Ethernet header to a packet.
 *
 * @param packet the packet, starting with its 802.1Q tag if it has one.
 * @param link contents of the header.
 * @param tagged whether the packet has a tag.
 */
void AddLinkHeader(Ptr<Packet> packet, const LinkHeader& link, bool tagged);

/// Fields of a packet that a NIC uses.
struct PacketFields
{
    bool ip{false};        //!< IPv4 or IPv6; the fields below are from its header
    bool discovery{false}; //!< a message of IPv6 neighbour discovery (ICMPv6 types 133 to 137)
    uint8_t dscp{0};       //!< differentiated services code point, 0..63
    uint8_t ecn{0};        //!< ECN field: 0 not capable, 1 and 2 capable, 3 congestion experienced
    uint8_t ttl{0};        //!< time to live or hop limit
    uint32_t hash{0};      //!< of addresses, protocol and ports; without ports where not every
                           //!< packet of the flow has them (fragments, other protocols)
};

/**
 * @ingroup fabricdevice
 * @brief Parse a packet.
 *
 * @param packet the packet, starting with the header of its network protocol.
 * @param etherType of that protocol.
 * @return its fields; only the hash if it is not IP or too short.
 */
PacketFields Inspect(const Packet& packet, uint16_t etherType);

/**
 * @ingroup fabricdevice
 * @brief Parse the packet of a queue disc, which has no IP header yet.
 *
 * @param item the packet with its header.
 * @return the fields that determine its class: ip, dscp and discovery.
 */
PacketFields Inspect(const QueueItem& item);

/**
 * @ingroup fabricdevice
 * @brief Write the fields changed by the network into the header of an IP packet, and update its
 * checksum.
 *
 * @param packet the packet, starting with its IP header.
 * @param etherType IPv4 or IPv6; other packets are left unchanged.
 * @param congested whether to set the ECN field to "congestion experienced".
 * @param ttl time to live or hop limit.
 */
void Rewrite(Ptr<Packet> packet, uint16_t etherType, bool congested, uint8_t ttl);

/**
 * @ingroup fabricdevice
 * @brief Copy the state of the carrying frame into a packet: the ECN mark, and the hop count if it
 * applies.
 *
 * @param packet the packet, starting with the header of its network protocol.
 * @param etherType of that protocol.
 * @param frame the frame.
 * @param routedHops whether switches count as routers; not for broadcasts and neighbour discovery.
 * @return true if the packet has changed.
 */
bool WriteMarks(Ptr<Packet> packet,
                uint16_t etherType,
                const lossless::Frame& frame,
                bool routedHops);

} // namespace fabricdevice
} // namespace ns3

#endif /* FABRICDEVICE_PACKET_H */
