/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef LOSSLESS_DEADLOCK_TEST_H
#define LOSSLESS_DEADLOCK_TEST_H

#include "lossless-test-node.h"

#include "ns3/default-simulator-impl.h"
#include "ns3/lossless-deadlock-oracle.h"
#include "ns3/lossless-deadlock.h"
#include "ns3/lossless-fabric.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup lossless-tests
 * Random networks that may deadlock, for the tests of every flow control.
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
            frame->flow = m_id;
            frame->hash = m_id * 7919 + dst;
            Inject(frame);
        }
    }

    void Receive(Frame* frame, Port& ingress) override
    {
        // taken at once, but counted, so that credits come back
        if (Charge(frame, ingress, ingress.GetIndex()))
        {
            frame->charged = false;
            Release(ingress.GetIndex(), ingress.GetIndex(), frame->cls, frame->flow, frame->bytes);
            Take(frame);
        }
    }

    static constexpr uint16_t FRAME = 1500; //!< bytes of every frame
    static constexpr uint8_t CLASS = 3;     //!< of every frame
};

/// A queue as a key.
using QueueKey = std::tuple<uint32_t, uint16_t, uint16_t>;

/// Sets up the flow control of a random network; the argument n draws a number from 0 to n.
using SetUpFlowControl =
    std::function<void(Fabric& fabric, const std::function<uint32_t(uint32_t)>& upTo)>;

/**
 * @brief ON/OFF pauses over small thresholds.
 *
 * @param fabric the network
 * @param upTo draws a number
 */
inline void
SetUpPfc(Fabric& fabric, const std::function<uint32_t(uint32_t)>& upTo)
{
    const std::string buffer = "ns3::lossless::SharedBuffer";
    fabric.AddFlowControl("ns3::lossless::Pfc");
    fabric.SetAttribute("ns3::lossless::Pfc", "Mode", "OnOff");
    const bool isStatic = upTo(1) != 0;
    fabric.SetAttribute(buffer, "Threshold", isStatic ? "Static" : "Dynamic");
    fabric.SetAttribute(buffer, "Size", isStatic ? "10000000" : "600000");
    fabric.SetAttribute(buffer, "Xoff", std::to_string(6000 + 1500 * upTo(6)));
    fabric.SetAttribute(buffer, "Xon", "4500");
    fabric.SetAttribute(buffer, "Alpha", upTo(1) ? "0.125" : "0.0625");
}

/**
 * @ingroup lossless-tests
 * @brief Random networks of switches with a ring among them, and random flows.
 *
 * Nothing is lost, and pauses last until they are ended. So what is left in the queues when nothing
 * moves any more is deadlocked by definition, and everything else was not.
 */
class RandomNetworkTest : public TestCase
{
  protected:
    /**
     * @brief Name it.
     *
     * @param name name of the case
     */
    explicit RandomNetworkTest(const std::string& name)
        : TestCase(name)
    {
    }

    /**
     * @brief Make a network and its flows.
     *
     * @param random source of randomness
     * @param setUp flow control
     * @param frames most frames of a flow
     */
    void Make(std::mt19937& random, const SetUpFlowControl& setUp, uint32_t frames)
    {
        const auto upTo = [&random](uint32_t n) { return random() % (n + 1); };
        const std::string port = "ns3::lossless::Port";
        m_fabric = CreateObject<Fabric>();
        m_fabric->SetAttribute(port, "QueueService", upTo(1) ? "Fifo" : "RoundRobin");
        if (upTo(1))
        {
            m_fabric->SetAttribute(port, "ControlDelay", std::to_string(upTo(3000)) + "ns");
            m_fabric->SetAttribute("ns3::lossless::Switch",
                                   "Latency",
                                   std::to_string(upTo(1500)) + "ns");
        }
        setUp(*m_fabric, upTo);
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
                                    frames / 5 + upTo(frames * 4 / 5));
            }
        }
    }

    /**
     * @brief All nodes.
     *
     * @return them by number
     */
    std::vector<Ptr<FabricNode>> Nodes() const
    {
        std::vector<Ptr<FabricNode>> nodes;
        for (uint32_t node = 0; node < m_fabric->GetNNodes(); ++node)
        {
            nodes.emplace_back(&m_fabric->GetNode(node));
        }
        return nodes;
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

    Ptr<Fabric> m_fabric;                   //!< the network
    std::vector<Ptr<DeadlockHost>> m_hosts; //!< its hosts
};

/**
 * @ingroup lossless-tests
 * @brief The event loop of ns-3 that calls a function before each event with the time of the event
 * before it.
 */
class WatchedSimulator : public DefaultSimulatorImpl
{
  public:
    /**
     * @brief Watch.
     *
     * @param look called with the time of the last event (ps)
     */
    explicit WatchedSimulator(std::function<void(int64_t)> look)
        : m_look(std::move(look))
    {
    }

    void PreEventHook(const EventId& id) override
    {
        m_look(m_last);
        m_last = static_cast<int64_t>(id.GetTs());
    }

  private:
    std::function<void(int64_t)> m_look; //!< called
    int64_t m_last{0};                   //!< time of the event before (ps)
};

/**
 * @ingroup lossless-tests
 * @brief The time of formation, against a search after every event; and the causal chain.
 */
class FormationTest : public RandomNetworkTest
{
  public:
    /**
     * @brief Choose.
     *
     * @param name of the scheme
     * @param setUp flow control
     * @param rounds networks
     */
    FormationTest(const std::string& name, SetUpFlowControl setUp, int rounds)
        : RandomNetworkTest(name + ": a deadlock forms with the event that makes it certain"),
          m_setUp(std::move(setUp)),
          m_rounds(rounds)
    {
    }

  private:
    /**
     * @brief The chain leads from a pause without a cause to one that holds a queue of the cycle,
     * and each pause holds back what makes its successor pause.
     *
     * @param episode what is told
     */
    void CheckChain(const DeadlockOracle::Episode& episode)
    {
        const auto& chain = episode.chain;
        NS_TEST_ASSERT_MSG_EQ(chain.empty(), false, "something came first");
        for (std::size_t at = 0; at < chain.size(); ++at)
        {
            using Reason = DeadlockOracle::Reason;
            NS_TEST_ASSERT_MSG_EQ((chain[at].reason == Reason::EARLIER),
                                  (at > 0),
                                  "only the first has no earlier cause");
            if (at > 0)
            {
                const Port& held =
                    m_fabric->GetNode(chain[at].node).GetPort(chain[at].egress).GetPeer();
                NS_TEST_ASSERT_MSG_EQ(held.GetNodeId(), chain[at - 1].node, "paused from there");
                NS_TEST_ASSERT_MSG_EQ(held.GetIndex(), chain[at - 1].port, "by that port");
                NS_TEST_ASSERT_MSG_GT(chain[at].time, chain[at - 1].time, "later");
            }
        }
        const auto& last = chain.back();
        const bool onCycle =
            std::any_of(episode.cycle.begin(), episode.cycle.end(), [&](const auto& queue) {
                const Port& peer = m_fabric->GetNode(queue.node).GetPort(queue.port).GetPeer();
                return peer.GetNodeId() == last.node && peer.GetIndex() == last.port;
            });
        NS_TEST_ASSERT_MSG_EQ(onCycle, true, "the last pause closes the circle");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(last.time, episode.formed, "before all was certain");
    }

    void DoRun() override
    {
        std::mt19937 random(11);
        int deadlocked = 0;
        int afterPause = 0;
        uint64_t asked = 0;
        uint64_t events = 0;
        for (int round = 0; round < m_rounds; ++round)
        {
            std::unique_ptr<DeadlockTest> test;
            std::vector<DeadlockTest::Side> sides;
            int64_t formed = -1;
            Simulator::SetImplementation(Create<WatchedSimulator>([&](int64_t last) {
                if (formed < 0 && test && test->Find(sides))
                {
                    formed = last;
                }
                ++events;
            }));
            Make(random, m_setUp, 150);
            test = std::make_unique<DeadlockTest>(Nodes());
            for (uint32_t node = 0; node < m_fabric->GetNNodes(); ++node)
            {
                for (uint16_t port = 0; port < m_fabric->GetNode(node).GetNPorts(); ++port)
                {
                    sides.push_back({node, port, DeadlockHost::CLASS});
                }
            }
            Simulator::Stop(MilliSeconds(5));
            Simulator::Run();
            const DeadlockOracle& oracle = m_fabric->GetOracle();
            const auto& episodes = oracle.GetEpisodes();
            asked += oracle.CountEvaluations();
            NS_TEST_ASSERT_MSG_EQ(episodes.size(), (formed < 0 ? 0 : 1), "round " << round);
            NS_TEST_ASSERT_MSG_EQ(Filled().empty(), (formed < 0), "it stays, round " << round);
            if (!episodes.empty() && !IsStatusFailure())
            {
                const auto& episode = episodes.front();
                NS_TEST_ASSERT_MSG_EQ(episode.formed, formed, "round " << round);
                NS_TEST_ASSERT_MSG_EQ(episode.dissolved, -1, "for good, round " << round);
                NS_TEST_ASSERT_MSG_EQ((episode.kind == DeadlockOracle::Kind::CYCLIC),
                                      true,
                                      "no host");
                CheckChain(episode);
                ++deadlocked;
                afterPause += episode.since.empty() || episode.formed > episode.chain.back().time;
                const auto left = Filled();
                for (const auto& [node, port, queue] : episode.cycle)
                {
                    NS_TEST_ASSERT_MSG_EQ(left.count({node, port, queue}), 1, "round " << round);
                }
            }
            NS_TEST_ASSERT_MSG_EQ(m_fabric->Finish(), "", "nothing is lost");
            NS_TEST_ASSERT_MSG_EQ(oracle.CountMissed(), 0, "the end shows nothing new");
            test.reset();
            Simulator::Destroy();
            m_fabric->Dispose();
            if (IsStatusFailure())
            {
                return;
            }
        }
        NS_TEST_ASSERT_MSG_GT(deadlocked, m_rounds / 40, "many deadlock");
        NS_TEST_ASSERT_MSG_LT(deadlocked, m_rounds * 9 / 10, "and many do not");
        NS_TEST_ASSERT_MSG_GT(afterPause,
                              0,
                              "some are certain only some time after the last pause");
        NS_TEST_ASSERT_MSG_LT(asked, events / 50, "the oracle seldom has to look");
    }

    SetUpFlowControl m_setUp; //!< flow control
    int m_rounds;             //!< networks
};

} // namespace tests
} // namespace lossless
} // namespace ns3

#endif /* LOSSLESS_DEADLOCK_TEST_H */
