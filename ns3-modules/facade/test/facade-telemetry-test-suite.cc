/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-test-network.h"

#include "ns3/observe-frame-bytes.h"
#include "ns3/test.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <tuple>

/**
 * @file
 * @ingroup facade-tests
 * In-band telemetry: what switches write, what comes back, how long frames are, and the base round
 * trip.
 */

namespace ns3
{
namespace facade
{
namespace tests
{

using rdma::CongestionControl;

using lossless::Frame;
using lossless::FrameKind;
using lossless::FramePool;

/// A congestion control that only writes down the telemetry of each answer.
class Reader : public CongestionControl
{
  public:
    /// An answer.
    struct Answer
    {
        int64_t time;                                  //!< when the sender took it (ps)
        FrameKind kind;                                //!< ACK or NACK
        uint64_t psn;                                  //!< packet that it answers
        uint8_t missed;                                //!< switches without room
        std::vector<lossless::TelemetryHop> telemetry; //!< of the hops
    };

    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId();

    bool WantsTelemetry() const override
    {
        return true;
    }

    void Start(rdma::Sender& sender, uint64_t lineRate) override
    {
        CongestionControl::Start(sender, lineRate);
        g_baseRtt = m_connection->GetBaseRtt().GetTimeStep();
        g_hops = m_connection->GetHops();
    }

    void NotifyPath() override
    {
        g_paths.push_back({lossless::NowPs(),
                           m_connection->GetFlow(),
                           m_connection->GetHops(),
                           m_connection->GetBaseRtt().GetTimeStep()});
    }

    void NotifyAck(const rdma::Acknowledgement& ack) override
    {
        const Frame& frame = ack.frame;
        const auto* from = frame.telemetry->hop.begin();
        g_answers.push_back({lossless::NowPs(),
                             frame.kind,
                             frame.word[1],
                             frame.telemetry->missed,
                             {from, from + frame.telemetry->hops}});
    }

    /// Make every queue pair of a network have one, and forget what others saw.
    /// @param net the network, not yet built
    static void Install(Network& net)
    {
        g_answers.clear();
        g_paths.clear();
        net.sim.SetCongestionControl("ns3::facade::tests::Reader");
    }

    /// A new path: when (ps), of which flow, its switches, its base round trip (ps).
    using Path = std::tuple<int64_t, uint32_t, uint32_t, int64_t>;

    static std::vector<Answer> g_answers; //!< of all flows, in turn
    static std::vector<Path> g_paths;     //!< likewise
    static int64_t g_baseRtt;             //!< of the last flow that began (ps)
    static uint32_t g_hops;               //!< likewise
};

std::vector<Reader::Answer> Reader::g_answers;
std::vector<Reader::Path> Reader::g_paths;
int64_t Reader::g_baseRtt;
uint32_t Reader::g_hops;

NS_OBJECT_ENSURE_REGISTERED(Reader);

TypeId
Reader::GetTypeId()
{
    static TypeId tid = TypeId("ns3::facade::tests::Reader")
                            .SetParent<CongestionControl>()
                            .SetGroupName("tests")
                            .AddConstructor<Reader>();
    return tid;
}

namespace
{

constexpr int64_t NS = 1000; //!< ps

/// Frames of 1000 B with room for some hops, on wires without preamble and gap.
/// @param net the network. @param hops room.
void
SetSizes(Network& net, int64_t hops)
{
    net.Set("Port", "Overhead", 0);
    net.Set("QueuePair", "TelemetryHops", hops);
    net.Set("QueuePair", "HeaderSize", 48);
    net.Set("QueuePair", "PayloadSize", 1000 - 48 - 2 - 8 * hops);
}

/// h0 - s2 - s3 - h1 with links of 100, 10 and 40 Gb/s and latencies everywhere.
class Chain : public Network
{
  public:
    Chain()
    {
        sim.AddFlowControl("ns3::pfc::Pfc");
        SetSizes(*this, 2);
        Set("Switch", "Latency", "50ns");
        Set("Host", "Latency", "30ns");
    }

    /// Add nodes and links.
    void Lay()
    {
        Nodes(2, 2);
        Link(0, 2, 100 * GBPS, 100 * NS);
        Link(2, 3, 10 * GBPS, 200 * NS);
        Link(3, 1, 40 * GBPS, 300 * NS);
    }

    static constexpr uint64_t PAYLOAD = 1000 - 48 - 2 - 16; //!< B a packet
};

} // namespace

/// @ingroup facade-tests
/// @brief Five packets through a bottleneck, whose telemetry is computed by hand.
class ChainTest : public TestCase
{
  public:
    ChainTest()
        : TestCase("each hop reports what it sent, held and ran at, and the base round trip is "
                   "that of the first packet")
    {
    }

  private:
    void DoRun() override
    {
        Chain net;
        Reader::Install(net);
        net.Lay();
        net.Flow(0, 1, 5 * Chain::PAYLOAD);
        net.sim.Build();
        NS_TEST_ASSERT_MSG_EQ(net.sim.Check(), "", "possible");
        net.sim.Trace("frame", nullptr, nullptr, 0, 0xff, 0);
        net.sim.Run(1'000'000 * NS);
        NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "nothing is lost");

        NS_TEST_ASSERT_MSG_EQ(Reader::g_answers.size(), 5, "every packet was answered");
        // A packet takes 80 ns to s2, 800 ns to s3, 200 ns to h1. Packet k joins the queue of s2 at
        // 80 + 100 + 50 + 80 k ns: all have when the second goes.
        const int64_t left[] = {0, 3000, 2000, 1000, 0};
        for (int64_t k = 0; k < 5; ++k)
        {
            const Reader::Answer& answer = Reader::g_answers[k];
            NS_TEST_ASSERT_MSG_EQ(answer.psn, static_cast<uint64_t>(k), "in order");
            NS_TEST_ASSERT_MSG_EQ(answer.telemetry.size(), 2, "both switches wrote");
            const auto& first = answer.telemetry[0];
            const auto& second = answer.telemetry[1];
            NS_TEST_EXPECT_MSG_EQ(first.time, (230 + 800 * k) * NS, "s2: when " << k << " goes");
            NS_TEST_EXPECT_MSG_EQ(first.txBytes, 1000 * k, "s2: those before " << k);
            NS_TEST_EXPECT_MSG_EQ(first.queue, left[k], "s2: what waits behind " << k);
            NS_TEST_EXPECT_MSG_EQ(first.rate, 10 * GBPS, "s2: towards s3");
            NS_TEST_EXPECT_MSG_EQ(second.time, (1280 + 800 * k) * NS, "s3: when " << k << " goes");
            NS_TEST_EXPECT_MSG_EQ(second.txBytes, 1000 * k, "s3: those before " << k);
            NS_TEST_EXPECT_MSG_EQ(second.queue, 0, "s3: faster than s2");
            NS_TEST_EXPECT_MSG_EQ(second.rate, 40 * GBPS, "s3: towards h1");
        }

        // An ACK has 64 + 18 B: 16.4 ns, 65.6 ns and 6.56 ns.
        const int64_t there = (80 + 100 + 50 + 800 + 200 + 50 + 200 + 300 + 30) * NS;
        const int64_t back = (30 + 300 + 50 + 200 + 50 + 100 + 30) * NS + 16'400 + 65'600 + 6'560;
        NS_TEST_ASSERT_MSG_EQ(Reader::g_baseRtt, there + back, "base round trip");
        NS_TEST_ASSERT_MSG_EQ(Reader::g_answers[0].time, there + back, "as the first packet's");
        NS_TEST_ASSERT_MSG_EQ(Reader::g_hops, 2, "switches");

        const auto kinds = net.Column("frame", "kind");
        const auto bytes = net.Column("frame", "bytes");
        for (std::size_t i = 0; i < kinds.size(); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(bytes[i], (kinds[i] == 0 ? 1000 : 82), "on every wire");
        }
        NS_TEST_ASSERT_MSG_EQ(FramePool::GetLiveTelemetry(), 0, "all records were given back");
    }
};

/// @ingroup facade-tests
/// @brief The same five packets with telemetry in units.
class ResolutionTest : public TestCase
{
  public:
    ResolutionTest()
        : TestCase("bytes and queue lengths are rounded down to their resolution")
    {
    }

  private:
    void DoRun() override
    {
        Chain net;
        Reader::Install(net);
        net.Set("Port", "TelemetryByteResolution", 128);
        net.Set("Port", "TelemetryQueueResolution", 80);
        net.Lay();
        net.Flow(0, 1, 5 * Chain::PAYLOAD);
        net.sim.Build();
        net.sim.Run(1'000'000 * NS);
        NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "nothing is lost");
        // multiples of 128 up to 0, 1000, ... and of 80 up to 0, 3000, 2000, 1000, 0
        const int64_t sent[] = {0, 896, 1920, 2944, 3968};
        const int64_t left[] = {0, 2960, 2000, 960, 0};
        NS_TEST_ASSERT_MSG_EQ(Reader::g_answers.size(), 5, "every packet was answered");
        for (int64_t k = 0; k < 5; ++k)
        {
            const auto& hop = Reader::g_answers[k].telemetry[0];
            NS_TEST_EXPECT_MSG_EQ(hop.txBytes, sent[k], "s2: those before " << k);
            NS_TEST_EXPECT_MSG_EQ(hop.queue, left[k], "s2: what waits behind " << k);
            NS_TEST_EXPECT_MSG_EQ(hop.time, (230 + 800 * k) * NS, "s2: the time stays exact");
        }
    }
};

/// @ingroup facade-tests
/// @brief A flow whose congestion control does not ask.
class UnaskedTest : public TestCase
{
  public:
    UnaskedTest()
        : TestCase("frames of flows that do not request telemetry carry none and are not longer")
    {
    }

  private:
    void DoRun() override
    {
        Chain net;
        Witness::Install(net);
        net.Lay();
        net.Flow(0, 1, 5 * Chain::PAYLOAD);
        net.sim.Build();
        net.sim.Trace("frame", nullptr, nullptr, 0, 0xff, 0);
        uint64_t most = 0;
        for (int64_t time = 0; time < 10'000 * NS; time += 100 * NS)
        {
            net.sim.Run(time);
            most = std::max(most, FramePool::GetLiveTelemetry());
        }
        NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "nothing is lost");
        NS_TEST_ASSERT_MSG_EQ(most, 0, "no records");
        NS_TEST_ASSERT_MSG_EQ(net.Number("flows_finished"), 1, "delivered");
        const auto kinds = net.Column("frame", "kind");
        const auto bytes = net.Column("frame", "bytes");
        for (std::size_t i = 0; i < kinds.size(); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(bytes[i], (kinds[i] == 0 ? 982 : 64), "on every wire");
        }
    }
};

/// @ingroup facade-tests
/// @brief ACKs of several packets, and NACKs.
class EchoTest : public TestCase
{
  public:
    EchoTest()
        : TestCase("an ACK or NACK echoes the telemetry of the very packet that it answers")
    {
    }

  private:
    void DoRun() override
    {
        Chain net;
        Reader::Install(net);
        net.Set("QueuePair", "AckEvery", 4);
        net.Set("QueuePair", "Retransmit", "Selective");
        // s2 loses packet 6 once behind its transmitter, so that only s2 counts it
        bool lost = false;
        Eraser::Install(net, [&lost](const Frame& frame) {
            const bool now = !lost && frame.kind == FrameKind::DATA && frame.psn == 6;
            lost = lost || now;
            return now;
        });
        net.sim.SetAllowLoss(true);
        net.Lay();
        net.Flow(0, 1, 10 * Chain::PAYLOAD);
        net.sim.Build();
        net.sim.Run(1'000'000 * NS);
        NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "as intended");
        std::size_t nacks = 0;
        for (const Reader::Answer& answer : Reader::g_answers)
        {
            NS_TEST_ASSERT_MSG_EQ(answer.telemetry.size(), 2, "both switches wrote");
            nacks += answer.kind == FrameKind::NACK;
            if (answer.psn != 6)
            {
                const auto sent = static_cast<int64_t>(1000 * answer.psn);
                NS_TEST_EXPECT_MSG_EQ(answer.telemetry[0].txBytes, sent, "of that packet");
            }
        }
        NS_TEST_ASSERT_MSG_EQ(Reader::g_answers.front().psn, 3, "every fourth packet");
        NS_TEST_ASSERT_MSG_EQ(nacks, 3, "7, 8 and 9 came before 6");
        NS_TEST_ASSERT_MSG_EQ(net.Number("flows_finished"), 1, "delivered");
        NS_TEST_ASSERT_MSG_EQ(FramePool::GetLiveTelemetry(), 0, "that of the lost packet too");
    }
};

/// @ingroup facade-tests
/// @brief A link of the path fails.
class PathChangeTest : public TestCase
{
  public:
    PathChangeTest()
        : TestCase("when ECMP takes another path the telemetry is that of the other")
    {
    }

  private:
    void DoRun() override
    {
        // h0 - s2 - (s3 at 40 or s4 at 20 Gb/s) - s5 - h1
        Network net;
        Reader::Install(net);
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        SetSizes(net, 3);
        net.sim.SetAllowLoss(true);
        net.Nodes(2, 4);
        net.Link(0, 2, 10 * GBPS, 100 * NS);
        net.Link(5, 1, 10 * GBPS, 100 * NS);
        net.Link(2, 3, 40 * GBPS, 100 * NS);
        net.Link(2, 4, 20 * GBPS, 100 * NS);
        net.Link(3, 5, 40 * GBPS, 100 * NS);
        net.Link(4, 5, 20 * GBPS, 100 * NS);
        net.Flow(0, 1, 0);
        constexpr int64_t CHANGE = 100'000 * NS;
        constexpr int64_t AGAIN = 200'000 * NS;
        net.sim.FailLink(2, CHANGE, AGAIN);
        net.sim.FailLink(3, AGAIN, -1);
        net.sim.Build();
        net.sim.Run(300'000 * NS);
        net.sim.Finish();
        uint64_t before = 0;
        uint64_t fast = 0;
        uint64_t slow = 0;
        for (const Reader::Answer& answer : Reader::g_answers)
        {
            NS_TEST_ASSERT_MSG_EQ(answer.telemetry.size(), 3, "three switches on either path");
            const auto& hops = answer.telemetry;
            const uint64_t rate = hops[0].rate;
            if (hops[0].time < CHANGE)
            {
                before = before ? before : rate;
                NS_TEST_ASSERT_MSG_EQ(rate, before, "a flow has one path");
            }
            else
            {
                const bool viaSlow = hops[0].time < AGAIN;
                NS_TEST_ASSERT_MSG_EQ(rate, (viaSlow ? 20 : 40) * GBPS, "the remaining one");
                ++(viaSlow ? slow : fast);
            }
            NS_TEST_ASSERT_MSG_EQ(hops[1].rate, rate, "all of that path");
            NS_TEST_ASSERT_MSG_EQ(hops[2].rate, 10 * GBPS, "the last hop is the same");
        }
        NS_TEST_ASSERT_MSG_GT(std::min(fast, slow), 50, "answers by either path");
    }
};

/// @ingroup facade-tests
/// @brief More switches than there is room for.
class RoomTest : public TestCase
{
  public:
    RoomTest()
        : TestCase("a path that is too long is refused, and a detour is counted")
    {
    }

  private:
    /// h0 - s2 - s3 - h1, and s4 parallel to the link of s2 and s3; from 10 us on through s4.
    /// @param room hops. @return what Check says.
    std::string Run(int64_t room)
    {
        Network net;
        Reader::Install(net);
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        SetSizes(net, room);
        net.Nodes(2, 3);
        for (const auto& [a, b] : {std::pair{0, 2}, {2, 3}, {3, 1}, {2, 4}, {4, 3}})
        {
            net.Link(a, b, 10 * GBPS, 100 * NS);
        }
        net.Flow(0, 1, 0);
        net.sim.DivertRoute(2, 1, 4, 10'000 * NS, -1);
        net.sim.Build();
        const std::string problems = net.sim.Check();
        net.sim.Run(20'000 * NS);
        net.sim.Finish();
        m_missed = net.Number("telemetry_missed_frames");
        return problems;
    }

    double m_missed{0}; //!< data frames without room, in the summary

    void DoRun() override
    {
        NS_TEST_ASSERT_MSG_EQ(Run(1),
                              "flow 0: its path has 2 switches, but its frames have room for the "
                              "telemetry of 1; raise TelemetryHops of ns3::rdma::QueuePair, at "
                              "most 15, or shorten the path\n",
                              "refused");
        NS_TEST_ASSERT_MSG_EQ(Run(2), "", "as long as can be");
        std::size_t missed = 0;
        for (const Reader::Answer& answer : Reader::g_answers)
        {
            const bool detour = answer.telemetry[0].time >= 10'000 * NS;
            NS_TEST_ASSERT_MSG_EQ(answer.telemetry.size(), 2, "the first two");
            NS_TEST_ASSERT_MSG_EQ(+answer.missed, detour, "the third has no room");
            missed += answer.missed;
        }
        NS_TEST_ASSERT_MSG_GT(missed, 5, "some took the detour");
        // the answers of the last ones are on their way
        NS_TEST_ASSERT_MSG_EQ_TOL(m_missed, static_cast<double>(missed), 1, "all are counted");
        NS_TEST_ASSERT_MSG_GT(Reader::g_answers.size(), missed, "some did not");
    }
};

/// @ingroup facade-tests
/// @brief The base round trip of a path that changes.
class NewPathTest : public TestCase
{
  public:
    NewPathTest()
        : TestCase("the base round trip and the switches are those of the path that a flow has now")
    {
    }

  private:
    void DoRun() override
    {
        // h0 - s2 - s3 - h1, and s4 parallel to the link of s2 and s3
        Network net;
        Reader::Install(net);
        SetSizes(net, 3);
        net.sim.SetAllowLoss(true);
        net.Set("Switch", "RouteDelay", "10us");
        net.Set("QueuePair", "Timeout", "20us");
        net.Nodes(2, 3);
        for (const auto& [a, b] : {std::pair{0, 2}, {2, 3}, {3, 1}, {2, 4}, {4, 3}})
        {
            net.Link(a, b, 10 * GBPS, 100 * NS);
        }
        net.Flow(0, 1, 0);
        net.Flow(0, 1, 0, 150'000 * NS); // begins on the detour
        net.Flow(0, 1, 1);               // is over before
        const uint32_t pinned = net.Flow(0, 1, 0);
        const std::vector<uint32_t> path{0, 2, 4, 3, 1};
        net.sim.SetPath(pinned, path.data(), static_cast<uint32_t>(path.size()));
        net.sim.FailLink(1, 100'000 * NS, 200'000 * NS);
        net.sim.DivertRoute(2, 1, 4, 300'000 * NS, 400'000 * NS);
        net.sim.Build();
        NS_TEST_ASSERT_MSG_EQ(net.sim.Check(), "", "possible");
        net.sim.Run(160'000 * NS);
        NS_TEST_ASSERT_MSG_EQ(Reader::g_hops, 3, "the second flow knows only the detour");
        net.sim.Run(500'000 * NS);
        NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
        // A frame of 1000 B takes 800 ns a link, its ACK of 90 B 72 ns, and each link 100 ns. From
        // 300 us on only the way there is longer.
        const int64_t near = 3 * (900 + 172) * NS;
        const int64_t far = 4 * (900 + 172) * NS;
        const int64_t oneWay = (4 * 900 + 3 * 172) * NS;
        const std::vector<Reader::Path> expected{{110'000 * NS, 0, 3, far},
                                                 {210'000 * NS, 0, 2, near},
                                                 {210'000 * NS, 1, 2, near},
                                                 {300'000 * NS, 0, 3, oneWay},
                                                 {300'000 * NS, 1, 3, oneWay},
                                                 {400'000 * NS, 0, 2, near},
                                                 {400'000 * NS, 1, 2, near}};
        NS_TEST_ASSERT_MSG_EQ((Reader::g_paths == expected), true, "who was told what, and when");
    }
};

/// @ingroup facade-tests
/// @brief Telemetry on a capture.
class CaptureTest : public TestCase
{
  public:
    CaptureTest()
        : TestCase("captured frames have the telemetry before the payload and in the ACK")
    {
    }

  private:
    void DoRun() override
    {
        Chain net;
        Reader::Install(net);
        net.Set("QueuePair", "HeaderSize", 66);
        net.Set("QueuePair", "AckSize", 72);
        net.Lay();
        net.Flow(0, 1, 5 * Chain::PAYLOAD);
        net.sim.Build();
        const std::string folder = CreateTempDirFilename("");
        const uint32_t node = 1;
        const int64_t all = -1;
        NS_TEST_ASSERT_MSG_EQ(net.sim.TracePcap(&node, &all, 1, folder), "", "written");
        net.sim.Run(1'000'000 * NS);
        NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "nothing is lost");
        const std::string pcaps = net.sim.GetPcaps();
        std::ifstream file(pcaps.substr(0, pcaps.find('\t')), std::ios::binary);
        const std::string data(std::istreambuf_iterator<char>(file), {});
        std::map<std::pair<bool, uint32_t>, std::string> telemetry; // by ACK and packet
        for (std::size_t at = 24; at < data.size();)
        {
            const auto byte = [&](std::size_t i) { return static_cast<uint8_t>(data[at + i]); };
            const std::size_t length = byte(8) | byte(9) << 8;
            const std::size_t bth = 16 + 18 + 20 + 8;
            const uint32_t psn = byte(bth + 10) << 8 | byte(bth + 11);
            const uint8_t opcode = byte(bth);
            const bool ack = opcode == 0x11;
            const std::size_t header = ack ? 4 : opcode == 0x06 ? 16 : 0;
            telemetry[{ack, psn}] = data.substr(at + bth + 12 + header, 18);
            at += 16 + length;
        }
        NS_TEST_ASSERT_MSG_EQ(telemetry.size(), 10, "five packets and their ACKs");
        for (uint32_t k = 0; k < 5; ++k)
        {
            // frames of 1018 B: 81.44, 814.4 and 203.6 ns; txBytes in 128 B, the queue in 80 B
            const uint64_t left = std::array{0, 3, 2, 1, 0}[k] * 1018 / 80;
            const uint64_t sent = k * 1018 / 128;
            const auto first = static_cast<uint64_t>(231.44 + 814.4 * k);
            const auto second = static_cast<uint64_t>(231.44 + 814.4 * (k + 1) + 250);
            observe::FrameBytes expected;
            expected.Put(0x2000, 2);
            expected.Put(UINT64_C(7) << 61 | first << 37 | sent << 17 | left, 8);
            expected.Put(UINT64_C(7) << 61 | second << 37 | sent << 17, 8);
            const std::string wanted(reinterpret_cast<const char*>(expected.GetData()), 18);
            NS_TEST_ASSERT_MSG_EQ((telemetry[{false, k}] == wanted), true, "packet " << k);
            NS_TEST_ASSERT_MSG_EQ((telemetry[{true, k}] == wanted), true, "ACK of packet " << k);
        }
    }
};

/// @ingroup facade-tests
/// @brief Tests of in-band telemetry.
class TelemetryTestSuite : public TestSuite
{
  public:
    TelemetryTestSuite()
        : TestSuite("facade-telemetry", Type::UNIT)
    {
        AddTestCase(new ChainTest, TestCase::Duration::QUICK);
        AddTestCase(new ResolutionTest, TestCase::Duration::QUICK);
        AddTestCase(new UnaskedTest, TestCase::Duration::QUICK);
        AddTestCase(new EchoTest, TestCase::Duration::QUICK);
        AddTestCase(new PathChangeTest, TestCase::Duration::QUICK);
        AddTestCase(new RoomTest, TestCase::Duration::QUICK);
        AddTestCase(new NewPathTest, TestCase::Duration::QUICK);
        AddTestCase(new CaptureTest, TestCase::Duration::QUICK);
    }
};

static TelemetryTestSuite g_telemetryTestSuite; //!< registers the suite

} // namespace tests
} // namespace facade
} // namespace ns3
