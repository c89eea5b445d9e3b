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
 * Four flows from one leaf to another, over four spines.
 */

namespace ns3
{
namespace @namespace@
{
namespace tests
{

constexpr uint64_t RATE = 10'000'000'000; //!< of every link (bit/s)
constexpr int64_t END = 2'000'000'000;    //!< of the run (ps)
constexpr uint32_t FLOWS = 4;             //!< and hosts per leaf, and spines

/**
 * @brief A greedy flow from each host of a leaf to one of another leaf.
 *
 * @param policy TypeId name
 * @param limit attribute (B), or empty
 * @param seed of the run
 * @param problems of the configuration and of the run
 * @return the summary
 */
std::map<std::string, double>
RunLeaves(const std::string& policy,
          const std::string& limit,
          uint64_t seed,
          std::string& problems)
{
    facade::Simulation sim(seed);
    if (!limit.empty())
    {
        sim.SetAttribute(policy, "Limit", limit);
    }
    sim.SetAttribute("ns3::rdma::QueuePair", "ReorderWindow", "10000");
    sim.AddFlowControl("ns3::pfc::Pfc");
    sim.SetForwarding(policy);
    std::vector<uint8_t> kinds(2 * FLOWS, 0);
    kinds.resize(3 * FLOWS + 2, 1);
    std::string names;
    for (std::size_t node = 0; node < kinds.size(); ++node)
    {
        names.append("n").append(std::to_string(node)).append("\n");
    }
    sim.AddNodes(kinds.data(), names, static_cast<uint32_t>(kinds.size()));
    const uint64_t rate = RATE;
    const int64_t wire = 1'000'000;
    for (uint32_t leaf = 2 * FLOWS; leaf < 2 * FLOWS + 2; ++leaf)
    {
        for (uint32_t i = 0; i < FLOWS; ++i)
        {
            const uint32_t host = (leaf - 2 * FLOWS) * FLOWS + i;
            const uint32_t spine = 2 * FLOWS + 2 + i;
            sim.AddLinks(&host, &leaf, &rate, &wire, 1);
            sim.AddLinks(&leaf, &spine, &rate, &wire, 1);
        }
    }
    for (uint32_t host = 0; host < FLOWS; ++host)
    {
        sim.AddFlow(host, FLOWS + host, 3);
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
 * @brief The policy with a low limit, and that it is ECMP with a high one.
 */
class SpreadTest : public TestCase
{
  public:
    SpreadTest()
        : TestCase("below Limit it is ECMP; above, flows that collide use the other links, too")
    {
    }

  private:
    void DoRun() override
    {
        const std::string own = "ns3::@namespace@::@Class@";
        const double line = FLOWS * (1000.0 / 1068) * RATE / 8 * END / 1e12;
        double byHash = 0;
        double spread = 0;
        constexpr uint64_t SEEDS = 4;
        for (uint64_t seed = 1; seed <= SEEDS; ++seed)
        {
            std::string problems;
            auto ecmp = RunLeaves("ns3::lossless::Ecmp", "", seed, problems);
            NS_TEST_ASSERT_MSG_EQ(problems, "", "possible, and nothing is lost");
            auto high = RunLeaves(own, "1000000000", seed, problems);
            for (const auto& [name, value] : ecmp)
            {
                NS_TEST_ASSERT_MSG_EQ(high[name], value, "it is ECMP: " << name);
            }
            NS_TEST_ASSERT_MSG_EQ(high["@name@_frames_left"], 0, "no frame left its path");
            auto low = RunLeaves(own, "2000", seed, problems);
            NS_TEST_ASSERT_MSG_EQ(problems, "", "possible, and nothing is lost");
            NS_TEST_ASSERT_MSG_EQ(low["retransmitted_bytes"], 0, "receivers accept reordering");
            byHash += ecmp["delivered_bytes"] / SEEDS;
            spread += low["delivered_bytes"] / SEEDS;
        }
        // Four hashes over four links are all different in 4! of 4^4 cases: of 0.09.
        NS_TEST_ASSERT_MSG_LT(byHash, 0.9 * line, "flows collide");
        NS_TEST_ASSERT_MSG_GT(spread, 0.95 * line, "and here they do not");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(spread, line, "nor is a link faster than it is");
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
        : TestSuite("@module@-forwarding-policy", Type::UNIT)
    {
        AddTestCase(new SpreadTest, TestCase::Duration::QUICK);
    }
};

static @Class@TestSuite g_testSuite; //!< registers the suite

} // namespace tests
} // namespace @namespace@
} // namespace ns3
