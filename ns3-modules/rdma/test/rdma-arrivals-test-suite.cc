/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/rdma-arrivals.h"
#include "ns3/test.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <vector>

/**
 * @file
 * @ingroup rdma-tests
 * Arrivals: against the set of all packets that arrived, in a random order.
 */

namespace ns3
{
namespace rdma
{
namespace tests
{

/// @ingroup rdma-tests
/// @brief Packets arrive in a random order, some more than once.
class ArrivalsTest : public TestCase
{
  public:
    ArrivalsTest()
        : TestCase("next packet in order, latest packet, and who was overtaken and by how many "
                   "places, by brute force")
    {
    }

  private:
    /// A random order. @param random source of chance.
    void Try(std::mt19937_64& random)
    {
        std::vector<uint64_t> order(1 + random() % 60);
        std::iota(order.begin(), order.end(), 0);
        const std::size_t reach = 1 + random() % 10; // places by which packets move
        for (std::size_t at = 0; at < order.size(); ++at)
        {
            std::swap(order[at], order[std::min(order.size() - 1, at + random() % reach)]);
        }
        Arrivals arrivals;
        arrivals.KeepAhead();
        std::set<uint64_t> missing(order.begin(), order.end());
        missing.insert(order.size());
        uint64_t latest = 0; // one past it
        uint64_t farthest = 0;
        for (const uint64_t psn : order)
        {
            uint64_t distance = 0;
            NS_TEST_ASSERT_MSG_EQ(arrivals.IsOvertaken(psn, distance), (psn < latest), "late");
            NS_TEST_ASSERT_MSG_EQ(distance, (psn < latest ? latest - 1 - psn : 0), "places");
            farthest = std::max(farthest, distance);
            arrivals.IsOvertaken(psn, farthest);
            latest = std::max(latest, psn + 1);
            missing.erase(psn);
            if (psn == arrivals.GetExpected())
            {
                while (arrivals.TakeNext())
                {
                }
            }
            else
            {
                arrivals.Keep(psn);
                arrivals.Keep(psn); // a duplicate changes nothing
            }
            NS_TEST_ASSERT_MSG_EQ(arrivals.GetExpected(), *missing.begin(), "next in order");
            NS_TEST_ASSERT_MSG_EQ(arrivals.GetFrontier(), latest, "one past the latest");
        }
        NS_TEST_ASSERT_MSG_EQ(arrivals.GetExpected(), order.size(), "all have arrived");
    }

    void DoRun() override
    {
        std::mt19937_64 random(2);
        for (int round = 0; round < 300; ++round)
        {
            Try(random);
        }
        Arrivals strict; // a receiver that drops what comes after a gap
        strict.TakeNext();
        NS_TEST_EXPECT_MSG_EQ(strict.GetExpected(), 1, "counts in order only");
    }
};

/// @ingroup rdma-tests
/// @brief Tests of Arrivals.
class ArrivalsTestSuite : public TestSuite
{
  public:
    ArrivalsTestSuite()
        : TestSuite("rdma-arrivals", Type::UNIT)
    {
        AddTestCase(new ArrivalsTest, TestCase::Duration::QUICK);
    }
};

static ArrivalsTestSuite g_arrivalsTestSuite; //!< registers the suite

} // namespace tests
} // namespace rdma
} // namespace ns3
