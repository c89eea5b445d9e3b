/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../deadlock/test/deadlock-test.h"

#include <set>

/**
 * @file
 * @ingroup pfc-tests
 * Deadlocks: the result of DeadlockAnalyzer against what the simulation then does, and the
 * formation times of DeadlockOracle against DeadlockAnalyzer called after every event.
 */

namespace ns3
{
namespace pfc
{
namespace tests
{

using deadlock::DeadlockAnalyzer;
using deadlock::DeadlockMonitor;
using deadlock::DeadlockOracle;
using deadlock::tests::DeadlockHost;
using deadlock::tests::ProofTest;
using deadlock::tests::QueueKey;
using deadlock::tests::RandomNetworkTest;
using deadlock::tests::SetUpPfc;
using lossless::Frame;
using lossless::Port;

/// @ingroup pfc-tests
/// @brief What is found stuck, against what the simulation leaves in the queues.
class RandomDeadlockTest : public RandomNetworkTest
{
  public:
    RandomDeadlockTest()
        : RandomNetworkTest("the queues that are found stuck are those that never send again")
    {
    }

  private:
    /// Look, and note which frames are stuck at the heads of their queues.
    void Look()
    {
        const auto filled = Filled();
        std::map<QueueKey, const Frame*> stuck;
        m_test->Find();
        for (const auto& [node, port, queue] : m_test->GetStuck())
        {
            stuck.emplace(QueueKey{node, port, queue}, filled.at({node, port, queue}));
        }
        m_looks.push_back(std::move(stuck));
    }

    /// Each queue of the cycle feeds the next, over a link, and the last the first.
    void CheckCycle()
    {
        const auto cycle = m_test->GetCycle();
        NS_TEST_ASSERT_MSG_GT(cycle.size(), 1, "two switches at least wait for each other");
        std::set<uint32_t> nodes;
        for (std::size_t i = 0; i < cycle.size(); ++i)
        {
            const auto& next = cycle[(i + 1) % cycle.size()];
            const Port& port = m_fabric->GetNode(cycle[i].node).GetPort(cycle[i].port);
            NS_TEST_ASSERT_MSG_EQ(port.GetPeerId(), next.node, "the next queue is over the link");
            bool feeds = false;
            m_fabric->GetNode(next.node).GetPort(next.port).GetQueues()[next.queue].ForEach(
                [&](const Frame& frame) {
                    feeds = feeds || frame.ingress == port.GetPeer().GetIndex();
                });
            NS_TEST_ASSERT_MSG_EQ(feeds, true, "it holds frames that came over it");
            nodes.insert(next.node);
        }
        NS_TEST_ASSERT_MSG_GT(nodes.size(), 1, "over several switches");
    }

    void DoRun() override
    {
        std::mt19937 random(1);
        uint32_t deadlocked = 0;
        uint32_t early = 0;
        for (int round = 0; round < ROUNDS; ++round)
        {
            Make(random, SetUpPfc, 500);
            m_test = std::make_unique<DeadlockAnalyzer>(Nodes());
            m_looks.clear();
            for (int look = 1; look <= 20; ++look)
            {
                Simulator::Schedule(MicroSeconds(20 * look), &RandomDeadlockTest::Look, this);
            }
            Simulator::Run();
            Look();
            const auto left = Filled();
            NS_TEST_ASSERT_MSG_EQ((m_looks.back() == left),
                                  true,
                                  "stuck is what is left when nothing moves, round " << round);
            for (const auto& stuck : m_looks)
            {
                NS_TEST_ASSERT_MSG_EQ(
                    std::includes(left.begin(), left.end(), stuck.begin(), stuck.end()),
                    true,
                    "what was found stuck stays, with the same frame at its head, round " << round);
            }
            early += !m_looks.front().empty() || !m_looks[10].empty();
            if (!left.empty())
            {
                ++deadlocked;
                CheckCycle();
            }
            NS_TEST_ASSERT_MSG_EQ(m_fabric->Finish(), "", "nothing is lost");
            NS_TEST_ASSERT_MSG_EQ(DeadlockMonitor::Of(*m_fabric).Describe().empty(),
                                  left.empty(),
                                  "the fabric agrees");
            m_test.reset();
            Simulator::Destroy();
            m_fabric->Dispose();
            if (IsStatusFailure())
            {
                return;
            }
        }
        NS_TEST_ASSERT_MSG_GT(deadlocked, ROUNDS / 20, "many deadlock");
        NS_TEST_ASSERT_MSG_LT(deadlocked, ROUNDS * 9 / 10, "and many do not");
        NS_TEST_ASSERT_MSG_GT(early, 0, "some are detected before everything has stopped");
    }

    static constexpr int ROUNDS = lossless::tests::Draws(150); //!< networks

    std::unique_ptr<DeadlockAnalyzer> m_test;              //!< what is tested
    std::vector<std::map<QueueKey, const Frame*>> m_looks; //!< what it found, look by look
};

/// @ingroup pfc-tests
/// @brief Deadlocks that are broken, by drops or by pauses that are ignored, again and again until
/// the network has drained.
class DissolutionTest : public RandomNetworkTest
{
  public:
    DissolutionTest()
        : RandomNetworkTest("a deadlock dissolves when it is broken, and may form again")
    {
    }

  private:
    /// Break the deadlock in the first queue of its cycle.
    void Break()
    {
        const DeadlockAnalyzer::Queue queue =
            DeadlockMonitor::Of(*m_fabric).GetOracle().GetEpisodes()[m_episode].cycle.front();
        Port& port = m_fabric->GetNode(queue.node).GetPort(queue.port);
        m_brokenAt = lossless::NowPs();
        if (m_byDrop)
        {
            port.GetEgress().DropQueue(queue.queue, lossless::DropCause::SCHEME);
            return;
        }
        port.SetIgnorePause(queue.queue, true);
        Simulator::Schedule(MicroSeconds(30), &Port::SetIgnorePause, &port, queue.queue, false);
    }

    void DoRun() override
    {
        std::mt19937 random(5);
        std::size_t most = 0;
        for (int round = 0; round < ROUNDS; ++round)
        {
            m_byDrop = round % 2 == 0;
            Make(random, SetUpPfc, 300);
            m_fabric->SetAllowLoss(true);
            Simulator::Run();
            const DeadlockOracle& oracle = DeadlockMonitor::Of(*m_fabric).GetOracle();
            const auto& episodes = oracle.GetEpisodes();
            while (oracle.IsActive(DeadlockOracle::Kind::CYCLIC) && !IsStatusFailure())
            {
                NS_TEST_ASSERT_MSG_EQ(Filled().empty(), false, "something is left");
                m_episode = episodes.size() - 1;
                while (episodes[m_episode].dissolved >= 0)
                {
                    --m_episode; // to the last one that is still there
                }
                Simulator::Schedule(MicroSeconds(1), &DissolutionTest::Break, this);
                Simulator::Run();
                NS_TEST_ASSERT_MSG_EQ(episodes[m_episode].dissolved,
                                      m_brokenAt,
                                      "broken when something was done, round " << round);
            }
            NS_TEST_ASSERT_MSG_EQ(Filled().empty(), true, "all has gone, round " << round);
            most = std::max(most, episodes.size());
            NS_TEST_ASSERT_MSG_EQ(m_fabric->Finish(), "", "frames are conserved");
            NS_TEST_ASSERT_MSG_EQ(oracle.CountMissed(), 0, "nothing was hidden");
            Simulator::Destroy();
            m_fabric->Dispose();
            if (IsStatusFailure())
            {
                return;
            }
        }
        NS_TEST_ASSERT_MSG_GT(most, 1, "some form again");
    }

    static constexpr int ROUNDS = 60; //!< networks

    bool m_byDrop{true};      //!< else a pause is ignored
    int64_t m_brokenAt{0};    //!< ps
    std::size_t m_episode{0}; //!< that is broken
};

/// @ingroup pfc-tests
/// @brief Two rings of three switches, with a link between them over which a flow of the first
/// ring's host goes to the second.
class TwoRingsTest : public RandomNetworkTest
{
  public:
    TwoRingsTest()
        : RandomNetworkTest("two disjoint cycles are two deadlocks: each forms, has its chain and "
                            "dissolves by itself")
    {
    }

  private:
    /// Build both rings; host i of a ring sends two switches on.
    /// @param second when the second ring's hosts begin (us); -1: never. @param bridge whether a
    /// host of the second ring sends a few frames into the first before.
    void Build(int64_t second, bool bridge)
    {
        m_fabric = CreateObject<lossless::Fabric>();
        m_fabric->AddObserver(std::make_unique<DeadlockMonitor>(*m_fabric));
        const std::string buffer = "ns3::lossless::SharedBuffer";
        m_fabric->AddFlowControl("ns3::pfc::Pfc");
        m_fabric->SetAttribute("ns3::pfc::Pfc", "Mode", "OnOff");
        m_fabric->SetAttribute(buffer, "Threshold", "Static");
        m_fabric->SetAttribute(buffer, "Size", "10000000");
        m_fabric->SetAttribute(buffer, "Xoff", "9000");
        m_fabric->SetAttribute(buffer, "Xon", "4500");
        m_fabric->SetAllowLoss(true);
        m_hosts.clear();
        for (uint32_t i = 0; i < 6; ++i)
        {
            m_fabric->AddSwitch(std::string("s").append(std::to_string(i)));
        }
        const auto link = [this](uint32_t a, uint32_t b) {
            m_fabric->AddLink(a, b, DataRate("10Gbps"), MicroSeconds(1));
        };
        for (uint32_t i = 0; i < 6; ++i)
        {
            m_hosts.push_back(CreateObject<DeadlockHost>());
            link(m_fabric->AddHost(std::string("h").append(std::to_string(i)), m_hosts.back()), i);
            link(i, i / 3 * 3 + (i + 1) % 3);
        }
        link(2, 3);
        m_fabric->Build();
        for (uint32_t i = 0; i < 6; ++i)
        {
            const uint32_t base = i / 3 * 3;
            const uint32_t to = m_hosts[base + (i + 2) % 3]->GetId();
            m_fabric->DivertRoute(i, to, base + (i + 1) % 3, Seconds(0), Seconds(-1));
            if (base == 0 || second >= 0)
            {
                Simulator::Schedule(MicroSeconds(1 + (base == 0 ? 0 : second)),
                                    &DeadlockHost::Send,
                                    PeekPointer(m_hosts[i]),
                                    to,
                                    150U);
            }
        }
        if (bridge)
        {
            // too few for their ingress at switch 3 to pause the host
            Simulator::Schedule(MicroSeconds(second / 2),
                                &DeadlockHost::Send,
                                PeekPointer(m_hosts[3]),
                                m_hosts[0]->GetId(),
                                11U);
        }
    }

    /// Are all queues of a cycle at switches of one ring?
    /// @param episode whose. @param ring 0 or 1. @return true if so.
    static bool IsIn(const DeadlockOracle::Episode& episode, uint32_t ring)
    {
        return !episode.cycle.empty() &&
               std::all_of(episode.cycle.begin(), episode.cycle.end(), [ring](const auto& queue) {
                   return queue.node / 3 == ring;
               });
    }

    void DoRun() override
    {
        Build(-1, false);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(DeadlockMonitor::Of(*m_fabric).GetOracle().GetEpisodes().size(),
                              1,
                              "a ring deadlocks");
        const int64_t alone =
            DeadlockMonitor::Of(*m_fabric).GetOracle().GetEpisodes().front().formed;
        Close();
        for (const bool bridge : {false, true})
        {
            constexpr int64_t LATER = 300;
            Build(LATER, bridge);
            Simulator::Run();
            const DeadlockOracle& oracle = DeadlockMonitor::Of(*m_fabric).GetOracle();
            const auto& episodes = oracle.GetEpisodes();
            NS_TEST_ASSERT_MSG_EQ(episodes.size(), 2, "two deadlocks");
            NS_TEST_ASSERT_MSG_EQ(IsIn(episodes[0], 0), true, "the first ring's");
            NS_TEST_ASSERT_MSG_EQ(IsIn(episodes[1], 1), true, "the second ring's");
            if (!bridge)
            {
                NS_TEST_ASSERT_MSG_EQ(episodes[0].formed, alone, "as if it were alone");
                NS_TEST_ASSERT_MSG_EQ(episodes[1].formed,
                                      alone + LATER * 1'000'000,
                                      "the same, later");
            }
            NS_TEST_ASSERT_MSG_EQ(episodes[1].chain.front().node / 3, 1, "a trigger of its own");
            for (const uint32_t ring : {0U, 1U})
            {
                const auto& stuck = episodes[ring].stuck;
                const bool isBehind =
                    std::any_of(stuck.begin(), stuck.end(), [this](const auto& queue) {
                        return queue.node == 3 &&
                               m_fabric->GetNode(3).GetPort(queue.port).GetPeerId() == 2;
                    });
                NS_TEST_ASSERT_MSG_EQ(isBehind,
                                      (bridge && ring == 0),
                                      "the queue between the rings waits for the first");
            }
            const DeadlockAnalyzer::Queue queue = episodes[1].cycle.front();
            const int64_t now = lossless::NowPs();
            Simulator::Schedule(MicroSeconds(1), [&] {
                m_fabric->GetNode(queue.node)
                    .GetPort(queue.port)
                    .GetEgress()
                    .DropQueue(queue.queue, lossless::DropCause::SCHEME);
            });
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(episodes[0].dissolved, -1, "the first stays");
            NS_TEST_ASSERT_MSG_EQ(episodes[1].dissolved, now + 1'000'000, "the second is broken");
            NS_TEST_ASSERT_MSG_EQ(oracle.IsActive(DeadlockOracle::Kind::CYCLIC), true, "one left");
            NS_TEST_ASSERT_MSG_EQ(oracle.CountMissed(), 0, "nothing was hidden");
            Close();
        }
    }

    /// End it.
    void Close()
    {
        m_fabric->Finish();
        Simulator::Destroy();
        m_fabric->Dispose();
    }
};

/// @ingroup pfc-tests
/// @brief Tests of DeadlockAnalyzer and DeadlockOracle under PFC.
class DeadlockTestSuite : public TestSuite
{
  public:
    DeadlockTestSuite()
        : TestSuite("pfc-deadlock", Type::UNIT)
    {
        AddTestCase(new RandomDeadlockTest, TestCase::Duration::QUICK);
        AddTestCase(new DissolutionTest, TestCase::Duration::QUICK);
        AddTestCase(new TwoRingsTest, TestCase::Duration::QUICK);
        AddTestCase(new deadlock::tests::FormationTest("PFC", SetUpPfc, 200),
                    TestCase::Duration::QUICK);
        AddTestCase(new deadlock::tests::FormationTest("PFC, many", SetUpPfc, 5000),
                    TestCase::Duration::TAKES_FOREVER);
    }
};

static DeadlockTestSuite g_deadlockTestSuite; //!< registers the suite

/// @ingroup pfc-tests
/// @brief The proof of DeadlockAnalyzer with PFC.
class DeadlockProofSuite : public TestSuite
{
  public:
    DeadlockProofSuite()
        : TestSuite("pfc-deadlock-proof", Type::UNIT)
    {
        AddTestCase(new ProofTest("PFC", SetUpPfc, 60), TestCase::Duration::QUICK);
        AddTestCase(new ProofTest("PFC and hosts that pause for ever", SetUpPfc, 60, true),
                    TestCase::Duration::QUICK);
        AddTestCase(new ProofTest("PFC, many", SetUpPfc, 2000), TestCase::Duration::TAKES_FOREVER);
        AddTestCase(new ProofTest("PFC and hosts, many", SetUpPfc, 1000, true),
                    TestCase::Duration::TAKES_FOREVER);
    }
};

static DeadlockProofSuite g_deadlockProofSuite; //!< registers the suite

} // namespace tests
} // namespace pfc
} // namespace ns3
