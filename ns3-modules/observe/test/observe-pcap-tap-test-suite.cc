/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../lossless/test/lossless-test-node.h"
#include "observe-fcs.h"

#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-shared-buffer.h"
#include "ns3/nstime.h"
#include "ns3/observe-frame-serializer.h"
#include "ns3/observe-pcap-helper.h"
#include "ns3/observe-pcap-tap.h"
#include "ns3/observe-probe.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <random>
#include <set>

/**
 * @file
 * @ingroup observe-tests
 * The bytes of frames, and the pcap files of ports: expected bytes are written by hand from the
 * standards.
 */

namespace ns3
{
namespace observe
{
namespace tests
{

using lossless::Frame;
using lossless::FramePool;
using lossless::tests::TestNode;

/// @ingroup observe-tests
/// @brief A routed message without a serializer of its own, and MAC control, byte by byte.
class FrameSerializerTest : public TestCase
{
  public:
    FrameSerializerTest()
        : TestCase("frames have the bytes of 802.3, 802.1Q, IPv4 and UDP and the model's length")
    {
    }

  private:
    /// Compare bytes.
    /// @param bytes those serialized. @param from index of the first. @param expected them.
    /// @param what for messages.
    void Check(const FrameBytes& bytes,
               std::size_t from,
               std::initializer_list<int> expected,
               const std::string& what)
    {
        NS_TEST_ASSERT_MSG_EQ((from + expected.size() <= bytes.GetSize()), true, what << ": short");
        std::size_t at = from;
        for (const int byte : expected)
        {
            NS_TEST_ASSERT_MSG_EQ(+bytes.GetData()[at], byte, what << ": byte " << at);
            ++at;
        }
    }

    /// A signal of no scheme: word[0] is one that no scheme uses.
    /// @return the frame
    static Frame Signal()
    {
        Frame frame;
        frame.kind = lossless::FrameKind::SIGNAL;
        frame.src = 0x0102;
        frame.dst = 3;
        frame.cls = 5;
        frame.ttl = 61;
        frame.bytes = 100;
        frame.word = {0x0102030405060708, 0x1112131415161718};
        return frame;
    }

    void DoRun() override
    {
        const FrameSerializers serializers({});
        FrameBytes bytes;
        Frame frame = Signal();
        NS_TEST_ASSERT_MSG_EQ(serializers.Serialize(frame, 9, true, true, bytes),
                              100,
                              "its length");
        NS_TEST_ASSERT_MSG_EQ(bytes.GetSize(), 100, "the length of the model");
        Check(bytes, 0, {0x02, 0, 0, 0, 0, 3, 0x02, 0, 0, 0, 1, 2}, "addresses");
        Check(bytes, 12, {0x81, 0x00, 0xa0, 0x00, 0x08, 0x00}, "tag of priority 5, IPv4");
        // 20 + 8 + 16 bytes; DSCP 40 is 0xa0; checksum done by hand: the sum of the other words is
        // 45a0 + 002c + 0000 + 4000 + 3d11 + 0a00 + 0103 + 0a00 + 0004 = d7e4
        Check(bytes,
              18,
              {0x45, 0xa0, 0x00, 0x2c, 0, 0, 0x40, 0, 61, 17, 0x28, 0x1b, 10, 0, 1, 3, 10, 0, 0, 4},
              "IPv4");
        Check(bytes, 38, {0xc0, 0x00, 0xc0, 0x00, 0, 24, 0, 0}, "UDP");
        Check(bytes, 46, {1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16}, "words");
        for (std::size_t at = 62; at < 96; ++at)
        {
            NS_TEST_ASSERT_MSG_EQ(+bytes.GetData()[at], 0, "padding byte " << at);
        }
        const uint32_t fcs = Fcs(bytes.GetData(), 96);
        for (std::size_t i = 0; i < 4; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(+bytes.GetData()[96 + i],
                                  (fcs >> 8 * i & 0xff),
                                  "FCS byte " << i);
        }

        NS_TEST_ASSERT_MSG_EQ(serializers.Serialize(frame, 9, false, false, bytes),
                              96,
                              "without FCS");
        NS_TEST_ASSERT_MSG_EQ(bytes.GetSize(), 96, "four bytes less");
        Check(bytes, 12, {0x08, 0x00, 0x45, 0xa0, 0x00, 0x2c}, "without the tag");

        // 18 + 20 + 8 + 16 + 4 bytes are 66
        frame.bytes = 64;
        NS_TEST_ASSERT_MSG_EQ(serializers.Serialize(frame, 9, true, true, bytes),
                              66,
                              "by the standards");
        NS_TEST_ASSERT_MSG_EQ(bytes.GetSize(), 64, "cut to the model's length");
        NS_TEST_ASSERT_MSG_EQ(serializers.Serialize(frame, 9, true, false, bytes),
                              62,
                              "without FCS");
        NS_TEST_ASSERT_MSG_EQ(bytes.GetSize(), 60, "cut, without FCS");

        frame.cls = lossless::CONTROL_CLASS;
        serializers.Serialize(frame, 9, true, false, bytes);
        Check(bytes, 14, {0xc0, 0x00, 0x08, 0x00, 0x45, 0xc0}, "control queue: priority 6, CS6");

        Frame* pause = FramePool::TakeControl();
        pause->bytes = lossless::MIN_FRAME_BYTES;
        pause->control->opcode = lossless::PFC_OPCODE;
        pause->control->classes = 1U << 4;
        pause->control->value.fill(7); // of classes not addressed: not to be sent
        pause->control->value[4] = 0x1234;
        pause->control->extra[0] = 0xdc;
        pause->control->extraLength = 1;
        NS_TEST_ASSERT_MSG_EQ(serializers.Serialize(*pause, 0x0a0b, true, true, bytes),
                              64,
                              "a PFC frame");
        Check(bytes,
              0,
              {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, 0x02, 0, 0, 0, 0x0a, 0x0b, 0x88, 0x08},
              "MAC control is never tagged");
        Check(bytes,
              14,
              {1, 1, 0, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x34, 0, 0, 0, 0, 0, 0, 0xdc, 0},
              "opcode, vector, times, what an agent appended");
        FramePool::Give(pause);

        const uint8_t ethernet[] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x06, 0xaa, 0xbb};
        Frame* packet = FramePool::TakePacket(
            Create<Packet>(ethernet, static_cast<uint32_t>(sizeof(ethernet))));
        packet->bytes = lossless::MIN_FRAME_BYTES;
        NS_TEST_ASSERT_MSG_EQ(serializers.Serialize(*packet, 1, true, false, bytes),
                              60,
                              "a packet");
        Check(bytes,
              0,
              {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x06, 0xaa, 0xbb, 0, 0},
              "its own bytes, no tag of ours, padding");
        FramePool::Give(packet);
    }
};

/// @ingroup observe-tests
/// @brief A file written by a tap, read back field by field.
class PcapTapTest : public TestCase
{
  public:
    PcapTapTest()
        : TestCase("a tap writes the frames of its port with their times, and no others")
    {
    }

  private:
    /// A record of a file.
    struct Record
    {
        int64_t time;               //!< ns
        uint32_t length;            //!< of the frame
        std::vector<uint8_t> bytes; //!< those captured
    };

    static constexpr uint64_t RATE = 10'000'000'000; //!< bit/s
    static constexpr int64_t DELAY = 1'234'567;      //!< ps

    /// Read 32 bits, least significant byte first. @param in file. @return them.
    static uint32_t Read32(std::istream& in)
    {
        uint32_t value = 0;
        for (int i = 0; i < 4; ++i)
        {
            value |= static_cast<uint32_t>(in.get() & 0xff) << 8 * i;
        }
        return value;
    }

    /// Read a file, and check its header.
    /// @param name path. @param snap snap length that it has to have. @return its records.
    std::vector<Record> Read(const std::string& name, uint32_t snap)
    {
        std::ifstream in(name, std::ios::binary);
        for (const uint32_t word : {0xa1b23c4dU, 0x00040002U, 0U, 0U, snap, 1U})
        {
            const uint32_t got = Read32(in);
            if (got != word)
            {
                NS_TEST_EXPECT_MSG_EQ(got, word, "the file's header");
            }
        }
        std::vector<Record> records;
        while (in.peek() != std::ifstream::traits_type::eof())
        {
            const int64_t s = Read32(in);
            const int64_t ns = Read32(in);
            const uint32_t n = Read32(in);
            Record record{s * 1'000'000'000 + ns, Read32(in), std::vector<uint8_t>(n)};
            in.read(reinterpret_cast<char*>(record.bytes.data()), n);
            records.push_back(record);
        }
        return records;
    }

    /// Send a signal from a to b. @param bytes its size
    void Send(uint16_t bytes)
    {
        Frame* frame = FramePool::Take();
        frame->kind = lossless::FrameKind::SIGNAL;
        frame->dst = 1;
        frame->bytes = bytes;
        m_a->Inject(frame);
    }

    /// Send a MAC control frame from b to a.
    void SendControl()
    {
        Frame* frame = FramePool::TakeControl();
        frame->control->opcode = lossless::PFC_OPCODE;
        frame->control->classes = 1;
        frame->control->value[0] = 1;
        m_b->GetPort(0).SendControl(frame);
    }

    void DoRun() override
    {
        lossless::UsePicoseconds();
        for (auto* node : {&m_a, &m_b})
        {
            *node = CreateObject<TestNode>();
            (*node)->AddPort(CreateObject<lossless::Port>());
        }
        m_a->SetIdentity(0, "a");
        m_b->SetIdentity(1, "b");
        m_a->GetPort(0).Attach(PeekPointer(m_a), 0, &m_b->GetPort(0), RATE, DELAY);
        m_b->GetPort(0).Attach(PeekPointer(m_b), 0, &m_a->GetPort(0), RATE, DELAY);
        m_a->SetBuffer(CreateObject<lossless::SharedBuffer>());
        m_b->SetBuffer(CreateObject<lossless::SharedBuffer>());
        m_a->Start();
        m_b->Start();
        const std::string whole = CreateTempDirFilename("a-b.pcap");
        const std::string part = CreateTempDirFilename("b-a.pcap");
        auto tap = CreateObjectWithAttributes<PcapTap>("Fcs", BooleanValue(true));
        auto other = CreateObjectWithAttributes<PcapTap>("Direction",
                                                         StringValue("Receive"),
                                                         "SnapLength",
                                                         UintegerValue(50),
                                                         "Start",
                                                         TimeValue(MicroSeconds(10)),
                                                         "Stop",
                                                         TimeValue(Seconds(2)));
        NS_TEST_ASSERT_MSG_EQ(tap->Open(whole, m_a->GetPort(0)), true, "can be written");
        NS_TEST_ASSERT_MSG_EQ(other->Open(part, m_b->GetPort(0)), true, "can be written");
        auto fabric = CreateObject<lossless::Fabric>();
        Recorder recorder(*fabric);
        recorder.Trace("frame", m_a->GetPort(0), 0xff, Time{0});
        recorder.Trace("frame", m_a->GetPort(0), 0xff, Time{0}); // changes nothing
        // At 1500 ps the first bit goes. 1000 + 20 bytes take 816 ns.
        Simulator::Schedule(PicoSeconds(1'500), &PcapTapTest::Send, this, uint16_t{1000});
        Simulator::Schedule(MicroSeconds(20), &PcapTapTest::Send, this, uint16_t{100});
        Simulator::Schedule(MicroSeconds(30), &PcapTapTest::SendControl, this);
        Simulator::Schedule(Seconds(3), &PcapTapTest::Send, this, uint16_t{70});
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(tap->GetFrames(), 4, "frames of a, both ways");
        NS_TEST_EXPECT_MSG_EQ(other->GetFrames(), 1, "of b only what came in its time");
        NS_TEST_EXPECT_MSG_EQ(tap->Close(), true, "all is written");
        NS_TEST_EXPECT_MSG_EQ(other->Close(), true, "all is written");

        auto records = Read(whole, 65535);
        NS_TEST_ASSERT_MSG_EQ(records.size(), 4, "records");
        const int64_t pauseCame = 30'000'000 + (64 + 20) * 800 + DELAY;
        const int64_t times[] = {1, 20'000, pauseCame / 1000, 3'000'000'000};
        const uint32_t lengths[] = {1000, 100, 64, 70};
        for (std::size_t i = 0; i < 4; ++i)
        {
            NS_TEST_EXPECT_MSG_EQ(records[i].time, times[i], "time of " << i << " in ns");
            NS_TEST_EXPECT_MSG_EQ(records[i].length, lengths[i], "length of " << i);
            NS_TEST_ASSERT_MSG_EQ(records[i].bytes.size(), lengths[i], "captured of " << i);
            const std::size_t end = lengths[i] - 4;
            const uint32_t fcs = Fcs(records[i].bytes.data(), end);
            NS_TEST_EXPECT_MSG_EQ(+records[i].bytes[end + 3], (fcs >> 24), "FCS of " << i);
        }
        NS_TEST_EXPECT_MSG_EQ(+records[2].bytes[11], 1, "the pause is of the peer");

        records = Read(part, 50);
        NS_TEST_ASSERT_MSG_EQ(records.size(), 1, "records");
        const int64_t came = 20'000'000 + (100 + 20) * 800 + DELAY;
        NS_TEST_EXPECT_MSG_EQ(records[0].time, came / 1000, "when its last bit came");
        NS_TEST_EXPECT_MSG_EQ(records[0].length, 96, "without FCS");
        NS_TEST_EXPECT_MSG_EQ(records[0].bytes.size(), 50, "the snap length");

        const Table& table = *recorder.GetTables().front();
        NS_TEST_EXPECT_MSG_EQ(table.GetRows(), 3, "rows: what a sent, once");

        auto nowhere = CreateObject<PcapTap>();
        NS_TEST_EXPECT_MSG_EQ(nowhere->Open("/nonexistent/x.pcap", m_a->GetPort(0)),
                              false,
                              "a file that cannot be written is noticed");
        NS_TEST_EXPECT_MSG_EQ(nowhere->Close(), false, "and stays noticed");
        Simulator::Destroy();
        m_a->Dispose();
        m_b->Dispose();
        FramePool::Clear();
    }

    Ptr<TestNode> m_a; //!< a node
    Ptr<TestNode> m_b; //!< its peer
};

/// @ingroup observe-tests
/// @brief Random networks, of which each port has a file, and rows of a table.
class PortsTest : public TestCase
{
  public:
    PortsTest()
        : TestCase("each port has one file, named after its ends, whatever their names and however "
                   "many links they share; rows say when and where, in order")
    {
    }

  private:
    void DoRun() override
    {
        lossless::UsePicoseconds();
        std::mt19937 random(5);
        const std::vector<std::string> names{"a", "a/1", "a_1", "b", "a-1", "d", "e-f"};
        for (int round = 0; round < 20; ++round)
        {
            auto fabric = CreateObject<lossless::Fabric>();
            for (const std::string& name : names)
            {
                fabric->AddSwitch(name);
            }
            const std::string prefix = CreateTempDirFilename(std::to_string(round) + "-");
            for (uint32_t a = 0, link = 0; link < 30; ++link)
            {
                const uint32_t b = (a + 1 + random() % 6) % 7;
                fabric->AddLink(a, b, DataRate("10Gbps"), MicroSeconds(1));
                a = b;
            }
            fabric->Build();
            FabricPcapHelper helper(*fabric);
            const uint32_t first = random() % 7;
            lossless::Port& again = fabric->GetNode(first).GetPort(0);
            bool good = fabric->GetNode(first).GetNPorts() == 0 || helper.EnablePcap(prefix, again);
            good = good && helper.EnablePcapAll(prefix) && helper.EnablePcapAll(prefix);
            NS_TEST_ASSERT_MSG_EQ(good, true, "can be written");
            std::set<std::string> files;
            for (const auto& tap : helper.GetTaps())
            {
                files.insert(tap->GetFile());
            }
            NS_TEST_ASSERT_MSG_EQ(helper.GetTaps().size(), 60, "each port once");
            NS_TEST_ASSERT_MSG_EQ(files.size(), 60, "each in a file of its own");
            for (uint16_t port = 0; port < fabric->GetNode(0).GetNPorts(); ++port)
            {
                const std::string peer = fabric->GetNode(0).GetPort(port).GetNeighbourName();
                const std::string file = prefix + "a-" + (peer[0] == 'e' ? "e_f" : peer) + ".pcap";
                const bool plain = peer[0] == 'b' || peer[0] == 'd' || peer == "e-f";
                NS_TEST_ASSERT_MSG_EQ((!plain || files.contains(file)), true, file);
            }
            NS_TEST_ASSERT_MSG_EQ(helper.Close(), "", "all is written");
            Rows(*fabric, random);
            fabric->Dispose();
        }
    }

    /// Rows of random ports. @param fabric of them. @param random source of chance.
    void Rows(lossless::Fabric& fabric, std::mt19937& random)
    {
        Table table("ports");
        PortColumns columns;
        columns.Open(table);
        std::vector<std::array<int64_t, 4>> rows;
        for (int step = 0; step < 50; ++step)
        {
            Simulator::Stop(PicoSeconds(random() % 3));
            Simulator::Run();
            const lossless::FabricNode& node = fabric.GetNode(random() % 7);
            const auto cls = static_cast<uint8_t>(random() % 8);
            if (node.GetNPorts() > 0)
            {
                const lossless::Port& port = node.GetPort(random() % node.GetNPorts());
                const auto row = columns.Append(port, cls);
                rows.push_back({lossless::NowPs(), node.GetId(), port.GetNeighbour(), cls});
            }
        }
        table.Sort();
        std::ranges::stable_sort(rows, {}, [](const auto& row) {
            return std::pair(row[0], row[1]);
        });
        const auto& found = table.GetColumns();
        const std::vector<std::string> wanted{"time_ps", "node", "peer", "class"};
        for (std::size_t i = 0; i < rows.size(); ++i)
        {
            const std::array<int64_t, 4> row{static_cast<const int64_t*>(found[0]->GetData())[i],
                                             static_cast<const uint32_t*>(found[1]->GetData())[i],
                                             static_cast<const uint32_t*>(found[2]->GetData())[i],
                                             static_cast<const uint8_t*>(found[3]->GetData())[i]};
            NS_TEST_ASSERT_MSG_EQ((row == rows[i]), true, "row " << i);
        }
        for (std::size_t i = 0; i < wanted.size(); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(found[i]->m_name, wanted[i], "in this order");
        }
        Simulator::Destroy();
    }
};

/// @ingroup observe-tests
/// @brief Tests of FrameSerializers, PcapTap and the table "frame".
class PcapTapTestSuite : public TestSuite
{
  public:
    PcapTapTestSuite()
        : TestSuite("observe-pcap-tap", Type::UNIT)
    {
        AddTestCase(new FrameSerializerTest, TestCase::Duration::QUICK);
        AddTestCase(new PcapTapTest, TestCase::Duration::QUICK);
        AddTestCase(new PortsTest, TestCase::Duration::QUICK);
    }
};

static PcapTapTestSuite g_pcapTapTestSuite; //!< registers the suite

} // namespace tests
} // namespace observe
} // namespace ns3
