/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../lossless/test/lossless-test-node.h"

#include "ns3/lossless-port.h"
#include "ns3/sfc-drain-rate.h"
#include "ns3/sfc-message.h"
#include "ns3/sfc-reaction-point.h"
#include "ns3/sfc-two-hash-filter.h"
#include "ns3/test.h"

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

/**
 * @file
 * @ingroup sfc-tests
 * Source flow control without a network: intervals, quanta, messages, bandwidth, the two-hash
 * filter, each against a second way to get there.
 */

namespace ns3
{
namespace sfc
{
namespace tests
{

using lossless::Int128;

constexpr std::array<uint64_t, 6> RATES{10'000'000'000,
                                        25'000'000'000,
                                        40'000'000'000,
                                        100'000'000'000,
                                        200'000'000'000,
                                        400'000'000'000}; //!< bit/s

/// @ingroup sfc-tests
/// @brief PauseInterval, Remaining and Quanta.
class IntervalTest : public TestCase
{
  public:
    IntervalTest()
        : TestCase("intervals and quanta are the smallest that suffice, at 10 to 400G")
    {
    }

  private:
    void DoRun() override
    {
        // The slides: 125 KB at 25 Gb/s and 75 % of it.
        NS_TEST_ASSERT_MSG_EQ(PauseInterval(125'000, 0, 25'000'000'000, 1, MAX_INTERVAL),
                              40'000'000,
                              "125 KB at 25 Gb/s");
        NS_TEST_ASSERT_MSG_EQ(PauseInterval(125'000, 25'000, 18'750'000'000, 1000, MAX_INTERVAL),
                              42'667'000,
                              "100 KB at 18.75 Gb/s, 42 666.67 ns");
        std::mt19937_64 random(5);
        for (int round = 0; round < 200'000; ++round)
        {
            const uint64_t line = RATES[random() % RATES.size()];
            const uint64_t rate = round % 2 ? line : 1 + random() % line;
            const auto octets = static_cast<int64_t>(random() % 10'000'000);
            const auto reserve = static_cast<int64_t>(round % 3 ? 0 : random() % 10'000'000);
            const int64_t resolution = round % 5 ? 1000 : 1'000'000;
            const int64_t longest = round % 7 ? MAX_INTERVAL : 20'000'000;
            const int64_t interval = PauseInterval(octets, reserve, rate, resolution, longest);
            NS_TEST_ASSERT_MSG_EQ(interval % resolution, 0, "whole units");
            // In bits x ps per s: what the rate drains in the interval, and in one unit less.
            const Int128 owed = static_cast<Int128>(octets - reserve) * 8 * 1'000'000'000'000;
            const Int128 half = static_cast<Int128>(rate) / 2 + 1; // rounding to the nearest ps
            if (owed <= 0)
            {
                NS_TEST_ASSERT_MSG_EQ(interval, 0, "nothing to drain");
                continue;
            }
            const bool capped = static_cast<Int128>(longest) * rate < owed;
            if (!capped)
            {
                NS_TEST_ASSERT_MSG_EQ((static_cast<Int128>(interval) * rate + half >= owed),
                                      true,
                                      "long enough, round " << round);
            }
            NS_TEST_ASSERT_MSG_EQ((static_cast<Int128>(interval - resolution) * rate < owed + half),
                                  true,
                                  "no longer than needed, round " << round);
            NS_TEST_ASSERT_MSG_LT_OR_EQ(interval, longest, "cap");
            if (capped)
            {
                NS_TEST_ASSERT_MSG_GT(interval, longest - resolution, "the cap is used");
            }

            const uint32_t quanta = Quanta(interval, line);
            const auto bits = [&](uint32_t n) {
                return static_cast<Int128>(n) * 512 * 1'000'000'000'000;
            };
            const Int128 needed = static_cast<Int128>(interval) * line;
            if (quanta < lossless::MAX_QUANTA)
            {
                NS_TEST_ASSERT_MSG_EQ((bits(quanta) >= needed), true, "long enough");
            }
            NS_TEST_ASSERT_MSG_EQ((quanta == 0 || bits(quanta - 1) < needed), true, "no longer");
        }
        // The public P4 program: 48, 96, 192 quanta a us, where exact would be 48.83, 97.66, 195.3.
        NS_TEST_ASSERT_MSG_EQ(Quanta(1'000'000, 25'000'000'000), 49, "a us at 25 Gb/s");
        NS_TEST_ASSERT_MSG_EQ(Quanta(1'000'000, 100'000'000'000), 196, "a us at 100 Gb/s");
        NS_TEST_ASSERT_MSG_EQ(Quanta(1'000'000'000, 400'000'000'000), 65'535, "the most");
        NS_TEST_ASSERT_MSG_EQ(Quanta(0, 400'000'000'000), 0, "nothing");

        Message message;
        message.interval = 53'333'334;
        message.stamp = 1'000'000;
        NS_TEST_ASSERT_MSG_EQ(Remaining(message, 8'000'000), 53'333'334, "not corrected");
        message.stamped = true;
        NS_TEST_ASSERT_MSG_EQ(Remaining(message, 8'000'000), 39'333'334, "less twice 7 us");
        NS_TEST_ASSERT_MSG_EQ(Remaining(message, 30'000'000), 0, "not below 0");
    }
};

/// @ingroup sfc-tests
/// @brief Message in a frame.
class MessageTest : public TestCase
{
  public:
    MessageTest()
        : TestCase("a message is read as it was written; other frames hold none")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(6);
        for (int round = 0; round < 20'000; ++round)
        {
            Message message;
            message.interval = static_cast<int64_t>(random() >> (16 + random() % 48));
            message.stamp = static_cast<int64_t>(random() >> 1);
            message.cls = static_cast<uint8_t>(random() % lossless::N_CLASSES);
            message.stamped = random() % 2;
            lossless::Frame frame;
            frame.kind = lossless::FrameKind::SIGNAL;
            Write(message, frame);
            Message read;
            NS_TEST_ASSERT_MSG_EQ(Read(frame, read), true, "it is one");
            NS_TEST_ASSERT_MSG_EQ(read.interval, message.interval, "interval");
            NS_TEST_ASSERT_MSG_EQ(read.stamp, message.stamp, "stamp");
            NS_TEST_ASSERT_MSG_EQ(+read.cls, +message.cls, "class");
            NS_TEST_ASSERT_MSG_EQ(read.stamped, message.stamped, "stamped");
            frame.kind = lossless::FrameKind::DATA;
            NS_TEST_ASSERT_MSG_EQ(Read(frame, read), false, "data");
            frame.kind = lossless::FrameKind::SIGNAL;
            frame.word[0] &= UINT64_C(0x00ffffffffffffff);
            NS_TEST_ASSERT_MSG_EQ(Read(frame, read), false, "a message of another scheme");
        }
    }
};

/// @ingroup sfc-tests
/// @brief DrainRate against lists of what was sent.
class DrainRateTest : public TestCase
{
  public:
    DrainRateTest()
        : TestCase("measured bandwidth: exact at line rate, after pauses and beside other classes")
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t WINDOW = 10'000'000;
        std::mt19937_64 random(7);
        for (const uint64_t line : RATES)
        {
            DrainRate full;
            full.Begin(0, line);
            int64_t now = 0;
            for (int frame = 0; frame < 5000; ++frame)
            {
                const auto bytes = static_cast<int64_t>(84 + random() % 1455);
                full.NoteSent(bytes, now, line, WINDOW);
                NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(full.Get(now, line, WINDOW, 1)),
                                          static_cast<double>(line),
                                          static_cast<double>(line) * 1e-6,
                                          "alone on the line");
                now += lossless::TransmissionTime(bytes, line);
            }
        }
        // Any schedule: a second model keeps every frame, and looks back from each question.
        for (int round = 0; round < 300; ++round)
        {
            const uint64_t line = RATES[random() % RATES.size()];
            const uint64_t floor = line / 100;
            DrainRate rate;
            std::vector<std::pair<int64_t, int64_t>> sent; // start, bytes
            std::size_t first = 0;                         // of the window under way
            uint64_t last = line;                          // of the last full window
            auto now = static_cast<int64_t>(random() % 1'000'000'000);
            int64_t begun = now;
            rate.Begin(now, line);
            for (int frame = 0; frame < 200; ++frame)
            {
                now += static_cast<int64_t>(random() % (round % 3 ? 1'000'000 : 30'000'000));
                const auto sum = [&]() {
                    Int128 bytes = 0;
                    for (std::size_t i = first; i < sent.size(); ++i)
                    {
                        bytes += sent[i].second;
                    }
                    return bytes;
                };
                const auto over = [&](int64_t time) {
                    const Int128 measured = sum() * 8'000'000'000'000 / time;
                    return measured > line ? line : static_cast<uint64_t>(measured);
                };
                const int64_t since = sent.empty() ? begun : sent[first].first;
                uint64_t expected = last;
                if (now - since >= WINDOW)
                {
                    expected = std::min(expected, over(now - since));
                }
                NS_TEST_ASSERT_MSG_EQ(rate.Get(now, line, WINDOW, floor),
                                      std::max(floor, expected),
                                      "round " << round << " frame " << frame);
                if (random() % 4 == 0)
                {
                    continue; // asked, not sent
                }
                if (!sent.empty() && now - since >= WINDOW)
                {
                    last = over(now - since);
                    first = sent.size();
                }
                sent.emplace_back(now, 84 + random() % 1455);
                rate.NoteSent(sent.back().second, now, line, WINDOW);
            }
        }
    }
};

/// @ingroup sfc-tests
/// @brief TwoHashFilter against sets.
class TwoHashTest : public TestCase
{
  public:
    TwoHashTest()
        : TestCase("two-hash filter: an exact reference; few wrong answers; both hashes matter")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(8);
        for (const uint32_t bits : {1U, 3U, 8U, 16U})
        {
            constexpr int64_t EPOCH = 1'000'000;
            TwoHashFilter filter;
            filter.Configure(bits, EPOCH);
            std::set<uint32_t> first;
            std::set<uint32_t> second;
            int64_t now = 0;
            for (int step = 0; step < 20'000; ++step)
            {
                const int64_t before = now / EPOCH;
                now += static_cast<int64_t>(random() % 3000);
                if (random() % 2000 == 0)
                {
                    now += 10 * EPOCH; // epochs in which nothing came
                }
                if (now / EPOCH != before)
                {
                    first.clear();
                    second.clear();
                }
                const auto src = static_cast<uint32_t>(random() % 300);
                const auto dst = static_cast<uint32_t>(random() % 3);
                const auto cls = static_cast<uint8_t>(random() % 8);
                const auto [a, b] = filter.Places(src, dst, cls);
                NS_TEST_ASSERT_MSG_LT(std::max(a, b), 1U << bits, "inside the array");
                const bool known = first.contains(a) && second.contains(b);
                first.insert(a);
                second.insert(b);
                NS_TEST_ASSERT_MSG_EQ(filter.TestAndSet(src, dst, cls, now),
                                      known,
                                      "step " << step << " of 2^" << bits);
            }
        }
        // n keys in two arrays of m bits: one more is wrongly known with about (n / m)^2.
        TwoHashFilter filter;
        filter.Configure(16, INT64_C(1) << 60);
        int wrong = 0;
        for (uint32_t key = 0; key < 6000; ++key)
        {
            wrong += filter.TestAndSet(key, key % 7, 3, 0);
        }
        // Sum of (i / 65536)^2 over i below 6000 is 16.8, with a deviation of about 4.
        NS_TEST_ASSERT_MSG_LT(wrong, 40, "two hashes, of which one alone would give 260");
        NS_TEST_ASSERT_MSG_GT(wrong, 2, "and some keys do share their bits");
    }
};

/// @ingroup sfc-tests
/// @brief Random holds of random classes, tick by tick.
class GateTest : public TestCase
{
  public:
    GateTest()
        : TestCase("a class is held in the union of its holds, whose length they return")
    {
    }

  private:
    void DoRun() override
    {
        lossless::UsePicoseconds();
        constexpr int64_t TICKS = 500;
        std::mt19937 random(4);
        const auto node = CreateObject<lossless::tests::TestNode>();
        const auto port = CreateObject<lossless::Port>();
        node->AddPort(port);
        port->Attach(PeekPointer(node), 0, PeekPointer(port), 1'000'000'000, 0);
        const auto gate = CreateObject<SfcGate>();
        port->AddFlowControl(gate);
        std::vector<std::vector<bool>> held(lossless::N_CLASSES, std::vector<bool>(2 * TICKS));
        std::vector<int64_t> total(lossless::N_CLASSES, 0);
        const lossless::Frame head{};
        for (int64_t now = 0; now < TICKS; ++now)
        {
            const auto cls = static_cast<uint8_t>(random() % lossless::N_CLASSES);
            if (random() % 2)
            {
                const int64_t until = now + static_cast<int64_t>(random() % 40);
                total[cls] += gate->Hold(cls, now, until);
                std::fill(held[cls].begin() + now, held[cls].begin() + until, true);
            }
            for (uint16_t queue = 0; queue < 2 * lossless::N_CLASSES; ++queue) // own ones, too
            {
                const auto& ticks = held[queue % lossless::N_CLASSES];
                const auto free = std::find(ticks.begin() + now, ticks.end(), false);
                NS_TEST_ASSERT_MSG_EQ(gate->GetEarliest(queue, head, now),
                                      free - ticks.begin(),
                                      "queue " << queue << " at " << now);
            }
        }
        for (std::size_t cls = 0; cls < total.size(); ++cls)
        {
            NS_TEST_ASSERT_MSG_EQ(total[cls],
                                  std::count(held[cls].begin(), held[cls].end(), true),
                                  "the union of class " << cls);
        }
        node->Dispose();
    }
};

/// @ingroup sfc-tests
/// @brief Tests without a network.
class ArithmeticTestSuite : public TestSuite
{
  public:
    ArithmeticTestSuite()
        : TestSuite("sfc-arithmetic", Type::UNIT)
    {
        AddTestCase(new IntervalTest, TestCase::Duration::QUICK);
        AddTestCase(new MessageTest, TestCase::Duration::QUICK);
        AddTestCase(new DrainRateTest, TestCase::Duration::QUICK);
        AddTestCase(new TwoHashTest, TestCase::Duration::QUICK);
        AddTestCase(new GateTest, TestCase::Duration::QUICK);
    }
};

static ArithmeticTestSuite g_arithmeticTestSuite; //!< registers the suite

} // namespace tests
} // namespace sfc
} // namespace ns3
