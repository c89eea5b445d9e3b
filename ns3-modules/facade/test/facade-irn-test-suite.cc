/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-test-network.h"

#include "ns3/rdma-scoreboard.h"
#include "ns3/test.h"

#include <algorithm>
#include <random>
#include <set>
#include <vector>

/**
 * @file
 * @ingroup facade-tests
 * What IRN adds to a queue pair: selective repeat against sequences by hand and a second model, two
 * time-outs and the window of a BDP against arithmetic.
 */

namespace ns3
{
namespace facade
{
namespace tests
{

using rdma::Scoreboard;

using lossless::Frame;
using lossless::FrameKind;

namespace
{

/// From the start of a packet until its sender takes its ACK: two hosts, a switch, links of 1 us.
constexpr int64_t RTT = 2 * FULL + 4 * US + 2 * ANSWER;

} // namespace

/// @ingroup facade-tests
/// @brief Random events against IRN's rules, written down a second time with sets.
class SecondRecoveryModelTest : public TestCase
{
  public:
    SecondRecoveryModelTest()
        : TestCase("random events repeat the packets of a second model")
    {
    }

  private:
    /// The sender in the paper's terms.
    struct Model
    {
        uint64_t sent{0};                //!< packets sent
        uint64_t cumulative{0};          //!< acknowledgement
        std::set<uint64_t> selected;     //!< selectively acknowledged
        uint64_t highest{0};             //!< highest packet that a NACK answered
        std::set<uint64_t> repeated;     //!< since the last time-out
        int64_t recovery{-1};            //!< recovery sequence
        bool first{false};               //!< the cumulative acknowledgement's packet is lost
        std::vector<uint64_t> truncated; //!< reported, not repeated since; in turn
        std::set<uint64_t> again;        //!< repeated for that reason, since the last time-out

        /// Is a packet to be repeated? @param psn its number. @return true if so.
        bool IsLost(uint64_t psn) const
        {
            return psn >= cumulative && psn < sent && !selected.contains(psn) &&
                   !repeated.contains(psn) && !again.contains(psn) && !IsTruncated(psn) &&
                   (psn < highest || (first && psn == cumulative));
        }

        /// Was it reported, and not repeated since? @param psn its number. @return true if so.
        bool IsTruncated(uint64_t psn) const
        {
            return psn >= cumulative && psn < sent && !selected.contains(psn) &&
                   std::ranges::find(truncated, psn) != truncated.end();
        }

        /// A truncated frame came. @param psn its number.
        void Report(uint64_t psn)
        {
            if (!selected.contains(psn) && !IsTruncated(psn))
            {
                truncated.push_back(psn);
            }
        }

        /// The packet to repeat next. @return its number; -1: none.
        int64_t Next() const
        {
            for (const uint64_t psn : truncated)
            {
                if (IsTruncated(psn))
                {
                    return static_cast<int64_t>(psn);
                }
            }
            for (uint64_t psn = cumulative; psn < sent; ++psn)
            {
                if (IsLost(psn))
                {
                    return static_cast<int64_t>(psn);
                }
            }
            return -1;
        }

        /// Repeat a packet. @param psn its number.
        void Repeat(uint64_t psn)
        {
            if (IsTruncated(psn))
            {
                std::erase(truncated, psn);
                again.insert(psn);
                return;
            }
            repeated.insert(psn);
            recovery = static_cast<int64_t>(sent) - 1;
        }

        /// An acknowledgement. @param next packet that the receiver waits for.
        void Acknowledge(uint64_t next)
        {
            if (next <= cumulative)
            {
                return;
            }
            cumulative = next;
            const bool inRecovery = static_cast<int64_t>(next) <= recovery;
            first = inRecovery && repeated.lower_bound(next) == repeated.end();
        }
    };

    void DoRun() override
    {
        std::mt19937_64 random(1);
        uint64_t repeats = 0;
        for (int round = 0; round < 300; ++round)
        {
            Scoreboard board;
            Model model;
            std::set<uint64_t> received; // by the receiver, beyond what is in order
            for (int step = 0; step < 400; ++step)
            {
                const uint64_t choice = random() % 10;
                const uint64_t inFlight = model.sent - model.cumulative;
                if (choice < 4 && inFlight < 40)
                {
                    board.AddSent();
                    ++model.sent;
                }
                else if (choice < 6)
                {
                    const int64_t next = model.Next();
                    NS_TEST_ASSERT_MSG_EQ(board.HasMissing(), (next >= 0), "something is lost");
                    if (next >= 0)
                    {
                        NS_TEST_ASSERT_MSG_EQ(board.TakeMissing(),
                                              static_cast<uint64_t>(next),
                                              "round " << round << " step " << step);
                        model.Repeat(static_cast<uint64_t>(next));
                        ++repeats;
                    }
                }
                else if (choice == 6 && inFlight > 0 && random() % 4 == 0)
                {
                    const bool all = random() % 2;
                    board.NoteTimeout(all);
                    model.repeated.clear();
                    model.again.clear();
                    model.first = true;
                    model.highest = all ? model.sent : model.highest;
                }
                else if (round % 2 == 1 && choice == 7 && inFlight > 0)
                {
                    const uint64_t psn = model.cumulative + random() % inFlight;
                    board.NoteTruncated(psn);
                    model.Report(psn);
                }
                else if (inFlight > 0)
                {
                    // any packet arrives: in order, out of order or once more
                    uint64_t psn = model.cumulative + random() % inFlight;
                    psn = random() % 3 ? psn : model.cumulative;
                    received.insert(psn);
                    uint64_t expected = model.cumulative;
                    while (received.contains(expected))
                    {
                        ++expected;
                    }
                    if (expected > model.cumulative)
                    {
                        board.Advance(expected);
                    }
                    model.Acknowledge(expected);
                    board.NoteReceived(psn);
                    if (psn >= expected)
                    {
                        board.MarkMissing(psn);
                        model.selected.insert(psn);
                        model.highest = std::max(model.highest, psn);
                    }
                }
            }
        }
        NS_TEST_EXPECT_MSG_GT(repeats, 5'000, "there was much to repeat");
    }
};

/// @ingroup facade-tests
/// @brief When a silence causes repeats, to the picosecond.
class TimeoutTest : public TestCase
{
  public:
    TimeoutTest()
        : TestCase("few packets in flight wait for the short time-out, many for the long one")
    {
    }

  private:
    /// What came of a message.
    struct Result
    {
        int64_t finish;  //!< ps
        double timeouts; //!< silences
        double repeated; //!< packets
    };

    /// Send a message and lose the first copy of some packets.
    /// @param packets of the message. @param choose which of its packets and ACKs to lose, given
    /// whether a packet is a repeat. @param few N. @return what came of it.
    Result RunOnce(uint32_t packets, const std::function<bool(const Frame&)>& choose, int64_t few)
    {
        Network net;
        net.Set("Port", "Overhead", 0);
        net.Set("QueuePair", "Retransmit", "Selective");
        net.Set("QueuePair", "Timeout", "320us");
        net.Set("QueuePair", "ShortTimeout", "100us");
        net.Set("QueuePair", "ShortTimeoutPackets", few);
        net.Set("QueuePair", "TimeoutRepeats", "First");
        net.Set("QueuePair", "AnswerClass", ANSWER_CLASS);
        net.sim.SetStopWhenDone(true);
        Eraser::Install(net, choose);
        net.Star(2, 100 * GBPS, US);
        net.Flow(0, 1, packets * 1000, 0, DATA_CLASS);
        net.sim.Build();
        net.sim.Run(100'000 * US);
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
        return {net.Column("flow", "finish_ps")[0],
                net.Number("timeouts"),
                net.Number("retransmitted_bytes") / 1000};
    }

    void DoRun() override
    {
        constexpr int64_t ONE_WAY =
            2 * US + 2 * FULL; // of a repeat, from its start to the receiver
        for (const uint32_t packets : {1, 3, 4, 40})
        {
            // All are lost, and repeated one a round trip: silence counts from the first packet.
            const Result lost = RunOnce(
                packets,
                [](const Frame& frame) { return frame.kind == FrameKind::DATA && !frame.repeat; },
                3);
            const int64_t silence = (packets <= 3 ? 100 : 320) * US;
            NS_TEST_EXPECT_MSG_EQ(lost.timeouts, 1, packets << " lost: one silence");
            NS_TEST_EXPECT_MSG_EQ(lost.repeated, packets, packets << " lost: each once more");
            NS_TEST_EXPECT_MSG_EQ(lost.finish,
                                  silence + (packets - 1) * RTT + ONE_WAY,
                                  packets << " lost: finish");
        }
        for (const int64_t few : {1, 5, 6})
        {
            // The last five of two thousand: silence counts from the ACK before. A look is due 100
            // us after the start of the message, and has to be moved.
            const Result tail = RunOnce(
                2000,
                [](const Frame& frame) {
                    return frame.kind == FrameKind::DATA && !frame.repeat && frame.psn >= 1995;
                },
                few);
            const int64_t progress = 1994 * FULL + RTT;
            const int64_t silence = (few >= 5 ? 100 : 320) * US;
            NS_TEST_EXPECT_MSG_EQ(tail.timeouts, 1, "tail, N = " << few);
            NS_TEST_EXPECT_MSG_EQ(tail.finish,
                                  progress + silence + 4 * RTT + ONE_WAY,
                                  "tail, N = " << few);
        }
        // No ACK but that of packet 1997 of 2000 comes, after the first 100 us, and the last two
        // packets are lost: two thousand in flight become two, and the short time holds at once.
        const Result sudden = RunOnce(
            2000,
            [](const Frame& frame) {
                return frame.kind == FrameKind::DATA ? !frame.repeat && frame.psn >= 1998
                                                     : frame.word[1] < 1997;
            },
            3);
        NS_TEST_EXPECT_MSG_EQ(sudden.timeouts, 1, "many become few");
        NS_TEST_EXPECT_MSG_EQ(sudden.finish,
                              1997 * FULL + RTT + 100 * US + RTT + ONE_WAY,
                              "many become few");
    }
};

/// @ingroup facade-tests
/// @brief The window of a BDP.
class BdpWindowTest : public TestCase
{
  public:
    BdpWindowTest()
        : TestCase("one BDP keeps the line of the longest path busy, and a packet less does not")
    {
    }

  private:
    /// Send 400 packets alone. @param bdps WindowBdps. @return when the last one has come (ps).
    int64_t Finish(const std::string& bdps)
    {
        Network net;
        net.Set("Port", "Overhead", 0);
        net.Set("QueuePair", "WindowBdps", bdps);
        net.Star(2, 100 * GBPS, US);
        net.Flow(0, 1, 400'000);
        net.sim.Build();
        net.sim.Run(2'000 * US);
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
        return net.Column("flow", "finish_ps")[0];
    }

    /// The longest path becomes longer during the run, and shorter again.
    void Detour()
    {
        Network net;
        net.Set("QueuePair", "WindowBdps", "1");
        for (const double load : net.LoadsOnDetour(952))
        {
            NS_TEST_EXPECT_MSG_EQ_TOL(load, 1, 0.005, "the window is that of the longest path");
        }
    }

    /// Lines of two rates, and nothing comes: the windows are sent.
    void Longest()
    {
        Network net;
        net.Set("Port", "Overhead", 20);
        net.Set("QueuePair", "WindowBdps", "1");
        net.Set("QueuePair", "Retransmit", "None");
        Eraser::Install(net, [](const Frame& frame) { return frame.kind == FrameKind::DATA; });
        Witness::Install(net);
        net.Nodes(4, 1);
        net.Link(0, 4, 100 * GBPS, US);
        net.Link(1, 4, 100 * GBPS, US);
        net.Link(2, 4, 25 * GBPS, 5 * US);
        net.Link(3, 4, 25 * GBPS, 5 * US);
        net.Flow(0, 1, 0, 0, DATA_CLASS);
        net.Flow(2, 3, 0, 0, DATA_CLASS);
        net.Flow(1, 0, 0, 0, DATA_CLASS, 0, 10'000);
        net.sim.Build();
        net.sim.Run(1'000 * US);
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
        // 1068 B there and 84 B back, over two links each way
        const int64_t slow = WireTime(1068, 25 * GBPS);
        const int64_t rtt = 2 * slow + 2 * WireTime(84, 25 * GBPS) + 20 * US;
        const int64_t fast = WireTime(1068, 100 * GBPS);
        const auto packets = [rtt](int64_t packet) {
            return static_cast<uint64_t>((rtt + packet - 1) / packet);
        };
        NS_TEST_EXPECT_MSG_EQ(Witness::g_logs[0].mostInFlight,
                              packets(fast),
                              "of the longest path");
        NS_TEST_EXPECT_MSG_EQ(Witness::g_logs[1].mostInFlight, packets(slow), "at its own line");
        NS_TEST_EXPECT_MSG_EQ(Witness::g_logs[2].mostInFlight, 10, "a smaller one of the traffic");
    }

    void DoRun() override
    {
        constexpr int64_t WINDOW = (RTT + FULL - 1) / FULL; // 50 packets
        const int64_t last = 2 * US + 2 * FULL;             // of the last packet, from its start
        NS_TEST_EXPECT_MSG_EQ(Finish("0"), 399 * FULL + last, "no window");
        NS_TEST_EXPECT_MSG_EQ(Finish("1"), 399 * FULL + last, "one BDP: never idle");
        // a packet less: a round trip for each window
        constexpr int64_t LESS = WINDOW - 1;
        NS_TEST_EXPECT_MSG_EQ(Finish("0.97"),
                              399 / LESS * RTT + 399 % LESS * FULL + last,
                              "a packet less");
        NS_TEST_EXPECT_MSG_EQ(Finish("0.001"), 399 * RTT + last, "one packet at the least");
        Longest();
        Detour();
    }
};

/// @ingroup facade-tests
/// @brief Tests of IRN.
class IrnTestSuite : public TestSuite
{
  public:
    IrnTestSuite()
        : TestSuite("facade-irn", Type::UNIT)
    {
        AddTestCase(new SecondRecoveryModelTest, TestCase::Duration::QUICK);
        AddTestCase(new TimeoutTest, TestCase::Duration::QUICK);
        AddTestCase(new BdpWindowTest, TestCase::Duration::QUICK);
    }
};

static IrnTestSuite g_irnTestSuite; //!< registers the suite

} // namespace tests
} // namespace facade
} // namespace ns3
