/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "ns3/cbfc-credit.h"
#include "ns3/rdma-simulation.h"
#include "ns3/test.h"

#include <map>
#include <random>

/**
 * @file
 * @ingroup cbfc-tests
 * Credits: nothing beyond what was promised, nothing lost, and what a cyclic dependency does.
 */

namespace ns3
{
namespace cbfc
{
namespace tests
{

/**
 * @brief The summary of a run by name.
 *
 * @param sim the run
 * @return numbers
 */
std::map<std::string, double>
Summary(const rdma::Simulation& sim)
{
    const auto pairs = sim.GetSummary();
    return {pairs.begin(), pairs.end()};
}

/**
 * @brief Names of nodes that nobody reads.
 *
 * @param n how many
 * @return one a line
 */
std::string
Names(std::size_t n)
{
    std::string names;
    for (std::size_t i = 0; i < n; ++i)
    {
        names.append("n").append(std::to_string(i)).append("\n");
    }
    return names;
}

/**
 * @ingroup cbfc-tests
 * @brief Random stars: no queue holds more than was promised, all flows finish, a failing link does
 * not eat credit.
 */
class PromiseTest : public TestCase
{
  public:
    PromiseTest()
        : TestCase("no queue holds more than was promised, flows finish, also after a link failed")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(3);
        for (int round = 0; round < 60; ++round)
        {
            const int64_t buffer = 2048 + static_cast<int64_t>(random() % 200'000);
            const uint32_t senders = 2 + random() % 5;
            rdma::Simulation sim(1);
            sim.SetAttribute("ns3::cbfc::Credit", "Buffer", std::to_string(buffer));
            sim.SetAttribute("ns3::cbfc::Credit",
                             "Period",
                             std::to_string(1 + random() % 20) + "us");
            sim.SetAttribute("ns3::cbfc::Credit", "OnChange", random() % 2 ? "true" : "false");
            sim.SetAttribute("ns3::rdma::QueuePair", "Timeout", "500us");
            sim.SetAttribute("ns3::lossless::SharedBuffer", "Threshold", "Static");
            // Exactly what is promised, and no headroom that would hide a broken promise.
            sim.SetAttribute("ns3::lossless::SharedBuffer", "Xoff", std::to_string(buffer));
            sim.SetAttribute("ns3::lossless::SharedBuffer", "Xon", "0");
            sim.SetAttribute("ns3::lossless::SharedBuffer", "Headroom", "1");
            sim.AddFlowControl("ns3::cbfc::Credit");
            sim.SetAllowLoss(true);
            sim.SetStopWhenDone(true);
            std::vector<uint8_t> kinds(senders + 1, 0);
            kinds.push_back(1);
            sim.AddNodes(kinds.data(), Names(kinds.size()), static_cast<uint32_t>(kinds.size()));
            const uint64_t rate = 25'000'000'000;
            for (uint32_t host = 0; host <= senders; ++host)
            {
                const uint32_t hub = senders + 1;
                const auto delay = static_cast<int64_t>(random() % 2'000'000);
                sim.AddLinks(&host, &hub, &rate, &delay, 1);
            }
            if (round % 3 == 0)
            {
                sim.FailLink(0, 30'000'000, 90'000'000);
            }
            for (uint32_t host = 0; host < senders; ++host)
            {
                const uint64_t bytes = 50'000 + random() % 300'000;
                const auto start = static_cast<int64_t>(random() % 20'000'000);
                const int64_t never = -1;
                const uint8_t cls = 3;
                const uint64_t none = 0;
                sim.AddFlows(&host, &senders, &bytes, &start, &never, &cls, &none, &none, 1);
            }
            sim.Build();
            NS_TEST_ASSERT_MSG_EQ(sim.Check(), "", "the configuration is possible");
            sim.Run(200'000'000'000);
            NS_TEST_ASSERT_MSG_EQ(sim.Finish(), "", "frames are conserved, round " << round);
            auto summary = Summary(sim);
            NS_TEST_ASSERT_MSG_EQ(summary["dropped_headroom_frames"],
                                  0,
                                  "none refused, round " << round);
            NS_TEST_ASSERT_MSG_EQ(summary["flows_unfinished"], 0, "all finished, round " << round);
            NS_TEST_ASSERT_MSG_LT_OR_EQ(summary["peak_queue_bytes"],
                                        buffer,
                                        "as promised, round " << round);
            NS_TEST_ASSERT_MSG_GT(summary["cbfc_messages_sent"], 0, "credits were sent");
            NS_TEST_ASSERT_MSG_EQ(summary["deadlocked"], 0, "a star cannot deadlock");
        }
    }
};

/**
 * @ingroup cbfc-tests
 * @brief A ring in which every host sends two hops: CBFC deadlocks, as the GFC paper says, and
 * stays so.
 */
class RingTest : public TestCase
{
  public:
    RingTest()
        : TestCase("a cyclic dependency deadlocks, and the deadlock outlives its sources")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint32_t N = 5;
        rdma::Simulation sim(1);
        sim.SetAttribute("ns3::cbfc::Credit", "Buffer", "100000");
        sim.SetAttribute("ns3::cbfc::Credit", "Period", "5us");
        sim.SetAttribute("ns3::rdma::QueuePair", "Retransmit", "None");
        sim.SetAttribute("ns3::lossless::SharedBuffer", "Threshold", "Static");
        sim.SetAttribute("ns3::lossless::SharedBuffer", "Xoff", "110000");
        sim.AddFlowControl("ns3::cbfc::Credit");
        std::vector<uint8_t> kinds(N, 0);
        kinds.insert(kinds.end(), N, 1);
        sim.AddNodes(kinds.data(), Names(2 * N), 2 * N);
        const uint64_t rate = 40'000'000'000;
        const int64_t delay = 1'000'000;
        for (uint32_t i = 0; i < N; ++i)
        {
            const uint32_t here = N + i;
            const uint32_t next = N + (i + 1) % N;
            sim.AddLinks(&i, &here, &rate, &delay, 1);
            sim.AddLinks(&here, &next, &rate, &delay, 1);
        }
        for (uint32_t i = 0; i < N; ++i)
        {
            const uint32_t dst = (i + 2) % N;
            const uint64_t none = 0;
            const int64_t start = 0;
            const int64_t stop = 5'000'000'000;
            const uint8_t cls = 3;
            sim.AddFlows(&i, &dst, &none, &start, &stop, &cls, &none, &none, 1);
        }
        sim.Build();
        sim.Run(5'000'000'000);
        const double halfway = Summary(sim)["delivered_bytes"];
        NS_TEST_ASSERT_MSG_LT(Summary(sim)["last_delivery_ps"], 4e9, "nothing arrives any more");
        // The sources are silent now, and still nothing moves.
        sim.Run(50'000'000'000);
        NS_TEST_ASSERT_MSG_EQ(sim.Finish(), "", "and nothing is lost");
        auto summary = Summary(sim);
        NS_TEST_ASSERT_MSG_EQ(summary["deadlocked"], 1, "a deadlock for certain");
        NS_TEST_ASSERT_MSG_EQ(summary["deadlock_cycle_queues"], N, "all around the ring");
        NS_TEST_ASSERT_MSG_EQ(summary["deadlock_stuck_queues"], 2 * N, "and every host behind it");
        NS_TEST_ASSERT_MSG_EQ(summary["delivered_bytes"],
                              halfway,
                              "what is stuck stays stuck");
        NS_TEST_ASSERT_MSG_GT(Summary(sim)["sent_bytes"], halfway, "and there is something stuck");
    }
};

/**
 * @ingroup cbfc-tests
 * @brief Tests of Credit.
 */
class CreditTestSuite : public TestSuite
{
  public:
    CreditTestSuite()
        : TestSuite("cbfc-credit", Type::UNIT)
    {
        AddTestCase(new PromiseTest, TestCase::Duration::QUICK);
        AddTestCase(new RingTest, TestCase::Duration::QUICK);
    }
};

static CreditTestSuite g_creditTestSuite; //!< registers the suite

} // namespace tests
} // namespace cbfc
} // namespace ns3
