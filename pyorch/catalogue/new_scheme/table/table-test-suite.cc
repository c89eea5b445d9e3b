/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "ns3/facade-simulation.h"
#include "ns3/test.h"

#include <cstdint>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup @module@-tests
 * Two frames that arrive for one port at the same time.
 */

namespace ns3
{
namespace @namespace@
{
namespace tests
{

/**
 * @ingroup @module@-tests
 * @brief One of two frames waits for the other.
 */
class WaitTest : public TestCase
{
  public:
    WaitTest()
        : TestCase("a frame that waits for another one is a row, if Least is not longer")
    {
    }

  private:
    /**
     * @brief Two hosts send a frame of 1000 B each to a third at the same time.
     *
     * @param least attribute
     * @return the column "waited_ps"
     */
    static std::vector<int64_t> Run(const std::string& least)
    {
        facade::Simulation sim(1);
        sim.SetAttribute("ns3::@namespace@::@Class@", "Least", least);
        sim.SetAttribute("ns3::rdma::QueuePair", "HeaderSize", "48");
        sim.SetAttribute("ns3::lossless::Port", "Overhead", "0");
        const uint8_t kinds[] = {0, 0, 0, 1};
        sim.AddNodes(kinds, "h0\nh1\nh2\ns0\n", 4);
        const uint64_t rate = 10'000'000'000;
        const int64_t wire = 1'000'000;
        const uint32_t hub = 3;
        for (uint32_t host = 0; host < hub; ++host)
        {
            sim.AddLinks(&host, &hub, &rate, &wire, 1);
        }
        const uint64_t bytes = 952;
        const uint64_t none = 0;
        const int64_t start = 0;
        const int64_t never = -1;
        const uint8_t cls = 3;
        const uint32_t receiver = 2;
        for (uint32_t host = 0; host < 2; ++host)
        {
            sim.AddFlows(&host, &receiver, &bytes, &start, &never, &cls, &none, &none, 1);
        }
        sim.Build();
        sim.Trace("@name@", nullptr, nullptr, 0, 0xff, 0);
        sim.Run(1'000'000'000);
        sim.Finish();
        for (uint32_t table = 0; table < sim.GetNTables(); ++table)
        {
            for (uint32_t i = 0; sim.GetTableName(table) == "@name@" && i < sim.GetNColumns(table); ++i)
            {
                if (sim.GetColumnName(table, i) == "waited_ps")
                {
                    const auto* data = reinterpret_cast<const int64_t*>(sim.GetColumnData(table, i));
                    return {data, data + sim.GetNRows(table)};
                }
            }
        }
        return {-1};
    }

    void DoRun() override
    {
        const auto waits = Run("1ps");
        NS_TEST_ASSERT_MSG_EQ(waits.size(), 1, "the other is sent at once");
        NS_TEST_ASSERT_MSG_EQ(waits.front(), 800'000, "1000 B at 10 Gb/s");
        NS_TEST_ASSERT_MSG_EQ(Run("801ns").size(), 0, "shorter than that");
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
        : TestSuite("@module@-table", Type::UNIT)
    {
        AddTestCase(new WaitTest, TestCase::Duration::QUICK);
    }
};

static @Class@TestSuite g_testSuite; //!< registers the suite

} // namespace tests
} // namespace @namespace@
} // namespace ns3
