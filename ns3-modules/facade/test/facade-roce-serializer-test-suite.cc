/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-test-network.h"

#include "ns3/observe-frame-serializer.h"
#include "ns3/rdma-roce-serializer.h"
#include "ns3/test.h"

#include <fstream>
#include <iterator>

/**
 * @file
 * @ingroup facade-tests
 * RoCEv2 frames byte by byte, and those of a message with a lost packet.
 */

namespace ns3
{
namespace facade
{
namespace tests
{

using rdma::InvariantCrc;

using lossless::Frame;
using lossless::FrameKind;
using observe::FrameBytes;

namespace
{

/// Read bytes written as pairs of hexadecimal digits.
/// @param text digits; blanks between them do not count. @return the bytes.
std::vector<uint8_t>
Bytes(const std::string& text)
{
    std::vector<uint8_t> bytes;
    std::string pair;
    for (const char c : text)
    {
        if (c != ' ')
        {
            pair += c;
        }
        if (pair.size() == 2)
        {
            bytes.push_back(static_cast<uint8_t>(std::stoul(pair, nullptr, 16)));
            pair.clear();
        }
    }
    return bytes;
}

} // namespace

/// @ingroup facade-tests
/// @brief The invariant CRC of a packet that a NIC's driver sent and that was captured.
class InvariantCrcTest : public TestCase
{
  public:
    InvariantCrcTest()
        : TestCase("the ICRC of a captured RDMA WRITE is the one it was sent with")
    {
    }

  private:
    void DoRun() override
    {
        // 192.168.2.1 to 192.168.2.2, RDMA WRITE Only of 16 bytes, sent with the ICRC ca47470e
        auto packet = Bytes("4500004c 00010000 4011f54c c0a80201 c0a80202 01f412b7 0038ffa6"
                            "0a00ffff 00000002 00000000 00000000 00001230 00000000 00000010"
                            "00010203 04050607 08090a0b 0c0d0e0f");
        constexpr uint32_t EXPECTED = 0x0e4747ca; // least significant byte first
        NS_TEST_ASSERT_MSG_EQ(InvariantCrc(packet.data(), packet.size()), EXPECTED, "as captured");
        for (const std::size_t at : {1, 8, 10, 11, 26, 27, 32})
        {
            packet[at] ^= 0x5a; // what a switch may change
        }
        NS_TEST_ASSERT_MSG_EQ(InvariantCrc(packet.data(), packet.size()), EXPECTED, "invariant");
        packet[33] ^= 1; // the queue pair
        NS_TEST_ASSERT_MSG_NE(InvariantCrc(packet.data(), packet.size()), EXPECTED, "all else");
    }
};

/// @ingroup facade-tests
/// @brief Frames made by hand.
class RoceSerializerTest : public TestCase
{
  public:
    RoceSerializerTest()
        : TestCase("data, ACK, NAK and CNP have the bytes of RoCEv2")
    {
    }

  private:
    /// Serialize a frame and compare all but its ICRC with what is expected.
    /// @param frame it. @param expected without the Ethernet header and the ICRC. @param what for
    /// messages.
    void Check(const Frame& frame, const std::string& expected, const std::string& what)
    {
        const observe::FrameSerializers serializers({});
        FrameBytes bytes;
        const uint32_t length = serializers.Serialize(frame, 7, true, true, bytes);
        const auto wanted = Bytes(expected);
        NS_TEST_ASSERT_MSG_EQ(length, 18 + wanted.size() + 4 + 4, what << ": length");
        for (std::size_t i = 0; i < wanted.size(); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(+bytes.GetData()[18 + i], +wanted[i], what << ": byte " << i);
        }
        const uint32_t crc = InvariantCrc(bytes.GetData() + 18, wanted.size());
        for (std::size_t i = 0; i < 4; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(+bytes.GetData()[18 + wanted.size() + i],
                                  (crc >> 8 * i & 0xff),
                                  what << ": byte of the ICRC " << i);
        }
    }

    void DoRun() override
    {
        Frame frame;
        frame.flow = 0x12345;
        frame.src = 1;
        frame.dst = 2;
        frame.hash = 0x0003'4001; // 0x4001 ^ 0x0003 in 14 bits is 2
        frame.cls = 3;
        frame.ttl = 63;
        frame.ecn = 1;
        frame.payload = 6;
        frame.psn = 0x1fffffe; // 25 bits: the highest does not go
        frame.bytes = 66 + 8;
        frame.word[0] = 1;
        // total 0x34, DSCP 24 and ECT(0), checksum by hand: 4562 + 0034 + 0000 + 4000 + 3f11 + 0a00
        // + 0002 + 0a00 + 0003 = d8ac; port c002; pad count 2
        Check(frame,
              "45620034 00004000 3f112753 0a000002 0a000003 c00212b7 00200000"
              "0760ffff 00012347 80fffffe 0000000000000000",
              "a middle packet that asks for an ACK");
        frame.ecn = 3;
        frame.word[0] = 0;
        frame.cls = 8;
        // 45c3 instead of 4562
        Check(frame,
              "45c30034 00004000 3f1126f2 0a000002 0a000003 c00212b7 00200000"
              "0760ffff 00012347 00fffffe 0000000000000000",
              "a marked packet in the control queue");

        Frame answer;
        answer.kind = FrameKind::ACK;
        answer.flow = 1;
        answer.src = 2;
        answer.dst = 1;
        answer.cls = 0;
        answer.ttl = 64;
        answer.bytes = 70;
        answer.word = {0x1000001, 9};
        Check(answer,
              "45000030 00004000 401126b9 0a000003 0a000002 c00012b7 001c0000"
              "1140ffff 00000003 00000000 1f000000",
              "an ACK of the last packet in order");
        answer.ecn = 3;
        answer.kind = FrameKind::NACK;
        Check(answer,
              "45000030 00004000 401126b9 0a000003 0a000002 c00012b7 001c0000"
              "1140ffff 40000003 00000001 60000000",
              "a NAK names the expected packet, BECN echoes a mark");
        answer.kind = FrameKind::CNP;
        answer.bytes = 82;
        Check(answer,
              "4500003c 00004000 401126ad 0a000003 0a000002 c00012b7 00280000"
              "8140ffff 40000003 00000000 00000000000000000000000000000000",
              "a CNP");

        // 14 + 20 + 8 + 12 + 4 + 4 + 4 are 66 bytes without a tag, 70 with one
        const observe::FrameSerializers serializers({});
        FrameBytes bytes;
        answer.kind = FrameKind::ACK;
        answer.bytes = 64;
        NS_TEST_EXPECT_MSG_EQ(serializers.Serialize(answer, 7, true, true, bytes),
                              70,
                              "tagged ACK");
        NS_TEST_EXPECT_MSG_EQ(bytes.GetSize(), 64, "as long as in the model");
        NS_TEST_EXPECT_MSG_EQ(serializers.Serialize(answer, 7, false, true, bytes),
                              66,
                              "untagged ACK");
    }
};

/// @ingroup facade-tests
/// @brief The file of a port over which a message goes, of which one packet is lost.
class RoceMessageTest : public TestCase
{
  public:
    RoceMessageTest()
        : TestCase("a message is First, Middle, Last, and after a NAK what it names comes again")
    {
    }

  private:
    /// The examined parts of a frame.
    struct Seen
    {
        uint32_t opcode;  //!< of the BTH
        uint32_t psn;     //!< of the BTH
        uint32_t length;  //!< of the frame, without FCS
        uint32_t message; //!< RETH: DMA length; AETH: MSN
    };

    /// A number of some bytes, most significant first.
    /// @param bytes of a frame. @param at where it begins. @param n how many bytes. @return it.
    static uint32_t Number(const std::string& bytes, std::size_t at, std::size_t n)
    {
        uint32_t number = 0;
        for (std::size_t i = at; i < at + n; ++i)
        {
            number = number << 8 | static_cast<uint8_t>(bytes[i]);
        }
        return number;
    }

    /// Read the frames of a file. @param name path. @return them in order.
    static std::vector<Seen> Read(const std::string& name)
    {
        std::ifstream in(name, std::ios::binary);
        const std::string all{std::istreambuf_iterator<char>(in), {}};
        std::vector<Seen> seen;
        for (std::size_t at = 24; at < all.size();)
        {
            const auto length = static_cast<uint8_t>(all[at + 8]) |
                                static_cast<uint32_t>(static_cast<uint8_t>(all[at + 9])) << 8;
            at += 16;
            const uint32_t opcode = Number(all, at + 46, 1);
            const bool reth = opcode == 0x06 || opcode == 0x0a;
            seen.push_back({opcode,
                            Number(all, at + 55, 3),
                            length,
                            reth             ? Number(all, at + 70, 4)
                            : opcode == 0x11 ? Number(all, at + 59, 3)
                                             : 0});
            at += length;
        }
        return seen;
    }

    void DoRun() override
    {
        TestConnection();
        Network net;
        net.Set("QueuePair", "HeaderSize", 66);
        net.Set("QueuePair", "AckSize", 70);
        net.Set("QueuePair", "AnswerClass", 3);
        bool lost = false;
        Eraser::Install(net, [&](const Frame& frame) {
            const bool now = !lost && frame.kind == FrameKind::DATA && frame.psn == 1;
            lost = lost || now;
            return now;
        });
        net.Star(3, 10'000'000'000, 1'000'000);
        net.Flow(0, 1, 3'500);
        net.Flow(2, 1, 40, 50'000'000);
        net.sim.SetAttribute("ns3::observe::PcapTap", "Direction", "Transmit");
        net.sim.Build();
        const std::string folder = CreateTempDirFilename("");
        const uint32_t nodes[] = {0, 1, 1, 2};
        const int64_t peers[] = {3, -1, 3, 3};
        NS_TEST_ASSERT_MSG_EQ(net.sim.TracePcap(nodes, peers, 4, folder), "", "can be written");
        net.sim.Run(1'000'000'000);
        net.sim.Finish();

        const auto data = Read(folder + "/h0-s3.pcap");
        const std::vector<Seen> sent{{0x06, 0, 1062, 3'500},
                                     {0x07, 1, 1062, 0},
                                     {0x07, 2, 1062, 0},
                                     {0x08, 3, 562, 0},
                                     {0x07, 1, 1062, 0},
                                     {0x07, 2, 1062, 0},
                                     {0x08, 3, 562, 0}};
        Compare(data, sent, "data");
        const auto answers = Read(folder + "/h1-s3.pcap");
        const std::vector<Seen> got{{0x11, 0, 66, 0},
                                    {0x11, 1, 66, 0},
                                    {0x11, 1, 66, 0},
                                    {0x11, 2, 66, 0},
                                    {0x11, 3, 66, 1},
                                    {0x11, 0, 66, 1}};
        Compare(answers, got, "ACK, NAK of 1, then ACKs; the ACK of the other flow");
        const auto only = Read(folder + "/h2-s3.pcap");
        Compare(only, {{0x0a, 0, 102, 40}}, "a message of one packet");
        NS_TEST_EXPECT_MSG_EQ(net.sim.GetPcaps(),
                              folder + "/h0-s3.pcap\t7\t0\n" + folder + "/h1-s3.pcap\t6\t0\n" +
                                  folder + "/h2-s3.pcap\t1\t0\n",
                              "each port has one file");
    }

    /// Two messages on one connection, of which the second one is longer, and its source port.
    void TestConnection()
    {
        Network net;
        net.Set("QueuePair", "HeaderSize", 66);
        net.Set("QueuePair", "AckSize", 70);
        net.Set("QueuePair", "AnswerClass", 3);
        net.Star(2, 10'000'000'000, 1'000'000);
        const uint32_t first = net.Flow(0, 1, 1'500);
        const uint32_t others[] = {net.Flow(0, 1, 2'500), net.Flow(0, 1, 40, 50'000'000)};
        const uint32_t connections[] = {first, first};
        net.sim.SetConnections(others, connections, 2);
        const uint16_t port = 61'844;
        net.sim.SetSourcePorts(&first, &port, 1);
        net.sim.SetAttribute("ns3::observe::PcapTap", "Direction", "Transmit");
        net.sim.Build();
        const std::string folder = CreateTempDirFilename("");
        const uint32_t nodes[] = {0, 1};
        const int64_t peers[] = {2, 2};
        NS_TEST_ASSERT_MSG_EQ(net.sim.TracePcap(nodes, peers, 2, folder), "", "can be written");
        net.sim.Run(1'000'000'000);
        net.sim.Finish();
        Compare(Read(folder + "/h0-s2.pcap"),
                {{0x06, 0, 1062, 1'500},
                 {0x08, 1, 562, 0},
                 {0x06, 2, 1062, 2'500},
                 {0x07, 3, 1062, 0},
                 {0x08, 4, 562, 0},
                 {0x0a, 5, 102, 40}},
                "three messages");
        Compare(Read(folder + "/h1-s2.pcap"),
                {{0x11, 0, 66, 0},
                 {0x11, 1, 66, 1},
                 {0x11, 2, 66, 1},
                 {0x11, 3, 66, 1},
                 {0x11, 4, 66, 2},
                 {0x11, 5, 66, 3}},
                "the ACKs count them");
        for (const std::string name : {"/h0-s2.pcap", "/h1-s2.pcap"})
        {
            std::ifstream in(folder + name, std::ios::binary);
            const std::string all{std::istreambuf_iterator<char>(in), {}};
            NS_TEST_EXPECT_MSG_EQ(Number(all, 24 + 16 + 38, 2), port, "source port in " << name);
        }
    }

    /// Compare what was seen. @param got frames. @param expected frames. @param what for messages.
    void Compare(const std::vector<Seen>& got,
                 const std::vector<Seen>& expected,
                 const std::string& what)
    {
        NS_TEST_ASSERT_MSG_EQ(got.size(), expected.size(), what << ": frames");
        for (std::size_t i = 0; i < got.size(); ++i)
        {
            NS_TEST_EXPECT_MSG_EQ(got[i].opcode, expected[i].opcode, what << ": opcode of " << i);
            NS_TEST_EXPECT_MSG_EQ(got[i].psn, expected[i].psn, what << ": PSN of " << i);
            NS_TEST_EXPECT_MSG_EQ(got[i].length, expected[i].length, what << ": length of " << i);
            NS_TEST_EXPECT_MSG_EQ(got[i].message, expected[i].message, what << ": message " << i);
        }
    }
};

/// @ingroup facade-tests
/// @brief Tests of RoceSerializer.
class RoceSerializerTestSuite : public TestSuite
{
  public:
    RoceSerializerTestSuite()
        : TestSuite("facade-roce-serializer", Type::UNIT)
    {
        AddTestCase(new InvariantCrcTest, TestCase::Duration::QUICK);
        AddTestCase(new RoceSerializerTest, TestCase::Duration::QUICK);
        AddTestCase(new RoceMessageTest, TestCase::Duration::QUICK);
    }
};

static RoceSerializerTestSuite g_roceSerializerTestSuite; //!< registers the suite

} // namespace tests
} // namespace facade
} // namespace ns3
