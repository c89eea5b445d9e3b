/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/bfc-active-scheduler.h"
#include "ns3/bfc-message.h"
#include "ns3/bfc-name-filter.h"
#include "ns3/observe-mac-control.h"
#include "ns3/test.h"

#include <array>
#include <cmath>
#include <map>
#include <random>
#include <set>

/**
 * @file
 * @ingroup bfc-tests
 * The filter of names: against a set where it is exact, against filters made anew, and its
 * mistakes against the closed form. The bytes of control frames.
 */

namespace ns3
{
namespace bfc
{
namespace tests
{

/// @ingroup bfc-tests
/// @brief Random names come and go.
class MembersTest : public TestCase
{
  public:
    MembersTest()
        : TestCase("a name in the filter is found; without stages no other is; removing undoes "
                   "adding, and exactly the segments that differ are reported as changed")
    {
    }

  private:
    /// Segments in which two filters differ.
    /// @param a one. @param b the other. @return bit s: segment s.
    static uint32_t Differ(const NameFilter& a, const NameFilter& b)
    {
        uint32_t differ = 0;
        for (uint32_t segment = 0; segment < a.GetSegments(); ++segment)
        {
            differ |= a.Get(segment) == b.Get(segment) ? 0 : 1U << segment;
        }
        return differ;
    }

    void DoRun() override
    {
        std::mt19937_64 random(3);
        for (const uint32_t stages : {0, 1, 2, 4, 8})
        {
            const uint32_t bits = stages == 2 ? 4096 : 512;
            NameFilter filter;
            NS_TEST_ASSERT_MSG_EQ(filter.IsConfigured(), false, "not yet");
            filter.Configure(bits, stages, true);
            std::map<uint32_t, uint32_t> in; // name -> how often
            for (int step = 0; step < 3000; ++step)
            {
                const uint32_t name = random() % 500;
                const NameFilter before = filter;
                uint32_t changed;
                if (in.count(name) > 0 && random() % 5 < 3)
                {
                    const bool would = filter.WouldClear(name);
                    changed = filter.Remove(name);
                    NS_TEST_ASSERT_MSG_EQ(would, (changed != 0), "what removal would do");
                    if (--in[name] == 0)
                    {
                        in.erase(name);
                    }
                }
                else
                {
                    changed = filter.Insert(name);
                    ++in[name];
                }
                NS_TEST_ASSERT_MSG_EQ(changed, Differ(before, filter), "segments, step " << step);
                if (step % 100 != 0)
                {
                    continue;
                }
                NameFilter anew;
                anew.Configure(bits, stages, true);
                std::vector<uint32_t> names;
                for (const auto& [one, count] : in)
                {
                    anew.Insert(one);
                    names.push_back(one);
                }
                NS_TEST_ASSERT_MSG_EQ(Differ(anew, filter), 0, "as if made anew");
                uint32_t nonempty = 0;
                NameFilter heard;
                heard.Configure(bits, stages, false);
                for (uint32_t segment = 0; segment < filter.GetSegments(); ++segment)
                {
                    const bool any = filter.Get(segment) != NameFilter::Segment{};
                    nonempty |= any ? 1U << segment : 0;
                    heard.Set(segment, filter.Get(segment));
                }
                NS_TEST_ASSERT_MSG_EQ(filter.GetNonempty(), nonempty, "segments with bits");
                for (uint32_t one = 0; one < 500; ++one)
                {
                    const bool isIn = in.count(one) > 0;
                    NS_TEST_ASSERT_MSG_EQ((heard.Contains(one) || !isIn), true, "none is missed");
                    NS_TEST_ASSERT_MSG_EQ((stages > 0 || heard.Contains(one) == isIn),
                                          true,
                                          "exact without stages");
                    NS_TEST_ASSERT_MSG_EQ(heard.IsCoveredBy(one, names),
                                          heard.Contains(one),
                                          "others cover it");
                }
            }
        }
        NameFilter small;
        small.Configure(128, 0, true);
        small.Insert(5);
        NS_TEST_ASSERT_MSG_EQ(small.Contains(133), true, "modulo the number of bits");
        NS_TEST_ASSERT_MSG_EQ(small.Contains(6), false, "another bit");
    }
};

/// @ingroup bfc-tests
/// @brief Names that are found by mistake.
class MistakesTest : public TestCase
{
  public:
    MistakesTest()
        : TestCase("the rate of false positives is that of the closed form")
    {
    }

  private:
    /// A case.
    struct Case
    {
        uint32_t bits;   //!< m
        uint32_t stages; //!< k
        uint32_t names;  //!< n
    };

    void DoRun() override
    {
        std::mt19937_64 random(17);
        for (const Case& one : {Case{128, 1, 8},
                                Case{128, 4, 20},
                                Case{256, 2, 64},
                                Case{1024, 4, 100},
                                Case{1024, 4, 200},
                                Case{1024, 8, 100}})
        {
            constexpr int FILTERS = 400;
            constexpr int ASKED = 500;
            double sum = 0;
            double squares = 0;
            for (int round = 0; round < FILTERS; ++round)
            {
                NameFilter filter;
                filter.Configure(one.bits, one.stages, true);
                std::set<uint32_t> in;
                while (in.size() < one.names)
                {
                    const auto name = static_cast<uint32_t>(random());
                    if (in.insert(name).second)
                    {
                        filter.Insert(name);
                    }
                }
                int found = 0;
                for (int asked = 0; asked < ASKED; ++asked)
                {
                    const auto name = static_cast<uint32_t>(random());
                    found += in.count(name) == 0 && filter.Contains(name);
                }
                const double share = static_cast<double>(found) / ASKED;
                sum += share;
                squares += share * share;
            }
            const double mean = sum / FILTERS;
            const double error = std::sqrt((squares / FILTERS - mean * mean) / FILTERS);
            const double k = one.stages;
            const double expected = std::pow(1 - std::pow(1 - k / one.bits, one.names), k);
            NS_TEST_ASSERT_MSG_EQ_TOL(mean,
                                      expected,
                                      4 * error,
                                      one.names << " names in " << one.bits << " bits of "
                                                << one.stages << " stages");
            NS_TEST_ASSERT_MSG_LT(error, 0.05 * expected + 1e-4, "the measure is sharp");
        }
    }
};

/// @ingroup bfc-tests
/// @brief Control frames as bytes.
class MessageTest : public TestCase
{
  public:
    MessageTest()
        : TestCase("control frames have the documented bytes and are read back from them")
    {
    }

  private:
    void DoRun() override
    {
        lossless::ControlFrame control;
        Write({3, 5, {0x0001, 0x8000, 0, 0, 0, 0, 0, 0xbeef}}, control);
        const auto bytes = observe::SerializeMacControl(control, 9);
        const std::array<uint8_t, 20> expected{
            0x0b, 0xfc, // opcode
            0x2b, 0xff, // segment 5 (00101) and class 3 (011); all words
            0x00, 0x01, 0x80, 0x00, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xbe, 0xef,
        };
        for (std::size_t i = 0; i < expected.size(); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(+bytes[14 + i], +expected[i], "byte " << 14 + i);
        }
        std::mt19937_64 random(8);
        Message got;
        for (int round = 0; round < 1000; ++round)
        {
            Message sent{static_cast<uint8_t>(random() % 8),
                         static_cast<uint32_t>(random() % NameFilter::MOST_SEGMENTS),
                         {}};
            for (uint16_t& word : sent.bits)
            {
                word = static_cast<uint16_t>(random());
            }
            Write(sent, control);
            lossless::ControlFrame wire;
            NS_TEST_ASSERT_MSG_EQ(
                observe::ReadMacControl(observe::SerializeMacControl(control, 1), wire) &&
                    Read(wire, got),
                true,
                "it is understood");
            NS_TEST_ASSERT_MSG_EQ(
                (got.cls == sent.cls && got.segment == sent.segment && got.bits == sent.bits),
                true,
                "what was sent, round " << round);
        }
        control.opcode = lossless::PFC_OPCODE;
        NS_TEST_ASSERT_MSG_EQ(Read(control, got), false, "PFC is not BFC");
    }
};

/// @ingroup bfc-tests
/// @brief N_active against a set of queues.
class ActiveSchedulerTest : public TestCase, public lossless::QueueScheduler::Heads
{
  public:
    ActiveSchedulerTest()
        : TestCase("as many queues are counted as are served in a round")
    {
    }

  private:
    bool MayGo(uint32_t /* place */) override
    {
        return true;
    }

    uint32_t GetBytes(uint32_t /* place */) const override
    {
        return 1000;
    }

    void DoRun() override
    {
        std::mt19937 random(6);
        ActiveScheduler scheduler(1000);
        scheduler.Configure(5);
        std::set<uint32_t> active;
        for (int step = 0; step < 2000; ++step)
        {
            const uint32_t place = random() % 5;
            const bool joins = active.insert(place).second;
            joins ? scheduler.Activate(place) : scheduler.Deactivate(place);
            if (!joins)
            {
                active.erase(place);
            }
            NS_TEST_ASSERT_MSG_EQ(scheduler.Count(), active.size(), "after step " << step);
            std::set<uint32_t> served;
            for (uint32_t turn = scheduler.Count(); turn > 0; --turn)
            {
                served.insert(scheduler.Select(*this));
                scheduler.NotifySent(*served.rbegin(), 0);
                scheduler.NotifySent(scheduler.Select(*this), 1000);
            }
            NS_TEST_ASSERT_MSG_EQ((served == active), true, "a round after step " << step);
        }
    }
};

/// @ingroup bfc-tests
/// @brief Tests of NameFilter, Message and ActiveScheduler.
class NameFilterTestSuite : public TestSuite
{
  public:
    NameFilterTestSuite()
        : TestSuite("bfc-name-filter", Type::UNIT)
    {
        AddTestCase(new MembersTest, TestCase::Duration::QUICK);
        AddTestCase(new MistakesTest, TestCase::Duration::QUICK);
        AddTestCase(new MessageTest, TestCase::Duration::QUICK);
        AddTestCase(new ActiveSchedulerTest, TestCase::Duration::QUICK);
    }
};

static NameFilterTestSuite g_nameFilterTestSuite; //!< registers the suite

} // namespace tests
} // namespace bfc
} // namespace ns3
