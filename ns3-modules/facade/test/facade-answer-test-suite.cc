/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "facade-test-network.h"

#include "ns3/test.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup facade-tests
 * What answers a flow: by which way it goes, and when the last of it is at the sender.
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

/// A congestion control that answers every marked packet with a CNP.
class Teller : public CongestionControl
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::facade::tests::Teller")
                                .SetParent<CongestionControl>()
                                .SetGroupName("tests")
                                .AddConstructor<Teller>();
        return tid;
    }

    std::unique_ptr<rdma::CongestionReceiver> MakeReceiver() const override
    {
        return Hearing([](const lossless::Frame& frame) { return frame.ecn == 3; });
    }
};

NS_OBJECT_ENSURE_REGISTERED(Teller);

/// A congestion control that answers every packet with a CNP, and notes when answers come.
class Clock : public CongestionControl
{
  public:
    /// Get the type ID. @return the object TypeId
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::facade::tests::Clock")
                                .SetParent<CongestionControl>()
                                .SetGroupName("tests")
                                .AddConstructor<Clock>();
        return tid;
    }

    std::unique_ptr<rdma::CongestionReceiver> MakeReceiver() const override
    {
        return Hearing([](const lossless::Frame&) { return true; });
    }

    void NotifyCnp(const lossless::Frame& /* frame */) override
    {
        g_cnp = lossless::NowPs();
    }

    static inline int64_t g_cnp = 0; //!< when the last CNP came (ps)
};

NS_OBJECT_ENSURE_REGISTERED(Clock);

/// Two racks, hosts 0..3 and 4..7 at switches 8 and 9, and five switches 10..14 between them.
class Clos : public Network
{
  public:
    /// Build the links.
    /// @param seed of the run; salts of ECMP come from it. @param marking switches mark what waits,
    /// and receivers send CNPs.
    explicit Clos(uint64_t seed, bool marking = false)
        : Network(seed)
    {
        sim.AddFlowControl("ns3::pfc::Pfc");
        if (marking)
        {
            sim.SetCongestionControl("ns3::facade::tests::Teller");
            sim.AddAgent("ns3::lossless::EcnMarking");
            sim.SetAttribute("ns3::lossless::EcnMarking", "Kmin", "1");
            sim.SetAttribute("ns3::lossless::EcnMarking", "Kmax", "2");
            sim.SetAttribute("ns3::lossless::EcnMarking", "Pmax", "1");
        }
        Nodes(8, 7);
        for (uint32_t host = 0; host < 8; ++host)
        {
            Link(host, host < 4 ? 8 : 9, RATE, 1000);
        }
        for (uint32_t middle = 10; middle < 15; ++middle)
        {
            Link(8, middle, RATE, 1000);
            Link(9, middle, RATE, 1000);
        }
    }

    /// Build, run, and record the paths of all frames.
    void Run()
    {
        sim.Build();
        m_problems = sim.Check();
        sim.Trace("frame", nullptr, nullptr, 0, 0xff, 0);
        sim.Run(10'000'000'000);
        m_problems += sim.Finish();
        const auto flow = Column("frame", "flow");
        const auto kind = Column("frame", "kind");
        const auto node = Column("frame", "node");
        for (std::size_t i = 0; i < kind.size(); ++i)
        {
            if (kind[i] < 4 && node[i] >= 10)
            {
                ++m_middle[{flow[i], kind[i]}][node[i]];
            }
        }
    }

    /// By which of the five switches all frames of a kind went.
    /// @param flow its number. @param kind 0 data, 1 ACK, 2 NACK, 3 CNP. @return the switch; -1 if
    /// there are none, or they took several ways.
    int64_t Middle(uint32_t flow, int64_t kind)
    {
        const auto& found = m_middle[{flow, kind}];
        return found.size() == 1 ? found.begin()->first : -1;
    }

    std::string m_problems; //!< of the check and of the end

  private:
    static constexpr uint64_t RATE = 10'000'000'000; //!< bit/s

    /// Frames by (flow, kind), by switch.
    std::map<std::pair<int64_t, int64_t>, std::map<int64_t, int>> m_middle;
};

} // namespace

/// @ingroup facade-tests
/// @brief ACKs, NACKs and CNPs go by the way that was asked for.
class AnswerPathTest : public TestCase
{
  public:
    AnswerPathTest()
        : TestCase("answers take a pinned path backwards, a path of their own, ECMP, or backwards "
                   "what ECMP chose for the data")
    {
    }

  private:
    static constexpr uint32_t FLOWS = 16;

    /// One run with 16 flows. @param net the network. @param setUp configures the flows further.
    static void RunOnce(Clos& net, const std::function<void(Clos&)>& setUp)
    {
        for (uint32_t flow = 0; flow < FLOWS; ++flow)
        {
            net.Flow(flow % 4, 4 + (flow / 4) % 4, 30'000);
        }
        setUp(net);
        net.Run();
    }

    /// The same without anything that is about answers.
    /// @param seed of the run. @return by (flow, kind), the switch in the middle.
    std::map<std::pair<uint32_t, int64_t>, int64_t> Plain(uint64_t seed)
    {
        Clos net(seed);
        RunOnce(net, [](Clos&) {});
        NS_TEST_EXPECT_MSG_EQ(net.m_problems, "", "seed " << seed);
        std::map<std::pair<uint32_t, int64_t>, int64_t> middle;
        for (uint32_t flow = 0; flow < FLOWS; ++flow)
        {
            middle[{flow, 0}] = net.Middle(flow, 0);
            middle[{flow, 1}] = net.Middle(flow, 1);
        }
        return middle;
    }

    void DoRun() override
    {
        std::mt19937_64 random(7);
        for (uint64_t seed = 1; seed <= 10; ++seed)
        {
            auto plain = Plain(seed);
            std::set<int64_t> ways;
            uint32_t differ = 0;
            for (uint32_t flow = 0; flow < FLOWS; ++flow)
            {
                ways.insert(plain[{flow, 1}]);
                differ += plain[{flow, 0}] != plain[{flow, 1}];
            }
            NS_TEST_ASSERT_MSG_GT(ways.size(), 2, "ECMP spreads the ACKs, seed " << seed);
            NS_TEST_ASSERT_MSG_GT(differ, 4, "by a choice of its own, seed " << seed);

            // data, as pinned; answers: as they are by default, by ECMP, on a path, backwards
            std::vector<uint32_t> flows;
            std::vector<uint32_t> lengths;
            std::vector<uint32_t> nodes;
            std::vector<uint32_t> ackFlows;
            std::vector<uint32_t> ackLengths;
            std::vector<uint32_t> ackNodes;
            std::vector<uint32_t> routed;
            std::vector<uint8_t> reverse;
            std::map<uint32_t, int64_t> data;
            std::map<uint32_t, int64_t> answers;
            for (uint32_t flow = 0; flow < FLOWS; ++flow)
            {
                const uint32_t src = flow % 4;
                const uint32_t dst = 4 + (flow / 4) % 4;
                data[flow] = plain[{flow, 0}];
                answers[flow] = plain[{flow, 1}];
                if (random() % 2)
                {
                    const auto middle = static_cast<uint32_t>(10 + random() % 5);
                    flows.push_back(flow);
                    lengths.push_back(5);
                    nodes.insert(nodes.end(), {src, 8, middle, 9, dst});
                    data[flow] = answers[flow] = middle;
                }
                switch (random() % 4)
                {
                case 1: {
                    const auto middle = static_cast<uint32_t>(10 + random() % 5);
                    ackFlows.push_back(flow);
                    ackLengths.push_back(5);
                    ackNodes.insert(ackNodes.end(), {dst, 9, middle, 8, src});
                    answers[flow] = middle;
                    break;
                }
                case 2:
                    routed.push_back(flow);
                    reverse.push_back(0);
                    answers[flow] = plain[{flow, 1}];
                    break;
                case 3:
                    routed.push_back(flow);
                    reverse.push_back(1);
                    answers[flow] = data[flow];
                    break;
                default:
                    break;
                }
            }
            Clos own(seed, true);
            RunOnce(own, [&](Clos& net) {
                net.sim.SetPaths(flows.data(),
                                 lengths.data(),
                                 nodes.data(),
                                 static_cast<uint32_t>(flows.size()));
                net.sim.SetAckPaths(ackFlows.data(),
                                    ackLengths.data(),
                                    ackNodes.data(),
                                    static_cast<uint32_t>(ackFlows.size()));
                net.sim.SetAckRouting(routed.data(),
                                      reverse.data(),
                                      static_cast<uint32_t>(routed.size()));
            });
            NS_TEST_ASSERT_MSG_EQ(own.m_problems, "", "seed " << seed);
            NS_TEST_ASSERT_MSG_EQ(own.Number("flows_unfinished"), 0, "seed " << seed);
            int cnps = 0;
            for (uint32_t flow = 0; flow < FLOWS; ++flow)
            {
                NS_TEST_ASSERT_MSG_EQ(own.Middle(flow, 0),
                                      data[flow],
                                      "data of flow " << flow << ", seed " << seed);
                NS_TEST_ASSERT_MSG_EQ(own.Middle(flow, 1),
                                      answers[flow],
                                      "ACKs of flow " << flow << ", seed " << seed);
                const int64_t cnp = own.Middle(flow, 3);
                cnps += cnp >= 0;
                NS_TEST_ASSERT_MSG_EQ((cnp == -1 || cnp == answers[flow]),
                                      true,
                                      "CNPs of flow " << flow << ", seed " << seed);
            }
            NS_TEST_ASSERT_MSG_GT(cnps, 3, "flows with CNPs, seed " << seed);
        }
        Refused();
    }

    /// A path of answers has to lead back, over links that are up.
    void Refused()
    {
        const std::vector<std::vector<uint32_t>> bad = {{0, 8, 10, 9, 4},
                                                        {4, 9, 8, 0},
                                                        {4, 9, 10, 8},
                                                        {4, 0},
                                                        {4, 9, 5, 9, 10, 8, 0},
                                                        {4, 9, 11, 8, 0}};
        for (const auto& path : bad)
        {
            Clos net(1);
            net.Flow(0, 4, 1000);
            net.sim.FailLink(10, 0, -1); // from 8 to 11
            const uint32_t flow = 0;
            const auto length = static_cast<uint32_t>(path.size());
            net.sim.SetAckPaths(&flow, &length, path.data(), 1);
            net.sim.Build();
            NS_TEST_ASSERT_MSG_NE(net.sim.Check().find("flow 0"),
                                  std::string::npos,
                                  "refused: a path back of " << length << " nodes");
        }
    }
};

/// @ingroup facade-tests
/// @brief When the sender knows that its message has arrived.
class AckedTest : public TestCase
{
  public:
    AckedTest()
        : TestCase("acked_ps is when the last ACK is at the sender, to the picosecond, on idle "
                   "paths and in an incast; a run may end then")
    {
    }

  private:
    /// A message on a random idle path; its ACKs go back over the same links.
    ///
    /// The second model is store and forward, packet by packet and ACK by ACK.
    /// @param seed of everything
    void IdlePath(uint64_t seed)
    {
        std::mt19937_64 random(seed);
        const uint64_t rates[] = {1'000'000'000, 10'000'000'000, 33'333'333'333, 400'000'000'000};
        const int64_t payload = 100 + static_cast<int64_t>(random() % 4000);
        const int64_t overhead = random() % 2 ? 20 : 0;
        const int64_t ack = 64 + static_cast<int64_t>(random() % 30);
        const int64_t latency = static_cast<int64_t>(random() % 1'000'000);
        const int64_t nic = random() % 2 ? static_cast<int64_t>(random() % 500'000) : 0;
        const int64_t start = static_cast<int64_t>(random() % 10'000'000);
        const int64_t ackDelay = seed % 2 ? static_cast<int64_t>(seed * 7'919 % 2'000'000) : 0;
        const auto switches = static_cast<uint32_t>(1 + random() % 4);
        const auto size = static_cast<int64_t>(1 + random() % 50'000);
        const auto ackEvery = static_cast<int64_t>(1 + random() % 4);
        Network net(seed);
        net.Set("Port", "Overhead", overhead);
        net.Set("Switch", "Latency", std::to_string(latency) + "ps");
        net.Set("Host", "Latency", std::to_string(nic) + "ps");
        net.Set("Host", "AckDelay", std::to_string(ackDelay) + "ps");
        net.Set("QueuePair", "PayloadSize", payload);
        net.Set("QueuePair", "AckSize", ack);
        net.Set("QueuePair", "AckEvery", ackEvery);
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        net.Nodes(2, switches);
        std::vector<uint64_t> rate;
        std::vector<int64_t> delay;
        for (uint32_t hop = 0; hop <= switches; ++hop)
        {
            rate.push_back(rates[random() % 4]);
            delay.push_back(static_cast<int64_t>(random() % 3'000'000));
            net.Link(hop == 0 ? 0 : 1 + hop, hop == switches ? 1 : 2 + hop, rate[hop], delay[hop]);
        }
        net.Flow(0, 1, static_cast<uint64_t>(size), start);
        net.sim.Build();
        net.sim.Run(1'000'000'000'000);
        NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "frames are conserved, seed " << seed);

        const int64_t n = (size + payload - 1) / payload;
        std::vector<int64_t> left(rate.size(), 0); // when the last packet so far left each hop
        std::vector<int64_t> back(rate.size(), 0); // and the last ACK
        int64_t arrival = 0;
        int64_t acked = 0;
        for (int64_t packet = 0; packet < n; ++packet)
        {
            const int64_t bytes = packet + 1 < n ? payload : size - (n - 1) * payload;
            const int64_t wire = std::max<int64_t>(bytes + 48, 64) + overhead;
            arrival = start;
            for (std::size_t hop = 0; hop < rate.size(); ++hop)
            {
                left[hop] = std::max(arrival, left[hop]) + WireTime(wire, rate[hop]);
                arrival = left[hop] + delay[hop] + (hop < switches ? latency : nic);
            }
            if ((packet + 1) % ackEvery && packet + 1 < n)
            {
                continue;
            }
            acked = arrival + nic + ackDelay;
            for (std::size_t hop = rate.size(); hop-- > 0;)
            {
                back[hop] = std::max(acked, back[hop]) + WireTime(ack + overhead, rate[hop]);
                acked = back[hop] + delay[hop] + (hop > 0 ? latency : nic);
            }
        }
        int64_t alone = 2 * nic + ackDelay + switches * latency; // an ACK on an empty path
        for (std::size_t hop = 0; hop < rate.size(); ++hop)
        {
            alone += WireTime(ack + overhead, rate[hop]) + delay[hop];
        }
        NS_TEST_ASSERT_MSG_EQ(net.Column("flow", "finish_ps")[0], arrival, "seed " << seed);
        NS_TEST_ASSERT_MSG_EQ(net.Column("flow", "acked_ps")[0], acked, "seed " << seed);
        NS_TEST_ASSERT_MSG_EQ(net.Column("flow", "ideal_acked_ps")[0],
                              net.Column("flow", "ideal_ps")[0] + alone,
                              "seed " << seed);
    }

    /// n hosts send m packets each to one at once; the switch takes them in turns.
    /// @param n senders. @param m packets. @param untilAcked end the run with the last ACK, else
    /// with the last packet.
    void Incast(int64_t n, int64_t m, bool untilAcked)
    {
        constexpr uint64_t RATE = 100'000'000'000;
        constexpr int64_t DELAY = 1'000'000;
        const int64_t data = WireTime(1048, RATE);
        const int64_t ack = WireTime(64, RATE);
        Network net;
        net.Set("Port", "Overhead", 0);
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        net.sim.SetStopWhenDone(true, untilAcked);
        net.Star(static_cast<uint32_t>(n) + 1, RATE, DELAY);
        for (int64_t i = 0; i < n; ++i)
        {
            net.Flow(static_cast<uint32_t>(i), static_cast<uint32_t>(n), m * 1000);
        }
        net.sim.Build();
        net.sim.Run(1'000'000'000'000);
        NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
        std::vector<int64_t> finish;
        std::vector<int64_t> acked;
        for (int64_t i = 0; i < n; ++i)
        {
            // packet m of flow i is the ((m - 1) n + i + 1)th of all over the last link
            finish.push_back(2 * DELAY + data + ((m - 1) * n + i + 1) * data);
            const bool known =
                untilAcked || finish[i] + 2 * (ack + DELAY) <= finish[0] + (n - 1) * data;
            acked.push_back(known ? finish[i] + 2 * (ack + DELAY) : -1);
        }
        // Which flow has which turn is drawn.
        const auto finished = net.Column("flow", "finish_ps");
        const auto answered = net.Column("flow", "acked_ps");
        std::vector<std::pair<int64_t, int64_t>> found;
        std::vector<std::pair<int64_t, int64_t>> expected;
        for (std::size_t i = 0; i < finish.size(); ++i)
        {
            found.emplace_back(finished[i], answered[i]);
            expected.emplace_back(finish[i], acked[i]);
        }
        std::sort(found.begin(), found.end());
        NS_TEST_ASSERT_MSG_EQ((found == expected), true, n << " to 1");
        NS_TEST_ASSERT_MSG_EQ(net.sim.Now(),
                              (untilAcked ? acked.back() : finish.back()),
                              "the end of the run, " << n << " to 1");
    }

    void DoRun() override
    {
        for (uint64_t seed = 1; seed <= 80; ++seed)
        {
            IdlePath(seed);
        }
        for (const int64_t n : {1, 2, 5, 30})
        {
            for (const bool untilAcked : {false, true})
            {
                Incast(n, 1, untilAcked);
                Incast(n, 20, untilAcked);
            }
        }
    }
};

/// @ingroup facade-tests
/// @brief Answers that wait in the NIC.
class AnswerDelayTest : public TestCase
{
  public:
    AnswerDelayTest()
        : TestCase("ACKs and CNPs leave the NIC later by their own delays, to the picosecond")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint64_t RATE = 100'000'000'000;
        constexpr int64_t DELAY = 1'000'000;
        constexpr int64_t NIC = 300'000;
        for (const int64_t ack : {0, 700'000, 4'000'000})
        {
            const int64_t cnp = 2'000'000;
            Network net(1);
            net.Set("Host", "Latency", std::to_string(NIC) + "ps");
            net.Set("Host", "AckDelay", std::to_string(ack) + "ps");
            net.Set("Host", "CnpDelay", std::to_string(cnp) + "ps");
            net.sim.AddFlowControl("ns3::pfc::Pfc");
            net.sim.SetCongestionControl("ns3::facade::tests::Clock");
            net.Star(2, RATE, DELAY);
            net.Flow(0, 1, 1000, 0);
            net.sim.Build();
            net.sim.Run(1'000'000'000);
            NS_TEST_ASSERT_MSG_EQ(net.sim.Finish(), "", "frames are conserved");
            const int64_t there = 2 * (WireTime(1068, RATE) + DELAY) + NIC;
            const int64_t back = NIC + 2 * (WireTime(84, RATE) + DELAY) + NIC;
            NS_TEST_ASSERT_MSG_EQ(net.Column("flow", "acked_ps")[0], there + ack + back, "ACK");
            NS_TEST_ASSERT_MSG_EQ(Clock::g_cnp, there + cnp + back, "CNP");
        }
    }
};

/// @ingroup facade-tests
/// @brief Tests of what answers a flow.
class AnswerTestSuite : public TestSuite
{
  public:
    AnswerTestSuite()
        : TestSuite("facade-answer", Type::UNIT)
    {
        AddTestCase(new AnswerPathTest, TestCase::Duration::QUICK);
        AddTestCase(new AckedTest, TestCase::Duration::QUICK);
        AddTestCase(new AnswerDelayTest, TestCase::Duration::QUICK);
    }
};

static AnswerTestSuite g_answerTestSuite; //!< registers the suite

} // namespace tests
} // namespace facade
} // namespace ns3
