/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../lossless/test/lossless-test-draws.h"
#include "facade-test-network.h"

#include "ns3/test.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

/**
 * @file
 * @ingroup facade-tests
 * Hosts that receive slowly or pause without cause, random fabrics with everything that can go
 * wrong, and what a seed decides.
 */

namespace ns3
{
namespace facade
{
namespace tests
{

using lossless::tests::Draws;

namespace
{

/// Two hosts and a switch, 100 Gb/s, 1 us a link, no overhead, PFC.
struct PfcPair : Network
{
    /// Set it up. @param xoff static threshold of every queue. @param burst of queue pairs (B).
    explicit PfcPair(int64_t xoff, int64_t burst = 0)
    {
        Set("Host", "QueuePairBurst", burst);
        Set("Port", "Overhead", 0);
        Set("SharedBuffer", "Threshold", "Static");
        Set("SharedBuffer", "Xoff", xoff);
        Set("SharedBuffer", "Xon", xoff - 3000);
        Set("SharedBuffer", "LosslessClasses", 0x18);
        sim.AddFlowControl("ns3::pfc::Pfc");
        Witness::Install(*this);
        Star(2, 100'000'000'000, WIRE);
    }

    static constexpr int64_t FRAME = 83'840;   //!< ps a full frame
    static constexpr int64_t CONTROL = 5'120;  //!< ps a PFC frame, and an ACK
    static constexpr int64_t WIRE = 1'000'000; //!< ps a link
};

} // namespace

/// @ingroup facade-tests
/// @brief A host that takes data slowly.
class SlowReceiverTest : public TestCase
{
  public:
    SlowReceiverTest()
        : TestCase("a slow receiver takes a frame every frame time at its rate, to the picosecond, "
                   "pauses its switch and loses nothing")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(5);
        for (int round = 0; round < Draws(30); ++round)
        {
            // What is left at Xon, 17 KB, outlasts the round trip of a RESUME.
            const uint64_t rate = 1'000'000'000 + random() % 40'000'000'000;
            const int64_t from = static_cast<int64_t>(random() % 50'000'000);
            const int64_t until = from + 200'000'000 + static_cast<int64_t>(random() % 50'000'000);
            PfcPair net(20'000);
            net.Flow(0, 1, 3'000'000);
            net.sim.SetReceiveRate(1, rate, from);
            net.sim.SetReceiveRate(1, 0, until);
            net.sim.Build();
            net.Trace("pause", 1, 2);
            net.Trace("queue", 1, 2);
            net.sim.Run(20'000'000'000);
            NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "nothing is lost at " << rate);
            NS_TEST_ASSERT_MSG_EQ(net.Number("flows_unfinished"), 0, "finished at " << rate);
            const auto time = std::llroundl(1048 * 8e12L / static_cast<long double>(rate));
            const auto& received = Witness::g_logs[0].received;
            uint64_t slow = 0;
            for (std::size_t i = 1; i < received.size(); ++i)
            {
                NS_TEST_ASSERT_MSG_EQ(received[i].second, i, "taken in order, also afterwards");
                const int64_t gap = received[i].first - received[i - 1].first;
                if (received[i - 1].first > from + 10'000'000 && received[i].first < until)
                {
                    NS_TEST_ASSERT_MSG_EQ(gap, time, "gap between frames taken at " << rate);
                    ++slow;
                }
            }
            NS_TEST_ASSERT_MSG_GT(slow, 20, "and it was always busy at " << rate);
            const auto start = net.Column("pause", "start_ps");
            NS_TEST_ASSERT_MSG_GT(start.size(), 0, "the host paused its switch");
            NS_TEST_ASSERT_MSG_GT_OR_EQ(start.front(), from, "not before it was slow");
            for (const int64_t end : net.Column("pause", "end_ps"))
            {
                NS_TEST_ASSERT_MSG_LT_OR_EQ(end, until + FULL_BUFFER, "and not after");
            }
            const auto bytes = net.Column("queue", "bytes");
            const auto headroom = static_cast<int64_t>(net.Number("sufficient_headroom_bytes"));
            NS_TEST_ASSERT_MSG_LT_OR_EQ(*std::max_element(bytes.begin(), bytes.end()),
                                        20'000 + headroom,
                                        "the host holds no more than Xoff + headroom");
            NS_TEST_ASSERT_MSG_GT_OR_EQ(*std::max_element(bytes.begin(), bytes.end()),
                                        19'000,
                                        "and uses what it has");
        }
    }

    /// Longest time (ps) that what a host holds when it is no longer slow keeps it paused.
    static constexpr int64_t FULL_BUFFER = 10'000'000;
};

/// @ingroup facade-tests
/// @brief A NIC that pauses its switch without cause.
class PauseStormTest : public TestCase
{
  public:
    PauseStormTest()
        : TestCase("a pause storm silences its class on its port for its duration, to the "
                   "picosecond, and nothing else")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(6);
        for (int round = 0; round < Draws(40); ++round)
        {
            const int64_t start = 10'000'000 + static_cast<int64_t>(random() % 50'000'000);
            const int64_t stop = start + 20'000'000 + static_cast<int64_t>(random() % 300'000'000);
            Network net;
            net.Set("Port", "Overhead", 0);
            net.Set("Pfc", "Mode", round % 2 ? "Timer" : "OnOff");
            net.Set("Pfc", "PauseQuanta", static_cast<int64_t>(200 + random() % 65'000));
            net.Set("SharedBuffer", "LosslessClasses", 0x18);
            net.sim.AddFlowControl("ns3::pfc::Pfc");
            Witness::Install(net);
            net.Star(3, 100'000'000'000, PfcPair::WIRE);
            net.Flow(0, 1, 0, 0, 3, 20'000'000'000, 0, 500'000'000);
            // another class to the same host, and the same class to another
            net.Flow(0, 1, 0, 0, 4, 10'000'000'000, 0, 500'000'000);
            net.Flow(0, 2, 0, 0, 3, 10'000'000'000, 0, 500'000'000);
            net.sim.AddPauseStorm(1, 3, start, stop);
            net.sim.Build();
            net.sim.Run(2'000'000'000);
            NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "nothing is lost in a storm");
            // The PAUSE may wait for an ACK, the switch for the frame it has begun.
            const int64_t silent =
                start + 2 * PfcPair::CONTROL + 2 * PfcPair::WIRE + PfcPair::FRAME;
            int64_t before = 0;
            int64_t after = lossless::NEVER;
            for (const auto& [time, psn] : Witness::g_logs[0].received)
            {
                (time < stop ? before : after) =
                    time < stop ? std::max(before, time) : std::min(after, time);
            }
            NS_TEST_ASSERT_MSG_LT_OR_EQ(before, silent, "silence after a storm began at " << start);
            NS_TEST_ASSERT_MSG_GT(before, start, "and not before it");
            const int64_t sooner = stop + PfcPair::CONTROL + PfcPair::FRAME + 2 * PfcPair::WIRE;
            NS_TEST_ASSERT_MSG_GT_OR_EQ(after, sooner, "the port speaks when resumed, not before");
            NS_TEST_ASSERT_MSG_LT_OR_EQ(after,
                                        sooner + PfcPair::CONTROL + PfcPair::FRAME,
                                        "and then at once");
            for (const uint32_t flow : {0, 1, 2})
            {
                NS_TEST_ASSERT_MSG_EQ(net.Column("flow", "delivered_bytes")[flow],
                                      net.Column("flow", "sent_bytes")[flow],
                                      "all arrived in the end, flow " << flow);
            }
            for (const uint32_t flow : {1, 2})
            {
                const auto& received = Witness::g_logs[flow].received;
                for (std::size_t i = 1; i < received.size(); ++i)
                {
                    NS_TEST_ASSERT_MSG_LT_OR_EQ(received[i].first - received[i - 1].first,
                                                838'400 + 4 * PfcPair::FRAME,
                                                "flow " << flow << " does not feel the storm");
                }
            }
        }
    }
};

/// @ingroup facade-tests
/// @brief A NIC that pauses a class which PFC does not protect.
class LossyStormTest : public TestCase
{
  public:
    LossyStormTest()
        : TestCase("a pause storm of a class that is not lossless changes no frame, and is counted")
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t END = 1'000'000'000;
        std::vector<int64_t> delivered;
        for (const bool storm : {false, true})
        {
            Network net;
            net.Set("Port", "Overhead", 0);
            net.sim.AddFlowControl("ns3::pfc::Pfc");
            net.Star(2, 100'000'000'000, PfcPair::WIRE);
            net.Flow(0, 1, 0, 0, 0, 50'000'000'000);
            if (storm)
            {
                net.sim.AddPauseStorm(1, 0, 100'000'000, -1);
            }
            net.sim.Build();
            net.sim.Run(END);
            NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
            NS_TEST_ASSERT_MSG_EQ(net.Number("dropped_frames"), 0, "nothing is dropped");
            NS_TEST_ASSERT_MSG_EQ(net.Number("pause_time_ps"), 0, "nothing is paused");
            NS_TEST_ASSERT_MSG_EQ(net.Number("blocked_by_host"), 0, "nobody waits for the host");
            NS_TEST_ASSERT_MSG_EQ(net.Number("control_frames_ignored"),
                                  net.Number("pfc_frames_sent"),
                                  "all PFC frames were ignored");
            NS_TEST_ASSERT_MSG_EQ((net.Number("pfc_frames_sent") > 0), storm, "there were some");
            delivered.push_back(net.Column("flow", "delivered_bytes").front());
        }
        NS_TEST_ASSERT_MSG_EQ(delivered[1], delivered[0], "as without a storm");
        // 1000 B of payload every 1048 B at 50 Gb/s; the first arrives after two links.
        constexpr int64_t FIRST = 2 * (PfcPair::FRAME + PfcPair::WIRE);
        NS_TEST_ASSERT_MSG_EQ(delivered[0],
                              ((END - FIRST) / (2 * PfcPair::FRAME) + 1) * 1000,
                              "the rate of the flow");
    }
};

/// @ingroup facade-tests
/// @brief A host that pauses forever blocks its senders, which is not a deadlock of the network.
class HostRootedTest : public TestCase
{
  public:
    HostRootedTest()
        : TestCase("queues that wait for a host that pauses forever are distinguished from a cycle")
    {
    }

  private:
    void DoRun() override
    {
        for (const int64_t stop : {int64_t{-1}, int64_t{1'000'000'000}})
        {
            Network net;
            net.Set("Pfc", "Mode", stop < 0 ? "OnOff" : "Timer");
            net.Set("SharedBuffer", "Threshold", "Static");
            net.Set("SharedBuffer", "Xoff", 30'000);
            net.Set("SharedBuffer", "Xon", 20'000);
            net.sim.AddFlowControl("ns3::pfc::Pfc");
            net.Nodes(3, 2);
            net.Link(0, 3, 10'000'000'000, 1'000'000);
            net.Link(1, 4, 10'000'000'000, 1'000'000);
            net.Link(2, 4, 10'000'000'000, 1'000'000);
            net.Link(3, 4, 10'000'000'000, 1'000'000);
            net.Flow(0, 1, 0, 0, 3);
            constexpr int64_t START = 100'000'000;
            net.sim.AddPauseStorm(1, 3, START, stop);
            net.sim.SetDeadlockTest(100'000'000, true);
            net.sim.Build();
            net.sim.Run(2'000'000'000);
            NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "nothing is lost");
            NS_TEST_ASSERT_MSG_EQ(net.Number("deadlocked"), 0, "no cycle");
            NS_TEST_ASSERT_MSG_EQ(net.Number("end_ps"), 2'000'000'000, "which would end the run");
            NS_TEST_ASSERT_MSG_EQ(net.Number("blocked_by_host"), (stop < 0 ? 1 : 0), "for ever");
            if (stop < 0)
            {
                // the PAUSE waits for one ACK at most, travels, and holds what waits then
                const double formed = net.Number("blocked_by_host_formed_ps");
                NS_TEST_ASSERT_MSG_GT(formed, START + 1'000'000, "not before the PAUSE is there");
                NS_TEST_ASSERT_MSG_LT(formed, START + 1'300'000, "and at once then");
                NS_TEST_ASSERT_MSG_EQ(net.Number("blocked_by_host_queues"), 3, "from end to end");
                NS_TEST_ASSERT_MSG_NE(net.sim.Notes().find("first pause: h1:s4"),
                                      std::string::npos,
                                      "the host is the trigger: " << net.sim.Notes());
            }
        }
    }
};

/// @ingroup facade-tests
/// @brief A storm on a host that is slow as well: two reasons to pause, which must not be confused.
class StormOnSlowHostTest : public TestCase
{
  public:
    StormOnSlowHostTest()
        : TestCase("a host that has two reasons to pause resumes when neither is left, and loses "
                   "nothing")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(7);
        for (int round = 0; round < Draws(60); ++round)
        {
            PfcPair net(10'000 + static_cast<int64_t>(random() % 50'000));
            net.Flow(0, 1, 2'000'000);
            net.sim.SetReceiveRate(1, 2'000'000'000 + random() % 40'000'000'000, 0);
            int64_t start = 5'000'000 + static_cast<int64_t>(random() % 30'000'000);
            std::vector<std::pair<int64_t, int64_t>> storms;
            for (int storm = 0; storm < 3; ++storm)
            {
                const int64_t stop = start + 100'000 + static_cast<int64_t>(random() % 60'000'000);
                net.sim.AddPauseStorm(1, 3, start, stop);
                storms.emplace_back(start, stop);
                // The next may begin before this one has ended.
                start += 1 + static_cast<int64_t>(random() % 90'000'000);
            }
            net.sim.Build();
            net.Trace("pause", 1, 2);
            net.sim.Run(20'000'000'000);
            NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "nothing is lost, round " << round);
            NS_TEST_ASSERT_MSG_EQ(net.Number("flows_unfinished"), 0, "finished, round " << round);
            // While a storm lasts the host pauses: some interval must cover it.
            const auto from = net.Column("pause", "start_ps");
            const auto to = net.Column("pause", "end_ps");
            for (const auto& [begin, end] : storms)
            {
                bool covered = false;
                for (std::size_t i = 0; i < from.size(); ++i)
                {
                    covered = covered || (from[i] <= begin && to[i] >= end);
                }
                NS_TEST_ASSERT_MSG_EQ(covered,
                                      true,
                                      "the storm from " << begin << " to " << end
                                                        << " ps lasted, round " << round);
            }
        }
    }
};

/// @ingroup facade-tests
/// @brief Random fabrics in which links fail, receivers are slow, storms rage and lossy classes are
/// full.
class RandomTroubleTest : public TestCase
{
  public:
    RandomTroubleTest()
        : TestCase("in random troubled fabrics every frame sent is received, dropped and counted, "
                   "or still held; and the same seed gives the same run")
    {
    }

  private:
    /// Make a random connected fabric with cycles, and trouble.
    /// @param seed of everything. @param failures links fail, and loss is allowed. @return the flow
    /// table and the number of events.
    std::vector<int64_t> RunOnce(uint64_t seed, bool failures)
    {
        std::mt19937_64 random(seed);
        const auto switches = static_cast<uint32_t>(2 + random() % 5);
        const auto hosts = static_cast<uint32_t>(2 + random() % 8);
        const uint64_t rates[] = {10'000'000'000, 25'000'000'000, 77'777'777'777, 100'000'000'000};
        Network net(seed);
        const auto number = [&](uint64_t least, uint64_t span) {
            return static_cast<int64_t>(least + random() % span);
        };
        const auto pick = [&](std::initializer_list<const char*> values) {
            return std::string(*(values.begin() + random() % values.size()));
        };
        net.Set("SharedBuffer", "Size", number(4'000'000, 4'000'000));
        net.Set("SharedBuffer", "LossyPool", number(20'000, 200'000));
        net.Set("SharedBuffer", "LosslessClasses", 24);
        net.Set("SharedBuffer", "Threshold", pick({"Static", "Dynamic"}));
        net.Set("SharedBuffer", "Private", number(0, 2) * 3000);
        net.Set("SharedBuffer", "Xoff", number(2000, 60'000));
        net.Set("SharedBuffer", "Xon", number(0, 2000));
        net.Set("SharedBuffer", "XonOffset", number(0, 6000));
        net.Set("SharedBuffer", "Alpha", pick({"0.0078125", "0.125", "1", "8"}));
        net.Set("Port", "ControlDelay", std::to_string(number(0, 3000)) + "ns");
        net.Set("Port", "QueueService", pick({"Fifo", "RoundRobin"}));
        net.Set("Port", "ClassService", pick({"Strict", "Dwrr", "Fifo"}));
        net.Set("Port", "ReleaseAt", pick({"End", "Start"}));
        net.Set("Port", "Overhead", pick({"0", "20"}));
        net.Set("Switch", "Latency", pick({"0ns", "300ns"}));
        net.Set("Pfc", "Mode", pick({"Timer", "OnOff"}));
        net.Set("Pfc", "PauseQuanta", number(500, 65'000));
        net.Set("QueuePair", "AnswerClass", pick({"8", "4", "1"}));
        net.Set("QueuePair", "AckSize", 70);
        net.Set("QueuePair", "AckEvery", number(1, 5));
        net.Set("QueuePair", "Timeout", "300us");
        const bool selective = random() % 2;
        net.Set("QueuePair", "Retransmit", selective ? "Selective" : "GoBackN");
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        net.sim.SetAllowLoss(failures);
        Witness::Install(net, selective);
        net.Nodes(hosts, switches);
        uint32_t links = 0;
        const auto link = [&](uint32_t a, uint32_t b) {
            net.Link(a, b, rates[random() % 4], 1000 * number(0, 3000));
            return links++;
        };
        for (uint32_t host = 0; host < hosts; ++host)
        {
            link(host, hosts + static_cast<uint32_t>(random() % switches));
        }
        for (uint32_t s = 1; s < switches; ++s)
        {
            link(hosts + s, hosts + static_cast<uint32_t>(random() % s));
        }
        for (uint64_t extra = random() % 5; extra > 0; --extra)
        {
            const auto a = static_cast<uint32_t>(random() % switches);
            const auto b = static_cast<uint32_t>((a + 1 + random() % (switches - 1)) % switches);
            link(hosts + a, hosts + b); // may be parallel to another
        }
        for (uint32_t i = 0; failures && i < 3; ++i)
        {
            const int64_t down = number(1'000'000, 300'000'000);
            net.sim.FailLink(static_cast<uint32_t>(random() % links),
                             down,
                             down + number(1, 100'000'000));
        }
        for (uint32_t flow = 0; flow < 3 * hosts; ++flow)
        {
            const auto src = static_cast<uint32_t>(random() % hosts);
            const auto dst = static_cast<uint32_t>((src + 1 + random() % (hosts - 1)) % hosts);
            const uint8_t classes[] = {0, 3, 4};
            net.Flow(src,
                     dst,
                     1000 * (1 + random() % 150),
                     number(0, 50'000'000),
                     classes[random() % 3],
                     random() % 4 ? 0 : 2'000'000'000,
                     random() % 4 ? 0 : 20'000);
        }
        if (random() % 3 == 0)
        {
            net.sim.SetReceiveRate(static_cast<uint32_t>(random() % hosts), 3'000'000'000, 0);
        }
        if (random() % 3 == 0)
        {
            const int64_t start = number(0, 100'000'000);
            net.sim.AddPauseStorm(static_cast<uint32_t>(random() % hosts),
                                  static_cast<uint8_t>(3 + random() % 2),
                                  start,
                                  start + number(1, 200'000'000));
        }
        net.sim.Build();
        NS_TEST_EXPECT_MSG_EQ(net.sim.Check(), "", "the configuration is possible, seed " << seed);
        net.sim.Trace("drop", nullptr, nullptr, 0, 0xff, 0);
        net.sim.Run(5'000'000'000);
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", "conserved and lossless, seed " << seed);
        if (!failures)
        {
            NS_TEST_EXPECT_MSG_EQ(net.Number("dropped_lossless_frames"), 0, "seed " << seed);
        }
        const auto finish = net.Column("flow", "finish_ps");
        const auto delivered = net.Column("flow", "delivered_bytes");
        const auto size = net.Column("flow", "size_bytes");
        bool drained = true;
        int64_t unaccounted = 0;
        for (std::size_t flow = 0; flow < finish.size(); ++flow)
        {
            const Witness::Log& log = Witness::g_logs[static_cast<uint32_t>(flow)];
            drained = drained && !log.acked.empty() &&
                      *std::max_element(log.acked.begin(), log.acked.end()) * 1000 ==
                          static_cast<uint64_t>(size[flow]);
            unaccounted +=
                static_cast<int64_t>(log.sent.size()) - static_cast<int64_t>(log.received.size());
            NS_TEST_EXPECT_MSG_EQ((finish[flow] >= 0),
                                  (delivered[flow] == size[flow]),
                                  "finished is delivered, seed " << seed);
            NS_TEST_EXPECT_MSG_EQ(log.wrongAnswers, 0, "no answer claims too much, seed " << seed);
        }
        // Nothing is in flight some time after every sender knows that everything arrived.
        m_drained += drained;
        const auto bytes = net.Column("drop", "bytes");
        const auto data = std::count(bytes.begin(), bytes.end(), 1048);
        NS_TEST_EXPECT_MSG_GT_OR_EQ(unaccounted, data, "dropped was sent, seed " << seed);
        if (drained)
        {
            NS_TEST_EXPECT_MSG_EQ(unaccounted,
                                  data,
                                  "data frames sent and not received are those in the table of "
                                  "drops, seed "
                                      << seed);
        }
        m_dropped += static_cast<uint64_t>(data);
        auto outcome = finish;
        const auto sent = net.Column("flow", "sent_bytes");
        outcome.insert(outcome.end(), sent.begin(), sent.end());
        outcome.push_back(static_cast<int64_t>(net.sim.GetEventCount()));
        return outcome;
    }

    void DoRun() override
    {
        for (uint64_t seed = 1; seed <= Draws(200); ++seed)
        {
            const auto first = RunOnce(seed, seed % 2);
            if (seed % 20 < 2)
            {
                NS_TEST_ASSERT_MSG_EQ((RunOnce(seed, seed % 2) == first),
                                      true,
                                      "the same seed gives the same run, seed " << seed);
            }
        }
        NS_TEST_ASSERT_MSG_GT(m_drained, Draws(150), "most runs end with all delivered");
        NS_TEST_ASSERT_MSG_GT(m_dropped, Draws(1000), "frames were dropped, in those that may");
    }

    uint64_t m_drained{0}; //!< runs in which every sender knew that all arrived
    uint64_t m_dropped{0}; //!< data frames dropped in all runs
};

/// @ingroup facade-tests
/// @brief What a seed decides: ECMP.
class SeedTest : public TestCase
{
  public:
    SeedTest()
        : TestCase("ECMP spreads flows evenly over equal paths, keeps a flow on one, and another "
                   "seed chooses others")
    {
    }

  private:
    static constexpr uint32_t SPINES = 4;
    static constexpr uint32_t FLOWS = 32;

    /// Two leaves, four spines, one host each, 32 flows.
    /// @param seed of the run. @return for each flow, which spine it took.
    std::vector<uint32_t> Choices(uint64_t seed)
    {
        Network net(seed);
        Witness::Install(net);
        net.Nodes(2, 2 + SPINES);
        net.Link(0, 2, 100'000'000'000, 1000);
        net.Link(1, 3, 100'000'000'000, 1000);
        for (uint32_t spine = 0; spine < SPINES; ++spine)
        {
            net.Link(2, 4 + spine, 100'000'000'000, 1000);
            net.Link(3, 4 + spine, 100'000'000'000, 1000);
        }
        for (uint32_t flow = 0; flow < FLOWS; ++flow)
        {
            // one after the other, so that each has the fabric for itself
            net.Flow(0, 1, 3000, flow * 10'000'000LL);
        }
        net.sim.Build();
        for (uint32_t spine = 0; spine < SPINES; ++spine)
        {
            net.Trace("rate", 4 + spine, 2);
        }
        net.sim.Run(1'000'000'000);
        NS_TEST_EXPECT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
        const auto time = net.Column("rate", "time_ps");
        const auto node = net.Column("rate", "node");
        NS_TEST_EXPECT_MSG_EQ(time.size(), 3 * FLOWS, "every packet passes one spine");
        std::vector<std::set<int64_t>> taken(FLOWS);
        for (std::size_t i = 0; i < time.size(); ++i)
        {
            taken[static_cast<std::size_t>(time[i] / 10'000'000)].insert(node[i] - 4);
        }
        std::vector<uint32_t> choices;
        for (const auto& spines : taken)
        {
            NS_TEST_EXPECT_MSG_EQ(spines.size(), 1, "a flow stays on one path");
            choices.push_back(static_cast<uint32_t>(*spines.begin()));
        }
        return choices;
    }

    void DoRun() override
    {
        std::array<double, SPINES> uses{};
        std::set<std::vector<uint32_t>> different;
        constexpr uint32_t SEEDS = 40;
        for (uint64_t seed = 1; seed <= SEEDS; ++seed)
        {
            const auto choices = Choices(seed);
            different.insert(choices);
            for (const uint32_t spine : choices)
            {
                ++uses[spine];
            }
            if (seed <= 3)
            {
                NS_TEST_ASSERT_MSG_EQ((Choices(seed) == choices), true, "the seed decides");
            }
        }
        NS_TEST_ASSERT_MSG_EQ(different.size(), SEEDS, "every seed chooses differently");
        for (const double use : uses)
        {
            // 1280 choices with probability 1/4: standard deviation 15.5
            NS_TEST_ASSERT_MSG_EQ_TOL(use, SEEDS * FLOWS / 4.0, 70, "spines are used evenly");
        }
    }
};

/// @ingroup facade-tests
/// @brief Adds a queue to a class: on hosts for the odd flows, and holds either back in turns; on
/// switches for every third packet, which so is overtaken.
class SecondQueue : public lossless::FlowControl, public lossless::QueueSelector
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::facade::tests::SecondQueue")
                                .SetParent<lossless::FlowControl>()
                                .SetGroupName("tests")
                                .AddConstructor<SecondQueue>();
        return tid;
    }

    SecondQueue()
        : m_turn(this, &SecondQueue::Turn)
    {
    }

    uint16_t GetOwnQueues() const override
    {
        return 1;
    }

    void Start() override
    {
        m_isHost = m_port->GetNode().GetNPorts() == 1;
        if (m_isHost)
        {
            m_turn.Schedule(0);
        }
    }

    uint16_t SelectQueue(const lossless::Frame& frame, uint16_t queue) const override
    {
        const bool second = m_isHost ? frame.flow % 2 == 1 : g_shuffle && frame.psn % 3 == 0;
        return second ? static_cast<uint16_t>(queue + lossless::N_CLASSES) : queue;
    }

    void NotifyJoined(uint16_t queue, lossless::Frame& frame) override
    {
        g_wrong += queue != SelectQueue(frame, frame.cls);
        if (m_isHost)
        {
            g_most = std::max(g_most, m_port->GetQueues()[queue].GetFrames());
        }
    }

    /// Hold one queue of class 3 back for 10 us, then the other.
    void Turn()
    {
        m_port->Block(m_held ? QUEUE - lossless::N_CLASSES : QUEUE);
        if (m_started)
        {
            m_port->Unblock(m_held ? QUEUE : QUEUE - lossless::N_CLASSES);
        }
        m_started = true;
        m_held = !m_held;
        m_turn.Schedule(10'000'000);
    }

    static constexpr uint16_t QUEUE = 3 + lossless::N_CLASSES; //!< second queue of class 3
    static bool g_shuffle;                                     //!< on switches
    static uint32_t g_most;                                    //!< frames in a queue of a host
    static uint64_t g_wrong;                                   //!< frames in wrong queues

  private:
    bool m_isHost{false};                        //!< of a host
    bool m_held{false};                          //!< the second queue is held back
    bool m_started{false};                       //!< one of them is
    lossless::ReusableEvent<SecondQueue> m_turn; //!< hold it or let it go
};

bool SecondQueue::g_shuffle = false;
uint32_t SecondQueue::g_most = 0;
uint64_t SecondQueue::g_wrong = 0;
NS_OBJECT_ENSURE_REGISTERED(SecondQueue);

/// @ingroup facade-tests
/// @brief A host whose flows use several egress queues of a class.
class SecondQueueTest : public TestCase
{
  public:
    SecondQueueTest()
        : TestCase("a host keeps one frame of each egress queue ahead, sends the others while one "
                   "is held back and forgets no flow; packets that were overtaken are counted")
    {
    }

  private:
    void DoRun() override
    {
        SecondQueue::g_shuffle = false;
        SecondQueue::g_most = 0;
        SecondQueue::g_wrong = 0;
        {
            Network net;
            net.Set("Port", "Overhead", 0);
            net.sim.AddFlowControl("ns3::facade::tests::SecondQueue");
            net.Star(2, 10'000'000'000, 1'000'000);
            for (uint32_t flow = 0; flow < 10; ++flow)
            {
                // Some have a window, so that they cease to be able to send while they wait.
                net.Flow(0, 1, 0, 0, 3, 0, flow % 4 == 1 ? 3000 : 0);
            }
            net.sim.Build();
            net.sim.Run(4'000'000'000);
            NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "nothing lost");
            NS_TEST_ASSERT_MSG_EQ(SecondQueue::g_wrong, 0, "every frame in its queue");
            NS_TEST_ASSERT_MSG_EQ(SecondQueue::g_most, 1, "one frame ahead of each queue");
            const auto delivered = net.Column("flow", "delivered_bytes");
            int64_t all = 0;
            for (uint32_t flow = 0; flow < 10; ++flow)
            {
                all += delivered[flow];
                NS_TEST_ASSERT_MSG_GT(delivered[flow],
                                      30'000,
                                      "flow " << flow << " is not forgotten");
                // Of flows that are treated the same, none gets more than its turns.
                if (flow >= 4)
                {
                    NS_TEST_ASSERT_MSG_EQ_TOL(delivered[flow],
                                              delivered[flow - 4],
                                              delivered[flow] / 20 + 3000,
                                              "turns, flow " << flow);
                }
            }
            NS_TEST_ASSERT_MSG_GT(all, 4e6 / 8 * 10 * 0.99 * 1000 / 1048, "the line is never idle");
            NS_TEST_ASSERT_MSG_EQ(net.Number("reordered_frames"), 0, "nothing was overtaken");
            NS_TEST_ASSERT_MSG_EQ(net.Number("deadlock_not_judged_ports"), 2, "both hosts block");
            NS_TEST_ASSERT_MSG_NE(net.sim.Notes().find("deadlock: not judged"),
                                  std::string::npos,
                                  "and no model answers for it");
            for (const auto& [name, value] : net.sim.GetSummary())
            {
                NS_TEST_ASSERT_MSG_EQ((name == "deadlocked"), false, "so it is unknown");
            }
        }

        // Packets that a switch lets be overtaken are counted, each once.
        SecondQueue::g_shuffle = true;
        {
            Network shuffled;
            Witness::Install(shuffled);
            shuffled.Set("QueuePair", "Retransmit", "None");
            shuffled.sim.AddFlowControl("ns3::facade::tests::SecondQueue");
            shuffled.Star(3, 10'000'000'000, 1'000'000);
            shuffled.Flow(0, 2, 500'000);
            shuffled.Flow(1, 2, 500'000);
            shuffled.sim.Build();
            shuffled.sim.Run(20'000'000'000);
            uint64_t overtaken = 0;
            for (const auto& [flow, log] : Witness::g_logs)
            {
                uint32_t highest = 0;
                for (const auto& [when, psn] : log.received)
                {
                    overtaken += psn < highest;
                    highest = std::max(highest, psn);
                }
            }
            NS_TEST_ASSERT_MSG_GT(overtaken, 100, "many were overtaken");
            NS_TEST_ASSERT_MSG_EQ(shuffled.Number("reordered_frames"), overtaken, "and counted");
            NS_TEST_ASSERT_MSG_EQ(shuffled.Number("flows_unfinished"), 0, "nothing is missing");
            NS_TEST_ASSERT_MSG_EQ(shuffled.Number("delivered_bytes"), 1'000'000, "every byte");
            NS_TEST_ASSERT_MSG_EQ(shuffled.Number("in_order_bytes"), 1'000'000, "without a gap");
            SecondQueue::g_shuffle = false;
            shuffled.sim.Finish();
        }

        // A lost packet that is sent again comes after later ones, but was not overtaken.
        Network lossy;
        Eraser::Install(lossy, [count = 0](const lossless::Frame& frame) mutable {
            return frame.kind == lossless::FrameKind::DATA && ++count % 50 == 0;
        });
        lossy.Star(2, 10'000'000'000, 1'000'000);
        lossy.Flow(0, 1, 500'000);
        lossy.sim.Build();
        lossy.sim.Run(300'000'000'000);
        NS_TEST_ASSERT_MSG_GT(lossy.Number("retransmitted_bytes"), 0, "packets were sent again");
        NS_TEST_ASSERT_MSG_EQ(lossy.Number("flows_unfinished"), 0, "and came");
        NS_TEST_ASSERT_MSG_EQ(lossy.Number("reordered_frames"), 0, "but none was overtaken");
    }
};

/// @ingroup facade-tests
/// @brief A NIC that serves its queue pairs in bursts.
class BurstTest : public TestCase
{
  public:
    BurstTest()
        : TestCase("a NIC sends of each queue pair as many frames in a row as reach its burst; "
                   "one that has none ready ends its turn, and the line is never idle")
    {
    }

  private:
    static constexpr int64_t FRAME_TIME = 83'840; //!< ps a full frame of 1048 B at 100 Gb/s

    /// Whose frames the NIC made, in order.
    /// @param flows how many flows there are. @return their numbers, each with the time when its
    /// frame was made (ps).
    static std::vector<std::pair<int64_t, uint32_t>> Sent(uint32_t flows)
    {
        std::vector<std::pair<int64_t, uint32_t>> all;
        for (uint32_t flow = 0; flow < flows; ++flow)
        {
            for (const auto& [time, psn] : Witness::g_logs[flow].sent)
            {
                all.emplace_back(time, flow);
            }
        }
        std::sort(all.begin(), all.end());
        return all;
    }

    void DoRun() override
    {
        std::mt19937_64 random(11);
        for (int round = 0; round < Draws(20); ++round)
        {
            const auto flows = static_cast<uint32_t>(2 + random() % 6);
            const auto burst = static_cast<int64_t>(round == 0 ? 0 : random() % 20'000);
            const uint64_t inTurn = std::max<int64_t>(1, (burst + 1047) / 1048);
            PfcPair net(20'000, burst);
            for (uint32_t flow = 0; flow < flows; ++flow)
            {
                net.Flow(0, 1, 0);
            }
            net.sim.Build();
            net.sim.Run(static_cast<int64_t>(flows * inTurn * 5) * FRAME_TIME);
            const auto sent = Sent(flows);
            NS_TEST_ASSERT_MSG_GT(sent.size(), 4 * flows * inTurn, "the line is never idle");
            // The first flow is in line again before the others start.
            const std::size_t first = inTurn == 1 ? 2 : inTurn;
            for (std::size_t i = 0; i < sent.size(); ++i)
            {
                const std::size_t turn = i < first ? 0 : 1 + (i - first) / inTurn;
                NS_TEST_ASSERT_MSG_EQ(sent[i].second, turn % flows, "frame " << i);
                NS_TEST_ASSERT_MSG_EQ(sent[i].first,
                                      static_cast<int64_t>(i) * FRAME_TIME,
                                      "frame " << i << ", so the gap of a queue pair is the "
                                               << "others' bursts");
            }
        }

        // A window of three frames ends the turn of the first, and a cap, that of the second.
        PfcPair net(20'000, int64_t{10} * 1048);
        net.Flow(0, 1, 0, 0, 3, 0, 3000);
        net.Flow(0, 1, 0, 0, 3, 1'000'000'000);
        net.Flow(0, 1, 0);
        net.sim.Build();
        net.sim.Run(400'000'000);
        NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "nothing lost");
        const auto sent = Sent(3);
        std::array<uint64_t, 3> longest{};
        uint64_t inRow = 0;
        for (std::size_t i = 1; i < sent.size(); ++i)
        {
            NS_TEST_ASSERT_MSG_LT_OR_EQ(sent[i].first - sent[i - 1].first, FRAME_TIME, "not idle");
            inRow = sent[i].second == sent[i - 1].second ? inRow + 1 : 1;
            longest[sent[i].second] = std::max(longest[sent[i].second], inRow);
        }
        NS_TEST_ASSERT_MSG_EQ(longest[0], 3, "the window");
        NS_TEST_ASSERT_MSG_EQ(longest[1], 1, "the cap");
        NS_TEST_ASSERT_MSG_GT(longest[2], 10, "who is alone goes on");
        const auto delivered = net.Column("flow", "delivered_bytes");
        NS_TEST_ASSERT_MSG_EQ_TOL(delivered[1], 1e9 / 8 * 398e-6 / 1.048, 1500, "at its cap");
    }
};

/// @ingroup facade-tests
/// @brief Tests of Host.
class HostTestSuite : public TestSuite
{
  public:
    HostTestSuite()
        : TestSuite("facade-host", Type::UNIT)
    {
        AddTestCase(new SlowReceiverTest, TestCase::Duration::QUICK);
        AddTestCase(new PauseStormTest, TestCase::Duration::QUICK);
        AddTestCase(new LossyStormTest, TestCase::Duration::QUICK);
        AddTestCase(new HostRootedTest, TestCase::Duration::QUICK);
        AddTestCase(new StormOnSlowHostTest, TestCase::Duration::QUICK);
        AddTestCase(new RandomTroubleTest, TestCase::Duration::QUICK);
        AddTestCase(new SeedTest, TestCase::Duration::QUICK);
        AddTestCase(new SecondQueueTest, TestCase::Duration::QUICK);
        AddTestCase(new BurstTest, TestCase::Duration::QUICK);
    }
};

static HostTestSuite g_hostTestSuite; //!< registers the suite

} // namespace tests
} // namespace facade
} // namespace ns3
