/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "fabricdevice-packet.h"

#include "fabricdevice-vlan-tag.h"

#include "ns3/ethernet-header.h"
#include "ns3/hash.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv6-header.h"
#include "ns3/ipv6-queue-disc-item.h"
#include "ns3/node.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace ns3
{
namespace fabricdevice
{

namespace
{

constexpr uint16_t IPV4 = 0x0800;              //!< EtherType
constexpr uint16_t IPV6 = 0x86dd;              //!< EtherType
constexpr std::size_t IPV4_BYTES = 20;         //!< IPv4 header without options
constexpr std::size_t IPV6_BYTES = 40;         //!< fixed IPv6 header
constexpr std::size_t PORTS_BYTES = 4;         //!< source and destination port
constexpr std::size_t LONGEST_IPV4_BYTES = 60; //!< IPv4 header with options
constexpr uint8_t TCP = 6;                     //!< protocol number (IANA)
constexpr uint8_t UDP = 17;                    //!< protocol number (IANA)
constexpr uint8_t ICMPV6 = 58;                 //!< protocol number (IANA)
constexpr uint16_t FRAGMENT_MASK = 0x3fff;     //!< "more fragments", and the offset (RFC 791)

/// Input of the hash; missing fields stay 0.
struct FlowKey
{
    std::array<uint8_t, 32> addresses{}; //!< source and destination
    std::array<uint8_t, 4> ports{};      //!< source and destination
    uint8_t protocol{0};                 //!< protocol above IP

    /// Hash it. @return 32 bits.
    uint32_t Hash() const
    {
        std::array<char, 37> text;
        auto end = std::copy(addresses.begin(), addresses.end(), text.begin());
        end = std::copy(ports.begin(), ports.end(), end);
        *end = static_cast<char>(protocol);
        return Hash32(text.data(), text.size());
    }
};

} // namespace

bool
RemoveLinkHeader(Ptr<Packet> packet, LinkHeader* link)
{
    if (packet->GetSize() < ETHERNET_BYTES)
    {
        return false;
    }
    EthernetHeader header(false);
    packet->RemoveHeader(header);
    *link = {header.GetSource(), header.GetDestination(), header.GetLengthType()};
    if (link->etherType != VlanTag::ETHERTYPE)
    {
        return true;
    }
    if (packet->GetSize() < TAG_BYTES)
    {
        return false;
    }
    VlanTag tag;
    packet->RemoveHeader(tag);
    link->etherType = tag.GetEtherType();
    return true;
}

void
AddLinkHeader(Ptr<Packet> packet, const LinkHeader& link, bool tagged)
{
    EthernetHeader header(false);
    header.SetSource(link.source);
    header.SetDestination(link.dest);
    header.SetLengthType(tagged ? VlanTag::ETHERTYPE : link.etherType);
    packet->AddHeader(header);
}

PacketFields
Inspect(const Packet& packet, uint16_t etherType)
{
    std::array<uint8_t, LONGEST_IPV4_BYTES + PORTS_BYTES> bytes;
    const std::size_t there = packet.CopyData(bytes.data(), bytes.size());
    PacketFields fields;
    FlowKey key;
    std::size_t payload = 0; // offset of the payload
    bool whole = true;
    if (etherType == IPV4 && there >= IPV4_BYTES)
    {
        fields.ip = true;
        fields.dscp = bytes[1] >> 2;
        fields.ecn = bytes[1] & 3;
        fields.ttl = bytes[8];
        key.protocol = bytes[9];
        std::copy_n(&bytes[12], 8, key.addresses.begin());
        whole = ((bytes[6] << 8 | bytes[7]) & FRAGMENT_MASK) == 0;
        payload = 4U * (bytes[0] & 0xf);
    }
    else if (etherType == IPV6 && there >= IPV6_BYTES)
    {
        fields.ip = true;
        const auto traffic = static_cast<uint8_t>(bytes[0] << 4 | bytes[1] >> 4);
        fields.dscp = traffic >> 2;
        fields.ecn = traffic & 3;
        fields.ttl = bytes[7];
        key.protocol = bytes[6];
        std::copy_n(&bytes[8], 32, key.addresses.begin());
        payload = IPV6_BYTES;
        fields.discovery = key.protocol == ICMPV6 && there > payload && bytes[payload] >= 133 &&
                           bytes[payload] <= 137;
    }
    if (whole && (key.protocol == TCP || key.protocol == UDP) && payload + PORTS_BYTES <= there)
    {
        std::copy_n(&bytes[payload], PORTS_BYTES, key.ports.begin());
    }
    fields.hash = key.Hash();
    return fields;
}

PacketFields
Inspect(const QueueItem& item)
{
    PacketFields fields;
    uint8_t traffic = 0;
    fields.ip = item.GetUint8Value(QueueItem::IP_DSFIELD, traffic);
    fields.dscp = traffic >> 2;
    const auto* ipv6 = dynamic_cast<const Ipv6QueueDiscItem*>(&item);
    if (ipv6 && ipv6->GetHeader().GetNextHeader() == ICMPV6)
    {
        uint8_t type = 0;
        item.GetPacket()->CopyData(&type, 1);
        fields.discovery = type >= 133 && type <= 137;
    }
    return fields;
}

void
Rewrite(Ptr<Packet> packet, uint16_t etherType, bool congested, uint8_t ttl)
{
    if (etherType == IPV4)
    {
        Ipv4Header header;
        packet->RemoveHeader(header);
        if (Node::ChecksumEnabled())
        {
            header.EnableChecksum();
        }
        if (congested)
        {
            header.SetEcn(Ipv4Header::ECN_CE);
        }
        header.SetTtl(ttl);
        packet->AddHeader(header);
    }
    else if (etherType == IPV6)
    {
        Ipv6Header header;
        packet->RemoveHeader(header);
        if (congested)
        {
            header.SetEcn(Ipv6Header::ECN_CE);
        }
        header.SetHopLimit(ttl);
        packet->AddHeader(header);
    }
}

bool
WriteMarks(Ptr<Packet> packet, uint16_t etherType, const lossless::Frame& frame, bool routedHops)
{
    const bool congested = frame.ecn == CONGESTED;
    if (!congested && !routedHops)
    {
        return false;
    }
    const PacketFields fields = Inspect(*packet, etherType);
    const bool routed = routedHops && frame.dst != lossless::ALL_NODES && !fields.discovery;
    const bool mark = congested && fields.ecn != CONGESTED;
    if (!fields.ip || (!mark && !routed))
    {
        return false;
    }
    Rewrite(packet, etherType, mark, routed ? frame.ttl : fields.ttl);
    return true;
}

} // namespace fabricdevice
} // namespace ns3
