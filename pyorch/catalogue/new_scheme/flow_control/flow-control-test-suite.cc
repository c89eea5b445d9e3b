/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "ns3/facade-simulation.h"
#include "ns3/test.h"

#include <map>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup @module@-tests
 * Two senders overload one receiver: the queue oscillates as the thresholds predict.
 */

namespace ns3
{
namespace @namespace@
{
namespace tests
{

constexpr int64_t RATE = 10'000'000'000; //!< of every link (bit/s)
constexpr int64_t WIRE = 1'000'000;      //!< delay of every link (ps)
constexpr int64_t END = 10'000'000'000;  //!< of the run (ps)

/**
 * @brief Two greedy senders and a receiver on one switch.
 *
 * @param xoff attribute (B)
 * @param xon attribute (B)
 * @param problems of the configuration and of the run, added
 * @return the summary
 */
std::map<std::string, double>
RunTwoToOne(int64_t xoff, int64_t xon, std::string& problems)
{
    facade::Simulation sim(1);
    sim.SetSimulator("ns3::eventloop::EventLoop"); // equal senders stay in step
    sim.SetAttribute("ns3::@namespace@::@Class@", "Xoff", std::to_string(xoff));
    sim.SetAttribute("ns3::@namespace@::@Class@", "Xon", std::to_string(xon));
    sim.SetAttribute("ns3::rdma::QueuePair", "PayloadSize", "952");
    sim.SetAttribute("ns3::rdma::QueuePair", "HeaderSize", "48");
    sim.SetAttribute("ns3::lossless::Port", "Overhead", "0");
    sim.AddFlowControl("ns3::@namespace@::@Class@");
    const std::vector<uint8_t> kinds{0, 0, 0, 1};
    sim.AddNodes(kinds.data(), "h0\nh1\nh2\ns0\n", 4);
    const uint64_t rate = RATE;
    const int64_t wire = WIRE;
    const uint32_t hub = 3;
    for (uint32_t host = 0; host < hub; ++host)
    {
        sim.AddLinks(&host, &hub, &rate, &wire, 1);
    }
    const uint32_t receiver = 2;
    const uint64_t endless = 0;
    const int64_t start = 0;
    const int64_t never = -1;
    const uint8_t cls = 3;
    for (uint32_t host = 0; host < receiver; ++host)
    {
        sim.AddFlows(&host, &receiver, &endless, &start, &never, &cls, &endless, &endless, 1);
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
 * @brief Peak of the queue and number of messages against their closed forms.
 */
class SwingTest : public TestCase
{
  public:
    SwingTest()
        : TestCase("the queue overshoots Xoff and Xon by half of C tau")
    {
    }

  private:
    void DoRun() override
    {
        const int64_t xoff = 60'000;
        const int64_t xon = 50'000;
        std::string problems;
        auto summary = RunTwoToOne(xoff, xon, problems);
        NS_TEST_ASSERT_MSG_EQ(problems, "", "possible, and nothing is lost");
        // Two wires, the message, and the rest of a frame in transmission: half of it, on average.
        const double tau = 2e-6 + (64 + 0.5 * 1000) * 8 / RATE;
        const double beyond = RATE / 8.0 * tau / 2; // each queue gains or loses at C / 2
        NS_TEST_ASSERT_MSG_GT(summary["peak_queue_bytes"], xoff, "it is stopped above Xoff");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(summary["peak_queue_bytes"],
                                    xoff + beyond + 2 * 1000,
                                    "and in time");
        // A period is twice as long as Xoff - Xon + C tau takes at C / 2, and has two messages.
        const double swing = 2 * (xoff - xon + 2 * beyond) / (RATE / 8.0 / 2);
        const double count = 2 * 2 * (static_cast<double>(END) / 1e12) / swing;
        NS_TEST_ASSERT_MSG_EQ_TOL(summary["@name@_messages_sent"],
                                  count,
                                  0.03 * count,
                                  "two messages per period and sender");
        NS_TEST_ASSERT_MSG_GT(summary["delivered_bytes"],
                              0.99 * 0.952 * (END / 1e12) * RATE / 8,
                              "the receiver's link is never idle");
    }
};

/**
 * @ingroup @module@-tests
 * @brief Contradictory thresholds are rejected.
 */
class RefusalTest : public TestCase
{
  public:
    RefusalTest()
        : TestCase("Xon at or above Xoff is rejected, with both values")
    {
    }

  private:
    void DoRun() override
    {
        std::string problems;
        RunTwoToOne(50'000, 50'000, problems);
        NS_TEST_ASSERT_MSG_NE(problems.find("Xon 50000 B must be below Xoff 50000 B"),
                              std::string::npos,
                              problems);
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
        : TestSuite("@module@-flow-control", Type::UNIT)
    {
        AddTestCase(new SwingTest, TestCase::Duration::QUICK);
        AddTestCase(new RefusalTest, TestCase::Duration::QUICK);
    }
};

static @Class@TestSuite g_testSuite; //!< registers the suite

} // namespace tests
} // namespace @namespace@
} // namespace ns3
