/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/deadlock-dependency.h"
#include "ns3/test.h"

#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup deadlock-tests
 * The graph of buffer dependencies.
 */

namespace ns3
{
namespace deadlock
{
namespace tests
{

/// @ingroup deadlock-tests
/// @brief Buffer dependency graphs of random paths.
class DependencyTest : public TestCase
{
  public:
    DependencyTest()
        : TestCase("a shortest cycle of the buffer dependencies is found where there is one")
    {
    }

  private:
    using Egress = DependencyGraph::Egress;

    /// How many egresses the shortest cycle has, by powers of the relation.
    /// @param next what each egress depends on. @return length; 0: no cycle.
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

/// @ingroup deadlock-tests
/// @brief Tests of DependencyGraph.
class DependencyTestSuite : public TestSuite
{
  public:
    DependencyTestSuite()
        : TestSuite("deadlock-dependency", Type::UNIT)
    {
        AddTestCase(new DependencyTest, TestCase::Duration::QUICK);
    }
};

static DependencyTestSuite g_dependencyTestSuite; //!< registers the suite

} // namespace tests
} // namespace deadlock
} // namespace ns3
