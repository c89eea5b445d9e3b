/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "ns3/facade-simulation.h"
#include "ns3/test.h"

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup @module@-tests
 * One sender alone, and two that share a receiver's link, at the requested load.
 */

namespace ns3
{
namespace @namespace@
{
namespace tests
{

constexpr uint64_t RATE = 10'000'000'000; //!< of every link (bit/s)
constexpr int64_t END = 40'000'000'000;   //!< of the run (ps)

/**
 * @brief Greedy senders and a receiver on one switch.
 *
 * @param senders number of senders
 * @param target attribute
 * @param problems of the configuration and of the run, added
 * @return the summary; "share" is the first flow's share of the delivered bytes
 */
std::map<std::string, double>
RunStar(uint32_t senders, const std::string& target, std::string& problems)
{
    facade::Simulation sim(1);
    sim.SetAttribute("ns3::@namespace@::@Class@", "Target", target);
    sim.SetAttribute("ns3::rdma::QueuePair", "PayloadSize", "952");
    sim.SetAttribute("ns3::rdma::QueuePair", "HeaderSize", "48");
    sim.SetAttribute("ns3::lossless::Port", "Overhead", "0");
    sim.AddFlowControl("ns3::pfc::Pfc");
    sim.SetCongestionControl("ns3::@namespace@::@Class@");
    std::string names;
    for (uint32_t host = 0; host <= senders; ++host)
    {
        names.append("h").append(std::to_string(host)).append("\n");
    }
    std::vector<uint8_t> kinds(senders + 1, 0);
    kinds.push_back(1);
    const uint32_t hub = senders + 1;
    sim.AddNodes(kinds.data(), names + "s0\n", hub + 1);
    const uint64_t rate = RATE;
    const int64_t wire = 1'000'000;
    for (uint32_t host = 0; host < hub; ++host)
    {
        sim.AddLinks(&host, &hub, &rate, &wire, 1);
    }
    const uint64_t endless = 0;
    const int64_t start = 0;
    const int64_t never = -1;
    const uint8_t cls = 3;
    for (uint32_t host = 0; host < senders; ++host)
    {
        sim.AddFlows(&host, &senders, &endless, &start, &never, &cls, &endless, &endless, 1);
    }
    sim.Build();
    problems = sim.Check();
    if (!problems.empty())
    {
        return {};
    }
    sim.Run(END);
    problems = sim.Finish();
    const auto numbers = sim.GetSummary();
    std::map<std::string, double> summary{numbers.begin(), numbers.end()};
    summary["share"] = static_cast<double>(sim.GetDeliveredBytes(0)) / summary["delivered_bytes"];
    return summary;
}

/**
 * @ingroup @module@-tests
 * @brief The load of the link.
 */
class LoadTest : public TestCase
{
  public:
    LoadTest()
        : TestCase("one sender and two keep the busiest link at Target, in equal shares, without a queue")
    {
    }

  private:
    void DoRun() override
    {
        // 952 B of payload in frames of 48 B more and 2 + 5 x 8 B of telemetry
        const double line = 952.0 / 1042 * RATE / 8 * END / 1e12;
        for (const double target : {0.5, 0.9})
        {
            for (const uint32_t senders : {1, 2})
            {
                std::string problems;
                auto run = RunStar(senders, std::to_string(target), problems);
                NS_TEST_ASSERT_MSG_EQ(problems, "", "possible, and nothing is lost");
                NS_TEST_ASSERT_MSG_EQ_TOL(run["delivered_bytes"] / line, target, 0.02, "the load");
                NS_TEST_ASSERT_MSG_EQ_TOL(run["share"], 1.0 / senders, 0.04, "equal shares");
                // First both send at line rate, for about two round trips of 5 us plus the queueing
                // time.
                NS_TEST_ASSERT_MSG_LT(run["peak_buffer_bytes"], 40e-6 * RATE / 8, "short queues");
            }
        }
    }
};

/**
 * @ingroup @module@-tests
 * @brief A load above that of the link is rejected.
 */
class RefusalTest : public TestCase
{
  public:
    RefusalTest()
        : TestCase("a Target above 1 is rejected")
    {
    }

  private:
    void DoRun() override
    {
        std::string problems;
        try
        {
            RunStar(1, "1.5", problems);
        }
        catch (const std::invalid_argument& error)
        {
            problems = error.what();
        }
        NS_TEST_ASSERT_MSG_NE(problems.find("Target cannot be '1.5'"), std::string::npos, problems);
    }
};

/**
 * @ingroup @module@-tests
 * @brief Tests of @Class@.
 */
class @Class@TestSuite : public TestSuite
{
  public:
    @Class@TestSuite()
        : TestSuite("@module@-int-congestion-control", Type::UNIT)
    {
        AddTestCase(new LoadTest, TestCase::Duration::QUICK);
        AddTestCase(new RefusalTest, TestCase::Duration::QUICK);
    }
};

static @Class@TestSuite g_testSuite; //!< registers the suite

} // namespace tests
} // namespace @namespace@
} // namespace ns3
