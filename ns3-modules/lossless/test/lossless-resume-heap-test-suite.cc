/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-test-draws.h"

#include "ns3/lossless-resume-heap.h"
#include "ns3/test.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>

/**
 * @file
 * @ingroup lossless-tests
 * ResumeHeap: against a map of all members, searched each time.
 */

namespace ns3
{
namespace lossless
{
namespace tests
{

/// @ingroup lossless-tests
/// @brief Members join, change their level and leave at random.
class ResumeHeapTest : public TestCase
{
  public:
    ResumeHeapTest()
        : TestCase("a member leaves only if its level is the highest and the pool has fallen to "
                   "it, by brute force")
    {
    }

  private:
    /// The highest level. @param levels by member, not empty. @return level.
    static int64_t Highest(const std::map<uint32_t, int64_t>& levels)
    {
        int64_t highest = ResumeHeap::NOT_NOW;
        for (const auto& [member, level] : levels)
        {
            highest = std::max(highest, level);
        }
        return highest;
    }

    /// A level: few values, so that many are equal. @param random source of chance. @return level.
    static int64_t Draw(std::mt19937_64& random)
    {
        const auto drawn = static_cast<int64_t>(random() % 12);
        return drawn == 10 ? ResumeHeap::ALWAYS : drawn == 11 ? ResumeHeap::NOT_NOW : drawn;
    }

    /// A random history. @param random source of chance.
    void Try(std::mt19937_64& random)
    {
        const std::size_t size = 1 + random() % 40;
        ResumeHeap heap;
        heap.Reset(size);
        std::map<uint32_t, int64_t> levels;
        for (int step = 0; step < 400; ++step)
        {
            const auto member = static_cast<uint32_t>(random() % size);
            const bool is = levels.contains(member);
            const int64_t level = Draw(random);
            if (random() % 3)
            {
                is ? heap.Update(member, level) : heap.Push(member, level);
                levels[member] = level;
                continue;
            }
            const auto pool = static_cast<int64_t>(random() % 12);
            uint32_t left = 0;
            const bool may = !levels.empty() && Highest(levels) >= pool;
            NS_TEST_ASSERT_MSG_EQ(heap.Pop(pool, left), may, "one may resume at " << pool);
            if (may)
            {
                const bool first = levels.contains(left) && levels.at(left) == Highest(levels);
                NS_TEST_ASSERT_MSG_EQ(first, true, "a member of the highest level");
                levels.erase(left);
            }
        }
    }

    void DoRun() override
    {
        std::mt19937_64 random(7);
        for (int round = 0; round < Draws(200); ++round)
        {
            Try(random);
        }
        ResumeHeap heap;
        heap.Reset(1);
        heap.Push(0, 5);
        heap.Reset(1);
        uint32_t left = 0;
        NS_TEST_EXPECT_MSG_EQ(heap.Pop(0, left), false, "empty after Reset");
    }
};

/// @ingroup lossless-tests
/// @brief Tests of ResumeHeap.
class ResumeHeapTestSuite : public TestSuite
{
  public:
    ResumeHeapTestSuite()
        : TestSuite("lossless-resume-heap", Type::UNIT)
    {
        AddTestCase(new ResumeHeapTest, TestCase::Duration::QUICK);
    }
};

static ResumeHeapTestSuite g_resumeHeapTestSuite; //!< registers the suite

} // namespace tests
} // namespace lossless
} // namespace ns3
