/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-test-draws.h"

#include "ns3/lossless-hold-book.h"
#include "ns3/test.h"

#include <algorithm>
#include <array>
#include <random>

/**
 * @file
 * @ingroup lossless-tests
 * HoldBook: against a list of who pauses and blocks what, looked at in every picosecond.
 */

namespace ns3
{
namespace lossless
{
namespace tests
{

/// @ingroup lossless-tests
/// @brief Several flow controls pause and block several classes at random.
class HoldBookTest : public TestCase
{
  public:
    HoldBookTest()
        : TestCase("a class is paused while anybody pauses it, and held while a queue of it is "
                   "blocked or, with gates, it is paused: edges and times, by brute force")
    {
    }

  private:
    static constexpr std::size_t MEMBERS = 3; //!< flow controls, or queues

    /// By class, who pauses it or which of its queues is blocked.
    using Marks = std::array<std::array<bool, MEMBERS>, N_CLASSES>;

    /// Whether anybody does.
    static bool Any(const Marks& marks, std::size_t cls)
    {
        return std::find(marks[cls].begin(), marks[cls].end(), true) != marks[cls].end();
    }

    /// A random history. @param gated whether the port has gates. @param random source of chance.
    void Try(bool gated, std::mt19937_64& random)
    {
        HoldBook book;
        if (gated)
        {
            book.SetGated();
        }
        Marks pauses{};
        Marks blocks{};
        bool wasBlocked = false;
        std::array<int64_t, N_CLASSES> times{};
        std::array<int64_t, N_CLASSES> until{};
        for (int64_t now = 0; now < 300; ++now)
        {
            for (uint64_t changes = random() % 4; changes > 0; --changes)
            {
                const auto cls = static_cast<uint8_t>(random() % N_CLASSES);
                const bool pause = random() % 2;
                bool& mine = (pause ? pauses : blocks)[cls][random() % MEMBERS];
                const bool before = Any(pauses, cls);
                mine = !mine;
                if (pause)
                {
                    const bool edge = book.Pause(cls, mine, now);
                    NS_TEST_ASSERT_MSG_EQ(edge, (Any(pauses, cls) != before), "edges only");
                    until[cls] = edge && !mine ? now : until[cls];
                }
                else
                {
                    book.Block(cls, mine, now);
                    wasBlocked = true;
                    until[cls] = mine ? until[cls] : now;
                }
            }
            int64_t total = 0;
            for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
            {
                const bool paused = Any(pauses, cls);
                NS_TEST_ASSERT_MSG_EQ(book.IsPaused(cls), paused, "class " << +cls);
                NS_TEST_ASSERT_MSG_EQ(book.IsHeld(cls),
                                      (Any(blocks, cls) || (gated && paused)),
                                      "class " << +cls);
                NS_TEST_ASSERT_MSG_EQ(book.GetPausedTime(cls, now), times[cls], "class " << +cls);
                NS_TEST_ASSERT_MSG_EQ(book.GetHeldUntil(cls), until[cls], "class " << +cls);
                total += times[cls];
                times[cls] += paused; // until the next picosecond
            }
            NS_TEST_ASSERT_MSG_EQ(book.GetPausedTime(now), total, "of all classes");
            NS_TEST_ASSERT_MSG_EQ(book.WasBlocked(), wasBlocked, "queues were blocked");
        }
    }

    void DoRun() override
    {
        std::mt19937_64 random(12);
        for (int round = 0; round < Draws(50); ++round)
        {
            Try(round % 2, random);
        }
        HoldBook book;
        book.NoteHeldUntil(2, 70);
        book.NoteHeldUntil(2, 30);
        NS_TEST_EXPECT_MSG_EQ(book.GetHeldUntil(2), 70, "the latest time");
    }
};

/// @ingroup lossless-tests
/// @brief Tests of HoldBook.
class HoldBookTestSuite : public TestSuite
{
  public:
    HoldBookTestSuite()
        : TestSuite("lossless-hold-book", Type::UNIT)
    {
        AddTestCase(new HoldBookTest, TestCase::Duration::QUICK);
    }
};

static HoldBookTestSuite g_holdBookTestSuite; //!< registers the suite

} // namespace tests
} // namespace lossless
} // namespace ns3
