/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/observe-table.h"
#include "ns3/test.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <tuple>
#include <vector>

using namespace ns3;
using observe::ColumnValues;
using observe::Table;

/// @ingroup observe-tests
/// @brief Rows of nodes that are up to a window apart in time are sorted as the library sorts all
/// rows at once.
class SortTest : public TestCase
{
  public:
    SortTest()
        : TestCase("rows are sorted by time, then node, then the order of the events")
    {
    }

  private:
    using Row = std::tuple<int64_t, uint32_t, uint16_t>; //!< time, node, number of the row

    /// Sort rows as a table and all at once.
    /// @param rows in the order of the events.
    void Check(std::vector<Row> rows)
    {
        Table table("t");
        auto* time = table.Add<int64_t>("time_ps");
        auto* node = table.Add<uint32_t>("node");
        auto* number = table.Add<uint16_t>("number");
        NS_TEST_EXPECT_MSG_EQ(table.HasOrder(), false, "not yet");
        table.SetOrder(time, node);
        for (const auto& [when, where, row] : rows)
        {
            time->push_back(when);
            node->push_back(where);
            number->push_back(row);
        }
        table.Sort();
        std::sort(rows.begin(), rows.end()); // of a node and time the numbers rise
        NS_TEST_ASSERT_MSG_EQ(table.GetRows(), rows.size(), "rows");
        for (std::size_t i = 0; i < rows.size(); ++i)
        {
            const Row found(time->data()[i], node->data()[i], number->data()[i]);
            NS_TEST_ASSERT_MSG_EQ((found == rows[i]), true, "row " << i << " of " << rows.size());
        }
    }

    void DoRun() override
    {
        Check({});
        Check({{5, 1, 0}});
        std::mt19937_64 random(1);
        const auto draw = [&random](uint64_t below) { return random() % below; };
        for (int trial = 0; trial < 300; ++trial)
        {
            // cell after cell writes its rows of a window
            std::vector<Row> rows;
            const auto cells = static_cast<uint32_t>(1 + draw(6));
            const auto window = static_cast<int64_t>(1 + draw(30));
            for (int64_t from = 0; from < 20 * window; from += window)
            {
                for (uint32_t cell = 0; cell < cells; ++cell)
                {
                    std::vector<int64_t> times(draw(8));
                    std::generate(times.begin(), times.end(), [&]() {
                        return from + static_cast<int64_t>(draw(window));
                    });
                    std::sort(times.begin(), times.end());
                    for (const int64_t time : times)
                    {
                        const auto node = static_cast<uint32_t>(cell + cells * draw(2));
                        rows.emplace_back(time, node, static_cast<uint16_t>(rows.size()));
                    }
                }
            }
            Check(rows);
        }
    }
};

/// @ingroup observe-tests
/// @brief The suite "observe-table".
class TableTestSuite : public TestSuite
{
  public:
    TableTestSuite()
        : TestSuite("observe-table", Type::UNIT)
    {
        AddTestCase(new SortTest, TestCase::Duration::QUICK);
    }
};

static TableTestSuite g_tableTestSuite; //!< the test suite
