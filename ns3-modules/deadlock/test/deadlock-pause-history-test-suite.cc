/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/deadlock-pause-history.h"
#include "ns3/test.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <vector>

/**
 * @file
 * @ingroup deadlock-tests
 * PauseHistory: against a whole list of causes for each pause.
 */

namespace ns3
{
namespace deadlock
{
namespace tests
{

/// @ingroup deadlock-tests
/// @brief Pauses come and are forgotten at random.
class PauseHistoryTest : public TestCase
{
  public:
    PauseHistoryTest()
        : TestCase("a pause has its causes as long as anybody refers to it or to what it caused, "
                   "and then its place is free, by brute force")
    {
    }

  private:
    /// A pause as the model keeps it.
    struct Known
    {
        std::vector<uint32_t> places; //!< its causes and itself, the first one first
        std::vector<int64_t> times;   //!< theirs
    };

    /// A random history. @param random source of chance.
    void Try(std::mt19937_64& random)
    {
        PauseHistory history;
        std::vector<uint32_t> held; // a place for each reference
        std::map<uint32_t, Known> known;
        std::size_t peak = 0;
        for (int64_t now = 0; now < 300; ++now)
        {
            const uint64_t draw = random() % 5;
            if (draw < 2 || held.empty())
            {
                const uint32_t parent = held.empty() || random() % 4 == 0
                                            ? PauseHistory::NONE
                                            : held[random() % held.size()];
                const uint32_t place =
                    history.Add({now, 0, 0, 0, 0, PauseHistory::Reason::HOST}, parent);
                NS_TEST_ASSERT_MSG_EQ(known.contains(place), false, "nobody is overwritten");
                history.Use(place);
                held.push_back(place);
                Known mine = parent == PauseHistory::NONE ? Known{} : known[parent];
                mine.places.push_back(place);
                mine.times.push_back(now);
                known[place] = mine;
                peak = std::max(peak, known.size());
                NS_TEST_ASSERT_MSG_LT(place, peak, "free places are used again");
            }
            else if (draw == 2)
            {
                held.push_back(held[random() % held.size()]);
                history.Use(held.back());
            }
            else
            {
                std::swap(held[random() % held.size()], held.back());
                history.Drop(held.back());
                held.pop_back();
            }
            std::set<uint32_t> alive;
            for (const uint32_t place : held)
            {
                alive.insert(known[place].places.begin(), known[place].places.end());
            }
            std::erase_if(known, [&alive](const auto& one) { return !alive.contains(one.first); });
            for (const auto& [place, one] : known)
            {
                std::vector<int64_t> times;
                for (const PauseHistory::Pause& pause : history.GetChain(place))
                {
                    times.push_back(pause.time);
                }
                NS_TEST_ASSERT_MSG_EQ((times == one.times), true, "chain of " << place);
                NS_TEST_ASSERT_MSG_EQ(history.GetRoot(place).time, times.front(), "the first");
                NS_TEST_ASSERT_MSG_EQ(history.Get(place).time, times.back(), "itself");
                NS_TEST_ASSERT_MSG_EQ(history.GetDepth(place), times.size() - 1, "before it");
            }
        }
    }

    void DoRun() override
    {
        std::mt19937_64 random(9);
        for (int round = 0; round < 30; ++round)
        {
            Try(random);
        }
    }
};

/// @ingroup deadlock-tests
/// @brief Tests of PauseHistory.
class PauseHistoryTestSuite : public TestSuite
{
  public:
    PauseHistoryTestSuite()
        : TestSuite("deadlock-pause-history", Type::UNIT)
    {
        AddTestCase(new PauseHistoryTest, TestCase::Duration::QUICK);
    }
};

static PauseHistoryTestSuite g_pauseHistoryTestSuite; //!< registers the suite

} // namespace tests
} // namespace deadlock
} // namespace ns3
