/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/lossless-rate.h"
#include "ns3/test.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup lossless-tests
 * Arithmetic of rates: rounding, and a stream of frames through a limiter whose rate changes.
 */

namespace ns3
{
namespace lossless
{
namespace tests
{

/// @ingroup lossless-tests
/// @brief The roundings hold what they promise for any operands.
class RoundingTest : public TestCase
{
  public:
    RoundingTest()
        : TestCase("transmission times are the nearest ps, bytes in a time the next whole number, "
                   "beyond 64-bit products too")
    {
    }

  private:
    void DoRun() override
    {
        constexpr Int128 PS_BITS = 8'000'000'000'000;
        constexpr Int128 MOST = Int128{1} << 59; // BytesInTime gives no more
        std::mt19937_64 random(1);
        for (int round = 0; round < 20'000; ++round)
        {
            const uint64_t rate = 1 + random() % (1ULL << (1 + random() % 43));
            const auto bytes = static_cast<int64_t>(random() % (1ULL << (1 + random() % 40)));
            // keep the exact time below 2^62 ps
            if (bytes * PS_BITS / static_cast<Int128>(rate) < (Int128{1} << 62))
            {
                const Int128 error =
                    static_cast<Int128>(TransmissionTime(bytes, rate)) * static_cast<Int128>(rate) -
                    bytes * PS_BITS;
                NS_TEST_ASSERT_MSG_EQ((2 * error <= static_cast<Int128>(rate) &&
                                       2 * -error <= static_cast<Int128>(rate)),
                                      true,
                                      bytes << " B at " << rate
                                            << " bit/s are off by more than half a ps");
            }
            const auto time = static_cast<int64_t>(random() % (1ULL << (1 + random() % 60)));
            const Int128 passed = static_cast<Int128>(rate) * time;
            if (passed < PS_BITS * (Int128{1} << 62))
            {
                const Int128 up = BytesInTime(rate, time);
                const bool isMost = up == MOST && passed > MOST * PS_BITS;
                NS_TEST_ASSERT_MSG_EQ(
                    (isMost || (up * PS_BITS >= passed && (up - 1) * PS_BITS < passed)),
                    true,
                    "bytes at " << rate << " bit/s in " << time << " ps");
            }
        }
        NS_TEST_ASSERT_MSG_EQ(TransmissionTime(1048, 100'000'000'000),
                              83'840,
                              "1048 B at 100 Gb/s are 83.84 ns");
        NS_TEST_ASSERT_MSG_EQ(TransmissionTime(64, 400'000'000'000),
                              1'280,
                              "a quantum at 400 Gb/s is 1.28 ns");
        NS_TEST_ASSERT_MSG_EQ(TransmissionTime(40'000'000'000, 10'000'000'000),
                              32'000'000'000'000,
                              "40 GB at 10 Gb/s are 32 s");
    }
};

/// @ingroup lossless-tests
/// @brief Values that grow with a rate.
class ProportionTest : public TestCase
{
  public:
    ProportionTest()
        : TestCase("a value in proportion to a rate is the whole number below, beyond 64-bit "
                   "products too, and at most the most")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(1);
        const auto drawn = [&random](int bits) {
            return random() % (1ULL << (1 + random() % static_cast<uint64_t>(bits)));
        };
        for (int round = 0; round < 20'000; ++round)
        {
            const uint64_t value = drawn(50);
            const uint64_t rate = drawn(50);
            const uint64_t reference = 1 + drawn(50);
            const uint64_t most = drawn(60);
            const uint64_t scaled = InProportion(value, rate, reference, most);
            const Uint128 exact = static_cast<Uint128>(value) * rate;
            const bool below = static_cast<Uint128>(scaled) * reference <= exact;
            const bool next = static_cast<Uint128>(scaled + 1) * reference > exact;
            NS_TEST_ASSERT_MSG_EQ((scaled <= most && below && (next || scaled == most)),
                                  true,
                                  value << " at " << reference << ", at " << rate);
        }
        NS_TEST_ASSERT_MSG_EQ(InProportion(7, 100, 0, 5), 7, "without a reference at any rate");
        NS_TEST_ASSERT_MSG_EQ(InProportion(100'000, 40'000'000'000, 25'000'000'000, 1'000'000),
                              160'000,
                              "Kmin of 25 Gb/s at 40 Gb/s");
    }
};

/// @ingroup lossless-tests
/// @brief Frames as fast as a limiter lets them, while its rate changes.
class LimiterStreamTest : public TestCase
{
  public:
    LimiterStreamTest()
        : TestCase("every frame starts at the first ps at which the integral of the rate has paid "
                   "for its predecessor")
    {
    }

  private:
    /// From when on (ps) which rate (bit/s).
    using Changes = std::vector<std::pair<int64_t, uint64_t>>;

    /// Bits times ps per s that pass between two times.
    /// @param changes all changes of the rate. @param from ps. @param to ps. @return integral.
    static Int128 Integral(const Changes& changes, int64_t from, int64_t to)
    {
        Int128 sum = 0;
        for (std::size_t i = 0; i < changes.size(); ++i)
        {
            const int64_t begin = std::max(from, changes[i].first);
            const int64_t end = i + 1 < changes.size() ? std::min(to, changes[i + 1].first) : to;
            if (end > begin)
            {
                sum += static_cast<Int128>(changes[i].second) * (end - begin);
            }
        }
        return sum;
    }

    void DoRun() override
    {
        constexpr Int128 PS_BITS = 8'000'000'000'000;
        std::mt19937_64 random(2);
        for (int round = 0; round < 200; ++round)
        {
            Changes changes{{0, random() % 100'000'000'000}};
            for (int i = 0; i < 40; ++i)
            {
                // at times none, at times for a stretch shorter than a bit
                const uint64_t rate = random() % 4 ? random() % 100'000'000'000 : random() % 2;
                const auto length = static_cast<int64_t>(1 + random() % (i % 3 ? 3'000'000 : 50));
                changes.emplace_back(changes.back().first + length, rate);
            }
            changes.emplace_back(changes.back().first + 1,
                                 1'000'000'000 + random() % 1'000'000'007);
            RateLimiter limiter;
            limiter.SetRate(changes[0].second, 0);
            std::size_t change = 1;
            int64_t now = 0;
            int64_t first = -1;
            int64_t previous = -1;
            int64_t owed = 0;
            Int128 sent = 0;
            for (int frame = 0; frame < 60; ++frame)
            {
                // as a port does: ask, and ask again when the rate has changed before that
                int64_t earliest = limiter.GetEarliest(now);
                while (change < changes.size() && changes[change].first <= earliest)
                {
                    now = changes[change].first;
                    limiter.SetRate(changes[change].second, now);
                    NS_TEST_ASSERT_MSG_EQ(limiter.GetRate(), changes[change].second, "its rate");
                    ++change;
                    earliest = limiter.GetEarliest(now);
                }
                NS_TEST_ASSERT_MSG_LT(earliest, NEVER, "the last rate is above 0");
                NS_TEST_ASSERT_MSG_GT_OR_EQ(earliest, now, "not in the past");
                now = earliest;
                if (previous >= 0)
                {
                    NS_TEST_ASSERT_MSG_EQ((Integral(changes, previous, now) >= owed * PS_BITS),
                                          true,
                                          "paid for, round " << round << ", frame " << frame);
                    NS_TEST_ASSERT_MSG_EQ(
                        (now == previous || Integral(changes, previous, now - 1) < owed * PS_BITS),
                        true,
                        "1 ps before it was not, round " << round << ", frame " << frame);
                    NS_TEST_ASSERT_MSG_EQ((Integral(changes, first, now) >= sent * PS_BITS),
                                          true,
                                          "all that was sent before does not run ahead");
                }
                else
                {
                    first = now;
                }
                previous = now;
                owed = 64 + static_cast<int64_t>(random() % 9000);
                sent += owed;
                limiter.Start(owed, now);
                if (random() % 4 == 0 && change < changes.size())
                {
                    // A pause of the user's own earns nothing for later.
                    const auto idle = static_cast<int64_t>(random() % 2'000'000);
                    const int64_t until = std::min(now + idle, changes[change].first);
                    const int64_t promise = limiter.GetEarliest(now);
                    NS_TEST_ASSERT_MSG_EQ(limiter.GetEarliest(until),
                                          std::max(promise, until),
                                          "asking later changes nothing");
                }
            }
        }
    }
};

/// @ingroup lossless-tests
/// @brief Frames at a constant rate, at rate 0, and at a rate that comes back.
class LimiterCasesTest : public TestCase
{
  public:
    LimiterCasesTest()
        : TestCase(
              "a constant rate spaces frames to the ps, rate 0 stops, credit does not pile up, "
              "and waiting for one's turn costs nothing")
    {
    }

  private:
    void DoRun() override
    {
        RateLimiter limiter;
        NS_TEST_ASSERT_MSG_EQ(limiter.GetEarliest(5),
                              5,
                              "a new limiter owes nothing, even at rate 0");
        const int64_t now = 1'000;
        // 3 bit/s: an owed byte takes 2 2/3 s, rounded up, and changes to the same rate cost
        // nothing
        limiter.SetRate(3, now);
        limiter.Start(1, now);
        NS_TEST_ASSERT_MSG_EQ(limiter.GetEarliest(now),
                              now + 2'666'666'666'667,
                              "8 bits at 3 bit/s");
        for (int i = 0; i < 1000; ++i)
        {
            limiter.SetRate(3, now + 1 + i);
        }
        NS_TEST_ASSERT_MSG_EQ(limiter.GetEarliest(now + 1000),
                              now + 2'666'666'666'667,
                              "a thousand changes to the same rate");
        // The slowest and largest: 65535 B at 1 bit/s, six days.
        RateLimiter slowest;
        slowest.SetRate(1, 0);
        slowest.Start(65'535, 0);
        NS_TEST_ASSERT_MSG_EQ(slowest.GetEarliest(0), 524'280'000'000'000'000, "524280 s");
        WaitsForItsTurn();
    }

    /// What a frame earns for the next one while it waits, and that idling earns nothing.
    void WaitsForItsTurn()
    {
        constexpr int64_t SPACING = 1'600'000; // 1000 B at 5 Gb/s
        for (const int64_t idle : {0LL, 1LL, 777'777LL, 5'000'000'000LL})
        {
            for (const int64_t wait : {0LL,
                                       1LL,
                                       800'000LL,
                                       SPACING - 1LL,
                                       SPACING + 0LL,
                                       SPACING + 1LL,
                                       10'000'000'000LL})
            {
                RateLimiter limiter;
                limiter.SetRate(5'000'000'000, 0);
                limiter.Start(1000, 0);
                const int64_t ready = SPACING + idle;
                limiter.Wait(ready);
                NS_TEST_ASSERT_MSG_EQ(limiter.GetEarliest(ready), ready, "it may go");
                const int64_t start = ready + wait;
                limiter.Start(1000, start);
                const int64_t next = std::max(start, ready + SPACING);
                NS_TEST_ASSERT_MSG_EQ(limiter.GetEarliest(start),
                                      next,
                                      "the next one's time has not changed, after " << wait);
                limiter.Wait(next);
                limiter.Start(1000, next);
                NS_TEST_ASSERT_MSG_EQ(limiter.GetEarliest(next),
                                      next + SPACING,
                                      "and no more than one frame catches up, after " << wait);
            }
        }
        // The rate halves while the frame waits: it earns 500 B, then 250 B.
        RateLimiter limiter;
        limiter.SetRate(5'000'000'000, 0);
        limiter.Wait(0);
        limiter.SetRate(2'500'000'000, 800'000);
        limiter.Start(1000, 1'600'000);
        NS_TEST_ASSERT_MSG_EQ(limiter.GetEarliest(1'600'000), 2'400'000, "250 B at 2.5 Gb/s");
        // Whose turn was given up starts afresh.
        limiter.Wait(2'400'000);
        limiter.Wait(10'000'000);
        limiter.Start(1000, 10'000'000);
        NS_TEST_ASSERT_MSG_EQ(limiter.GetEarliest(10'000'000), 13'200'000, "1000 B at 2.5 Gb/s");
    }
};

/// @ingroup lossless-tests
/// @brief The three effects of a change of the rate.
class RateChangeTest : public TestCase
{
  public:
    RateChangeTest()
        : TestCase("a change of the rate takes effect within the spacing, from the next frame on, "
                   "or from the last one on")
    {
    }

  private:
    void DoRun() override
    {
        // 1000 B: 1600 ns at 5 Gb/s, 800 ns at 10 Gb/s, 3200 ns at 2.5 Gb/s
        struct Case
        {
            RateChange change; //!< effect
            int64_t faster;    //!< next frame after a change to 10 Gb/s at 400 ns (ps)
            int64_t slower;    //!< and then to 2.5 Gb/s at 600 ns (ps)
            int64_t late;      //!< and that when the frame has been due for 400 ns (ps)
        };

        const Case cases[] = {
            // 250 B are paid for at 400 ns, 500 B at 600 ns
            {RateChange::INTEGRATED, 1'000'000, 2'200'000, 2'000'000},
            {RateChange::NEXT_FRAME, 1'600'000, 1'600'000, 2'000'000},
            {RateChange::LAST_FRAME, 800'000, 3'200'000, 3'200'000},
        };
        for (const Case& one : cases)
        {
            RateLimiter limiter;
            limiter.SetRate(5'000'000'000, 0, one.change);
            NS_TEST_ASSERT_MSG_EQ(limiter.GetEarliest(0), 0, "a new limiter owes nothing");
            limiter.Start(1000, 0);
            limiter.SetRate(10'000'000'000, 400'000, one.change);
            NS_TEST_ASSERT_MSG_EQ(limiter.GetEarliest(400'000), one.faster, "faster");
            limiter.SetRate(2'500'000'000, 600'000, one.change);
            NS_TEST_ASSERT_MSG_EQ(limiter.GetEarliest(600'000), one.slower, "slower");
            limiter.Start(1000, one.slower);
            NS_TEST_ASSERT_MSG_EQ(limiter.GetEarliest(one.slower),
                                  one.slower + 3'200'000,
                                  "without a change they are alike");

            RateLimiter due;
            due.SetRate(5'000'000'000, 0, one.change);
            due.Start(1000, 0);
            NS_TEST_ASSERT_MSG_EQ(due.GetEarliest(2'000'000), 2'000'000, "due at 1600 ns");
            due.SetRate(2'500'000'000, 2'000'000, one.change);
            NS_TEST_ASSERT_MSG_EQ(due.GetEarliest(2'000'000), one.late, "slower when it is due");
        }
    }
};

/// @ingroup lossless-tests
/// @brief Tests of TransmissionTime, BytesInTime, InProportion and RateLimiter.
class RateTestSuite : public TestSuite
{
  public:
    RateTestSuite()
        : TestSuite("lossless-rate", Type::UNIT)
    {
        AddTestCase(new RoundingTest, TestCase::Duration::QUICK);
        AddTestCase(new ProportionTest, TestCase::Duration::QUICK);
        AddTestCase(new LimiterStreamTest, TestCase::Duration::QUICK);
        AddTestCase(new LimiterCasesTest, TestCase::Duration::QUICK);
        AddTestCase(new RateChangeTest, TestCase::Duration::QUICK);
    }
};

static RateTestSuite g_rateTestSuite; //!< registers the suite

} // namespace tests
} // namespace lossless
} // namespace ns3
