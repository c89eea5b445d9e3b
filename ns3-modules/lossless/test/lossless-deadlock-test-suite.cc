/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "lossless-test-node.h"

#include "ns3/lossless-deadlock.h"
#include "ns3/lossless-dependency.h"
#include "ns3/lossless-fabric.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

/**
 * @file
 * @ingroup lossless-tests
 * Deadlocks: what DeadlockTest says against what the simulation then does.
 */

namespace ns3
{
namespace lossless
{
namespace tests
{

/**
 * @ingroup lossless-tests
 * @brief A host that queues all it is told to send, and takes everything.
 */
class DeadlockHost : public TestNode
{
  public:
    /**
     * @brief Queue frames back to back.
     *
     * @param dst destination
     * @param n how many
     */
    void Send(uint32_t dst, uint32_t n)
    {
        for (uint32_t i = 0; i < n; ++i)
        {
            Frame* frame = FramePool::Take();
            frame->src = m_id;
            frame->dst = dst;
            frame->cls = CLASS;
            frame->bytes = FRAME;
            frame->hash = m_id * 7919 + dst;
            Inject(frame);
        }
    }

    static constexpr uint16_t FRAME = 1500; //!< bytes of every frame
    static constexpr uint8_t CLASS = 3;     //!< of every frame
};

/// A queue as a key.
using QueueKey = std::tuple<uint32_t, uint16_t, uint16_t>;

/**
 * @ingroup lossless-tests
 * @brief Random networks of switches with a ring among them, and random flows.
 *
 * Pauses are ON/OFF, so that a simulation ends by itself when nothing can move any more. What is
 * left in the queues then is deadlocked by definition, and everything else was not.
 */
class RandomDeadlockTest : public TestCase
{
  public:
    RandomDeadlockTest()
        : TestCase("the queues that are found stuck are those that never send again")
    {
    }

  private:
    /**
     * @brief Make a network and its flows.
     *
     * @param random source of randomness
     */
    void Make(std::mt19937& random)
    {
        const auto upTo = [&random](uint32_t n) { return random() % (n + 1); };
        m_fabric = CreateObject<Fabric>();
        m_fabric->AddFlowControl("ns3::lossless::Pfc");
        m_fabric->SetAttribute("ns3::lossless::Pfc", "Mode", "OnOff");
        m_fabric->SetAttribute("ns3::lossless::Port",
                               "QueueService",
                               upTo(1) ? "Fifo" : "RoundRobin");
        const std::string buffer = "ns3::lossless::SharedBuffer";
        const bool isStatic = upTo(1) != 0;
        m_fabric->SetAttribute(buffer, "Threshold", isStatic ? "Static" : "Dynamic");
        m_fabric->SetAttribute(buffer, "Size", isStatic ? "10000000" : "600000");
        m_fabric->SetAttribute(buffer, "Xoff", std::to_string(6000 + 1500 * upTo(6)));
        m_fabric->SetAttribute(buffer, "Xon", "4500");
        m_fabric->SetAttribute(buffer, "Alpha", upTo(1) ? "0.125" : "0.0625");
        const uint32_t switches = 3 + upTo(4);
        std::vector<std::pair<uint32_t, uint32_t>> links;
        for (uint32_t i = 0; i < switches; ++i)
        {
            m_fabric->AddSwitch(std::string("s").append(std::to_string(i)));
            links.emplace_back(i, (i + 1) % switches);
        }
        for (uint32_t chord = upTo(1); chord > 0 && switches > 3; --chord)
        {
            const uint32_t a = random() % switches;
            links.emplace_back(a, (a + 2) % switches);
        }
        m_hosts.clear();
        for (uint32_t i = 0; i < switches + upTo(3); ++i)
        {
            m_hosts.push_back(CreateObject<DeadlockHost>());
            const uint32_t host =
                m_fabric->AddHost(std::string("h").append(std::to_string(i)), m_hosts.back());
            links.emplace_back(host, i % switches);
        }
        for (const auto& [a, b] : links)
        {
            m_fabric->AddLink(a, b, DataRate("10Gbps"), NanoSeconds(100 + upTo(2000)));
        }
        m_fabric->Build();
        const auto hosts = static_cast<uint32_t>(m_hosts.size());
        const uint32_t stride = 1 + upTo(2);
        for (uint32_t i = 0; i < hosts; ++i)
        {
            const uint32_t to = upTo(9) < 8 ? (i + stride) % switches : random() % hosts;
            if (to != i)
            {
                Simulator::Schedule(NanoSeconds(upTo(20'000)),
                                    &DeadlockHost::Send,
                                    PeekPointer(m_hosts[i]),
                                    m_hosts[to]->GetId(),
                                    100 + upTo(400));
            }
        }
    }

    /**
     * @brief Every queue that holds frames, with its first.
     *
     * @return frames by queue
     */
    std::map<QueueKey, const Frame*> Filled() const
    {
        std::map<QueueKey, const Frame*> filled;
        for (uint32_t node = 0; node < m_fabric->GetNNodes(); ++node)
        {
            for (uint16_t index = 0; index < m_fabric->GetNode(node).GetNPorts(); ++index)
            {
                const auto& queues = m_fabric->GetNode(node).GetPort(index).GetQueues();
                for (uint16_t number = 0; number < queues.size(); ++number)
                {
                    if (queues[number].GetFrames() > 0)
                    {
                        filled.emplace(QueueKey{node, index, number}, queues[number].Head());
                    }
                }
            }
        }
        return filled;
    }

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
            Make(random);
            std::vector<Ptr<FabricNode>> nodes;
            for (uint32_t node = 0; node < m_fabric->GetNNodes(); ++node)
            {
                nodes.emplace_back(&m_fabric->GetNode(node));
            }
            m_test = std::make_unique<DeadlockTest>(nodes);
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
            NS_TEST_ASSERT_MSG_EQ(m_fabric->DescribeDeadlock().empty(),
                                  left.empty(),
                                  "the fabric says so too");
            m_test.reset();
            nodes.clear();
            Simulator::Destroy();
            m_fabric->Dispose();
            if (IsStatusFailure())
            {
                return;
            }
        }
        NS_TEST_ASSERT_MSG_GT(deadlocked, ROUNDS / 20, "many deadlock");
        NS_TEST_ASSERT_MSG_LT(deadlocked, ROUNDS * 9 / 10, "and many do not");
        NS_TEST_ASSERT_MSG_GT(early, 0, "some are seen before all has come to a stand");
    }

    static constexpr int ROUNDS = 150; //!< networks

    Ptr<Fabric> m_fabric;                                  //!< the network
    std::vector<Ptr<DeadlockHost>> m_hosts;                //!< its hosts
    std::unique_ptr<DeadlockTest> m_test;                  //!< what is tested
    std::vector<std::map<QueueKey, const Frame*>> m_looks; //!< what it found, look by look
};

/**
 * @ingroup lossless-tests
 * @brief Buffer dependency graphs of random paths.
 */
class DependencyTest : public TestCase
{
  public:
    DependencyTest()
        : TestCase("a shortest cycle of the buffer dependencies is found where there is one")
    {
    }

  private:
    using Egress = DependencyGraph::Egress;

    /**
     * @brief How many egresses the shortest cycle has, by powers of the relation.
     *
     * @param next what each egress depends on
     * @return length; 0: no cycle
     */
    static std::size_t Brute(const std::map<Egress, std::set<Egress>>& next)
    {
        std::set<std::pair<Egress, Egress>> reach;
        for (const auto& [from, others] : next)
        {
            for (const auto& to : others)
            {
                reach.emplace(from, to);
            }
        }
        const auto step = reach;
        for (std::size_t length = 1; length <= next.size(); ++length)
        {
            std::set<std::pair<Egress, Egress>> further;
            for (const auto& [from, to] : reach)
            {
                if (from == to)
                {
                    return length;
                }
                for (const auto& [a, b] : step)
                {
                    if (a == to)
                    {
                        further.emplace(from, b);
                    }
                }
            }
            reach = further;
        }
        return 0;
    }

    void DoRun() override
    {
        std::mt19937 random(7);
        std::map<std::size_t, int> found;
        for (int round = 0; round < 2000; ++round)
        {
            // Port p of node n leads to node p of a complete graph, so that a walk is a path.
            DependencyGraph graph;
            std::map<Egress, std::set<Egress>> next;
            const uint32_t nodes = 3 + random() % 4;
            for (uint32_t path = 1 + random() % 6; path > 0; --path)
            {
                std::vector<Egress> egresses;
                uint32_t at = random() % nodes;
                for (uint32_t hop = 1 + random() % 3; hop > 0; --hop)
                {
                    const uint32_t to = (at + 1 + random() % (nodes - 1)) % nodes;
                    egresses.emplace_back(at, static_cast<uint16_t>(to));
                    at = to;
                }
                graph.Add(egresses);
                for (std::size_t i = 0; i + 1 < egresses.size(); ++i)
                {
                    next[egresses[i]].insert(egresses[i + 1]);
                }
            }
            const auto cycle = graph.FindCycle();
            NS_TEST_ASSERT_MSG_EQ(cycle.size(), Brute(next), "round " << round);
            for (std::size_t i = 0; i < cycle.size(); ++i)
            {
                NS_TEST_ASSERT_MSG_EQ(next[cycle[i]].count(cycle[(i + 1) % cycle.size()]),
                                      1,
                                      "each depends on the next, round " << round);
            }
            ++found[cycle.size()];
        }
        NS_TEST_ASSERT_MSG_GT(found[0], 100, "many have none");
        NS_TEST_ASSERT_MSG_GT(found[2] + found[3] + found[4], 100, "many have one");
    }
};

/**
 * @ingroup lossless-tests
 * @brief Tests of DeadlockTest and DependencyGraph.
 */
class DeadlockTestSuite : public TestSuite
{
  public:
    DeadlockTestSuite()
        : TestSuite("lossless-deadlock", Type::UNIT)
    {
        AddTestCase(new DependencyTest, TestCase::Duration::QUICK);
        AddTestCase(new RandomDeadlockTest, TestCase::Duration::QUICK);
    }
};

static DeadlockTestSuite g_deadlockTestSuite; //!< registers the suite

} // namespace tests
} // namespace lossless
} // namespace ns3
