/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/facade-simulation.h"
#include "ns3/gfc-gentle.h"
#include "ns3/test.h"

#include <string>

/**
 * @file
 * @ingroup gfc-tests
 * What the schemes warn of, against bounds worked out by hand.
 */

namespace ns3
{
namespace gfc
{
namespace tests
{

/// @ingroup gfc-tests
/// @brief At its bound a scheme does not warn; a byte beyond it, it does and quotes both sides.
///
/// Frames of 1500 B and 20 B of overhead, messages of 84 B, at 10 Gb/s; 1 us of wire, 3 us of
/// processing: tau = (1520 + 84 + 1520) B x 0.8 ns/B + 5 us = 7.4992 us, and C tau = 9,374 B.
class WarningTest : public TestCase
{
  public:
    WarningTest()
        : TestCase("every scheme warns from a byte beyond its bound on, quoting both sides, and "
                   "runs all the same")
    {
    }

  private:
    /// What a star warns of.
    /// @param scheme TypeId name. @param attribute "B0" or "B1". @param value of it. @param minGap
    /// between messages (ps) @return the warnings; with the problems, should there be any.
    static std::string Warnings(const std::string& scheme,
                                const std::string& attribute,
                                int64_t value,
                                int64_t minGap)
    {
        facade::Simulation sim(1);
        sim.SetAttribute("ns3::rdma::QueuePair", "PayloadSize", "1452");
        sim.SetAttribute("ns3::rdma::QueuePair", "HeaderSize", "48");
        sim.SetAttribute("ns3::lossless::Port", "Overhead", "20");
        sim.SetAttribute("ns3::lossless::Port", "ControlDelay", "3us");
        const bool timeBased = scheme == "ns3::gfc::TimeBasedGfc";
        sim.SetAttribute(scheme, "Bm", "300000");
        sim.SetAttribute(scheme, attribute, std::to_string(value));
        if (timeBased)
        {
            sim.SetAttribute(scheme, "Period", "20us");
            sim.SetAttribute(scheme, "Buffer", "303000");
        }
        else
        {
            sim.SetAttribute(scheme, "MinGap", std::to_string(minGap) + "ps");
        }
        if (scheme == "ns3::gfc::ConceptualGfc")
        {
            sim.SetAttribute(scheme, "Ideal", "false");
        }
        sim.AddFlowControl(scheme);
        const uint8_t kinds[] = {0, 0, 1};
        sim.AddNodes(kinds, "a\nb\ns\n", 3);
        const uint32_t hosts[] = {0, 1};
        const uint32_t hubs[] = {2, 2};
        const uint64_t rates[] = {10'000'000'000, 10'000'000'000};
        const int64_t delays[] = {1'000'000, 1'000'000};
        sim.AddLinks(hosts, hubs, rates, delays, 2);
        const uint64_t bytes = 20'000;
        const uint64_t none = 0;
        const int64_t start = 0;
        const int64_t never = -1;
        const uint8_t cls = 3;
        sim.AddFlows(hosts, hosts + 1, &bytes, &start, &never, &cls, &none, &none, 1);
        sim.Build();
        const std::string problems = sim.Check();
        const std::string warnings = sim.Warnings();
        sim.Run(1'000'000'000);
        return problems + sim.Finish() + warnings;
    }

    /// Check one scheme at its bound and a byte beyond.
    /// @param scheme TypeId name. @param attribute "B0" or "B1". @param bound the largest value
    /// inside. @param minGap between messages (ps) @param bothSides what the warning must say.
    void CheckBound(const std::string& scheme,
                    const std::string& attribute,
                    int64_t bound,
                    int64_t minGap,
                    const std::string& bothSides)
    {
        NS_TEST_ASSERT_MSG_EQ(Warnings(scheme, attribute, bound, minGap), "", scheme << " inside");
        const std::string warning = Warnings(scheme, attribute, bound + 1, minGap);
        NS_TEST_ASSERT_MSG_EQ(warning.find(scheme + ": " + bothSides),
                              0,
                              scheme << " quotes both sides: " << warning);
        NS_TEST_ASSERT_MSG_EQ(warning.find('\n'), warning.size() - 1, "once: " << warning);
    }

    void DoRun() override
    {
        CheckBound("ns3::gfc::ConceptualGfc",
                   "B0",
                   262'504,
                   0,
                   "Bm - B0 = 37.495 KB is less than 4 C tau = 37.496 KB");
        CheckBound("ns3::gfc::MultiStageGfc",
                   "B1",
                   281'252,
                   0,
                   "Bm - B1 = 18.747 KB is less than 2 C tau = 18.748 KB");
        CheckBound("ns3::gfc::TimeBasedGfc",
                   "B0",
                   265'626,
                   0,
                   "Bm - B0 = 34.373 KB is less than C (Period + tau) = 34.374 KB");
        // a gap of 5 us adds 6,250 B to C tau
        CheckBound("ns3::gfc::MultiStageGfc",
                   "B1",
                   268'752,
                   5'000'000,
                   "Bm - B1 = 31.247 KB is less than 2 C tau = 31.248 KB");
    }
};

/// @ingroup gfc-tests
/// @brief Values are spelt in the largest unit of which they are at least one, with all digits.
class SpellTest : public TestCase
{
  public:
    SpellTest()
        : TestCase("values for people")
    {
    }

  private:
    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ(Spell(0, SIZES), "0 B", "nothing");
        NS_TEST_EXPECT_MSG_EQ(Spell(999, SIZES), "999 B", "below a thousand");
        NS_TEST_EXPECT_MSG_EQ(Spell(50'000, SIZES), "50 KB", "no decimals");
        NS_TEST_EXPECT_MSG_EQ(Spell(1'000'001, SIZES), "1.000001 MB", "all digits");
        NS_TEST_EXPECT_MSG_EQ(Spell(10'000'000'000, RATES), "10 Gb/s", "a rate");
        NS_TEST_EXPECT_MSG_EQ(Spell(400'000'000'000'000, RATES), "400 Tb/s", "a fast one");
        NS_TEST_EXPECT_MSG_EQ(Spell(5'496'000, TIMES), "5.496 us", "a time");
        NS_TEST_EXPECT_MSG_EQ(Spell(5'000'000'000'000'000, TIMES), "5000 s", "a long one");
    }
};

/// @ingroup gfc-tests
/// @brief Tests of the bounds that the schemes warn by.
class BoundsTestSuite : public TestSuite
{
  public:
    BoundsTestSuite()
        : TestSuite("gfc-bounds", Type::UNIT)
    {
        AddTestCase(new SpellTest, TestCase::Duration::QUICK);
        AddTestCase(new WarningTest, TestCase::Duration::QUICK);
    }
};

static BoundsTestSuite g_boundsTestSuite; //!< registers the suite

} // namespace tests
} // namespace gfc
} // namespace ns3
