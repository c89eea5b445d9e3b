/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "fabricdevice-packet-speller.h"

#include "fabricdevice-net-device.h"
#include "fabricdevice-packet.h"
#include "fabricdevice-vlan-tag.h"

#include "ns3/boolean.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-l3-protocol.h"

#include <algorithm>

namespace ns3
{
namespace fabricdevice
{

NS_OBJECT_ENSURE_REGISTERED(PacketSpeller);

namespace
{

constexpr uint32_t TYPE_AT = 12;     //!< of the EtherType in a header without a tag
constexpr uint32_t TAG_BYTES = 4;    //!< of an 802.1Q tag
constexpr uint32_t IPV4_BYTES = 20;  //!< IPv4 header without options
constexpr uint32_t IPV6_BYTES = 40;  //!< fixed IPv6 header
constexpr uint32_t CHECKSUM_AT = 10; //!< in an IPv4 header
constexpr uint8_t CONGESTED = 3;     //!< ECN field (RFC 3168)

/**
 * @brief Two bytes as a number.
 *
 * @param bytes the first.
 * @return it.
 */
uint16_t
Word(const uint8_t* bytes)
{
    return static_cast<uint16_t>(bytes[0] << 8 | bytes[1]);
}

/**
 * @brief Make the checksum of an IPv4 header anew (RFC 1071).
 *
 * @param ip the header.
 * @param size its length. [B]
 */
void
PutChecksum(uint8_t* ip, uint32_t size)
{
    ip[CHECKSUM_AT] = ip[CHECKSUM_AT + 1] = 0;
    uint32_t sum = 0;
    for (uint32_t at = 0; at + 1 < size; at += 2)
    {
        sum += Word(ip + at);
    }
    while (sum >> 16)
    {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    ip[CHECKSUM_AT] = static_cast<uint8_t>(~sum >> 8);
    ip[CHECKSUM_AT + 1] = static_cast<uint8_t>(~sum);
}

} // namespace

TypeId
PacketSpeller::GetTypeId()
{
    static TypeId tid = TypeId("ns3::fabricdevice::PacketSpeller")
                            .SetParent<lossless::FrameSpeller>()
                            .SetGroupName("fabricdevice")
                            .AddConstructor<PacketSpeller>();
    return tid;
}

void
PacketSpeller::SetNodes(const std::vector<const lossless::FabricNode*>& nodes)
{
    m_routedHops = std::any_of(nodes.begin(), nodes.end(), [](const lossless::FabricNode* node) {
        const auto device =
            node ? dynamic_cast<const FabricNetDevice*>(node->GetPacketReceiver()) : nullptr;
        BooleanValue routed(false);
        if (device)
        {
            device->GetAttribute("RoutedHops", routed);
        }
        return routed.Get();
    });
}

bool
PacketSpeller::Spell(const lossless::Frame& frame,
                     uint32_t /* sender */,
                     bool /* tagged */,
                     lossless::FrameBytes& bytes) const
{
    if (frame.kind != lossless::FrameKind::PACKET)
    {
        return false;
    }
    const uint32_t size = frame.packet->GetSize();
    uint8_t* data = bytes.Extend(size);
    frame.packet->CopyData(data, size);
    const uint32_t shortest = TYPE_AT + 2 + TAG_BYTES + IPV4_BYTES;
    if (size < shortest)
    {
        return true;
    }
    const uint32_t at = Word(data + TYPE_AT) == VlanTag::ETHERTYPE ? TYPE_AT + TAG_BYTES : TYPE_AT;
    const uint16_t etherType = Word(data + at);
    uint8_t* ip = data + at + 2;
    const bool routed = m_routedHops && frame.dst != lossless::ALL_NODES;
    if (etherType == Ipv4L3Protocol::PROT_NUMBER)
    {
        const bool summed = Word(ip + CHECKSUM_AT) != 0; // ns-3 leaves it 0 unless told to
        ip[1] |= frame.ecn == CONGESTED ? CONGESTED : 0;
        ip[8] = routed ? frame.ttl : ip[8];
        if (summed)
        {
            PutChecksum(ip, std::min(4U * (ip[0] & 0xf), size - at - 2));
        }
    }
    else if (etherType == Ipv6L3Protocol::PROT_NUMBER && size >= at + 2 + IPV6_BYTES)
    {
        ip[1] |= frame.ecn == CONGESTED ? CONGESTED << 4 : 0;
        const PacketFields fields =
            Inspect(*frame.packet->CreateFragment(at + 2, size - at - 2), etherType);
        ip[7] = routed && !fields.discovery ? frame.ttl : ip[7];
    }
    return true;
}

} // namespace fabricdevice
} // namespace ns3
