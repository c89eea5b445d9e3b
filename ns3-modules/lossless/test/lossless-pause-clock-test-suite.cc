/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/lossless-pause-clock.h"
#include "ns3/test.h"

#include <algorithm>
#include <array>
#include <random>

/**
 * @file
 * @ingroup lossless-tests
 * PauseClock: against a list of who pauses what, looked at in every picosecond.
 */

namespace ns3
{
namespace lossless
{
namespace tests
{

/**
 * @ingroup lossless-tests
 * @brief Several flow controls pause and resume several classes at random.
 */
class PauseClockTest : public TestCase
{
  public:
    PauseClockTest()
        : TestCase("a class is paused while anybody pauses it: edges and times, by brute force")
    {
    }

  private:
    void DoRun() override
    {
        constexpr std::size_t MEMBERS = 3;
        std::mt19937_64 random(12);
        for (int round = 0; round < 50; ++round)
        {
            PauseClock clock;
            std::array<std::array<bool, MEMBERS>, N_CLASSES> pauses{};
            const auto isPaused = [&pauses](std::size_t cls) {
                return std::find(pauses[cls].begin(), pauses[cls].end(), true) != pauses[cls].end();
            };
            int64_t time = 0;
            for (int64_t now = 0; now < 500; ++now)
            {
                for (uint64_t changes = random() % 4; changes > 0; --changes)
                {
                    const auto cls = static_cast<uint8_t>(random() % N_CLASSES);
                    bool& mine = pauses[cls][random() % MEMBERS];
                    const bool before = isPaused(cls);
                    mine = !mine;
                    NS_TEST_ASSERT_MSG_EQ(clock.Set(cls, mine, now),
                                          (isPaused(cls) != before),
                                          "an edge, and nothing else, round " << round);
                }
                NS_TEST_ASSERT_MSG_EQ(clock.GetTime(now), time, "total time, round " << round);
                for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
                {
                    NS_TEST_ASSERT_MSG_EQ(clock.IsPaused(cls),
                                          isPaused(cls),
                                          "class " << +cls << ", round " << round);
                    time += isPaused(cls); // until the next picosecond
                }
            }
        }
    }
};

/**
 * @ingroup lossless-tests
 * @brief Tests of PauseClock.
 */
class PauseClockTestSuite : public TestSuite
{
  public:
    PauseClockTestSuite()
        : TestSuite("lossless-pause-clock", Type::UNIT)
    {
        AddTestCase(new PauseClockTest, TestCase::Duration::QUICK);
    }
};

static PauseClockTestSuite g_pauseClockTestSuite; //!< registers the suite

} // namespace tests
} // namespace lossless
} // namespace ns3
