/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/facade-simulation.h"
#include "ns3/gfc-parameters.h"
#include "ns3/test.h"

#include <string>

/**
 * @file
 * @ingroup gfc-tests
 * The parameter helper against numbers worked by hand, and against what the schemes warn of.
 */

namespace ns3
{
namespace gfc
{
namespace tests
{

/**
 * @ingroup gfc-tests
 * @brief Frames of 1500 B, 1 us of wire, 3 us of processing, no overhead, at four rates.
 *
 * tau = 24,000 bit / C + 5 us; then C tau, its double and four times it, 512 bit / tau and an
 * eighth of that. tests/test_gfc.py has the same table for the Python helper.
 */
class WorkedByHandTest : public TestCase
{
  public:
    WorkedByHandTest()
        : TestCase("tau, bounds and overhead at 10, 25, 40 and 100 Gbps; stages of two buffers")
    {
    }

  private:
    /// What was worked out for a rate.
    struct Row
    {
        uint64_t gbps;   //!< C (Gb/s)
        int64_t tau;     //!< ps
        int64_t b1;      //!< largest, Bm = 300 KB
        int64_t b0;      //!< largest, Bm = 300 KB
        uint64_t worst;  //!< bit/s
        uint64_t steady; //!< bit/s
        int64_t message; //!< time of a message of 64 B (ps)
    };

    void DoRun() override
    {
        const Row rows[] = {
            {10, 7'400'000, 281'500, 263'000, 69'189'189, 8'648'648, 51'200},
            {25, 5'960'000, 262'750, 225'500, 85'906'040, 10'738'255, 20'480},
            {40, 5'600'000, 244'000, 188'000, 91'428'571, 11'428'571, 12'800},
            {100, 5'240'000, 169'000, 38'000, 97'709'923, 12'213'740, 5'120},
        };
        for (const Row& row : rows)
        {
            Parameters link;
            link.rate = row.gbps * 1'000'000'000;
            const int64_t tau = link.GetFormulaLatency();
            NS_TEST_ASSERT_MSG_EQ(tau, row.tau, "tau at " << row.gbps << " Gb/s");
            NS_TEST_ASSERT_MSG_EQ(link.GetLargestB1(300'000, tau), row.b1, "B1 at " << row.gbps);
            NS_TEST_ASSERT_MSG_EQ(link.GetLargestB0(300'000, tau), row.b0, "B0 at " << row.gbps);
            NS_TEST_ASSERT_MSG_EQ(link.GetWorstOverhead(tau), row.worst, "worst at " << row.gbps);
            NS_TEST_ASSERT_MSG_EQ(link.GetSteadyOverhead(tau), row.steady, "at " << row.gbps);
            NS_TEST_ASSERT_MSG_EQ(link.GetLatency(), tau + row.message, "with the message");
            link.minGap = 7'000;
            NS_TEST_ASSERT_MSG_EQ(link.GetLatency(), tau + row.message + 7'000, "and the gap");
            NS_TEST_ASSERT_MSG_EQ(link.GetFormulaLatency(), tau, "which the formula has not");
        }
        Parameters link;
        link.overhead = 20;
        // 2 x 1520 B and 84 B at 0.8 ns a byte, 5 us
        NS_TEST_ASSERT_MSG_EQ(link.GetFormulaLatency(), 7'432'000, "wire bytes count");
        NS_TEST_ASSERT_MSG_EQ(link.GetLatency(), 7'432'000 + 67'200, "of the message too");
        NS_TEST_ASSERT_MSG_EQ(link.GetCreditPeriod(), 52'428'000, "65,535 B at 10 Gb/s");
        // (52.428 + 7.4512) us at 1.25 B/ns are 74,849 B
        NS_TEST_ASSERT_MSG_EQ(link.GetLargestTimeBasedB0(300'000, 52'428'000, 7'451'200),
                              225'151,
                              "time-based");
        NS_TEST_ASSERT_MSG_LT(link.GetLargestB0(20'000, 7'400'000), 0, "20 KB are too few");

        const auto small = link.GetStages(281'000, 300'000);
        NS_TEST_ASSERT_MSG_EQ(small.size(), 17, "stage 0 and 16 stages");
        const int64_t starts[] = {0, 281'000, 290'500, 295'250, 297'625, 298'813, 299'407};
        for (std::size_t k = 0; k < 7; ++k)
        {
            NS_TEST_ASSERT_MSG_EQ(small[k].start, starts[k], "start of stage " << k);
            NS_TEST_ASSERT_MSG_EQ(small[k].rate, (10'000'000'000ULL >> k), "rate of stage " << k);
        }
        NS_TEST_ASSERT_MSG_EQ(link.GetStages(750'000, 1'000'000).size(), 20, "19 stages for 1 MB");
    }
};

/**
 * @ingroup gfc-tests
 * @brief At the helper's bound a scheme does not warn; a byte beyond it, it does and quotes both
 * sides.
 */
class WarningTest : public TestCase
{
  public:
    WarningTest()
        : TestCase("every scheme warns from a byte beyond the helper's bound on, quoting both "
                   "sides, and runs all the same")
    {
    }

  private:
    /**
     * @brief What a star warns of.
     *
     * @param scheme TypeId name
     * @param attribute "B0" or "B1"
     * @param value of it
     * @param link the link of all hosts
     * @return the warnings; with the problems, should there be any
     */
    static std::string Warnings(const std::string& scheme,
                                const std::string& attribute,
                                int64_t value,
                                const Parameters& link)
    {
        rdma::Simulation sim(1);
        sim.SetAttribute("ns3::rdma::QueuePair", "PayloadSize", std::to_string(link.mtu - 48));
        sim.SetAttribute("ns3::rdma::QueuePair", "HeaderSize", "48");
        sim.SetAttribute("ns3::lossless::Port", "Overhead", std::to_string(link.overhead));
        sim.SetAttribute("ns3::lossless::Port",
                         "ControlDelay",
                         std::to_string(link.processing) + "ps");
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
            sim.SetAttribute(scheme, "MinGap", std::to_string(link.minGap) + "ps");
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
        const uint64_t rates[] = {link.rate, link.rate};
        const int64_t delays[] = {link.delay, link.delay};
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

    /**
     * @brief Check one scheme at its bound and a byte beyond.
     *
     * @param scheme TypeId name
     * @param attribute "B0" or "B1"
     * @param bound the largest value inside
     * @param link the link
     * @param bothSides what the warning must say
     */
    void CheckBound(const std::string& scheme,
                    const std::string& attribute,
                    int64_t bound,
                    const Parameters& link,
                    const std::string& bothSides)
    {
        NS_TEST_ASSERT_MSG_EQ(Warnings(scheme, attribute, bound, link), "", scheme << " inside");
        const std::string warning = Warnings(scheme, attribute, bound + 1, link);
        NS_TEST_ASSERT_MSG_EQ(warning.find(scheme + ": " + bothSides),
                              0,
                              scheme << " quotes both sides: " << warning);
        NS_TEST_ASSERT_MSG_EQ(warning.find('\n'), warning.size() - 1, "once: " << warning);
    }

    void DoRun() override
    {
        Parameters link;
        link.overhead = 20;
        // (1520 + 84 + 1520) B x 0.8 ns + 2 us + 3 us
        NS_TEST_ASSERT_MSG_EQ(link.GetLatency(), 7'499'200, "the link of this test");
        const int64_t tau = link.GetLatency(); // 9,374 B
        CheckBound("ns3::gfc::ConceptualGfc",
                   "B0",
                   link.GetLargestB0(300'000, tau),
                   link,
                   "Bm - B0 = 37495 B is less than 4 C tau = 37496 B");
        CheckBound("ns3::gfc::MultiStageGfc",
                   "B1",
                   link.GetLargestB1(300'000, tau),
                   link,
                   "Bm - B1 = 18747 B is less than 2 C tau = 18748 B");
        CheckBound("ns3::gfc::TimeBasedGfc",
                   "B0",
                   link.GetLargestTimeBasedB0(300'000, 20'000'000, tau),
                   link,
                   "Bm - B0 = 34373 B is less than C (Period + tau) = 34374 B");
        link.minGap = 5'000'000; // 6,250 B more
        CheckBound("ns3::gfc::MultiStageGfc",
                   "B1",
                   link.GetLargestB1(300'000, link.GetLatency()),
                   link,
                   "Bm - B1 = 31247 B is less than 2 C tau = 31248 B");
    }
};

/**
 * @ingroup gfc-tests
 * @brief Tests of Parameters.
 */
class ParametersTestSuite : public TestSuite
{
  public:
    ParametersTestSuite()
        : TestSuite("gfc-parameters", Type::UNIT)
    {
        AddTestCase(new WorkedByHandTest, TestCase::Duration::QUICK);
        AddTestCase(new WarningTest, TestCase::Duration::QUICK);
    }
};

static ParametersTestSuite g_parametersTestSuite; //!< registers the suite

} // namespace tests
} // namespace gfc
} // namespace ns3
