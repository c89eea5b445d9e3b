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
 * Two senders overload one receiver: as under PFC, with every pause counted.
 */

namespace ns3
{
namespace @namespace@
{
namespace tests
{

/**
 * @brief Two greedy senders and a receiver on one switch, for 10 ms.
 *
 * @param flowControl TypeId
 * @param longer attribute Long; empty: the default
 * @return the summary; empty if the run is impossible or loses a frame
 */
std::map<std::string, double>
RunTwoToOne(const std::string& flowControl, const std::string& longer)
{
    facade::Simulation sim(1);
    sim.SetAttribute("ns3::lossless::SharedBuffer", "Threshold", "Static");
    sim.SetAttribute("ns3::lossless::SharedBuffer", "Xoff", "80000");
    sim.SetAttribute("ns3::lossless::SharedBuffer", "Xon", "77000");
    if (!longer.empty())
    {
        sim.SetAttribute("ns3::@namespace@::@Class@", "Long", longer);
    }
    sim.AddFlowControl(flowControl);
    const std::vector<uint8_t> kinds{0, 0, 0, 1};
    sim.AddNodes(kinds.data(), "h0\nh1\nh2\ns0\n", 4);
    const uint64_t rate = 10'000'000'000;
    const int64_t wire = 1'000'000; // ps
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
    sim.Run(10'000'000'000);
    const auto summary = sim.GetSummary();
    return sim.Finish().empty() ? std::map<std::string, double>(summary.begin(), summary.end())
                                : std::map<std::string, double>{};
}

/**
 * @ingroup @module@-tests
 * @brief Pauses are PFC's, and every one is counted if none is too short.
 */
class CountTest : public TestCase
{
  public:
    CountTest()
        : TestCase("the run is PFC's, and every second frame but refreshes begins a pause")
    {
    }

  private:
    void DoRun() override
    {
        const std::string own = "ns3::@namespace@::@Class@";
        auto plain = RunTwoToOne("ns3::pfc::Pfc", "");
        auto all = RunTwoToOne(own, "0ns");
        auto none = RunTwoToOne(own, "1s");
        NS_TEST_ASSERT_MSG_GT(plain["pfc_frames_sent"], 100, "there are pauses");
        NS_TEST_ASSERT_MSG_EQ(all["pfc_frames_sent"], plain["pfc_frames_sent"], "as PFC");
        NS_TEST_ASSERT_MSG_EQ(all["delivered_bytes"], plain["delivered_bytes"], "as PFC");
        NS_TEST_ASSERT_MSG_EQ_TOL(2 * all["@name@_long_pauses"],
                                  plain["pfc_frames_sent"] - plain["pfc_refreshes_sent"],
                                  2, // each sender may be paused, or a frame be under way
                                  "a pause and a resume each");
        NS_TEST_ASSERT_MSG_EQ(none["@name@_long_pauses"], 0, "none lasts a second");
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
        : TestSuite("@module@-pause", Type::UNIT)
    {
        AddTestCase(new CountTest, TestCase::Duration::QUICK);
    }
};

static @Class@TestSuite g_testSuite; //!< registers the suite

} // namespace tests
} // namespace @namespace@
} // namespace ns3
