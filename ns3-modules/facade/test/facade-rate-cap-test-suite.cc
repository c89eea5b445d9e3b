/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-test-network.h"

#include "ns3/lossless-fabric.h"
#include "ns3/lossless-port.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

#include <algorithm>
#include <map>
#include <random>

/**
 * @file
 * @ingroup facade-tests
 * A rate cap while the port of the host is paused at random, and rates that change: what goes over
 * the wire, against arithmetic.
 */

namespace ns3
{
namespace facade
{
namespace tests
{

using rdma::CongestionControl;

namespace
{

constexpr uint64_t LINE = 100'000'000'000; //!< bit/s

/// Two hosts and a switch; what host 0 puts on the wire, and when a pause of its class 3 ends.
class Paused : public Network
{
  public:
    /// Build it, without flows.
    /// @param seed of the run. @param overhead wire bytes of a frame besides its own.
    Paused(uint64_t seed, int64_t overhead)
        : Network(seed)
    {
        Set("Port", "Overhead", overhead);
        sim.AddFlowControl("ns3::pfc::Pfc");
        Star(2, LINE, 1'000'000);
    }

    /// Build, and let a neighbour of host 0 pause it and let it go again and again.
    /// @param random source of the times. @param mean average length of a pause, and of what lies
    /// between two (ps); 0: no pauses. @param end no pause begins later (ps).
    void Build(std::mt19937_64& random, int64_t mean, int64_t end)
    {
        sim.Build();
        lossless::Port& port = sim.GetFabric().GetNode(0).GetPort(0);
        port.TraceConnectWithoutContext("Transmit", MakeCallback(&Paused::NoteSent, this));
        port.TraceConnectWithoutContext("Paused", MakeCallback(&Paused::NotePause, this));
        int64_t time = 0;
        for (bool pause = true; mean > 0; pause = !pause)
        {
            time += 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(2 * mean));
            if (pause && time >= end)
            {
                return;
            }
            Simulator::Schedule(TimeStep(static_cast<uint64_t>(time)), &SendPfc, &port, pause);
        }
    }

    std::map<uint32_t, std::vector<int64_t>> m_sent;  //!< first bits by flow (ps)
    std::vector<std::pair<int64_t, int64_t>> m_holds; //!< pauses (ps)

  private:
    /// Send host 0 a real PFC frame. @param port of host 0. @param pause else resume.
    static void SendPfc(lossless::Port* port, bool pause)
    {
        lossless::Frame* frame = lossless::FramePool::TakeControl();
        frame->control->opcode = lossless::PFC_OPCODE;
        frame->control->classes = 1U << 3;
        frame->control->value[3] = pause ? 0xffff : 0;
        port->GetPeer().SendControl(frame);
    }

    void NoteSent(const lossless::Port& /* port */, const lossless::Frame& frame)
    {
        if (frame.kind == lossless::FrameKind::DATA)
        {
            m_sent[frame.flow].push_back(lossless::NowPs());
        }
    }

    void NotePause(const lossless::Port& /* port */, uint8_t /* cls */, bool on)
    {
        if (on)
        {
            m_holds.emplace_back(lossless::NowPs(), lossless::NEVER);
        }
        else
        {
            m_holds.back().second = lossless::NowPs();
        }
    }
};

/// Time of a frame at a rate that must not be exceeded.
/// @param bytes bytes on the wire. @param rate bit/s. @return ps, rounded up.
int64_t
Spacing(int64_t bytes, uint64_t rate)
{
    const lossless::Int128 bits = static_cast<lossless::Int128>(bytes) * 8'000'000'000'000LL;
    return static_cast<int64_t>((bits + rate - 1) / rate);
}

} // namespace

/// @ingroup facade-tests
/// @brief The cap holds between any two frames, whatever pauses come between them.
class PausedCapTest : public TestCase
{
  public:
    PausedCapTest()
        : TestCase("a pause earns a capped flow nothing: any two of its frames are as far apart as "
                   "the cap requires, less at most one round of turns with other flows, and if "
                   "nothing delays it they are no further apart")
    {
    }

  private:
    /// A flow by itself: every gap is exact, or longer because of a pause.
    void Alone(uint64_t seed)
    {
        std::mt19937_64 random(seed);
        const int64_t overhead = random() % 2 ? 20 : 0;
        const uint64_t rate = LINE / 50 + random() % (LINE - LINE / 50);
        const int64_t spacing = Spacing(1048 + overhead, rate);
        constexpr uint64_t PACKETS = 300;
        Paused net(seed, overhead);
        net.Flow(0, 1, PACKETS * 1000, static_cast<int64_t>(random() % 1'000'000), 3, rate);
        const int64_t mean = spacing / 4 + static_cast<int64_t>(random() % (6 * spacing));
        net.Build(random, mean, static_cast<int64_t>(PACKETS) * spacing);
        net.sim.Run(1'000'000'000'000);
        NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "frames are conserved, seed " << seed);
        const auto& sent = net.m_sent[0];
        NS_TEST_ASSERT_MSG_EQ(sent.size(), PACKETS, "every packet once, seed " << seed);
        NS_TEST_ASSERT_MSG_GT(net.m_holds.size(), 10, "pauses, seed " << seed);
        for (std::size_t i = 1; i < sent.size(); ++i)
        {
            // Due a spacing after the one before; then when no pause holds it any more. A pause
            // that begins at that very time may come before or after it.
            int64_t due = sent[i - 1] + spacing;
            for (const auto& [begin, end] : net.m_holds)
            {
                const bool isInTime = begin == due && sent[i] == due;
                due = begin <= due && due < end && !isInTime ? end : due;
            }
            NS_TEST_ASSERT_MSG_EQ(sent[i], due, "packet " << i << ", seed " << seed);
        }
    }

    /// Other, greedy flows.
    void Beside(uint64_t seed, bool pauses)
    {
        std::mt19937_64 random(seed);
        const auto greedy = static_cast<int64_t>(1 + random() % 4);
        const uint64_t fair = LINE / static_cast<uint64_t>(greedy + 1);
        const uint64_t rate = fair / 20 + random() % (fair - fair / 20);
        const int64_t frame = Spacing(1048, LINE);
        const int64_t spacing = Spacing(1048, rate);
        const int64_t end = 300 * spacing;
        Paused net(seed, 0);
        net.Flow(0, 1, 0, 0, 3, rate, 0, end);
        for (int64_t i = 0; i < greedy; ++i)
        {
            net.Flow(0, 1, 0, 0, 3, 0, 0, end);
        }
        const int64_t mean = spacing / 4 + static_cast<int64_t>(random() % (6 * spacing));
        net.Build(random, pauses ? mean : 0, end);
        net.sim.Run(end + 10'000'000'000);
        NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "frames are conserved, seed " << seed);
        const auto& sent = net.m_sent[0];
        NS_TEST_ASSERT_MSG_GT(sent.size(), 50, "it sends, seed " << seed);
        // sent[j] - sent[i] >= (j - i) spacings less a round, for all i < j
        const int64_t round = (greedy + 1) * frame;
        int64_t latest = sent[0]; // of sent[i] - i spacings
        for (std::size_t i = 1; i < sent.size(); ++i)
        {
            const int64_t shifted = sent[i] - static_cast<int64_t>(i) * spacing;
            NS_TEST_ASSERT_MSG_GT_OR_EQ(shifted,
                                        latest - round,
                                        "packet " << i << " is ahead of the cap by more than a "
                                                  << "round, seed " << seed);
            latest = std::max(latest, shifted);
        }
        // A gap is shorter than the cap requires only by the time that the packet before waited for
        // its turn.
        int64_t due = sent[0];
        for (std::size_t i = 0; i < sent.size(); ++i)
        {
            NS_TEST_ASSERT_MSG_GT_OR_EQ(sent[i], due, "packet " << i << ", seed " << seed);
            for (const auto& [begin, over] : net.m_holds)
            {
                due = over <= sent[i] ? std::max(due, over) : due;
            }
            due = std::max(due, sent[i] - spacing) + spacing;
        }
        if (!pauses)
        {
            const auto due300 = static_cast<int64_t>(sent.size());
            NS_TEST_ASSERT_MSG_EQ_TOL(due300, 300, 2, "the cap is met, seed " << seed);
        }
    }

    void DoRun() override
    {
        for (uint64_t seed = 1; seed <= 150; ++seed)
        {
            Alone(seed);
            Beside(seed, true);
        }
        for (uint64_t seed = 1; seed <= 20; ++seed)
        {
            Beside(seed, false);
        }
    }
};

/// @ingroup facade-tests
/// @brief What leaves the port without having been sent does not stop its flow.
class LostInPortTest : public TestCase
{
  public:
    LostInPortTest()
        : TestCase("a capped flow whose frame is dropped in the port of its host goes on")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(1);
        Paused net(1, 0);
        net.sim.SetAllowLoss(true);
        net.Flow(0, 1, 100'000, 0, 3, LINE / 10);
        net.Build(random, 0, 0);
        lossless::Port& port = net.sim.GetFabric().GetNode(0).GetPort(0);
        // The link is cut while a packet waits for the end of a pause.
        Simulator::Schedule(TimeStep(2'000'000), &lossless::Port::Block, &port, uint16_t{3});
        net.sim.FailLink(0, 6'000'000, 7'000'000);
        Simulator::Schedule(TimeStep(8'000'000), &lossless::Port::Unblock, &port, uint16_t{3});
        net.sim.Run(1'000'000'000'000);
        NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
        NS_TEST_ASSERT_MSG_GT(net.Number("dropped_link_down_frames"), 0, "something was dropped");
        NS_TEST_ASSERT_MSG_EQ(net.Number("flows_finished"), 1, "the message arrived");
    }
};

/// A congestion control of 10 Gb/s, from 1 us on 20 Gb/s, from 2.45 us on the line's 100 Gb/s, and
/// from 2.55 us on 5 Gb/s.
class Stepper : public CongestionControl
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::facade::tests::Stepper")
                                .SetParent<CongestionControl>()
                                .SetGroupName("tests")
                                .AddConstructor<Stepper>();
        return tid;
    }

    void Start(rdma::Sender& sender, uint64_t lineRate) override
    {
        CongestionControl::Start(sender, lineRate);
        m_rate = 10 * GBPS;
        Simulator::Schedule(TimeStep(1'000'000), &Stepper::Step, this, 20 * GBPS);
        Simulator::Schedule(TimeStep(2'450'000), &Stepper::Step, this, 100 * GBPS);
        Simulator::Schedule(TimeStep(2'550'000), &Stepper::Step, this, 5 * GBPS);
    }

  private:
    /// Change the rate. @param rate bit/s
    void Step(uint64_t rate)
    {
        m_rate = rate;
        m_sender->Reconsider();
    }
};

NS_OBJECT_ENSURE_REGISTERED(Stepper);

/// @ingroup facade-tests
/// @brief Ten packets at a rate that changes three times.
class RateChangeTest : public TestCase
{
  public:
    RateChangeTest()
        : TestCase("RateChange says when the packet after a change of the rate goes")
    {
    }

  private:
    void DoRun() override
    {
        // 1000 B: 800 ns, then 400 ns, 80 ns and 1600 ns
        const std::map<std::string, std::vector<int64_t>> expected{
            // 750 B are left at 1 us; at 2.45 us no limit is left, and the line is free at 2.61 us
            {"Integrated", {0, 800, 1300, 1700, 2100, 2450, 2530, 2610, 4210, 5810}},
            {"NextPacket", {0, 800, 1600, 2000, 2400, 2800, 4400, 6000, 7600, 9200}},
            {"LastPacket", {0, 800, 1200, 1600, 2000, 2400, 2480, 4080, 5680, 7280}},
        };
        for (const auto& [change, times] : expected)
        {
            std::mt19937_64 random(1);
            Paused net(1, 0);
            net.Set("QueuePair", "RateChange", change);
            net.Set("QueuePair", "HeaderSize", 48);
            net.Set("QueuePair", "PayloadSize", 952);
            net.sim.SetCongestionControl("ns3::facade::tests::Stepper");
            const uint32_t flow = net.Flow(0, 1, 10 * 952);
            net.Build(random, 0, 0);
            net.sim.Run(1'000'000'000);
            NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "nothing is lost");
            NS_TEST_ASSERT_MSG_EQ(net.m_sent[flow].size(), times.size(), change);
            for (std::size_t k = 0; k < times.size(); ++k)
            {
                NS_TEST_EXPECT_MSG_EQ(net.m_sent[flow][k],
                                      times[k] * 1000,
                                      change << ", packet " << k);
            }
        }
    }
};

/// @ingroup facade-tests
/// @brief Tests of rate caps at ports that are paused, and of rates that change.
class RateCapTestSuite : public TestSuite
{
  public:
    RateCapTestSuite()
        : TestSuite("facade-rate-cap", Type::UNIT)
    {
        AddTestCase(new PausedCapTest, TestCase::Duration::QUICK);
        AddTestCase(new LostInPortTest, TestCase::Duration::QUICK);
        AddTestCase(new RateChangeTest, TestCase::Duration::QUICK);
    }
};

static RateCapTestSuite g_rateCapTestSuite; //!< registers the suite

} // namespace tests
} // namespace facade
} // namespace ns3
