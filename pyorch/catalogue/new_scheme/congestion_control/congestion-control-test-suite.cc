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
 * One sender alone, and two that share a receiver's link.
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
 * @param step attribute, with its unit
 * @param problems of the configuration and of the run, added
 * @return the summary
 */
std::map<std::string, double>
RunStar(uint32_t senders, const std::string& step, std::string& problems)
{
    facade::Simulation sim(1);
    sim.SetAttribute("ns3::@namespace@::@Class@", "Target", "20us");
    sim.SetAttribute("ns3::@namespace@::@Class@", "Step", step);
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
    const auto summary = sim.GetSummary();
    return {summary.begin(), summary.end()};
}

/**
 * @ingroup @module@-tests
 * @brief The queue and the link under this control.
 */
class ShareTest : public TestCase
{
  public:
    ShareTest()
        : TestCase("alone at line rate; two oscillate within a few Targets at four fifths of the line")
    {
    }

  private:
    void DoRun() override
    {
        const double line = 0.952 * RATE / 8 * END / 1e12;
        std::string problems;
        auto alone = RunStar(1, "50Mbps", problems);
        NS_TEST_ASSERT_MSG_EQ(problems, "", "possible, and nothing is lost");
        NS_TEST_ASSERT_MSG_GT(alone["delivered_bytes"], 0.99 * line, "alone at line rate");
        NS_TEST_ASSERT_MSG_EQ(alone["@name@_decreases"], 0, "and never slower");

        auto two = RunStar(2, "50Mbps", problems);
        NS_TEST_ASSERT_MSG_EQ(problems, "", "possible, and nothing is lost");
        // So simple a rule oscillates: after the queue was too long it is empty for a while.
        NS_TEST_ASSERT_MSG_GT(two["delivered_bytes"], 0.8 * line, "the link is seldom idle");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(two["delivered_bytes"], line, "nor faster than it is");
        NS_TEST_ASSERT_MSG_GT(two["@name@_decreases"], 2, "both were slowed down");
        // Before the first ACK both send at line rate for a round trip: about 6 us at C of
        // excess. Without control the queue would reach the PFC threshold, megabytes away.
        NS_TEST_ASSERT_MSG_LT(two["peak_buffer_bytes"],
                              4 * 20e-6 * RATE / 8,
                              "the queue is a few Targets long at most");
    }
};

/**
 * @ingroup @module@-tests
 * @brief A step of 0 is rejected.
 */
class RefusalTest : public TestCase
{
  public:
    RefusalTest()
        : TestCase("a Step of 0 is rejected")
    {
    }

  private:
    void DoRun() override
    {
        std::string problems;
        try
        {
            RunStar(1, "0bps", problems);
        }
        catch (const std::invalid_argument& error)
        {
            problems = error.what();
        }
        NS_TEST_ASSERT_MSG_NE(problems.find("Step cannot be '0bps'"), std::string::npos, problems);
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
        : TestSuite("@module@-congestion-control", Type::UNIT)
    {
        AddTestCase(new ShareTest, TestCase::Duration::QUICK);
        AddTestCase(new RefusalTest, TestCase::Duration::QUICK);
    }
};

static @Class@TestSuite g_testSuite; //!< registers the suite

} // namespace tests
} // namespace @namespace@
} // namespace ns3
