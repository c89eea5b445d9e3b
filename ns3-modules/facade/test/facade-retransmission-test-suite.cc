/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../lossless/test/lossless-test-draws.h"
#include "facade-test-network.h"

#include "ns3/test.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>

/**
 * @file
 * @ingroup facade-tests
 * Loss and its repair: chosen frames are lost, and a second receiver determines what must have been
 * delivered.
 */

namespace ns3
{
namespace facade
{
namespace tests
{

using lossless::Frame;
using lossless::FrameKind;
using lossless::tests::Draws;

namespace
{

/// Two hosts and a switch, 100 Gb/s, 1 us a link, no overhead, answers visible to the Eraser.
/// @param net where. @param scheme Retransmit. @param timeout Timeout in ns-3's spelling.
/// @param choose which frames to lose.
void
Lossy(Network& net,
      const std::string& scheme,
      const std::string& timeout,
      std::function<bool(const Frame&)> choose)
{
    net.Set("Port", "Overhead", 0);
    net.Set("QueuePair", "Retransmit", scheme);
    net.Set("QueuePair", "Timeout", timeout);
    net.Set("QueuePair", "AnswerClass", ANSWER_CLASS);
    net.sim.SetStopWhenDone(true);
    Eraser::Install(net, std::move(choose));
    Witness::Install(net, scheme == "Selective");
    net.Star(2, 100'000'000'000, 1'000'000);
}

} // namespace

/// @ingroup facade-tests
/// @brief One lost packet: who repeats what and when, to the picosecond.
class SingleLossTest : public TestCase
{
  public:
    SingleLossTest()
        : TestCase("after one loss a NACK or a time-out repeats what the scheme requires, at the "
                   "computed time")
    {
    }

  private:
    /// What came of a message of 100 packets.
    struct Result
    {
        int64_t finish;   //!< ps
        double repeated;  //!< packets
        double nacks;     //!< NACKs received
        double timeouts;  //!< time-outs
        double delivered; //!< packets
        double ordered;   //!< packets delivered without a gap; NaN with loss recovery
        double left;      //!< unfinished flows
    };

    /// Send 100 packets and lose one frame once.
    /// @param scheme Retransmit. @param kind kind of the frame. @param psn packet, or for an answer
    /// the packet that caused it. @return what came of it.
    Result RunOnce(const std::string& scheme, FrameKind kind, uint32_t psn)
    {
        Network net;
        bool lost = false;
        Lossy(net, scheme, "50us", [&](const Frame& frame) {
            const uint64_t which = frame.kind == FrameKind::DATA ? frame.psn : frame.word[1];
            const bool hit = !lost && frame.kind == kind && which == psn;
            lost = lost || hit;
            return hit;
        });
        net.Flow(0, 1, 100'000, 0, DATA_CLASS);
        net.sim.Build();
        net.sim.Run(10'000'000'000);
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", "frames are conserved, " << scheme);
        NS_TEST_EXPECT_MSG_EQ(Eraser::g_erased, 1, "one frame was lost");
        NS_TEST_EXPECT_MSG_EQ(net.Number("dropped_frames"), 1, "and counted");
        NS_TEST_EXPECT_MSG_EQ(Witness::g_logs[0].wrongAnswers, 0, "no answer claims too much");
        return {net.Column("flow", "finish_ps")[0],
                net.Number("retransmitted_bytes") / 1000,
                net.Number("nacks"),
                net.Number("timeouts"),
                net.Number("delivered_bytes") / 1000,
                net.Number("in_order_bytes") / 1000,
                net.Number("flows_unfinished")};
    }

    void DoRun() override
    {
        const int64_t oneWay = 2'000'000 + FULL; // after the end of a packet's transmission
        const int64_t ideal = 100 * FULL + oneWay;
        const int64_t answerTime = 2'000'000 + 2 * ANSWER;
        for (const std::string scheme : {"None", "GoBackN", "Selective"})
        {
            // Packet 20 is lost: packet 21 shows it, after 22 frames; the NACK meets the sender
            // inside a frame, and the next packet is the repeat.
            const Result middle = RunOnce(scheme, FrameKind::DATA, 20);
            const int64_t told = 22 * FULL + oneWay + answerTime;
            const int64_t sentBefore = (told + FULL - 1) / FULL; // packets begun until then
            NS_TEST_ASSERT_MSG_EQ(middle.timeouts, 0, "a NACK needs no time-out, " << scheme);
            if (scheme == "None")
            {
                NS_TEST_ASSERT_MSG_EQ(middle.left, 1, "the flow stays unfinished and reports it");
                NS_TEST_ASSERT_MSG_EQ(middle.finish, -1, "it never finishes");
                NS_TEST_ASSERT_MSG_EQ(middle.delivered, 99, "all the others");
                NS_TEST_ASSERT_MSG_EQ(middle.ordered, 20, "what came before the gap");
                NS_TEST_ASSERT_MSG_EQ(middle.repeated, 0, "nothing is repeated");
                continue;
            }
            NS_TEST_ASSERT_MSG_EQ(middle.left, 0, "finished, " << scheme);
            NS_TEST_ASSERT_MSG_EQ(middle.delivered, 100, "every byte once, " << scheme);
            const bool selective = scheme == "Selective";
            const int64_t again = selective ? 1 : sentBefore - 20;
            NS_TEST_ASSERT_MSG_EQ(middle.repeated, again, "packets repeated, " << scheme);
            NS_TEST_ASSERT_MSG_EQ(middle.finish, ideal + again * FULL, "finish, " << scheme);
            // Selective answers each packet out of order, go-back-N the gap once.
            NS_TEST_ASSERT_MSG_EQ(middle.nacks,
                                  (selective ? sentBefore - 21 : 1),
                                  "NACKs, " << scheme);

            // The last packet is lost: only silence reveals it. Its ACK would have been the 100th;
            // the 99th was the last sign of progress.
            const Result last = RunOnce(scheme, FrameKind::DATA, 99);
            const int64_t progress = 99 * FULL + oneWay + answerTime;
            NS_TEST_ASSERT_MSG_EQ(last.timeouts, 1, "a time-out, " << scheme);
            NS_TEST_ASSERT_MSG_EQ(last.nacks, 0, "no NACK, " << scheme);
            NS_TEST_ASSERT_MSG_EQ(last.repeated, 1, "one packet repeated, " << scheme);
            NS_TEST_ASSERT_MSG_EQ(last.finish,
                                  progress + 50'000'000 + FULL + oneWay,
                                  "silence of the time-out after the last progress, " << scheme);

            // A lost ACK in the middle is covered by the next one and goes unnoticed.
            const Result ack = RunOnce(scheme, FrameKind::ACK, 50);
            NS_TEST_ASSERT_MSG_EQ(ack.finish, ideal, "a lost ACK costs nothing, " << scheme);
            NS_TEST_ASSERT_MSG_EQ(ack.repeated, 0, "nothing is repeated, " << scheme);
        }
    }
};

/// @ingroup facade-tests
/// @brief A lost NACK, a lost last ACK.
class UnluckyLossTest : public TestCase
{
  public:
    UnluckyLossTest()
        : TestCase(
              "lost NACKs and lost last ACKs are repaired by time-outs, and then all is silent")
    {
    }

  private:
    /// Send 100 packets, and go on after the message is received.
    /// @param scheme Retransmit. @param what for messages. @param choose which frames to lose.
    /// @param timeouts how many are expected.
    void RunOnce(const std::string& scheme,
                 const std::string& what,
                 const std::function<bool(const Frame&)>& choose,
                 double timeouts)
    {
        Network net;
        Lossy(net, scheme, "50us", choose);
        net.sim.SetStopWhenDone(false);
        net.Flow(0, 1, 100'000, 0, DATA_CLASS);
        net.sim.Build();
        net.sim.Run(1'000'000'000);
        const double after = net.Number("sent_bytes");
        net.sim.Run(10'000'000'000);
        NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "frames are conserved, " << what);
        NS_TEST_ASSERT_MSG_GT(Eraser::g_erased, 0, "something was lost, " << what);
        NS_TEST_ASSERT_MSG_EQ(net.Number("flows_unfinished"), 0, "finished, " << what);
        NS_TEST_ASSERT_MSG_EQ(net.Number("delivered_bytes"), 100'000, "every byte once, " << what);
        NS_TEST_ASSERT_MSG_EQ(net.Number("timeouts"), timeouts, "time-outs, " << what);
        NS_TEST_ASSERT_MSG_EQ(net.Number("sent_bytes"),
                              after,
                              "nothing is repeated once the sender knows, " << what);
        NS_TEST_ASSERT_MSG_EQ(Witness::g_logs[0].acked.back(), 100, "the sender knows, " << what);
    }

    void DoRun() override
    {
        for (const std::string scheme : {"GoBackN", "Selective"})
        {
            bool data = false;
            RunOnce(
                scheme,
                scheme + ", every NACK lost",
                [&](const Frame& frame) {
                    const bool hit = !data && frame.kind == FrameKind::DATA && frame.psn == 20;
                    data = data || hit;
                    return hit || frame.kind == FrameKind::NACK;
                },
                1);
            int acks = 0;
            RunOnce(
                scheme,
                scheme + ", the last ACK lost three times",
                [&](const Frame& frame) {
                    return frame.kind == FrameKind::ACK && frame.word[0] == 100 && acks++ < 3;
                },
                3);
        }
    }
};

/// @ingroup facade-tests
/// @brief Random losses of data and of answers.
class RandomLossTest : public TestCase
{
  public:
    RandomLossTest()
        : TestCase("whatever is lost, every message arrives whole, once and in order; selective "
                   "repeats no more bytes than go-back-N")
    {
    }

  private:
    /// Three flows at random, with random losses.
    /// @param scheme Retransmit. @param seed of everything. @return bytes repeated.
    double RunOnce(const std::string& scheme, uint64_t seed)
    {
        std::mt19937_64 random(seed);
        const uint32_t dataLoss = random() % 30; // percent
        const uint32_t answerLoss = random() % 60;
        const bool bursts = random() % 2;
        auto loss = std::make_shared<std::mt19937_64>(seed + 1'000'000);
        auto bad = std::make_shared<bool>(false);
        Network net(seed);
        net.Set("QueuePair", "AckEvery", static_cast<int64_t>(1 + random() % 4));
        net.Set("QueuePair", "ShortTimeout", seed % 3 == 0 ? "0us" : "10us");
        net.Set("QueuePair", "TimeoutRepeats", seed % 4 < 2 ? "All" : "First");
        net.Set("QueuePair", "WindowBdps", seed % 5 == 0 ? "0" : "1");
        Lossy(net, scheme, "30us", [=](const Frame& frame) {
            if ((*loss)() % 10 == 0)
            {
                *bad = !*bad;
            }
            const uint32_t percent = frame.kind == FrameKind::DATA ? dataLoss : answerLoss;
            return (!bursts || *bad) && (*loss)() % 100 < percent;
        });
        std::vector<int64_t> sizes;
        for (int flow = 0; flow < 3; ++flow)
        {
            sizes.push_back(static_cast<int64_t>(1 + random() % 60'000));
            const uint64_t rate = random() % 3 == 0 ? 5'000'000'000 : 0;
            const uint64_t window = random() % 3 == 0 ? 1 + random() % 20'000 : 0;
            const bool back = random() % 2;
            net.Flow(back,
                     !back,
                     static_cast<uint64_t>(sizes.back()),
                     static_cast<int64_t>(random() % 10'000'000),
                     DATA_CLASS,
                     rate,
                     window);
        }
        net.sim.Build();
        net.sim.Run(1'000'000'000'000);
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", "conserved, " << scheme << " seed " << seed);
        NS_TEST_EXPECT_MSG_EQ(net.Number("flows_unfinished"), 0, scheme << " seed " << seed);
        NS_TEST_EXPECT_MSG_EQ((net.Column("flow", "delivered_bytes") == sizes),
                              true,
                              "every byte once, " << scheme << " seed " << seed);
        const auto finish = net.Column("flow", "finish_ps");
        for (uint32_t flow = 0; flow < 3; ++flow)
        {
            const Witness::Log& log = Witness::g_logs[flow];
            NS_TEST_EXPECT_MSG_EQ(log.expected,
                                  static_cast<uint64_t>((sizes[flow] + 999) / 1000),
                                  "the second receiver has all, " << scheme << " seed " << seed);
            NS_TEST_EXPECT_MSG_EQ(log.lastDelivery,
                                  finish[flow],
                                  "and had it then, " << scheme << " seed " << seed);
            NS_TEST_EXPECT_MSG_EQ(log.wrongAnswers,
                                  0,
                                  "no answer claims too much, " << scheme << " seed " << seed);
        }
        return net.Number("retransmitted_bytes");
    }

    void DoRun() override
    {
        double goBack = 0;
        double selective = 0;
        int worse = 0;
        for (uint64_t seed = 1; seed <= Draws(400); ++seed)
        {
            const double one = RunOnce("GoBackN", seed);
            const double other = RunOnce("Selective", seed);
            goBack += one;
            selective += other;
            worse += other > one;
        }
        NS_TEST_ASSERT_MSG_LT(selective, 0.7 * goBack, "selective repeats much less");
        NS_TEST_ASSERT_MSG_LT(worse, 40, "and seldom more in a single run");
    }
};

/// @ingroup facade-tests
/// @brief Endless flows without loss recovery at a lossy queue.
class LossyGoodputTest : public TestCase
{
  public:
    LossyGoodputTest()
        : TestCase("without loss recovery all that passes a full port counts as delivered")
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t END = 4'000 * US;
        Network net;
        net.Set("QueuePair", "Retransmit", "None");
        net.Set("SharedBuffer", "LossyPool", 100'000);
        net.sim.SetAllowLoss(true);
        net.Star(3, 100 * GBPS, US / 2);
        net.Flow(0, 2, 0, 0, DATA_CLASS, 90 * GBPS);
        net.Flow(1, 2, 0, 0, DATA_CLASS, 30 * GBPS);
        net.sim.Build();
        net.sim.Run(END);
        NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
        // the port is full from the first frame on, which arrives after three frame times and two
        // delays; of 1068 B on the wire 1000 are payload
        const double frames = (END - 1.2 * US) / static_cast<double>(WireTime(1068, 100 * GBPS));
        const double delivered = net.Number("delivered_bytes");
        NS_TEST_ASSERT_MSG_EQ_TOL(delivered, 1000 * frames, 20'000, "what the port carried");
        NS_TEST_ASSERT_MSG_GT(net.Number("dropped_frames"), 1000, "much was lost");
        NS_TEST_ASSERT_MSG_LT(net.Number("in_order_bytes"), 0.5 * delivered, "and left gaps");
    }
};

/// @ingroup facade-tests
/// @brief Retransmission as the fabric causes it: full lossy queues and failing links.
class FabricLossTest : public TestCase
{
  public:
    FabricLossTest()
        : TestCase("flows survive a lossy bottleneck and a link that fails and comes back")
    {
    }

  private:
    /// Four senders into one port, and a link that fails in between.
    /// @param scheme Retransmit. @param seed of the start times. @return payload bytes repeated.
    double RunOnce(const std::string& scheme, uint64_t seed)
    {
        std::mt19937_64 random(seed);
        Network net(seed);
        net.Set("QueuePair", "Retransmit", scheme);
        net.Set("QueuePair", "Timeout", "100us");
        net.Set("SharedBuffer", "LossyPool", 30'000);
        net.sim.SetAllowLoss(true);
        net.sim.SetStopWhenDone(true);
        Witness::Install(net, scheme == "Selective");
        net.Nodes(5, 2);
        for (uint32_t host = 0; host < 4; ++host)
        {
            net.Link(host, 5, 10'000'000'000, 1'000'000);
        }
        net.Link(4, 6, 10'000'000'000, 1'000'000);
        net.Link(5, 6, 40'000'000'000, 1'000'000);
        const int64_t down = 20'000'000 + static_cast<int64_t>(random() % 100'000'000);
        // Sometimes the link is back before what was on it would have arrived.
        const int64_t up =
            down + 1 + static_cast<int64_t>(random() % (seed % 2 ? 500'000 : 200'000'000));
        net.sim.FailLink(random() % 2 ? 5 : 4, down, up);
        for (uint32_t host = 0; host < 4; ++host)
        {
            const uint64_t bytes = 100'000 + random() % 50'000;
            net.Flow(host, 4, bytes, static_cast<int64_t>(random() % 10'000'000), 0);
        }
        net.sim.Build();
        net.sim.Run(100'000'000'000);
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", "frames are conserved, seed " << seed);
        NS_TEST_EXPECT_MSG_GT(net.Number("dropped_lossy_frames"), 0, "it dropped, seed " << seed);
        const auto sizes = net.Column("flow", "size_bytes");
        const auto finish = net.Column("flow", "finish_ps");
        const auto delivered = net.Column("flow", "delivered_bytes");
        int64_t unfinished = 0;
        int64_t ordered = 0;
        for (uint32_t flow = 0; flow < 4; ++flow)
        {
            const Witness::Log& log = Witness::g_logs[flow];
            const auto bytesOf = [&](uint64_t packets) {
                return std::min(static_cast<int64_t>(packets) * 1000, sizes[flow]);
            };
            ordered += bytesOf(log.expected);
            // without recovery each packet is sent once, and all that came count
            const int64_t came = std::accumulate(log.received.begin(),
                                                 log.received.end(),
                                                 int64_t{0},
                                                 [&](int64_t sum, const auto& packet) {
                                                     return sum + bytesOf(packet.second + 1) -
                                                            bytesOf(packet.second);
                                                 });
            NS_TEST_EXPECT_MSG_EQ((finish[flow] >= 0),
                                  (delivered[flow] == sizes[flow]),
                                  "a flow is finished when it is delivered, seed " << seed);
            NS_TEST_EXPECT_MSG_EQ((scheme == "None" ? came : bytesOf(log.expected)),
                                  delivered[flow],
                                  "the second receiver agrees, seed " << seed);
            unfinished += finish[flow] < 0;
        }
        if (scheme == "None")
        {
            NS_TEST_EXPECT_MSG_EQ(net.Number("in_order_bytes"), ordered, "before the gaps");
        }
        NS_TEST_EXPECT_MSG_EQ(net.Number("flows_unfinished"), unfinished, "and it is reported");
        NS_TEST_EXPECT_MSG_EQ((unfinished > 0),
                              (scheme == "None"),
                              scheme << ": unfinished flows, seed " << seed);
        return net.Number("retransmitted_bytes");
    }

    void DoRun() override
    {
        std::map<std::string, double> repeated;
        for (const std::string scheme : {"None", "GoBackN", "Selective"})
        {
            for (uint64_t seed = 1; seed <= Draws(40); ++seed)
            {
                repeated[scheme] += RunOnce(scheme, seed);
            }
        }
        NS_TEST_ASSERT_MSG_EQ(repeated["None"], 0, "None repeats nothing");
        NS_TEST_ASSERT_MSG_GT(repeated["Selective"], 0, "there was something to repeat");
        NS_TEST_ASSERT_MSG_LT(repeated["Selective"],
                              repeated["GoBackN"],
                              "selective repeats less than go-back-N");
    }
};

/// @ingroup facade-tests
/// @brief A link that fails while a PAUSE is on its way must not leave its port paused for ever.
class LinkFlapUnderPauseTest : public TestCase
{
  public:
    LinkFlapUnderPauseTest()
        : TestCase("a link that fails while a class is paused, or a PAUSE waits for its effect, "
                   "comes back and carries on")
    {
    }

  private:
    void DoRun() override
    {
        for (const char* controlDelay : {"0ns", "2us", "20us"})
        {
            for (int64_t down = 20'000'000; down < 120'000'000; down += 1'700'000)
            {
                for (const int64_t outage : {1'000'000LL, 15'000'000LL, 200'000'000LL})
                {
                    Network net;
                    net.Set("Port", "ControlDelay", controlDelay);
                    net.Set("Pfc", "Mode", "OnOff");
                    net.Set("SharedBuffer", "Threshold", "Static");
                    net.Set("SharedBuffer", "Xoff", 20'000);
                    net.Set("SharedBuffer", "Xon", 17'000);
                    net.Set("QueuePair", "Timeout", "500us");
                    net.sim.AddFlowControl("ns3::pfc::Pfc");
                    net.sim.SetAllowLoss(true);
                    net.sim.SetStopWhenDone(true);
                    net.Star(3, 10'000'000'000, 1'000'000);
                    net.sim.FailLink(0, down, down + outage);
                    net.Flow(0, 2, 200'000);
                    net.Flow(1, 2, 200'000);
                    net.sim.Build();
                    net.sim.Run(100'000'000'000);
                    NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
                    NS_TEST_ASSERT_MSG_EQ(net.Number("flows_unfinished"),
                                          0,
                                          "down at " << down << " ps for " << outage
                                                     << " ps, control delay " << controlDelay);
                }
            }
        }
    }
};

/// @ingroup facade-tests
/// @brief Timeouts as NICs are told them, and when a queue pair gives up.
class RetryTest : public TestCase
{
  public:
    RetryTest()
        : TestCase("a timeout is 4.096 us x 2^n, and after RetryCount of them in a row a queue "
                   "pair fails")
    {
    }

  private:
    /// What came of one packet.
    struct Result
    {
        int64_t finish;  //!< ps; -1: never
        double timeouts; //!< time-outs
        double failed;   //!< failed queue pairs; NaN without a RetryCount
        double sent;     //!< packets
    };

    /// Send one packet and lose its first copies.
    /// @param exponent LocalAckTimeout. @param retries RetryCount. @param losses copies that are
    /// lost. @return what came of it.
    Result RunOnce(uint32_t exponent, uint32_t retries, int losses)
    {
        Network net;
        int left = losses;
        Lossy(net, "GoBackN", "50us", [&left](const Frame& frame) {
            return frame.kind == FrameKind::DATA && left-- > 0;
        });
        net.Set("QueuePair", "LocalAckTimeout", exponent);
        net.Set("QueuePair", "RetryCount", retries);
        net.Flow(0, 1, 1000, 0, DATA_CLASS);
        net.sim.Build();
        net.sim.Run(10'000'000'000);
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
        return {net.Column("flow", "finish_ps")[0],
                net.Number("timeouts"),
                net.Number("failed_queue_pairs"),
                net.Number("sent_bytes") / 1000};
    }

    void DoRun() override
    {
        const int64_t clean = RunOnce(0, 0, 0).finish;
        NS_TEST_ASSERT_MSG_EQ(RunOnce(0, 0, 1).finish, clean + 50'000'000, "by Timeout");
        for (const uint32_t exponent : {4U, 7U})
        {
            const int64_t timeout = int64_t{4'096'000} << exponent;
            NS_TEST_ASSERT_MSG_EQ(RunOnce(exponent, 0, 3).finish,
                                  clean + 3 * timeout,
                                  "three times 4.096 us x 2^" << exponent);
        }
        NS_TEST_ASSERT_MSG_EQ(std::isnan(RunOnce(0, 0, 9).failed), true, "it never gives up");
        for (const uint32_t retries : {1U, 3U, 7U})
        {
            const auto copies = static_cast<int>(retries);
            const Result last = RunOnce(4, retries, copies);
            NS_TEST_ASSERT_MSG_EQ(last.failed, 0, "the last retry arrives");
            NS_TEST_ASSERT_MSG_EQ(last.finish,
                                  clean + retries * (int64_t{4'096'000} << 4),
                                  "after as many timeouts");
            const Result none = RunOnce(4, retries, copies + 1);
            NS_TEST_ASSERT_MSG_EQ(none.failed, 1, "no more retries");
            NS_TEST_ASSERT_MSG_EQ(none.finish, -1, "so it never arrives");
            NS_TEST_ASSERT_MSG_EQ(none.timeouts, retries + 1, "the last timeout repeats nothing");
            NS_TEST_ASSERT_MSG_EQ(none.sent, retries + 1, "the first copy and the retries");
        }
    }
};

/// @ingroup facade-tests
/// @brief Tests of QueuePair with loss.
class RetransmissionTestSuite : public TestSuite
{
  public:
    RetransmissionTestSuite()
        : TestSuite("facade-retransmission", Type::UNIT)
    {
        AddTestCase(new SingleLossTest, TestCase::Duration::QUICK);
        AddTestCase(new RetryTest, TestCase::Duration::QUICK);
        AddTestCase(new UnluckyLossTest, TestCase::Duration::QUICK);
        AddTestCase(new RandomLossTest, TestCase::Duration::QUICK);
        AddTestCase(new LossyGoodputTest, TestCase::Duration::QUICK);
        AddTestCase(new FabricLossTest, TestCase::Duration::QUICK);
        AddTestCase(new LinkFlapUnderPauseTest, TestCase::Duration::QUICK);
    }
};

static RetransmissionTestSuite g_retransmissionTestSuite; //!< registers the suite

} // namespace tests
} // namespace facade
} // namespace ns3
