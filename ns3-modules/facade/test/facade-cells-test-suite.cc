/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */

// The same run with all nodes in one order of time is the reference.

#include "facade-test-network.h"

#include "ns3/config.h"
#include "ns3/eventloop-cell-loop.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace facade
{
namespace tests
{

/// @ingroup facade-tests
/// @brief Flows of random networks that wait for others, which end anywhere, directly or through
/// points.
class WaitingFlowsTest : public TestCase
{
  public:
    WaitingFlowsTest()
        : TestCase("flows that wait for others in other cells start when they do in one order")
    {
    }

  private:
    /// What a run came to: the table of its flows, its events, its end.
    using Found = std::vector<std::vector<int64_t>>;

    /// A random run.
    /// @param seed of all draws. @param window MostWindow of the loop. @param cells whether cells
    /// ran on their own. @param threads that run the cells, while deadlocks are not judged; 0: one,
    /// and they are. @return what came.
    static Found Simulate(uint64_t seed,
                          const std::string& window,
                          bool& cells,
                          uint32_t threads = 0)
    {
        Config::SetDefault("ns3::eventloop::CellLoop::MostWindow", StringValue(window));
        std::mt19937_64 random(seed);
        const auto draw = [&random](uint64_t below) {
            return static_cast<uint32_t>(random() % below);
        };
        Network net(seed);
        const uint32_t leaves = 2 + draw(3);
        const uint32_t spines = 1 + draw(2);
        const uint32_t each = 1 + draw(3);
        const uint32_t hosts = leaves * each;
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        const bool stop = draw(2);
        net.sim.SetStopWhenDone(stop, draw(2));
        net.Nodes(hosts, leaves + spines);
        for (uint32_t host = 0; host < hosts; ++host)
        {
            net.Link(host, hosts + host / each, 100 * GBPS, draw(3) * 100'000);
        }
        // Direct links between leaves leave no two colours.
        const bool direct = draw(3) == 0;
        for (uint32_t leaf = 0; leaf < leaves; ++leaf)
        {
            for (uint32_t spine = 0; spine < spines; ++spine)
            {
                net.Link(hosts + leaf,
                         hosts + leaves + spine,
                         100 * GBPS,
                         100'000 + draw(3) * 300'000);
            }
            if (direct && leaf > 0)
            {
                net.Link(hosts + leaf, hosts + leaf - 1, 100 * GBPS, 500'000);
            }
        }
        const uint32_t flows = 20 + draw(30);
        std::vector<uint32_t> waiters;
        std::vector<uint32_t> after;
        std::vector<int64_t> delays;
        uint32_t points = 0;
        const auto wait = [&](uint32_t waiter, uint32_t other) {
            waiters.push_back(waiter);
            after.push_back(other);
            delays.push_back(draw(2) * draw(2'000'000));
        };
        const uint32_t first = stop && draw(2);
        if (first > 0)
        {
            net.Flow(0, hosts - 1, 0); // endless
        }
        for (uint32_t flow = first; flow < first + flows; ++flow)
        {
            const uint32_t from = draw(hosts);
            const uint32_t to = (from + 1 + draw(hosts - 1)) % hosts;
            const int64_t start = draw(2) * draw(5'000'000);
            net.Flow(from, to, 1 + draw(draw(2) ? 3'000 : 60'000), start);
            if (flow > 3 && draw(3) > 0)
            {
                wait(flow, first + draw(flow - first));
                if (draw(2))
                {
                    wait(flow, first + draw(flow - first));
                }
            }
            if (flow > 6 && draw(10) == 0)
            {
                const uint32_t point = (1U << 31) + points++; // a barrier
                for (uint32_t other = flow - 5; other < flow; ++other)
                {
                    wait(point, other);
                }
                wait(flow, point);
            }
        }
        net.sim.AddDependencies(waiters.data(),
                                after.data(),
                                delays.data(),
                                static_cast<uint32_t>(waiters.size()));
        if (threads > 0)
        {
            net.sim.SwitchOffOracle();
            net.sim.SetThreads(threads);
        }
        net.sim.Build();
        net.sim.Run(3'000 * US);
        Found found{{net.sim.Now()},
                    {static_cast<int64_t>(net.sim.GetEventCount())},
                    {net.sim.Finish().empty()}};
        for (const std::string column : {"start_ps", "finish_ps", "acked_ps", "delivered_bytes"})
        {
            found.push_back(net.Column("flow", column));
        }
        cells = net.sim.Notes().find("all is one cell") == std::string::npos;
        return found;
    }

    void DoRun() override
    {
        uint32_t inCells = 0;
        Config::SetDefault("ns3::eventloop::CellLoop::ThreadsFrom", UintegerValue(0));
        for (uint64_t seed = 1; seed <= 60; ++seed)
        {
            bool cells = false;
            const Found one = Simulate(seed, "0ps", cells);
            for (const std::string window : {"1h", "30ns"})
            {
                const Found found = Simulate(seed, window, cells);
                NS_TEST_ASSERT_MSG_EQ((found == one), true, "seed " << seed << ", " << window);
            }
            inCells += cells;
            const Found alone = Simulate(seed, "1h", cells, 1);
            for (const uint32_t threads : {2, 4})
            {
                const Found found = Simulate(seed, "1h", cells, threads);
                NS_TEST_ASSERT_MSG_EQ((found == alone),
                                      true,
                                      "seed " << seed << ", " << threads << " threads");
            }
        }
        Config::SetDefault("ns3::eventloop::CellLoop::MostWindow", StringValue("1h"));
        Config::SetDefault("ns3::eventloop::CellLoop::ThreadsFrom", UintegerValue(256));
        NS_TEST_EXPECT_MSG_GT(inCells, 30, "most of them need no one order");
    }
};

/// @ingroup facade-tests
/// @brief Random rings, in which pauses can form a cycle: with pause storms, links that fail, and
/// loads from nearly none to more than there is room for.
class JudgedTest : public TestCase
{
  public:
    JudgedTest()
        : TestCase("deadlocks are judged in cells, and with threads, as in one order")
    {
    }

  private:
    /// What a run came to.
    struct Found
    {
        std::vector<std::pair<std::string, double>> summary; //!< all numbers
        std::string notes;                                   //!< with every deadlock
        std::vector<std::vector<int64_t>> flows;             //!< columns of the flows

        /// Compare two runs. @param other the other one. @return are they the same?
        bool operator==(const Found& other) const = default;
    };

    /// A random run.
    /// @param seed of all draws. @param window MostWindow of the loop. @param threads that run it.
    /// @return what came.
    Found Simulate(uint64_t seed, const std::string& window, uint32_t threads = 1)
    {
        Config::SetDefault("ns3::eventloop::CellLoop::MostWindow", StringValue(window));
        std::mt19937_64 random(seed);
        const auto draw = [&random](uint64_t below) {
            return static_cast<uint32_t>(random() % below);
        };
        Network net(seed);
        net.sim.AddFlowControl("ns3::pfc::Pfc");
        net.sim.SetAttribute("ns3::pfc::Pfc", "Mode", draw(2) ? "OnOff" : "Timer");
        net.sim.SetAllowLoss(true);
        net.Set("SharedBuffer", "Threshold", "Static");
        net.Set("SharedBuffer", "Size", "10000000");
        net.Set("SharedBuffer", "Xoff", std::to_string(6000 + 3000 * draw(5)));
        net.Set("SharedBuffer", "Xon", "4500");
        net.Set("Port", "ControlDelay", std::to_string(draw(2) * 150) + "ns");
        const uint32_t ring = 3 + draw(4);
        const uint32_t each = 1 + draw(2);
        const uint32_t hosts = ring * each;
        net.Nodes(hosts, ring);
        for (uint32_t host = 0; host < hosts; ++host)
        {
            net.Link(host, hosts + host % ring, 100 * GBPS, 50'000 + draw(3) * 300'000);
        }
        const int64_t delay = 100'000 + draw(3) * 400'000;
        const bool equal = draw(2);
        for (uint32_t at = 0; at < ring; ++at)
        {
            const int64_t own = equal ? delay : delay + draw(5) * 100'000;
            net.Link(hosts + at, hosts + (at + 1) % ring, 100 * GBPS, own);
        }
        const uint32_t load = draw(4); // of 0, hardly a queue is ever paused
        for (uint32_t flow = 0; flow < 3 + 6 * load; ++flow)
        {
            const uint32_t from = draw(hosts);
            const uint32_t to = (from + 1 + draw(hosts - 1)) % hosts;
            net.Flow(from, to, 1 + draw(load ? 200'000 : 20'000), draw(100) * US);
        }
        if (load == 3)
        {
            for (uint32_t at = 0; at < ring; ++at)
            {
                net.Flow(at, (at + 2) % ring, 500'000, 50 * US);
            }
        }
        if (draw(3) == 0)
        {
            const int64_t start = (20 + draw(80)) * US;
            net.sim.AddPauseStorm(draw(hosts), 3, start, draw(2) ? -1 : start + 40 * US);
        }
        if (draw(4) == 0)
        {
            net.sim.FailLink(hosts + draw(ring), 30 * US, 70 * US);
        }
        net.sim.SetThreads(threads);
        net.sim.SetDeadlockTest(draw(2) * 25 * US, draw(2));
        net.sim.SetStopWhenDone(true, draw(2));
        net.sim.Build();
        for (int64_t until = 10 * US; until <= 600 * US && net.sim.Run(until); until += 10 * US)
        {
            if (window != "0ps")
            {
                ++(eventloop::CellLoop::Peek()->IsApart() ? m_apart : m_together);
            }
        }
        net.sim.Finish();
        Found found{net.sim.GetSummary(), net.sim.Notes(), {}};
        for (const std::string column : {"start_ps", "finish_ps", "acked_ps", "delivered_bytes"})
        {
            found.flows.push_back(net.Column("flow", column));
        }
        return found;
    }

    void DoRun() override
    {
        uint32_t deadlocks = 0;
        uint32_t blocked = 0;
        Config::SetDefault("ns3::eventloop::CellLoop::ThreadsFrom", UintegerValue(0));
        for (uint64_t seed = 1; seed <= 150; ++seed)
        {
            const Found one = Simulate(seed, "0ps");
            for (const std::string window : {"1h", "30ns"})
            {
                const Found found = Simulate(seed, window);
                NS_TEST_ASSERT_MSG_EQ((found == one), true, "seed " << seed << ", " << window);
            }
            const uint32_t threads = 2U << seed % 3; // all of them for each take long
            const Found found = Simulate(seed, "1h", threads);
            NS_TEST_ASSERT_MSG_EQ((found == one),
                                  true,
                                  "seed " << seed << ", " << threads << " threads");
            deadlocks += one.notes.find("deadlock, formed") != std::string::npos;
            blocked += one.notes.find("blocked by a host") != std::string::npos;
        }
        Config::SetDefault("ns3::eventloop::CellLoop::MostWindow", StringValue("1h"));
        Config::SetDefault("ns3::eventloop::CellLoop::ThreadsFrom", UintegerValue(256));
        NS_TEST_EXPECT_MSG_GT(deadlocks, 10, "some of them deadlock");
        NS_TEST_EXPECT_MSG_GT(blocked, 10, "hosts block some of them");
        NS_TEST_EXPECT_MSG_GT(m_apart, 300, "cells run on their own while nothing is paused");
        NS_TEST_EXPECT_MSG_GT(m_together, 300, "and in one order while something is");
    }

    uint32_t m_apart{0};    //!< slices of runs after which cells run on their own
    uint32_t m_together{0}; //!< and in one order
};

/// @ingroup facade-tests
/// @brief The suite "facade-cells".
class CellsTestSuite : public TestSuite
{
  public:
    CellsTestSuite()
        : TestSuite("facade-cells", Type::UNIT)
    {
        AddTestCase(new WaitingFlowsTest, TestCase::Duration::QUICK);
        AddTestCase(new JudgedTest, TestCase::Duration::QUICK);
    }
};

static CellsTestSuite g_cellsTestSuite; //!< the test suite

} // namespace tests
} // namespace facade
} // namespace ns3
