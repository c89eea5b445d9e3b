/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */

// The reference is a sorted map of all events: what it executes is right.

#include "eventloop-test-death.h"

#include "ns3/eventloop-cell-threads.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

using namespace ns3;
using eventloop::CellLoop;
using eventloop::CellThreads;
using eventloop::DieBy;
using eventloop::EventLoop;
using eventloop::Occurrence;
using eventloop::Place;

namespace
{

constexpr int64_t LOOKAHEAD = 50; //!< shortest delay between two nodes
constexpr uint32_t NODES = 7;     //!< of a network

/// How events are executed.
struct Loop
{
    std::function<void(int64_t delay, Occurrence* occurrence)> push; //!< schedule
    std::function<int64_t()> now;                                    //!< time
};

/// Nodes that draw what they do from their own sources, so that the order of their events shows.
class Network
{
  public:
    /// An event of a node.
    class Event : public Occurrence
    {
      public:
        /// @param call called at its time.
        explicit Event(std::function<void()> call)
            : Occurrence(&Event::Happen),
              m_call(std::move(call))
        {
        }

      private:
        static void Happen(Occurrence* occurrence)
        {
            static_cast<Event*>(occurrence)->m_call();
        }

        std::function<void()> m_call; //!< what it does
    };

    /// @param seed of all draws. @param loop executes the events. @param withNs3 some events are
    /// scheduled by ns3::Simulator. @param cellOf cell of each node. @param most events of a node
    /// after which it does nothing new.
    Network(uint64_t seed,
            Loop loop,
            bool withNs3,
            const std::vector<uint16_t>& cellOf,
            uint64_t most)
        : m_loop(std::move(loop)),
          m_withNs3(withNs3),
          m_most(most)
    {
        for (uint32_t node = 0; node < NODES; ++node)
        {
            m_nodes.push_back(std::make_unique<Node>());
            Node& one = *m_nodes.back();
            one.random.seed(seed * NODES + node);
            one.cell = cellOf[node];
            for (uint16_t kind = 0; kind < 3; ++kind)
            {
                one.own.push_back(std::make_unique<Event>([=, this] { Act(node, kind); }));
                // The last one has no place of its own.
                one.own.back()->SetPlace(kind < 2 ? Place(cellOf[node], node, kind, kind)
                                                  : Place());
            }
            for (uint32_t from = 0; from < NODES; ++from)
            {
                one.inbound.push_back(std::make_unique<Event>([=, this] { Arrive(node, from); }));
                one.inbound.back()->SetPlace(
                    Place(cellOf[node], node, static_cast<uint16_t>(10 + from), 0));
                one.items.emplace_back();
                one.lastArrival.push_back(0);
                one.late.push_back(std::make_unique<Event>([=, this] { StartLate(node, from); }));
                one.late.back()->SetPlace(
                    Place(cellOf[node], Place::LATE + uint64_t{from} * NODES + node));
            }
        }
        m_global = std::make_unique<Event>([this] { LookAtAll(); });
    }

    /// Schedule the first events.
    void Begin()
    {
        for (const auto& node : m_nodes)
        {
            m_loop.push(static_cast<int64_t>(node->random() % 3), node->own.front().get());
        }
        m_loop.push(20, m_global.get());
    }

    /// Call Simulator::Stop in an event of a node.
    /// @param node which. @param count after how many of its events.
    void StopAfter(uint32_t node, uint64_t count)
    {
        m_stopper = node;
        m_stopAfter = count;
    }

    /// @return the earliest time at which a node may reach another one at once.
    int64_t GetEarliestReach() const
    {
        int64_t earliest = std::numeric_limits<int64_t>::max();
        for (const auto& node : m_nodes)
        {
            earliest = std::min(earliest, node->reach);
        }
        return earliest;
    }

    /// @return everything that depends on the order of events.
    std::vector<uint64_t> GetStates() const
    {
        std::vector<uint64_t> states{m_seen};
        for (const auto& node : m_nodes)
        {
            states.push_back(node->state);
            states.push_back(node->count);
        }
        return states;
    }

    int64_t m_stopped{-1}; //!< when Stop was called

  private:
    /// A node.
    struct Node
    {
        std::mt19937_64 random;                      //!< of its actions
        uint16_t cell{0};                            //!< its cell
        uint64_t state{0};                           //!< of all events so far
        uint64_t count{0};                           //!< of events
        std::vector<std::unique_ptr<Event>> own;     //!< its events
        std::vector<std::unique_ptr<Event>> inbound; //!< by sender
        std::vector<std::deque<uint64_t>> items;     //!< by sender: on their way
        std::vector<int64_t> lastArrival;            //!< by sender
        std::vector<std::unique_ptr<Event>> late;    //!< by sender: late events
        int64_t reach{200};                          //!< from when it may reach another at once
    };

    void Note(uint32_t node, uint64_t what)
    {
        Node& one = *m_nodes[node];
        one.state = (one.state ^ what ^ static_cast<uint64_t>(m_loop.now())) * 0x9e3779b97f4a7c15;
        one.state ^= one.state >> 29;
        if (++one.count == m_stopAfter && node == m_stopper)
        {
            m_stopped = m_loop.now();
            Simulator::Stop();
        }
    }

    void Act(uint32_t node, uint64_t what)
    {
        Note(node, what);
        Node& one = *m_nodes[node];
        if (one.reach <= m_loop.now())
        {
            one.reach = m_loop.now() + 100 + static_cast<int64_t>(one.random() % 200);
            m_loop.push(0, m_nodes[one.random() % NODES]->late[node].get());
        }
        if (one.count > m_most)
        {
            return;
        }
        // Few distinct delays, so that many events are at the same time.
        m_loop.push(static_cast<int64_t>(one.random() % 4) * 7, one.own[one.random() % 3].get());
        if (one.random() % 3 == 0)
        {
            const uint32_t to = one.random() % NODES;
            Node& other = *m_nodes[to];
            const int64_t least = to == node ? 0 : (to + node) % 2 ? LOOKAHEAD : 2 * LOOKAHEAD;
            const int64_t delay = least + static_cast<int64_t>(one.random() % 4) * 7;
            int64_t& last = other.lastArrival[node];
            last = std::max(last, m_loop.now() + delay);
            {
                const std::scoped_lock lock(m_ofItems);
                other.items[node].push_back(one.state);
            }
            m_loop.push(last - m_loop.now(), other.inbound[node].get());
        }
        if (m_withNs3 && one.random() % 5 == 0)
        {
            Simulator::Schedule(TimeStep(7 * (one.random() % 4)), [=, this] { Note(node, 77); });
            const EventId no = Simulator::Schedule(TimeStep(7), [=, this] { Note(node, 78); });
            one.random() % 2 ? Simulator::Cancel(no) : Simulator::Remove(no);
            Note(node, no.IsPending());
        }
    }

    void Arrive(uint32_t node, uint32_t from)
    {
        Node& one = *m_nodes[node];
        uint64_t item = 0;
        {
            const std::scoped_lock lock(m_ofItems);
            item = one.items[from].front();
            one.items[from].pop_front();
        }
        Note(node, item);
        if (one.random() % 2)
        {
            Act(node, 5);
        }
    }

    void StartLate(uint32_t node, uint32_t from)
    {
        Node& one = *m_nodes[node];
        Note(node, 1000 + from);
        one.reach = std::max(one.reach, m_loop.now() + 1); // it reaches nobody at that time itself
        m_loop.push(static_cast<int64_t>(from % 3) * 7, one.own[from % 3].get());
    }

    void LookAtAll()
    {
        for (uint32_t node = 0; node < NODES; ++node)
        {
            m_seen = (m_seen ^ m_nodes[node]->state) * 0xbf58476d1ce4e5b9;
            if (m_seen % 3 == 0)
            {
                m_loop.push(static_cast<int64_t>(m_seen % 5) * 7, m_nodes[node]->own[1].get());
            }
        }
        if (static_cast<uint64_t>(++m_looks) < 12 + m_most / 100)
        {
            m_loop.push(m_looks % 3 * 49 + 35, m_global.get());
        }
    }

    Loop m_loop;                                //!< executes the events
    bool m_withNs3;                             //!< use ns3::Simulator, too
    uint64_t m_most;                            //!< events of a node, about
    std::mutex m_ofItems;                       //!< nodes of several threads exchange items
    std::vector<std::unique_ptr<Node>> m_nodes; //!< all
    std::unique_ptr<Event> m_global;            //!< sees all nodes
    uint64_t m_seen{0};                         //!< what it saw
    int64_t m_looks{0};                         //!< how often
    uint32_t m_stopper{0};                      //!< node that stops
    uint64_t m_stopAfter{0};                    //!< after so many events; 0: never
};

/// Where a run came to.
struct End
{
    std::vector<uint64_t> states; //!< of the nodes
    int64_t now;                  //!< when it ended
    uint64_t events;              //!< that happened
    int64_t stopped;              //!< when it was stopped; -1: it was not

    /// @param other another one. @return equal?
    bool operator==(const End& other) const = default;
};

/// What a run is.
struct Case
{
    uint64_t seed;                              //!< of all draws
    bool withNs3{false};                        //!< use ns3::Simulator, too
    uint64_t stopAfter{0};                      //!< events of node 3; 0: it does not stop
    std::function<int64_t()> earliest{nullptr}; //!< when it may stop
    uint64_t most{400};                         //!< events of a node, about
    uint16_t threads{1};                        //!< that run the cells
};

/// Run under a CellLoop.
End
RunCells(const Case& run,
         const std::vector<uint16_t>& cellOf,
         int64_t window,
         bool alternates = false)
{
    Simulator::Destroy();
    auto loop = CreateObject<CellLoop>();
    Simulator::SetImplementation(loop);
    CellLoop* cells = CellLoop::Peek();
    Network network(run.seed,
                    {[](int64_t delay, Occurrence* occurrence) {
                         EventLoop* mine = EventLoop::Peek();
                         mine->Push(mine->GetTimeIn(delay), mine->TakeKey(), occurrence);
                     },
                     [] { return EventLoop::Peek()->GetTimeStep(); }},
                    run.withNs3,
                    cellOf,
                    run.most);
    network.StopAfter(3, run.stopAfter);
    network.Begin();
    cells->SetHorizon([&] {
        const int64_t earliest = network.GetEarliestReach();
        return run.earliest ? std::min(run.earliest(), earliest) : earliest;
    });
    if (run.threads > 1)
    {
        loop->SetAttribute("ThreadsFrom", UintegerValue(0));
        cells->SetThreads(
            std::make_unique<CellThreads>(*cells,
                                          run.threads,
                                          std::vector<uint64_t>(Place::MOST_CELLS + 1, 1),
                                          nullptr));
    }
    cells->SetWindow(window, alternates);
    Simulator::Run();
    const End end{network.GetStates(),
                  cells->GetTimeStep(),
                  cells->GetEventCount(),
                  network.m_stopped};
    Simulator::Destroy();
    return end;
}

/// Run with a sorted map.
End
RunReference(uint64_t seed, uint64_t most = 400)
{
    using Key = std::pair<int64_t, uint64_t>;
    std::multimap<Key, Occurrence*> pending;
    int64_t now = 0;
    uint64_t events = 0;
    uint64_t number = 0;  // of a global event
    uint64_t adopted = 0; // events that have taken a place
    bool inCell = false;
    Network network(seed,
                    {[&](int64_t delay, Occurrence* occurrence) {
                         if (occurrence->GetPlace().GetCell() == 0 && inCell)
                         {
                             occurrence->SetPlace(Place(1, adopted++));
                         }
                         const Place place = occurrence->GetPlace();
                         const int64_t time = now + delay;
                         const uint64_t rank =
                             place.GetCell() == 0 ? number++ : place.GetRank(Place::SaltOf(time));
                         pending.emplace(Key{time, rank}, occurrence);
                     },
                     [&] { return now; }},
                    false,
                    std::vector<uint16_t>(NODES, 1),
                    most);
    network.Begin();
    while (!pending.empty())
    {
        const auto first = pending.begin();
        Occurrence* occurrence = first->second;
        now = first->first.first;
        pending.erase(first);
        inCell = occurrence->GetPlace().GetCell() != 0;
        ++events;
        occurrence->Happen();
    }
    return {network.GetStates(), now, events, -1};
}

const std::vector<std::vector<uint16_t>> GRAINS{{1, 1, 1, 1, 1, 1, 1},
                                                {1, 2, 3, 4, 5, 6, 7},
                                                {1, 1, 2, 2, 3, 3, 3},
                                                {4, 2, 4, 2, 4, 2, 9},
                                                {1, 1, 1, 1, 1, 1, 65535}};

/// Odd nodes are in even cells, and even ones in odd cells.
const std::vector<std::vector<uint16_t>> COLOURED{{1, 2, 3, 4, 5, 6, 7}, {1, 2, 1, 4, 7, 4, 1}};

/// Every window and every grain gives what the sorted map gives.
class SameEndTest : public TestCase
{
  public:
    SameEndTest()
        : TestCase("Random networks end alike for every window and grain, as in a sorted map")
    {
    }

  private:
    void DoRun() override
    {
        const uint64_t many = 12;
        for (uint64_t seed = 1; seed <= many; ++seed)
        {
            const End reference = RunReference(seed);
            NS_TEST_ASSERT_MSG_GT(reference.events, 1000, "something happens");
            const End ns3 = RunCells({seed, true}, GRAINS.front(), 0);
            for (const auto& grain : GRAINS)
            {
                for (const int64_t window : {int64_t{0}, int64_t{1}, int64_t{13}, LOOKAHEAD})
                {
                    const std::string where = "seed " + std::to_string(seed) + ", window " +
                                              std::to_string(window) + ", cell of the last node " +
                                              std::to_string(grain.back());
                    const End end = RunCells({seed}, grain, window);
                    NS_TEST_ASSERT_MSG_EQ((end == reference), true, where);
                    NS_TEST_ASSERT_MSG_EQ((RunCells({seed, true}, grain, window) == ns3),
                                          true,
                                          "with events of ns3::Simulator, " << where);
                }
            }
            for (const auto& grain : COLOURED)
            {
                for (const int64_t window : {int64_t{1}, int64_t{13}, LOOKAHEAD})
                {
                    NS_TEST_ASSERT_MSG_EQ((RunCells({seed}, grain, window, true) == reference),
                                          true,
                                          "two colours, window " << window);
                    NS_TEST_ASSERT_MSG_EQ((RunCells({seed, true}, grain, window, true) == ns3),
                                          true,
                                          "with events of ns3::Simulator, window " << window);
                }
            }
        }
    }
};

/// Any number of threads gives what one gives: who runs a cell changes nothing.
class ThreadsTest : public TestCase
{
  public:
    ThreadsTest()
        : TestCase("Threads: the same events, in the same order within each cell")
    {
    }

  private:
    void DoRun() override
    {
        for (uint64_t seed = 1; seed <= 4; ++seed)
        {
            const End reference = RunReference(seed);
            const End ns3 = RunCells({seed, true}, GRAINS.front(), 0);
            for (const uint16_t threads : {2, 5})
            {
                Case plain{seed};
                plain.threads = threads;
                Case withNs3{seed, true};
                withNs3.threads = threads;
                for (const int64_t window : {int64_t{20}, LOOKAHEAD})
                {
                    const std::string where = "seed " + std::to_string(seed) + ", window " +
                                              std::to_string(window) + ", threads " +
                                              std::to_string(threads);
                    for (const auto& grain : GRAINS)
                    {
                        NS_TEST_ASSERT_MSG_EQ((RunCells(plain, grain, window) == reference),
                                              true,
                                              where);
                        NS_TEST_ASSERT_MSG_EQ((RunCells(withNs3, grain, window) == ns3),
                                              true,
                                              where);
                    }
                    for (const auto& grain : COLOURED)
                    {
                        NS_TEST_ASSERT_MSG_EQ((RunCells(plain, grain, window, true) == reference),
                                              true,
                                              where);
                        NS_TEST_ASSERT_MSG_EQ((RunCells(withNs3, grain, window, true) == ns3),
                                              true,
                                              where);
                    }
                }
            }
        }
    }
};

/// A run that changes between cells and one order, as cells have little to do.
class LongTest : public TestCase
{
  public:
    LongTest()
        : TestCase("Long runs, which change between cells and one order, end as in a sorted map")
    {
    }

  private:
    void DoRun() override
    {
        const uint64_t most = 15'000;
        const End reference = RunReference(5, most);
        const Case withNs3{5, true, 0, nullptr, most};
        const End ns3 = RunCells(withNs3, GRAINS.front(), 0);
        NS_TEST_ASSERT_MSG_GT(reference.events, 100'000, "enough to change more than once");
        for (const int64_t window : {int64_t{13}, LOOKAHEAD})
        {
            for (const bool alternates : {false, true})
            {
                const Case run{5, false, 0, nullptr, most};
                const auto& grain = COLOURED.front();
                NS_TEST_EXPECT_MSG_EQ((RunCells(run, grain, window, alternates) == reference),
                                      true,
                                      "window " << window);
                NS_TEST_EXPECT_MSG_EQ((RunCells(withNs3, grain, window, alternates) == ns3),
                                      true,
                                      "with events of ns3::Simulator, window " << window);
            }
        }
    }
};

/// A cell stops the run: it ends after that instant, whatever the window.
class StopTest : public TestCase
{
  public:
    StopTest()
        : TestCase("A run that a cell stops ends after the same instant for every window and grain")
    {
    }

  private:
    void DoRun() override
    {
        for (uint64_t seed = 1; seed <= 6; ++seed)
        {
            for (const uint64_t after : {1, 17, 200})
            {
                const End one = RunCells({seed, false, after}, GRAINS.front(), 0);
                NS_TEST_ASSERT_MSG_EQ(one.now, one.stopped, "it ends when it is stopped");
                for (const int64_t early : {0, 1, 30, 1000})
                {
                    const int64_t earliest = one.stopped - early;
                    const Case run{seed, false, after, [earliest] { return earliest; }};
                    for (const auto& grain : GRAINS)
                    {
                        NS_TEST_ASSERT_MSG_EQ((RunCells(run, grain, LOOKAHEAD) == one),
                                              true,
                                              "seed " << seed << ", after " << after << " events, "
                                                      << early << " early");
                    }
                }
            }
        }
    }
};

/// What would break the promise of the loop aborts, in every build profile.
class MisuseTest : public TestCase
{
  public:
    MisuseTest()
        : TestCase("An event that reaches another cell too early, or stops it, aborts")
    {
    }

  private:
    /// Two cells, whose events call functions.
    struct Pair
    {
        /// @param window of the loop.
        explicit Pair(int64_t window)
            : first([this] { act(); }),
              second([] {})
        {
            Simulator::Destroy();
            Simulator::SetImplementation(CreateObject<CellLoop>());
            first.SetPlace(Place(1, 0, 0, 0));
            second.SetPlace(Place(2, 1, 0, 0));
            CellLoop::Peek()->SetWindow(window);
        }

        /// @param delay time steps. @param event the event.
        static void Push(int64_t delay, Occurrence* event)
        {
            CellLoop* loop = CellLoop::Peek();
            loop->Push(loop->GetTimeIn(delay), loop->TakeKey(), event);
        }

        std::function<void()> act; //!< what the first cell does
        Network::Event first;      //!< of the first cell
        Network::Event second;     //!< of the second cell
    };

    void DoRun() override
    {
        for (const int64_t delay : {0, 99, 100})
        {
            const auto death = DieBy([delay] {
                Pair pair(100);
                pair.act = [&] { Pair::Push(delay, &pair.second); };
                Pair::Push(5, &pair.first);
                Simulator::Run();
            });
            NS_TEST_EXPECT_MSG_EQ(death.aborted, (delay < 100), "after " << delay);
            const std::string why =
                "only " + std::to_string(delay) + " time steps later, where the window is 100";
            NS_TEST_EXPECT_MSG_EQ((death.said.find(why) != std::string::npos),
                                  (delay < 100),
                                  "it says why: " << death.said);
        }
        const auto death = DieBy([] {
            Pair pair(100);
            pair.act = [] { Simulator::Stop(); };
            Pair::Push(5, &pair.first);
            Simulator::Run();
        });
        NS_TEST_EXPECT_MSG_EQ(death.aborted, true, "nobody told when it may stop");
        NS_TEST_EXPECT_MSG_NE(death.said.find("Stop() was called by an event of a cell, at 5"),
                              std::string::npos,
                              "it says why: " << death.said);
    }
};

/// Ports that act at the same times are first equally often, and no two share a rank.
class RankTest : public TestCase
{
  public:
    RankTest()
        : TestCase("Of ports in step each is first equally often; the kinds of a port keep order")
    {
    }

  private:
    void DoRun() override
    {
        for (const int64_t step : {83'840, 1000, 4096, 1, 65'536, 6'720})
        {
            for (const uint16_t ports : {2, 3, 7, 16})
            {
                for (const bool nodes : {false, true})
                {
                    TestPorts(step, ports, nodes);
                }
            }
        }
        const uint64_t salt = Place::SaltOf(12345);
        for (uint16_t kind = 1; kind < Place::MOST_KINDS; ++kind)
        {
            NS_TEST_ASSERT_MSG_LT(Place(1, 5, 6, kind - 1).GetRank(salt),
                                  Place(2, 5, 6, kind).GetRank(salt),
                                  "kinds in order, whatever the cell");
        }
        NS_TEST_ASSERT_MSG_LT(Place(1, Place::MOST_NODES - 1, 65535, 1023).GetRank(salt),
                              Place(1, 0).GetRank(salt),
                              "numbered places come last");
        NS_TEST_ASSERT_MSG_LT(Place(1, 0).GetRank(salt),
                              Place(1, 1).GetRank(salt),
                              "in the order of their numbers");
    }

    void TestPorts(int64_t step, uint16_t ports, bool nodes)
    {
        constexpr int INSTANTS = 5000;
        std::vector<int> first(ports);
        for (int i = 0; i < INSTANTS; ++i)
        {
            const uint64_t salt = Place::SaltOf(1'000'000 + i * step);
            std::set<uint64_t> ranks;
            uint64_t least = std::numeric_limits<uint64_t>::max();
            uint16_t winner = 0;
            for (uint16_t port = 0; port < ports; ++port)
            {
                const uint64_t rank =
                    (nodes ? Place(1, 100U + port, 3, 1) : Place(1, 7, port, 1)).GetRank(salt);
                ranks.insert(rank);
                winner = rank < least ? port : winner;
                least = std::min(least, rank);
            }
            NS_TEST_ASSERT_MSG_EQ(ranks.size(), ports, "each port has a rank of its own");
            ++first[winner];
        }
        // Five standard deviations of a fair draw.
        const double share = static_cast<double>(INSTANTS) / ports;
        const double most = 5 * std::sqrt(share * (1 - 1.0 / ports));
        for (uint16_t port = 0; port < ports; ++port)
        {
            NS_TEST_EXPECT_MSG_EQ_TOL(first[port],
                                      share,
                                      most,
                                      "port " << port << " of " << ports << ", every " << step);
        }
    }
};

/// Pending events, near and far, that a global event puts off.
class DelayTest : public TestCase
{
  public:
    DelayTest()
        : TestCase("Of all pending events those of a set happen later, in cells and in one order")
    {
    }

  private:
    using When = std::multiset<std::pair<int64_t, uint32_t>>; //!< time and number of each event

    void DoRun() override
    {
        for (uint64_t seed = 1; seed <= 20; ++seed)
        {
            for (const int64_t window : {int64_t{0}, LOOKAHEAD})
            {
                Check(window, seed);
            }
        }
    }

    /// @param window of the loop. @param seed of the times.
    void Check(int64_t window, uint64_t seed)
    {
        Simulator::Destroy();
        const auto loop = CreateObject<CellLoop>();
        Simulator::SetImplementation(loop);
        std::mt19937_64 random(seed);
        std::vector<std::unique_ptr<Network::Event>> events;
        std::unordered_set<const Occurrence*> later;
        std::map<const Occurrence*, int64_t> pending;
        When expected;
        When happened;
        for (uint32_t i = 0; i < EVENTS; ++i)
        {
            events.push_back(std::make_unique<Network::Event>(
                [&happened, i] { happened.emplace(EventLoop::Peek()->GetTimeStep(), i); }));
            Network::Event* event = events.back().get();
            event->SetPlace(Place(static_cast<uint16_t>(1 + i % 3), i, 0, 0));
            const auto time = static_cast<int64_t>(random() % (1ULL << random() % 40));
            loop->Push(time, loop->TakeKey(), event);
            if (time >= AT)
            {
                pending[event] = time;
            }
            if (i % 2)
            {
                later.insert(event);
            }
            expected.emplace(time + (time >= AT && i % 2 ? BY : 0), i);
        }
        const int64_t ofNs3 = AT + static_cast<int64_t>(random() % 100'000);
        Simulator::Schedule(TimeStep(static_cast<uint64_t>(ofNs3)), [&happened] {
            happened.emplace(Simulator::Now().GetTimeStep(), EVENTS);
        });
        expected.emplace(ofNs3, EVENTS);
        Network::Event global([&] {
            std::map<const Occurrence*, int64_t> found;
            uint32_t others = 0;
            loop->ForEachPending([&](int64_t time, const Occurrence* event) {
                event ? static_cast<void>(found[event] = time) : static_cast<void>(++others);
            });
            NS_TEST_EXPECT_MSG_EQ((found == pending), true, "what is pending, seed " << seed);
            NS_TEST_EXPECT_MSG_EQ(others, 1, "events of ns3::Simulator");
            loop->Delay(later, BY);
        });
        loop->Push(AT, loop->TakeKey(), &global);
        loop->SetWindow(window);
        Simulator::Run();
        Simulator::Destroy();
        NS_TEST_EXPECT_MSG_EQ((happened == expected), true, "seed " << seed << ", " << window);
    }

    static constexpr uint32_t EVENTS = 300; //!< of cells
    static constexpr int64_t AT = 1000;     //!< when it puts off
    static constexpr int64_t BY = 123'456;  //!< by how much
};

/// @brief The suite.
class CellLoopTestSuite : public TestSuite
{
  public:
    CellLoopTestSuite()
        : TestSuite("eventloop-cell-loop", Type::UNIT)
    {
        AddTestCase(new SameEndTest, Duration::QUICK);
        AddTestCase(new ThreadsTest);
        AddTestCase(new LongTest, Duration::QUICK);
        AddTestCase(new StopTest, Duration::QUICK);
        AddTestCase(new MisuseTest, Duration::QUICK);
        AddTestCase(new RankTest, Duration::QUICK);
        AddTestCase(new DelayTest, Duration::QUICK);
    }
};

CellLoopTestSuite g_cellLoopTestSuite; //!< registers it

} // namespace
