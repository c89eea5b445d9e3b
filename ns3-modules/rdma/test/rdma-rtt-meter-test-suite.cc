/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/rdma-rtt-meter.h"
#include "ns3/test.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <set>

/**
 * @file
 * @ingroup rdma-tests
 * RttMeter: against a list of all packets and answers of a random exchange.
 */

namespace ns3
{
namespace rdma
{
namespace tests
{

/// @ingroup rdma-tests
/// @brief Packets are sent, sent again and answered at random.
class RttMeterTest : public TestCase
{
  public:
    RttMeterTest()
        : TestCase("each packet that was sent once gives its round trip, in whatever order answers "
                   "come and whatever they acknowledge, by brute force")
    {
    }

  private:
    /// A random exchange. @param random source of chance
    void Try(std::mt19937_64& random)
    {
        RttMeter meter;
        std::map<uint64_t, int64_t>
            sent;                // packets sent once, and neither answered nor acknowledged
        std::set<uint64_t> open; // packets that may still be answered
        uint64_t next = 0;
        uint64_t first = 0;
        for (int64_t now = 0; now < 400; ++now)
        {
            const uint64_t draw = random() % 10;
            if (draw < 4)
            {
                meter.NoteSent(next, false, now);
                sent[next] = now;
                open.insert(next++);
            }
            else if (draw < 5 && next > first)
            {
                const uint64_t psn = first + random() % (next - first);
                meter.NoteSent(psn, true, now);
                sent.erase(psn);
            }
            else if (!open.empty())
            {
                const uint64_t answered = *std::next(
                    open.begin(),
                    static_cast<std::ptrdiff_t>(random() % std::min<std::size_t>(open.size(), 3)));
                const bool several = random() % 2;
                first = std::max(first, several ? answered + 1 : *open.begin());
                open.erase(answered);
                const int64_t rtt = sent.contains(answered) ? now - sent[answered] : -1;
                NS_TEST_ASSERT_MSG_EQ(meter.Read(first, answered, now), rtt, "packet " << answered);
                open.erase(open.begin(), open.lower_bound(first));
                sent.erase(sent.begin(), sent.lower_bound(first));
                sent.erase(answered);
                NS_TEST_ASSERT_MSG_EQ(meter.Read(first, answered, now), -1, "and gives it once");
            }
        }
    }

    void DoRun() override
    {
        std::mt19937_64 random(5);
        for (int round = 0; round < 150; ++round)
        {
            Try(random);
        }
    }
};

/// @ingroup rdma-tests
/// @brief Tests of RttMeter.
class RttMeterTestSuite : public TestSuite
{
  public:
    RttMeterTestSuite()
        : TestSuite("rdma-rtt-meter", Type::UNIT)
    {
        AddTestCase(new RttMeterTest, TestCase::Duration::QUICK);
    }
};

static RttMeterTestSuite g_rttMeterTestSuite; //!< registers the suite

} // namespace tests
} // namespace rdma
} // namespace ns3
