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

/**
 * @ingroup rdma-tests
 * @brief Packets are sent, sent again and answered at random.
 */
class RttMeterTest : public TestCase
{
  public:
    RttMeterTest()
        : TestCase("each rule gives the round trips it promises, and none of packets that were "
                   "sent again, by brute force")
    {
    }

  private:
    /**
     * @brief A random exchange.
     *
     * @param rule of the meter
     * @param random source of chance
     */
    void Try(RttRule rule, std::mt19937_64& random)
    {
        RttMeter meter;
        meter.SetRule(rule);
        std::map<uint64_t, int64_t> sent; // measured packets sent once, and not yet acknowledged
        std::set<uint64_t> open;          // packets that may still be answered
        uint64_t next = 0;
        uint64_t first = 0;
        int64_t latest = -1;
        for (int64_t now = 0; now < 400; ++now)
        {
            const uint64_t draw = random() % 10;
            if (draw < 4)
            {
                if (rule != RttRule::CHOSEN || random() % 3 == 0)
                {
                    meter.NoteSent(next, false, now);
                    sent[next] = now;
                }
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
                open.erase(answered);
                first = std::max(first, open.empty() ? next : *open.begin());
                int64_t expected = -1;
                if (rule == RttRule::CHOSEN)
                {
                    for (const auto& [psn, time] : sent)
                    {
                        expected = psn < first || psn == answered ? time : expected;
                        if (psn >= first && psn != answered)
                        {
                            break; // behind a packet that is still measured: not seen yet
                        }
                    }
                }
                else if (sent.contains(answered) &&
                         (rule == RttRule::ANSWERED || static_cast<int64_t>(answered) > latest))
                {
                    expected = sent[answered];
                }
                const int64_t rtt = expected < 0 ? -1 : now - expected;
                NS_TEST_ASSERT_MSG_EQ(meter.Read(first, answered, now), rtt, "packet " << answered);
                latest = std::max(latest, static_cast<int64_t>(answered));
                Forget(rule, first, answered, sent);
            }
            if (rule == RttRule::CHOSEN)
            {
                NS_TEST_ASSERT_MSG_EQ(meter.IsMeasuring(), !sent.empty(), "time " << now);
            }
        }
    }

    /**
     * @brief What is no longer measured after an answer.
     *
     * @param rule of the meter
     * @param first packets below it are acknowledged
     * @param answered packet answered
     * @param sent measured packets; changed
     */
    static void Forget(RttRule rule,
                       uint64_t first,
                       uint64_t answered,
                       std::map<uint64_t, int64_t>& sent)
    {
        if (rule == RttRule::LATEST)
        {
            sent.erase(sent.begin(), sent.upper_bound(answered));
            return;
        }
        sent.erase(sent.begin(), sent.lower_bound(first));
        if (rule == RttRule::CHOSEN && !sent.empty() && sent.begin()->first == answered)
        {
            sent.erase(sent.begin());
        }
    }

    void DoRun() override
    {
        std::mt19937_64 random(5);
        for (const RttRule rule : {RttRule::ANSWERED, RttRule::LATEST, RttRule::CHOSEN})
        {
            for (int round = 0; round < 50; ++round)
            {
                Try(rule, random);
            }
        }
        RttMeter none;
        NS_TEST_EXPECT_MSG_EQ(none.Read(1, 0, 10), -1, "nothing is measured by default");
    }
};

/**
 * @ingroup rdma-tests
 * @brief Tests of RttMeter.
 */
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
