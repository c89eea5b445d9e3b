/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/lossless-feed-map.h"
#include "ns3/test.h"

#include <deque>
#include <map>
#include <random>
#include <set>

/**
 * @file
 * @ingroup lossless-tests
 * FeedMap: against a walk over all the frames.
 */

namespace ns3
{
namespace lossless
{
namespace tests
{

/// @ingroup lossless-tests
/// @brief Random frames come and go; the map agrees with a list of them.
class FeedMapTest : public TestCase
{
  public:
    FeedMapTest()
        : TestCase("bytes, bits since an egress was empty, and the largest egress, by brute force")
    {
    }

  private:
    /// A frame that is there.
    struct Held
    {
        uint16_t ingress; //!< port
        uint16_t egress;  //!< port
        uint8_t cls;      //!< class
        uint32_t bytes;   //!< size
    };

    /// Compare everything.
    /// @param map the map. @param held all frames. @param since ingress ports that fed an egress
    /// since it was empty, by (class, egress) @param ports how many.
    void Compare(const FeedMap& map,
                 const std::deque<Held>& held,
                 const std::map<std::pair<uint8_t, uint16_t>, std::set<uint16_t>>& since,
                 uint16_t ports)
    {
        for (uint8_t cls = 0; cls < N_CLASSES; ++cls)
        {
            for (uint16_t ingress = 0; ingress < ports; ++ingress)
            {
                uint32_t most = 0;
                uint16_t largest = NO_PORT;
                for (uint16_t egress = 0; egress < ports; ++egress)
                {
                    uint32_t bytes = 0;
                    for (const Held& frame : held)
                    {
                        bytes +=
                            frame.cls == cls && frame.ingress == ingress && frame.egress == egress
                                ? frame.bytes
                                : 0;
                    }
                    NS_TEST_ASSERT_MSG_EQ(map.GetBytes(egress, ingress, cls), bytes, "bytes");
                    const auto row = since.find({cls, egress});
                    NS_TEST_ASSERT_MSG_EQ(map.HasFed(egress, ingress, cls),
                                          (row != since.end() && row->second.contains(ingress)),
                                          "bit of the row");
                    if (bytes > most)
                    {
                        most = bytes;
                        largest = egress;
                    }
                }
                NS_TEST_ASSERT_MSG_EQ(map.FindLargest(ingress, cls), largest, "largest");
            }
        }
    }

    void DoRun() override
    {
        std::mt19937 random(3);
        for (const uint16_t ports : {1, 4, 63, 64, 65, 130})
        {
            FeedMap map(ports);
            std::deque<Held> held;
            std::map<std::pair<uint8_t, uint16_t>, std::set<uint16_t>> since;
            // few (egress, class) pairs, so that they run empty now and then
            for (int step = 0; step < 400; ++step)
            {
                if (held.empty() || random() % 100 < (step / 50 % 2 ? 30U : 70U))
                {
                    const Held frame{static_cast<uint16_t>(random() % ports),
                                     static_cast<uint16_t>(random() % ports),
                                     static_cast<uint8_t>(random() % N_CLASSES),
                                     static_cast<uint32_t>(64 + random() % 1437)};
                    held.push_back(frame);
                    map.Add(frame.ingress, frame.egress, frame.cls, frame.bytes);
                    since[{frame.cls, frame.egress}].insert(frame.ingress);
                }
                else
                {
                    const Held frame = held.front();
                    held.pop_front();
                    map.Remove(frame.ingress, frame.egress, frame.cls, frame.bytes);
                    bool empty = true;
                    for (const Held& other : held)
                    {
                        empty = empty && (other.cls != frame.cls || other.egress != frame.egress);
                    }
                    if (empty)
                    {
                        since.erase({frame.cls, frame.egress});
                    }
                }
                if (step % 100 == 99 || ports < 10)
                {
                    Compare(map, held, since, ports);
                }
            }
        }
        FeedMap map(4);
        NS_TEST_ASSERT_MSG_EQ(map.GetCause(0, 3), NO_PORT, "no pause, no cause");
        map.NoteCause(0, 3, 2);
        NS_TEST_ASSERT_MSG_EQ(map.GetCause(0, 3), 2, "the last one");
        NS_TEST_ASSERT_MSG_EQ(map.GetCause(0, 2), NO_PORT, "of that class");
    }
};

/// @ingroup lossless-tests
/// @brief The suite.
class FeedMapTestSuite : public TestSuite
{
  public:
    FeedMapTestSuite()
        : TestSuite("lossless-feed-map", Type::UNIT)
    {
        AddTestCase(new FeedMapTest, Duration::QUICK);
    }
};

static FeedMapTestSuite g_feedMapTestSuite; //!< registers the suite

} // namespace tests
} // namespace lossless
} // namespace ns3
