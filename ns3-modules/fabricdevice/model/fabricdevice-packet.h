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

/// An Ethernet header, read.
struct LinkHeader
{
    Mac48Address source;   //!< address
    Mac48Address dest;     //!< address
    uint16_t etherType{0}; //!< of what is inside, behind a tag if there is one
};

/**
 * @ingroup fabricdevice
 * @brief Take the Ethernet header, and the 802.1Q tag if there is one, off a packet.
 *
 * @param packet it.
 * @param link what was in them.
 * @return false when the packet is too short for them.
 */
bool RemoveLinkHeader(Ptr<Packet> packet, LinkHeader* link);

/**
 * @ingroup fabricdevice
 * @brief Put the Ethernet header before a packet.
 *
 * @param packet it, from its 802.1Q tag on if it has one.
 * @param link what to write.
 * @param tagged it has a tag.
 */
void AddLinkHeader(Ptr<Packet> packet, const LinkHeader& link, bool tagged);

/// What a NIC reads in a packet to forward it.
struct PacketFields
{
    bool ip{false};        //!< IPv4 or IPv6; the fields below are of its header
    bool discovery{false}; //!< a message of IPv6 neighbour discovery (ICMPv6 types 133 to 137)
    uint8_t dscp{0};       //!< differentiated services code point, 0..63
    uint8_t ecn{0};        //!< ECN field: 0 not capable, 1 and 2 capable, 3 congestion experienced
    uint8_t ttl{0};        //!< time to live or hop limit
    uint32_t hash{0};      //!< of addresses, protocol and ports; without ports where not every
                           //!< packet of the flow has them (fragments, other protocols)
};

/**
 * @ingroup fabricdevice
 * @brief Read a packet.
 *
 * @param packet it, from the header of its network protocol on.
 * @param etherType of that protocol.
 * @return its fields; only the hash where it is not IP, or too short to be.
 */
PacketFields Inspect(const Packet& packet, uint16_t etherType);

/**
 * @ingroup fabricdevice
 * @brief Read the packet of a queue disc, which has no IP header yet.
 *
 * @param item the packet with its header.
 * @return what chooses its class: ip, dscp and discovery.
 */
PacketFields Inspect(const QueueItem& item);

/**
 * @ingroup fabricdevice
 * @brief Write what the network changed into the header of an IP packet; a checksum is made anew.
 *
 * @param packet it, from its IP header on.
 * @param etherType IPv4 or IPv6; any other packet is left as it is.
 * @param congested set the ECN field to "congestion experienced".
 * @param ttl time to live or hop limit.
 */
void Rewrite(Ptr<Packet> packet, uint16_t etherType, bool congested, uint8_t ttl);

/**
 * @ingroup fabricdevice
 * @brief Write into a packet what the fabric has noted on the frame that carries it: congestion,
 * and the hops if these count.
 *
 * @param packet it, from the header of its network protocol on.
 * @param etherType of that protocol.
 * @param frame the frame.
 * @param routedHops switches count as routers; not for broadcasts and neighbour discovery.
 * @return true when the packet has changed.
 */
bool WriteMarks(Ptr<Packet> packet,
                uint16_t etherType,
                const lossless::Frame& frame,
                bool routedHops);

} // namespace fabricdevice
} // namespace ns3

#endif /* FABRICDEVICE_PACKET_H */
