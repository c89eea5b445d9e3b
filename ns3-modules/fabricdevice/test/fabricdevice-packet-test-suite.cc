/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/boolean.h"
#include "ns3/fabricdevice-packet.h"
#include "ns3/fabricdevice-vlan-tag.h"
#include "ns3/global-value.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv6-header.h"
#include "ns3/packet.h"
#include "ns3/test.h"
#include "ns3/udp-header.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

/**
 * @defgroup fabricdevice-tests Tests of fabricdevice
 * @ingroup fabricdevice
 */

/**
 * @file
 * @ingroup fabricdevice-tests
 * What the device reads in packets and writes into them, against bytes written by hand.
 */

namespace ns3
{
namespace fabricdevice
{
namespace tests
{

constexpr uint16_t IPV4 = 0x0800; //!< EtherType
constexpr uint16_t IPV6 = 0x86dd; //!< EtherType
constexpr uint16_t ARP = 0x0806;  //!< EtherType

/// The bytes of a packet. @param packet it. @return bytes.
std::vector<uint8_t>
BytesOf(Ptr<const Packet> packet)
{
    std::vector<uint8_t> bytes(packet->GetSize());
    packet->CopyData(bytes.data(), static_cast<uint32_t>(bytes.size()));
    return bytes;
}

/// A packet of given bytes. @param bytes bytes. @return packet.
Ptr<Packet>
PacketOf(const std::vector<uint8_t>& bytes)
{
    return Create<Packet>(bytes.data(), static_cast<uint32_t>(bytes.size()));
}

/// 10.0.0.1:1000 to 10.0.0.2:2000, UDP, DSCP 46, ECT(0), TTL 7.
/// @return its bytes
std::vector<uint8_t>
Ipv4Bytes()
{
    return {0x45, 0xba, 0,  28, 0, 1, 0,    0,    7,    17,   0, 0, 10, 0,
            0,    1,    10, 0,  0, 2, 0x03, 0xe8, 0x07, 0xd0, 0, 8, 0,  0};
}

/// An IPv6 packet, its addresses 0x11. @param head all before them. @param payload what follows.
/// @return its bytes
std::vector<uint8_t>
Ipv6Bytes(const std::array<uint8_t, 8>& head, const std::vector<uint8_t>& payload = {})
{
    std::vector<uint8_t> bytes(40 + payload.size(), 0x11);
    std::copy(head.begin(), head.end(), bytes.begin());
    std::copy(payload.begin(), payload.end(), bytes.begin() + 40);
    return bytes;
}

/// @ingroup fabricdevice-tests
/// @brief Fields of packets.
class InspectTest : public TestCase
{
  public:
    InspectTest()
        : TestCase("class, congestion, time to live and flow are read where the standards put them")
    {
    }

  private:
    void DoRun() override
    {
        const PacketFields udp = Inspect(*PacketOf(Ipv4Bytes()), IPV4);
        NS_TEST_ASSERT_MSG_EQ(udp.ip, true, "IPv4");
        NS_TEST_ASSERT_MSG_EQ(+udp.dscp, 46, "DSCP");
        NS_TEST_ASSERT_MSG_EQ(+udp.ecn, 2, "ECT(0)");
        NS_TEST_ASSERT_MSG_EQ(+udp.ttl, 7, "TTL");

        // Each part of the 5-tuple counts, and nothing else does.
        std::set<uint32_t> hashes{udp.hash};
        for (const std::size_t at : {12U, 15U, 16U, 19U, 20U, 21U, 22U, 23U})
        {
            auto bytes = Ipv4Bytes();
            bytes[at] ^= 1;
            hashes.insert(Inspect(*PacketOf(bytes), IPV4).hash);
        }
        auto tcp = Ipv4Bytes();
        tcp[9] = 6;
        hashes.insert(Inspect(*PacketOf(tcp), IPV4).hash);
        NS_TEST_ASSERT_MSG_EQ(hashes.size(), 10, "ten flows");
        for (const std::size_t at : {1U, 5U, 8U, 25U})
        {
            auto bytes = Ipv4Bytes();
            bytes[at] ^= 1;
            NS_TEST_ASSERT_MSG_EQ(Inspect(*PacketOf(bytes), IPV4).hash,
                                  udp.hash,
                                  "the same flow, byte " << at);
        }

        // The fragments of a packet stay together, though only the first has ports.
        auto first = Ipv4Bytes();
        first[6] = 0x20;
        auto second = Ipv4Bytes();
        second[7] = 1;
        second[20] = 99;
        NS_TEST_ASSERT_MSG_EQ(Inspect(*PacketOf(first), IPV4).hash,
                              Inspect(*PacketOf(second), IPV4).hash,
                              "fragments");
        NS_TEST_ASSERT_MSG_NE(Inspect(*PacketOf(first), IPV4).hash, udp.hash, "without ports");

        // Ports behind options
        auto options = Ipv4Bytes();
        options[0] = 0x46;
        options.insert(options.begin() + 20, {1, 1, 1, 1});
        NS_TEST_ASSERT_MSG_EQ(Inspect(*PacketOf(options), IPV4).hash, udp.hash, "options");

        auto v6 = Ipv6Bytes({0x6b, 0xa1, 0x23, 0x45, 0, 8, 17, 9}, {3, 232, 7, 208, 0, 8, 0, 0});
        const PacketFields udp6 = Inspect(*PacketOf(v6), IPV6);
        NS_TEST_ASSERT_MSG_EQ(+udp6.dscp, 46, "DSCP of the traffic class");
        NS_TEST_ASSERT_MSG_EQ(+udp6.ecn, 2, "ECT(0)");
        NS_TEST_ASSERT_MSG_EQ(+udp6.ttl, 9, "hop limit");
        NS_TEST_ASSERT_MSG_EQ(udp6.discovery, false, "UDP");
        for (const int type : {128, 132, 133, 137, 138})
        {
            v6[6] = 58;
            v6[40] = static_cast<uint8_t>(type);
            NS_TEST_ASSERT_MSG_EQ(Inspect(*PacketOf(v6), IPV6).discovery,
                                  (type >= 133 && type <= 137),
                                  "ICMPv6 type " << type);
        }

        NS_TEST_ASSERT_MSG_EQ(Inspect(*PacketOf(Ipv4Bytes()), ARP).ip, false, "ARP is not IP");
        NS_TEST_ASSERT_MSG_EQ(Inspect(*PacketOf({0x45, 0xba, 0}), IPV4).ip,
                              false,
                              "too short to be IPv4");
    }
};

/// @ingroup fabricdevice-tests
/// @brief What the network changed.
class RewriteTest : public TestCase
{
  public:
    RewriteTest()
        : TestCase("congestion and time to live are written, and the checksum is that of RFC 1071")
    {
    }

  private:
    void DoRun() override
    {
        GlobalValue::Bind("ChecksumEnabled", BooleanValue(true));
        for (const bool congested : {false, true})
        {
            auto packet = PacketOf(Ipv4Bytes());
            Rewrite(packet, IPV4, congested, 5);
            const auto bytes = BytesOf(packet);
            auto expected = Ipv4Bytes();
            expected[1] = congested ? 0xbb : 0xba;
            expected[8] = 5;
            // RFC 1071: the sum of all words of a header with its checksum is ones
            uint32_t sum = 0;
            for (std::size_t at = 0; at < 20; at += 2)
            {
                sum += static_cast<uint32_t>(bytes[at] << 8 | bytes[at + 1]);
            }
            sum = (sum & 0xffff) + (sum >> 16);
            NS_TEST_ASSERT_MSG_EQ(sum, 0xffff, "checksum");
            expected[10] = bytes[10];
            expected[11] = bytes[11];
            NS_TEST_ASSERT_MSG_EQ((bytes == expected), true, "nothing else has changed");
        }
        GlobalValue::Bind("ChecksumEnabled", BooleanValue(false));

        auto v6 = Ipv6Bytes({0x6b, 0xa0, 0, 0, 0, 0, 59, 9});
        auto packet = PacketOf(v6);
        Rewrite(packet, IPV6, true, 8);
        v6[1] = 0xb0;
        v6[7] = 8;
        NS_TEST_ASSERT_MSG_EQ((BytesOf(packet) == v6), true, "IPv6");

        auto arp = PacketOf(Ipv4Bytes());
        Rewrite(arp, ARP, true, 1);
        NS_TEST_ASSERT_MSG_EQ((BytesOf(arp) == Ipv4Bytes()), true, "anything else is left alone");
    }
};

/// @ingroup fabricdevice-tests
/// @brief The tag, against IEEE 802.1Q, figure 9-2.
class VlanTagTest : public TestCase
{
  public:
    VlanTagTest()
        : TestCase("a tag is priority, DEI 0 and VLAN in two bytes, then the EtherType")
    {
    }

  private:
    void DoRun() override
    {
        auto packet = Create<Packet>();
        packet->AddHeader(VlanTag(5, 0x123, IPV6));
        NS_TEST_ASSERT_MSG_EQ((BytesOf(packet) == std::vector<uint8_t>{0xa1, 0x23, 0x86, 0xdd}),
                              true,
                              "bytes");
        VlanTag tag;
        packet->RemoveHeader(tag);
        NS_TEST_ASSERT_MSG_EQ(+tag.GetPriority(), 5, "priority");
        NS_TEST_ASSERT_MSG_EQ(tag.GetVlan(), 0x123, "VLAN");
        NS_TEST_ASSERT_MSG_EQ(tag.GetEtherType(), IPV6, "EtherType");
    }
};

/// @ingroup fabricdevice-tests
/// @brief Tests of what is in packets.
class PacketTestSuite : public TestSuite
{
  public:
    PacketTestSuite()
        : TestSuite("fabricdevice-packet", Type::UNIT)
    {
        AddTestCase(new InspectTest, TestCase::Duration::QUICK);
        AddTestCase(new RewriteTest, TestCase::Duration::QUICK);
        AddTestCase(new VlanTagTest, TestCase::Duration::QUICK);
    }
};

static PacketTestSuite g_packetTestSuite; //!< registers the suite

} // namespace tests
} // namespace fabricdevice
} // namespace ns3
