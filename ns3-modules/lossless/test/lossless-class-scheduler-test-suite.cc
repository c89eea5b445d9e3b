/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-test-draws.h"

#include "ns3/lossless-class-rates.h"
#include "ns3/lossless-class-scheduler.h"
#include "ns3/test.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <random>
#include <vector>

/**
 * @file
 * @ingroup lossless-tests
 * ClassScheduler against the definition of each discipline and the bound of deficit round robin;
 * ClassRates against a list of all frames.
 */

namespace ns3
{
namespace lossless
{
namespace tests
{

/// A port's queues, one a class, and the frames in them.
class ClassQueues
{
  public:
    ClassQueues()
    {
        for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
        {
            m_queues.emplace_back(cls, 1);
        }
    }

    /// A frame joins. @param cls class. @param bytes size.
    void Push(uint8_t cls, uint16_t bytes)
    {
        m_frames.push_back(std::make_unique<Frame>());
        Frame& frame = *m_frames.back();
        frame.cls = cls;
        frame.bytes = bytes;
        frame.queued = ++m_time;
        m_queues[cls].Push(&frame);
    }

    /// @return bit c: class c has frames.
    uint32_t GetClasses() const
    {
        uint32_t classes = 0;
        for (const EgressQueue& queue : m_queues)
        {
            classes |= (queue.Head() ? 1U : 0U) << queue.GetClass();
        }
        return classes;
    }

    /// @return the queues.
    std::vector<EgressQueue>& Get()
    {
        return m_queues;
    }

  private:
    std::vector<EgressQueue> m_queues;            //!< by class
    std::vector<std::unique_ptr<Frame>> m_frames; //!< all that ever joined
    int64_t m_time{0};                            //!< of the last one that joined
};

/// @ingroup lossless-tests
/// @brief Frames come and go at random, and some classes cannot be served.
class OrderTest : public TestCase
{
  public:
    OrderTest()
        : TestCase("the highest class that can be served under strict priority, the frame that "
                   "has waited longest under FIFO, by brute force")
    {
    }

  private:
    /// A random history. @param service discipline. @param random source of chance.
    void Try(ClassService service, std::mt19937_64& random)
    {
        ClassScheduler scheduler;
        scheduler.Configure(service, {}, 0);
        ClassQueues queues;
        for (int step = 0; step < 300; ++step)
        {
            queues.Push(random() % N_CLASSES, 64);
            const auto blocked = static_cast<uint32_t>(random());
            const auto selectOf = [&](uint8_t cls) { return blocked >> cls & 1 ? -1 : cls; };
            int expected = -1;
            for (int cls = 0; cls < N_CLASSES; ++cls)
            {
                const Frame* head = queues.Get()[cls].Head();
                const bool can = head && !(blocked >> cls & 1);
                if (can && (expected < 0 || service == ClassService::STRICT ||
                            head->queued < queues.Get()[expected].Head()->queued))
                {
                    expected = cls;
                }
            }
            const int found = scheduler.Select(queues.GetClasses(), queues.Get(), selectOf);
            NS_TEST_ASSERT_MSG_EQ(found, expected, "step " << step);
            if (found >= 0)
            {
                queues.Get()[found].Pop();
            }
        }
    }

    void DoRun() override
    {
        std::mt19937_64 random(3);
        for (int round = 0; round < Draws(50); ++round)
        {
            Try(round % 2 ? ClassService::STRICT : ClassService::FIFO, random);
        }
    }
};

/// @ingroup lossless-tests
/// @brief Classes that always have frames, of random sizes and weights.
class WeightsTest : public TestCase
{
  public:
    WeightsTest()
        : TestCase("no two classes differ in rounds of their own by more than a round and the "
                   "longest frame of each (deficit round robin); strict "
                   "classes come first; who was idle saves no turn")
    {
    }

  private:
    static constexpr int64_t LONGEST = 9000; //!< B

    /// Random weights. @param strict whether some classes are. @param random source of chance.
    void Try(bool strict, std::mt19937_64& random)
    {
        ClassScheduler scheduler;
        ClassScheduler::Quanta quanta;
        std::generate(quanta.begin(), quanta.end(), [&] { return 1 + random() % 20'000; });
        const uint32_t first = strict ? random() % (1U << N_CLASSES) : 0;
        scheduler.Configure(ClassService::DWRR, quanta, first);
        ClassQueues queues;
        std::array<int64_t, N_CLASSES> served{};
        // Those without frames at all take no part.
        const uint32_t taking = 1 + random() % ((1U << N_CLASSES) - 1);
        for (int step = 0; step < 2000; ++step)
        {
            for (uint32_t left = taking & ~queues.GetClasses(); left; left &= left - 1)
            {
                queues.Push(std::countr_zero(left), 1 + random() % LONGEST);
            }
            const int found = scheduler.Select(queues.GetClasses(), queues.Get(), [](uint8_t cls) {
                return static_cast<int>(cls);
            });
            NS_TEST_ASSERT_MSG_GT_OR_EQ(found, 0, "somebody has frames");
            served[found] += queues.Get()[found].Pop()->bytes;
            const uint32_t before = taking & first;
            NS_TEST_ASSERT_MSG_EQ(
                (!before || found + 1 == static_cast<int>(std::bit_width(before))),
                true,
                "the highest strict class comes first");
        }
        for (uint32_t ones = taking & ~first; ones && !(taking & first); ones &= ones - 1)
        {
            const int one = std::countr_zero(ones);
            for (uint32_t others = ones & (ones - 1); others; others &= others - 1)
            {
                const int other = std::countr_zero(others);
                const auto rounds = [&](int cls) { return 1.0 * served[cls] / quanta[cls]; };
                const double most = 1 + 1.0 * LONGEST / quanta[one] + 1.0 * LONGEST / quanta[other];
                NS_TEST_ASSERT_MSG_LT(std::abs(rounds(one) - rounds(other)),
                                      most,
                                      "classes " << one << " and " << other);
            }
        }
    }

    /// A class that had nothing to send saves no turn of a former round.
    void TryIdle()
    {
        ClassScheduler scheduler;
        ClassScheduler::Quanta quanta;
        quanta.fill(10'000);
        scheduler.Configure(ClassService::DWRR, quanta, 0);
        ClassQueues queues;
        const auto serve = [&] {
            const auto selectOf = [](uint8_t cls) { return static_cast<int>(cls); };
            const int found = scheduler.Select(queues.GetClasses(), queues.Get(), selectOf);
            queues.Get()[found].Pop();
            return found;
        };
        for (int round = 0; round < 20; ++round)
        {
            queues.Push(0, 1000); // a tenth of its quantum
            for (int frame = 0; frame < 30; ++frame)
            {
                queues.Push(1, 1000);
            }
            while (queues.GetClasses())
            {
                serve();
            }
        }
        for (int frame = 0; frame < 100; ++frame)
        {
            queues.Push(0, 1000);
            queues.Push(1, 1000);
        }
        int row = 0;
        while (queues.GetClasses() == 3)
        {
            row = serve() == 0 ? row + 1 : 0;
            NS_TEST_ASSERT_MSG_LT_OR_EQ(row, 10, "one quantum at a time");
        }
    }

    void DoRun() override
    {
        std::mt19937_64 random(5);
        for (int round = 0; round < Draws(100); ++round)
        {
            Try(round % 3 == 0, random);
        }
        TryIdle();
    }
};

/// @ingroup lossless-tests
/// @brief A class sends whenever it may, or rarely, with frames of random sizes.
class ClassRatesTest : public TestCase
{
  public:
    ClassRatesTest()
        : TestCase("in no span of time a class sends more than its maximum, a bucket and a frame, "
                   "by brute force; when a class is due its minimum, by hand")
    {
    }

  private:
    /// A frame that was sent.
    struct Sent
    {
        int64_t time; //!< ps
        int64_t wire; //!< B
    };

    /// A random history. @param random source of chance.
    void Try(std::mt19937_64& random)
    {
        constexpr uint8_t CLS = 3;
        ClassRates::Rates most{};
        most[CLS] = 1'000'000'000 * (1 + random() % 100);
        std::array<int64_t, N_CLASSES> rounds{};
        rounds[CLS] = random() % 10'000;
        ClassRates rates({}, most, rounds);
        std::deque<Sent> all;
        int64_t now = 0;
        int64_t longest = 0;
        for (int frame = 0; frame < 200; ++frame)
        {
            int64_t wake = NEVER;
            if (!rates.KeepAllowed(1U << CLS, now, wake))
            {
                NS_TEST_ASSERT_MSG_GT(wake, now, "it is told when it may");
                now = wake;
                wake = NEVER;
                NS_TEST_ASSERT_MSG_EQ(rates.KeepAllowed(1U << CLS, now, wake), 1U << CLS, "then");
            }
            const auto wire = static_cast<int64_t>(64 + random() % 1500);
            longest = std::max(longest, wire);
            rates.NotifySent(CLS, wire, now);
            all.push_back({now, wire});
            int64_t sum = 0;
            for (auto from = all.rbegin(); from != all.rend(); ++from)
            {
                // One frame may start while the bucket is just not empty; a picosecond a frame is
                // lost in rounding.
                sum += from->wire;
                const int64_t may =
                    BytesInTime(most[CLS], now - from->time + 200) + rounds[CLS] + 3 * longest;
                NS_TEST_ASSERT_MSG_LT_OR_EQ(sum, may, "since " << from->time);
            }
            now += random() % 4 ? 0 : static_cast<int64_t>(random() % 20'000'000);
        }
    }

    /// A class that always has its minimum is never behind, one that is held back always is.
    void TryLeast()
    {
        constexpr uint8_t CLS = 5;
        constexpr uint64_t RATE = 8'000'000'000; // a byte in 1000 ps
        ClassRates::Rates least{};
        least[CLS] = RATE;
        ClassRates rates(least, {}, {});
        NS_TEST_EXPECT_MSG_EQ(rates.KeepAssured(1U << CLS, 0), 1U << CLS, "nothing sent yet");
        NS_TEST_EXPECT_MSG_EQ(rates.KeepAssured(1U << 4, 0), 0, "no minimum");
        rates.NotifySent(CLS, 1000, 0);
        NS_TEST_EXPECT_MSG_EQ(rates.KeepAssured(1U << CLS, 999'999), 0, "it has had its share");
        NS_TEST_EXPECT_MSG_EQ(rates.KeepAssured(1U << CLS, 1'000'000), 1U << CLS, "and is due");
        NS_TEST_EXPECT_MSG_EQ(rates.GetDeadline(CLS, 500), 1'500'000, "two frames at the rate");
        // After a long wait it makes up for two of the longest frames, not for all it has missed.
        rates.NotifySent(CLS, 1000, 1'000'000'000);
        NS_TEST_EXPECT_MSG_EQ(rates.GetDeadline(CLS, 500),
                              1'000'000'000 - 2'000'000 + 1'000'000 + 500'000,
                              "a bucket of two frames");
    }

    void DoRun() override
    {
        std::mt19937_64 random(11);
        for (int round = 0; round < Draws(100); ++round)
        {
            Try(random);
        }
        TryLeast();
    }
};

/// @ingroup lossless-tests
/// @brief Tests of ClassScheduler and ClassRates.
class ClassSchedulerTestSuite : public TestSuite
{
  public:
    ClassSchedulerTestSuite()
        : TestSuite("lossless-class-scheduler", Type::UNIT)
    {
        AddTestCase(new OrderTest, TestCase::Duration::QUICK);
        AddTestCase(new WeightsTest, TestCase::Duration::QUICK);
        AddTestCase(new ClassRatesTest, TestCase::Duration::QUICK);
    }
};

static ClassSchedulerTestSuite g_classSchedulerTestSuite; //!< registers the suite

} // namespace tests
} // namespace lossless
} // namespace ns3
