/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/lossless-flow-table.h"
#include "ns3/test.h"

#include <map>
#include <random>
#include <utility>

/**
 * @file
 * @ingroup lossless-tests
 * The table of flows against std::map.
 */

namespace ns3
{
namespace lossless
{
namespace tests
{

/// @ingroup lossless-tests
/// @brief Random additions and removals.
class TableTest : public TestCase
{
  public:
    TableTest()
        : TestCase("a table of flows holds what a std::map holds, whatever comes and goes")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(7);
        for (const uint64_t keys : {5, 60, 3000, 1'000'000})
        {
            FlowTable<int> table;
            std::map<uint64_t, int> model;
            for (int step = 0; step < 60'000; ++step)
            {
                // Some keys that differ in high bits only, as ports and classes make them.
                const uint64_t key = (random() % keys) << (step % 3 == 0 ? 40 : 0);
                switch (random() % 3)
                {
                case 0:
                    table.Add(key) = step;
                    model[key] = step;
                    break;
                case 1:
                    NS_TEST_ASSERT_MSG_EQ(table.Remove(key),
                                          (model.erase(key) > 0),
                                          "removal of key " << key);
                    break;
                default:
                    const int* found = std::as_const(table).Find(key);
                    const auto expected = model.find(key);
                    NS_TEST_ASSERT_MSG_EQ((found ? *found : -1),
                                          (expected == model.end() ? -1 : expected->second),
                                          "key " << key << ", step " << step);
                }
                NS_TEST_ASSERT_MSG_EQ(table.GetEntries(), model.size(), "entries");
            }
            std::map<uint64_t, int> all;
            table.ForEach([&all](uint64_t key, int value) { all[key] = value; });
            NS_TEST_ASSERT_MSG_EQ((all == model), true, "everything in it, " << keys << " keys");
            table.Clear();
            NS_TEST_ASSERT_MSG_EQ(table.GetEntries(), 0, "cleared");
            NS_TEST_ASSERT_MSG_EQ((table.Find(1) == nullptr), true, "nothing is left");
        }
    }
};

/// @ingroup lossless-tests
/// @brief Tests of FlowTable.
class FlowTableTestSuite : public TestSuite
{
  public:
    FlowTableTestSuite()
        : TestSuite("lossless-flow-table", Type::UNIT)
    {
        AddTestCase(new TableTest, TestCase::Duration::QUICK);
    }
};

static FlowTableTestSuite g_flowTableTestSuite; //!< registers the suite

} // namespace tests
} // namespace lossless
} // namespace ns3
