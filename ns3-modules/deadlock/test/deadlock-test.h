/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#ifndef DEADLOCK_TEST_H
#define DEADLOCK_TEST_H

#include "../../lossless/test/lossless-test-draws.h"
#include "../../lossless/test/lossless-test-node.h"

#include "ns3/deadlock-analyzer.h"
#include "ns3/deadlock-monitor.h"
#include "ns3/deadlock-oracle.h"
#include "ns3/default-simulator-impl.h"
#include "ns3/lossless-fabric.h"
#include "ns3/lossless-switch-agent.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup deadlock-tests
 * Random networks that may deadlock, for the tests of every flow control.
 */

namespace ns3
{
namespace deadlock
{
namespace tests
{

/// @ingroup deadlock-tests
/// @brief A host that queues all it is told to send, and takes everything.
class DeadlockHost : public lossless::tests::TestNode
{
  public:
    /// Queue frames back to back. @param dst destination. @param n how many.
    void Send(uint32_t dst, uint32_t n)
    {
        for (uint32_t i = 0; i < n && !m_stopped; ++i)
        {
            lossless::Frame* frame = lossless::FramePool::Take();
            frame->src = m_id;
            frame->dst = dst;
            frame->cls = CLASS;
            frame->bytes = FRAME;
            frame->flow = m_id;
            frame->hash = m_id * 7919 + dst;
            Inject(frame);
        }
    }

    void Receive(lossless::Frame* frame, lossless::Port& ingress) override
    {
        // taken at once, but counted, so that credits come back
        if (Charge(frame, ingress, ingress.GetIndex()))
        {
            frame->charged = false;
            Release(
                {frame->flow, ingress.GetIndex(), ingress.GetIndex(), frame->bytes, frame->cls});
            Take(frame);
        }
    }

    /// Do not begin anything any more.
    void Stop()
    {
        m_stopped = true;
    }

    /// Pause the switch without an end.
    void Silence()
    {
        if (!m_stopped)
        {
            SetPauseStorm(0, CLASS, true, true);
        }
    }

    /// Pause it no longer.
    void Relent()
    {
        if (IsPausingForever(0, CLASS))
        {
            SetPauseStorm(0, CLASS, false, true);
        }
    }

    static constexpr uint16_t FRAME = 1500; //!< bytes of every frame
    static constexpr uint8_t CLASS = 3;     //!< of every frame

  private:
    bool m_stopped{false}; //!< sends nothing new
};

/// @ingroup deadlock-tests
/// @brief Lets all frames that come to a switch vanish, from when it is told to.
class Vanisher : public lossless::SwitchAgent, public lossless::ArrivalAgent
{
  public:
    /// What becomes of a frame that comes.
    enum class Way : uint8_t
    {
        NOTHING, ///< it is let in
        REFUSED, ///< it vanishes before it is counted, and so before it can cause a pause
        COUNTED, ///< it is counted as received and as gone, so that its credit comes back
    };

    /// Make one. @param way of now
    explicit Vanisher(const Way* way)
        : m_way(way)
    {
    }

    bool NotifyArrival(lossless::Frame& frame, lossless::Port& ingress) override
    {
        if (*m_way == Way::COUNTED)
        {
            ingress.NotifyReceived(frame, 0);
            ingress.NotifyReleased(lossless::Departure::Of(frame), 0);
        }
        return *m_way == Way::NOTHING;
    }

  private:
    const Way* m_way; //!< of the test
};

/// A queue as a key.
using QueueKey = std::tuple<uint32_t, uint16_t, uint16_t>;

/// Sets up the flow control of a random network; the argument n draws a number from 0 to n.
using SetUpFlowControl =
    std::function<void(lossless::Fabric& fabric, const std::function<uint32_t(uint32_t)>& upTo)>;

/// ON/OFF pauses over small thresholds. @param fabric the network. @param upTo draws a number.
inline void
SetUpPfc(lossless::Fabric& fabric, const std::function<uint32_t(uint32_t)>& upTo)
{
    const std::string buffer = "ns3::lossless::SharedBuffer";
    fabric.AddFlowControl("ns3::pfc::Pfc");
    fabric.SetAttribute("ns3::pfc::Pfc", "Mode", "OnOff");
    const bool isStatic = upTo(1) != 0;
    fabric.SetAttribute(buffer, "Threshold", isStatic ? "Static" : "Dynamic");
    fabric.SetAttribute(buffer, "Size", isStatic ? "10000000" : "600000");
    fabric.SetAttribute(buffer, "Xoff", std::to_string(6000 + 1500 * upTo(6)));
    fabric.SetAttribute(buffer, "Xon", "4500");
    fabric.SetAttribute(buffer, "Alpha", upTo(1) ? "0.125" : "0.0625");
}

/// @ingroup deadlock-tests
/// @brief Random networks of switches with a ring among them, and random flows.
///
/// Nothing is lost, and pauses last until they are ended. So what is left in the queues when
/// nothing moves any more is deadlocked by definition, and everything else was not.
class RandomNetworkTest : public TestCase
{
  protected:
    /// Name it. @param name name of the case
    explicit RandomNetworkTest(const std::string& name)
        : TestCase(name)
    {
    }

    /// Make a network and its flows.
    /// @param random source of randomness. @param setUp flow control. @param frames most frames of
    /// a flow.
    void Make(std::mt19937& random, const SetUpFlowControl& setUp, uint32_t frames)
    {
        const auto upTo = [&random](uint32_t n) { return random() % (n + 1); };
        const std::string port = "ns3::lossless::Port";
        m_fabric = CreateObject<lossless::Fabric>();
        m_fabric->AddObserver(std::make_unique<DeadlockMonitor>(*m_fabric));
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
            m_fabric->GetNode(i).AddAgent(CreateObject<Vanisher>(&m_vanishing));
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

    /// All nodes.
    /// @return them by number
    std::vector<Ptr<lossless::FabricNode>> Nodes() const
    {
        std::vector<Ptr<lossless::FabricNode>> nodes;
        for (uint32_t node = 0; node < m_fabric->GetNNodes(); ++node)
        {
            nodes.emplace_back(&m_fabric->GetNode(node));
        }
        return nodes;
    }

    /// Every queue that holds frames, with its first.
    /// @return frames by queue
    std::map<QueueKey, const lossless::Frame*> Filled() const
    {
        std::map<QueueKey, const lossless::Frame*> filled;
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

    Ptr<lossless::Fabric> m_fabric;                    //!< the network
    std::vector<Ptr<DeadlockHost>> m_hosts;            //!< its hosts
    Vanisher::Way m_vanishing{Vanisher::Way::NOTHING}; //!< what becomes of frames that come
};

/// @ingroup deadlock-tests
/// @brief The event loop of ns-3 that calls a function before each event with the time of the event
/// before it.
class WatchedSimulator : public DefaultSimulatorImpl
{
  public:
    /// Watch. @param look called with the time of the last event (ps)
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

/// @ingroup deadlock-tests
/// @brief The time of formation, against a search after every event; and the causal chain.
class FormationTest : public RandomNetworkTest
{
  public:
    /// Choose.
    /// @param name of the scheme. @param setUp flow control. @param rounds networks without
    /// sanitizers. @param classesChange whether switches send frames on in other classes.
    FormationTest(const std::string& name,
                  SetUpFlowControl setUp,
                  int rounds,
                  bool classesChange = false)
        : RandomNetworkTest(name + ": a deadlock forms with the event that makes it certain"),
          m_setUp(std::move(setUp)),
          m_rounds(lossless::tests::Draws(rounds)),
          m_classesChange(classesChange)
    {
    }

  private:
    /// The chain leads from a pause without a cause to one that holds a queue of the cycle, and
    /// each pause holds back what makes its successor pause.
    /// @param episode what is told
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
                const lossless::Port& held =
                    m_fabric->GetNode(chain[at].node).GetPort(chain[at].egress).GetPeer();
                NS_TEST_ASSERT_MSG_EQ(held.GetNodeId(), chain[at - 1].node, "paused from there");
                NS_TEST_ASSERT_MSG_EQ(held.GetIndex(), chain[at - 1].port, "by that port");
                NS_TEST_ASSERT_MSG_GT(chain[at].time, chain[at - 1].time, "later");
                m_changes += chain[at].cls != chain[at - 1].cls;
            }
        }
        const auto& last = chain.back();
        const bool onCycle =
            std::any_of(episode.cycle.begin(), episode.cycle.end(), [&](const auto& queue) {
                const lossless::Port& peer =
                    m_fabric->GetNode(queue.node).GetPort(queue.port).GetPeer();
                return peer.GetNodeId() == last.node && peer.GetIndex() == last.port;
            });
        NS_TEST_ASSERT_MSG_EQ(onCycle, true, "the last pause closes the circle");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(last.time, episode.formed, "before all was certain");
    }

    void DoRun() override
    {
        std::mt19937 random(11);
        int deadlocked = 0;
        int several = 0;
        int afterPause = 0;
        uint64_t asked = 0;
        uint64_t events = 0;
        for (int round = 0; round < m_rounds; ++round)
        {
            std::unique_ptr<DeadlockAnalyzer> test;
            std::vector<DeadlockAnalyzer::Side> sides;
            std::vector<int64_t> formed; // of each deadlock that shares no queue with those before
            std::set<QueueKey> known;
            Simulator::SetImplementation(CreateObject<WatchedSimulator>([&](int64_t last) {
                // no deadlock follows another one so much later: nothing moves any more by then
                const bool over = !formed.empty() && last > formed.back() + 600'000'000;
                if (test && !over && test->Find(sides))
                {
                    Note(*test, last, known, formed);
                }
                ++events;
            }));
            Make(random, m_setUp, 150);
            test = std::make_unique<DeadlockAnalyzer>(Nodes());
            for (uint32_t node = 0; node < m_fabric->GetNNodes(); ++node)
            {
                for (uint16_t port = 0; port < m_fabric->GetNode(node).GetNPorts(); ++port)
                {
                    for (uint8_t cls = 0; cls < lossless::N_CLASSES; ++cls)
                    {
                        // hosts send in one lossless class; agents may send it on in others
                        if (m_fabric->GetNode(node).GetBuffer().IsLossless(cls))
                        {
                            sides.push_back({node, port, cls});
                        }
                    }
                }
            }
            Simulator::Stop(MilliSeconds(5));
            Simulator::Run();
            const DeadlockOracle& oracle = DeadlockMonitor::Of(*m_fabric).GetOracle();
            const auto& episodes = oracle.GetEpisodes();
            asked += oracle.CountEvaluations();
            NS_TEST_ASSERT_MSG_EQ(episodes.size(), formed.size(), "round " << round);
            NS_TEST_ASSERT_MSG_EQ(Filled().empty(), formed.empty(), "it stays, round " << round);
            several += episodes.size() > 1;
            deadlocked += !episodes.empty();
            for (std::size_t at = 0; at < episodes.size() && !IsStatusFailure(); ++at)
            {
                const auto& episode = episodes[at];
                NS_TEST_ASSERT_MSG_EQ(episode.formed, formed[at], "round " << round);
                NS_TEST_ASSERT_MSG_EQ(episode.dissolved, -1, "for good, round " << round);
                NS_TEST_ASSERT_MSG_EQ((episode.kind == DeadlockOracle::Kind::CYCLIC),
                                      true,
                                      "no host");
                CheckChain(episode);
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
        if (m_rounds >= 50)
        {
            NS_TEST_ASSERT_MSG_GT(afterPause,
                                  0,
                                  "some are certain only some time after the last pause");
        }
        NS_TEST_ASSERT_MSG_EQ((m_changes > 0),
                              m_classesChange,
                              "a pause leads to one of another class only where frames change it");
        NS_TEST_ASSERT_MSG_LT(asked, events / 50, "the oracle seldom has to look");
        std::cout << GetName() << ": " << m_rounds << " networks, " << deadlocked << " deadlocked, "
                  << several << " of them in several disjoint cycles\n";
    }

    /// Note the deadlocks that share no queue with those before.
    /// @param test that has found something. @param time of the event (ps) @param known queues of
    /// the deadlocks so far. @param formed when each formed.
    static void Note(DeadlockAnalyzer& test,
                     int64_t time,
                     std::set<QueueKey>& known,
                     std::vector<int64_t>& formed)
    {
        for (const DeadlockAnalyzer::Core& core : test.FindCores())
        {
            bool isNew = true;
            for (const auto& [node, port, queue] : core.queues)
            {
                isNew = isNew && known.count({node, port, queue}) == 0;
            }
            for (const auto& [node, port, queue] : core.queues)
            {
                known.emplace(node, port, queue);
            }
            if (isNew)
            {
                formed.push_back(time);
            }
        }
    }

    SetUpFlowControl m_setUp; //!< flow control
    int m_rounds;             //!< networks
    bool m_classesChange;     //!< in switches
    int m_changes{0};         //!< steps of chains from one class to another
};

/// @ingroup deadlock-tests
/// @brief What is told to be stuck, against what the machinery of pauses and credits itself leaves
/// behind when it is: without DeadlockAnalyzer.
///
/// Each network runs again, event by event the same, until a moment. From then on no host begins
/// anything, and every frame that comes to a switch vanishes: so all that can move goes, queues are
/// resumed by the pauses, credits and messages of the scheme, and what is left at the end is by
/// definition (all sources stopped, everything else drained) what was deadlocked.
class ProofTest : public RandomNetworkTest
{
  public:
    /// Choose.
    /// @param name of the scheme. @param setUp flow control. @param rounds networks. @param silent
    /// in every second network a host pauses for ever. @param way in which frames vanish.
    ProofTest(const std::string& name,
              SetUpFlowControl setUp,
              int rounds,
              bool silent = false,
              Vanisher::Way way = Vanisher::Way::REFUSED)
        : RandomNetworkTest(name + ": what was named is what is left when all else has gone"),
          m_setUp(std::move(setUp)),
          m_rounds(rounds),
          m_silent(silent),
          m_way(way)
    {
    }

  private:
    using Heads = std::map<QueueKey, const lossless::Frame*>; //!< queues, with their first frames

    /// What one run shows.
    struct Outcome
    {
        std::vector<QueueKey> named; //!< stuck at the moment
        Heads settled;               //!< stuck when all that was on the way has arrived
        std::size_t cyclic{0};       //!< of them, whatever hosts do
        std::size_t moving{0};       //!< queues that then held frames and were not named
        Heads left;                  //!< at the end
        std::size_t leftOfCyclic{0}; //!< when the host has relented, too
        int64_t formed{-1};          //!< first deadlock (ps)
        std::vector<QueueKey> cycle; //!< of it
    };

    /// No pause, frame or credit is longer on its way (ps).
    static constexpr int64_t SETTLED = 15'000'000;
    /// No pause is longer on its way, nor waits longer to be sent and obeyed (ps).
    static constexpr int64_t ON_ITS_WAY = 10'000'000;

    /// Name the queues that are stuck.
    /// @param cyclic how many are so whatever hosts do. @return them.
    Heads Name(std::size_t* cyclic = nullptr)
    {
        Heads named;
        DeadlockAnalyzer test(Nodes());
        test.Find();
        const auto filled = Filled();
        for (const auto& [node, port, queue] : test.GetStuck())
        {
            named.emplace(QueueKey{node, port, queue}, filled.at({node, port, queue}));
        }
        if (cyclic)
        {
            *cyclic = test.CountCyclic();
        }
        return named;
    }

    /// Run a network.
    /// @param random of the network. @param at the moment (ps); what is stuck then is noted.
    /// @param stop whether all stops then. @return what came of it.
    Outcome Try(std::mt19937 random, int64_t at, bool stop)
    {
        Outcome outcome;
        m_vanishing = Vanisher::Way::NOTHING;
        Make(random, m_setUp, 150);
        m_fabric->SetAllowLoss(true);
        if (m_silent && random() % 2)
        {
            Simulator::Schedule(NanoSeconds(random() % 200'000),
                                &DeadlockHost::Silence,
                                PeekPointer(m_hosts[random() % m_hosts.size()]));
        }
        Simulator::Schedule(PicoSeconds(at), [&] {
            for (const auto& [key, head] : Name())
            {
                outcome.named.push_back(key);
            }
            m_vanishing = stop ? m_way : Vanisher::Way::NOTHING;
            for (const auto& host : m_hosts)
            {
                stop ? host->Stop() : void();
            }
        });
        if (stop)
        {
            Simulator::Schedule(PicoSeconds(at + SETTLED), [&] {
                outcome.settled = Name(&outcome.cyclic);
                outcome.moving = Filled().size() - outcome.settled.size();
            });
        }
        Simulator::Stop(MilliSeconds(5));
        Simulator::Run();
        outcome.left = Filled();
        const auto& episodes = DeadlockMonitor::Of(*m_fabric).GetOracle().GetEpisodes();
        for (const auto& episode : episodes)
        {
            if (outcome.formed < 0 && episode.kind == DeadlockOracle::Kind::CYCLIC)
            {
                outcome.formed = episode.formed;
                for (const auto& [node, port, queue] : episode.cycle)
                {
                    outcome.cycle.emplace_back(node, port, queue);
                }
            }
        }
        for (const auto& host : m_hosts)
        {
            host->Relent();
        }
        Simulator::Stop(MilliSeconds(5));
        Simulator::Run();
        outcome.leftOfCyclic = Filled().size();
        m_fabric->Finish();
        Simulator::Destroy();
        m_fabric->Dispose();
        return outcome;
    }

    void DoRun() override
    {
        std::mt19937 random(23);
        int looked = 0;
        int alive = 0;
        int deadlocks = 0;
        int rooted = 0;
        for (int round = 0; round < m_rounds && !IsStatusFailure(); ++round)
        {
            const auto seed = static_cast<uint32_t>(random());
            const int64_t at = (10'000 + static_cast<int64_t>(random() % 300'000)) * 1000 + 1;
            const Outcome whole = Try(std::mt19937(seed), at, false);
            const Outcome stopped = Try(std::mt19937(seed), at, true);
            NS_TEST_ASSERT_MSG_EQ((whole.named == stopped.named), true, "the same run " << round);
            for (const QueueKey& key : stopped.named)
            {
                NS_TEST_ASSERT_MSG_EQ(stopped.left.count(key), 1, "named, and stays, " << round);
            }
            NS_TEST_ASSERT_MSG_EQ((stopped.settled == stopped.left),
                                  true,
                                  "what is named is what is left, round " << round);
            NS_TEST_ASSERT_MSG_EQ(stopped.leftOfCyclic,
                                  stopped.cyclic,
                                  "of that, what does not wait for a host, round " << round);
            looked += !stopped.left.empty();
            alive += !stopped.left.empty() && stopped.moving > 0;
            rooted += stopped.cyclic < stopped.left.size();
            if (whole.formed < 0)
            {
                continue;
            }
            ++deadlocks;
            const Outcome then = Try(std::mt19937(seed), whole.formed + 1, true);
            for (const QueueKey& key : whole.cycle)
            {
                NS_TEST_ASSERT_MSG_EQ(then.left.count(key), 1, "certain when formed, " << round);
            }
            const int64_t early = whole.formed - ON_ITS_WAY;
            if (early > 0 && !m_silent)
            {
                const Outcome before = Try(std::mt19937(seed), early, true);
                NS_TEST_ASSERT_MSG_EQ(before.left.empty(), true, "not before, round " << round);
            }
        }
        std::cout << GetName() << ": " << m_rounds << " networks, " << looked
                  << " with something stuck at the moment, " << alive
                  << " of them with other queues that still moved, " << rooted << " behind a host, "
                  << deadlocks << " that deadlock at some time\n";
        NS_TEST_ASSERT_MSG_GT(looked, m_rounds / 100, "many are stuck");
        NS_TEST_ASSERT_MSG_LT(looked, m_rounds, "and many are not");
        NS_TEST_ASSERT_MSG_GT(alive, (m_rounds < 500 ? -1 : 0), "while others move");
        NS_TEST_ASSERT_MSG_EQ((rooted > 0), m_silent, "hosts are the reason where they pause");
    }

    SetUpFlowControl m_setUp; //!< flow control
    int m_rounds;             //!< networks
    bool m_silent;            //!< hosts may pause for ever
    Vanisher::Way m_way;      //!< in which frames vanish
};

} // namespace tests
} // namespace deadlock
} // namespace ns3

#endif /* DEADLOCK_TEST_H */
