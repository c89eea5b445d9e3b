/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../facade/test/facade-test-network.h"

#include "ns3/test.h"
#include "ns3/trimming-agent.h"
#include "ns3/trimming-window.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup trimming-tests
 * Trimming against sequences computed by hand, the closed form of the headers' share of an incast,
 * and the conservation of frames; the window against values by hand.
 */

namespace ns3
{
namespace trimming
{
namespace tests
{

using facade::tests::Network;
using lossless::Frame;

namespace
{

constexpr int64_t US = 1'000'000;        // ps
constexpr uint64_t GBPS = 1'000'000'000; // bit/s
constexpr int64_t FRAME = 1048;          // B: 1000 B of payload
constexpr int64_t HEADER = 128;          // B
constexpr uint8_t CLS = 0;               // of data
const std::string TRIMMING = "ns3::trimming::Trimming";

/// Set up a network whose switches trim, and hold a number of bytes.
/// @param net the network, still without nodes. @param room lossy pool (B) @param alpha of it.
void
SetUp(Network& net, int64_t room, const std::string& alpha = "1024")
{
    net.Set("SharedBuffer", "LosslessClasses", 0);
    net.Set("SharedBuffer", "LossyPool", room);
    net.Set("SharedBuffer", "LossyAlpha", alpha);
    net.Set("QueuePair", "Retransmit", "Selective");
    net.Set("QueuePair", "Timeout", "100us");
    net.sim.AddAgent(TRIMMING);
    net.sim.SetStopWhenDone(true);
}

} // namespace

/// @ingroup trimming-tests
/// @brief A congestion control that controls nothing, and writes down what one queue pair does.
class Scribe : public rdma::CongestionControl
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::trimming::tests::Scribe")
                                .SetParent<CongestionControl>()
                                .SetGroupName("tests")
                                .AddConstructor<Scribe>();
        return tid;
    }

    void NotifySent(const Frame& frame) override
    {
        g_sent.emplace_back(lossless::NowPs(), frame.psn);
    }

    std::unique_ptr<rdma::CongestionReceiver> MakeReceiver() const override
    {
        return facade::tests::Hearing([](const Frame& frame) {
            g_came.push_back(frame.psn);
            return false;
        });
    }

    /// Make the queue pair of a network have one, and forget what others saw.
    /// @param net the network, not yet built
    static void Install(Network& net)
    {
        g_sent.clear();
        g_came.clear();
        net.sim.SetCongestionControl("ns3::trimming::tests::Scribe");
    }

    static std::vector<std::pair<int64_t, uint32_t>> g_sent; //!< when (ps) and which packet
    static std::vector<uint32_t> g_came;                     //!< packets, trimmed or not, in turn
};

NS_OBJECT_ENSURE_REGISTERED(Scribe);

std::vector<std::pair<int64_t, uint32_t>> Scribe::g_sent;
std::vector<uint32_t> Scribe::g_came;

/// @ingroup trimming-tests
/// @brief A message of a few packets into a slow link.
class HandComputedTest : public TestCase
{
  public:
    HandComputedTest()
        : TestCase("what is trimmed, when it is sent again, and when the message is complete")
    {
    }

  private:
    static constexpr int64_t FAST = 83'840;   //!< ps of a frame at 100 Gb/s
    static constexpr int64_t SLOW = 838'400;  //!< ps of a frame at 10 Gb/s
    static constexpr int64_t SHORT = 102'400; //!< ps of a header at 10 Gb/s
    /// ps of an answer from the receiver to the sender
    static constexpr int64_t ANSWER = 51'200 + 5'120 + 2 * US;
    static constexpr int64_t FREE = FAST + US + SLOW; //!< the first packet has left the switch

    /// Send a message from a host at 100 Gb/s to one at 10 Gb/s, through a switch with room for two
    /// frames and two headers.
    /// @param net the network. @param packets of the message.
    static void RunOnce(Network& net, uint64_t packets)
    {
        net.Set("Port", "Overhead", 0);
        SetUp(net, 2 * FRAME + 2 * HEADER);
        Scribe::Install(net);
        net.Nodes(2, 1);
        net.Link(0, 2, 100 * GBPS, US);
        net.Link(1, 2, 10 * GBPS, US);
        net.Flow(0, 1, packets * 1000, 0, CLS);
        net.sim.Build();
        net.sim.Run(10'000 * US);
    }

    /// Packets 0 and 1 fill the buffer, 2 and 3 are trimmed, and overtake 1.
    /// @return when the message is complete (ps).
    int64_t Trims()
    {
        Network net;
        RunOnce(net, 4);
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
        const int64_t again = FREE + SHORT + US + ANSWER; // the NACK of the first header
        const std::vector<uint32_t> order{0, 2, 3, 1, 2, 3};
        NS_TEST_EXPECT_MSG_EQ((Scribe::g_came == order), true, "headers overtake data");
        NS_TEST_EXPECT_MSG_EQ(Scribe::g_sent.size(), 6, "each trimmed packet is sent once more");
        NS_TEST_EXPECT_MSG_EQ(Scribe::g_sent[4].second, 2, "in turn");
        NS_TEST_EXPECT_MSG_EQ(Scribe::g_sent[4].first, again, "at once");
        NS_TEST_EXPECT_MSG_EQ(Scribe::g_sent[5].first, again + SHORT, "at once");
        const int64_t finish = again + FAST + 2 * SLOW + 2 * US;
        NS_TEST_EXPECT_MSG_EQ(net.Column("flow", "finish_ps")[0], finish, "complete");
        NS_TEST_EXPECT_MSG_EQ(net.Number("timeouts"), 0, "no silence");
        NS_TEST_EXPECT_MSG_EQ(net.Number("nacks"), 2, "one for each header");
        NS_TEST_EXPECT_MSG_EQ(net.Number("trimmed_frames"), 2, "trimmed");
        NS_TEST_EXPECT_MSG_EQ(net.Number("trimmed_bytes"), 2 * (FRAME - HEADER), "cut off");
        NS_TEST_EXPECT_MSG_EQ(net.Number("trimmed_dropped_frames"), 0, "none dropped");
        NS_TEST_EXPECT_MSG_EQ(net.Number("dropped_frames"), 0, "trimmed is not dropped");
        return finish;
    }

    /// There is no room for the header of packet 4: only a silence reveals that it is lost.
    /// @param finish of the first four packets (ps)
    void LosesHeader(int64_t finish)
    {
        Network lost;
        RunOnce(lost, 5);
        NS_TEST_ASSERT_MSG_EQ(lost.sim.Finish(), "", "frames are conserved");
        NS_TEST_EXPECT_MSG_EQ(lost.Number("trimmed_frames"), 3, "trimmed");
        NS_TEST_EXPECT_MSG_EQ(lost.Number("trimmed_dropped_frames"), 1, "and dropped");
        NS_TEST_EXPECT_MSG_EQ(lost.Number("dropped_lossy_frames"), 1, "its cause is a full buffer");
        NS_TEST_EXPECT_MSG_EQ(lost.Number("dropped_lossless_frames"), 0, "a loss of a lossy class");
        NS_TEST_EXPECT_MSG_EQ(lost.Number("timeouts"), 1, "one silence");
        NS_TEST_EXPECT_MSG_EQ(lost.Column("flow", "finish_ps")[0],
                              finish + ANSWER + 100 * US + FAST + SLOW + 2 * US,
                              "after the silence");
    }

    void DoRun() override
    {
        LosesHeader(Trims());
    }
};

/// @ingroup trimming-tests
/// @brief What share of a link the headers take, if the senders do not slow down.
class HeaderShareTest : public TestCase
{
  public:
    HeaderShareTest()
        : TestCase("the headers of an incast take their share of the link, at most all of it")
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t TIME = 2'000 * US;
        constexpr double LINE = 100e9 / 8 * TIME * 1e-12; // B
        constexpr double OVERHEAD = 20;                   // B
        for (const int64_t size : {64, 128, 206})
        {
            for (const uint32_t n : {2, 3, 5, 12})
            {
                // Of n C arriving, in frames of f, d are sent whole and h as headers of s:
                // d f + h s = C and (d + h) f = n C.
                const double f = FRAME + OVERHEAD;
                const double s = static_cast<double>(size) + OVERHEAD;
                const double expected = std::min(1.0, (n - 1) * s / (f - s));
                Network net;
                SetUp(net, 400'000, "1");
                net.sim.SetAttribute(TRIMMING, "Size", std::to_string(size));
                net.Star(n + 1, 100 * GBPS, US);
                std::vector<uint32_t> flows;
                for (uint32_t host = 0; host < n; ++host)
                {
                    flows.push_back(net.Flow(host, n, 0, host * 1'000, CLS));
                }
                net.sim.Build();
                const double late = std::ranges::max(net.DeliveredInSecondHalf(flows, TIME));
                net.sim.Finish();
                const double headers =
                    net.Number("trimmed_frames") - net.Number("trimmed_dropped_frames");
                NS_TEST_EXPECT_MSG_EQ_TOL(headers * s / LINE, expected, 0.01, n << ", " << size);
                NS_TEST_EXPECT_MSG_EQ((late == 0), (expected == 1), n << ": the data starve");
            }
        }
    }
};

/// @ingroup trimming-tests
/// @brief Incasts that end: all arrives, and every frame is accounted for.
class ConservationTest : public TestCase
{
  public:
    ConservationTest()
        : TestCase("what is sent is delivered, trimmed or dropped, whichever frame is trimmed")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string victim : {"Arriving", "Coin"})
        {
            for (const int64_t room : {8'000, 40'000, 200'000})
            {
                Network net;
                SetUp(net, room, "1");
                net.sim.SetAttribute(TRIMMING, "Victim", victim);
                net.Set("QueuePair", "WindowBdps", 1);
                net.Star(5, 100 * GBPS, US);
                for (uint32_t host = 0; host < 4; ++host)
                {
                    net.Flow(host, 4, 300'000, host * 7'001, CLS);
                }
                net.sim.Build();
                net.sim.Run(100'000 * US);
                NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
                const auto finish = net.Column("flow", "finish_ps");
                NS_TEST_EXPECT_MSG_GT(*std::ranges::min_element(finish), 0, "all arrive");
                const double trimmed = net.Number("trimmed_frames");
                NS_TEST_EXPECT_MSG_GT(trimmed, 0, "there is an incast");
                if (net.Number("trimmed_dropped_frames") == 0)
                {
                    NS_TEST_EXPECT_MSG_EQ(net.Number("timeouts"), 0, "headers get through");
                    NS_TEST_EXPECT_MSG_EQ(net.Number("retransmitted_bytes"),
                                          trimmed * 1000,
                                          "each trimmed packet once more");
                    NS_TEST_EXPECT_MSG_EQ(net.Number("dropped_frames"), 0, "nothing dropped");
                }
                NS_TEST_EXPECT_MSG_EQ(net.Number("dropped_lossy_frames"),
                                      net.Number("trimmed_dropped_frames"),
                                      "only headers are dropped");
            }
        }
    }
};

/// @ingroup trimming-tests
/// @brief A sender that slows down takes longer than a timeout to repeat what was trimmed.
class SlowRepeatTest : public TestCase
{
  public:
    SlowRepeatTest()
        : TestCase("no time-out expires while the sender itself has trimmed packets to repeat")
    {
    }

  private:
    void DoRun() override
    {
        Network net;
        SetUp(net, 40'000, "1");
        net.Set("QueuePair", "Timeout", "40us");
        net.sim.SetCongestionControl("ns3::trimming::TrimWindow");
        net.sim.SetAttribute("ns3::trimming::TrimWindow", "MinRate", "500Mbps"); // 17 us a packet
        net.Star(9, 100 * GBPS, US);
        for (uint32_t host = 0; host < 8; ++host)
        {
            net.Flow(host, 8, 100'000, host * 7'001, CLS);
        }
        net.sim.Build();
        net.sim.Run(100'000 * US);
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
        NS_TEST_EXPECT_MSG_EQ(net.Number("trimmed_dropped_frames"), 0, "headers get through");
        NS_TEST_EXPECT_MSG_EQ(net.Number("retransmitted_bytes"),
                              net.Number("trimmed_frames") * 1000,
                              "each trimmed packet once more");
        NS_TEST_EXPECT_MSG_EQ(net.Number("timeouts"), 0, "no silence");
    }
};

/// @ingroup trimming-tests
/// @brief The coin decides between the arriving frame and the newest in the queue.
class CoinTest : public TestCase
{
  public:
    CoinTest()
        : TestCase("half of the time the newest queued frame is trimmed for the arriving one")
    {
    }

  private:
    void DoRun() override
    {
        constexpr int RUNS = 200;
        int newest = 0;
        for (uint64_t seed = 1; seed <= RUNS; ++seed)
        {
            // Packets 0 to 2 fill the buffer, 0 is being sent; 3 finds it full.
            Network net(seed);
            SetUp(net, 3 * FRAME + 2 * HEADER);
            net.sim.SetAttribute(TRIMMING, "Victim", "Coin");
            Scribe::Install(net);
            net.Nodes(2, 1);
            net.Link(0, 2, 100 * GBPS, US);
            net.Link(1, 2, 10 * GBPS, US);
            net.Flow(0, 1, 4'000, 0, CLS);
            net.sim.Build();
            net.sim.Run(10'000 * US);
            NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
            const std::vector<uint32_t>& came = Scribe::g_came;
            const bool swapped = came == std::vector<uint32_t>{0, 2, 1, 3, 2};
            NS_TEST_ASSERT_MSG_EQ((swapped || came == std::vector<uint32_t>{0, 3, 1, 2, 3}),
                                  true,
                                  "the newest queued one or the arriving one, seed " << seed);
            newest += swapped;
        }
        // Five standard deviations of a fair coin.
        NS_TEST_EXPECT_MSG_EQ_TOL(newest, RUNS / 2, 36, "a fair coin");
    }
};

/// @ingroup trimming-tests
/// @brief What cannot work is refused before the run.
class RefusalTest : public TestCase
{
  public:
    RefusalTest()
        : TestCase("nonsense is refused by its name")
    {
    }

  private:
    /// Set one thing wrong.
    /// @param type short name of a type, or the full one. @param name attribute. @param value
    /// wrong. @param expected part of the problem.
    void Refuses(const std::string& type,
                 const std::string& name,
                 const std::string& value,
                 const std::string& expected)
    {
        Network net;
        SetUp(net, 100'000);
        if (type == TRIMMING)
        {
            net.sim.SetAttribute(type, name, value);
        }
        else
        {
            net.Set(type, name, value);
        }
        net.Star(2, 100 * GBPS, US);
        net.Flow(0, 1, 1'000, 0, CLS);
        net.sim.Build();
        const std::string problems = net.sim.Check();
        NS_TEST_EXPECT_MSG_NE(problems.find(expected), std::string::npos, name << ": " << problems);
        if (expected.empty())
        {
            NS_TEST_EXPECT_MSG_EQ(problems, "", "sound");
        }
    }

    void DoRun() override
    {
        Refuses(TRIMMING, "Size", "128", "");
        Refuses(TRIMMING, "Size", "1048", "is not below the largest frame, 1048 B");
        Refuses("QueuePair", "HeaderSize", "129", "less than the 129 B of their headers");
        Refuses("QueuePair", "Retransmit", "GoBackN", "set Retransmit");
        Refuses("QueuePair", "Retransmit", "None", "set Retransmit");
        Refuses("SharedBuffer", "LosslessClasses", "1", "all flows have lossless ones");
        Refuses("SharedBuffer", "LosslessClasses", "128", "TrimClass 7 is lossless");
        Refuses(TRIMMING, "Classes", "9", "");
        Network both;
        SetUp(both, 100'000);
        both.Set("SharedBuffer", "LosslessClasses", 8);
        both.sim.SetAttribute(TRIMMING, "Classes", "9");
        both.sim.AddHostAgent(TRIMMING);
        both.Star(2, 100 * GBPS, US);
        both.Flow(0, 1, 1'000, 0, CLS);
        both.sim.Build();
        const std::string problems = both.sim.Check();
        NS_TEST_EXPECT_MSG_NE(problems.find("class 3 is lossless"), std::string::npos, problems);
        NS_TEST_EXPECT_MSG_NE(problems.find("only switches trim"), std::string::npos, problems);
    }
};

/// @ingroup trimming-tests
/// @brief The window by hand. T = 8 us: at 100 Gb/s it is 100 kB at most.
class WindowTest : public TestCase
{
  public:
    WindowTest()
        : TestCase("a trimmed packet takes a packet off the window, a round trip adds one")
    {
    }

  private:
    /// Write down a change. @param window W
    void Keep(uint32_t, double window)
    {
        m_window = window;
    }

    double m_window{0}; //!< the latest (B)

    void DoRun() override
    {
        lossless::UsePicoseconds();
        auto queuePair = CreateObject<rdma::QueuePair>();
        auto control = CreateObject<TrimWindow>();
        facade::tests::Apply(control, {{"BaseRtt", "8us"}, {"MinRate", "1Gbps"}});
        control->TraceConnectWithoutContext("Window", MakeCallback(&WindowTest::Keep, this));
        control->Start(queuePair->GetSendQueue(), 100 * GBPS);
        const auto answer = [&control](bool truncated, uint64_t news) {
            Frame frame;
            frame.kind = truncated ? lossless::FrameKind::NACK : lossless::FrameKind::ACK;
            frame.truncated = truncated;
            rdma::Acknowledgement ack(frame);
            ack.news = news;
            control->NotifyAck(ack);
        };
        answer(true, 0);
        NS_TEST_EXPECT_MSG_EQ(m_window, 99'000, "a packet less");
        answer(false, 0);
        NS_TEST_EXPECT_MSG_EQ(m_window, 99'000, "nothing new");
        answer(false, 99);
        NS_TEST_EXPECT_MSG_EQ(m_window, 100'000, "a window's worth of packets adds one");
        answer(false, 50);
        NS_TEST_EXPECT_MSG_EQ(m_window, 100'000, "at most line rate");
        for (int i = 0; i < 200; ++i)
        {
            answer(true, 0);
        }
        NS_TEST_EXPECT_MSG_EQ(m_window, 1'000, "at least MinRate");
        NS_TEST_EXPECT_MSG_EQ(control->GetRate(), 1 * GBPS, "paced");
    }
};

/// @ingroup trimming-tests
/// @brief Tests of trimming.
class TrimmingAgentTestSuite : public TestSuite
{
  public:
    TrimmingAgentTestSuite()
        : TestSuite("trimming-agent", Type::UNIT)
    {
        AddTestCase(new HandComputedTest, TestCase::Duration::QUICK);
        AddTestCase(new HeaderShareTest, TestCase::Duration::QUICK);
        AddTestCase(new ConservationTest, TestCase::Duration::QUICK);
        AddTestCase(new SlowRepeatTest, TestCase::Duration::QUICK);
        AddTestCase(new CoinTest, TestCase::Duration::QUICK);
        AddTestCase(new RefusalTest, TestCase::Duration::QUICK);
        AddTestCase(new WindowTest, TestCase::Duration::QUICK);
    }
};

static TrimmingAgentTestSuite g_trimmingAgentTestSuite; //!< registers the suite

} // namespace tests
} // namespace trimming
} // namespace ns3
