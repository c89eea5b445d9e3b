/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../lossless/test/lossless-test-draws.h"

#include "ns3/lossless-event.h"
#include "ns3/rdma-loss-recovery.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup rdma-tests
 * LossRecovery: against a channel that loses at random and answers at once.
 */

namespace ns3
{
namespace rdma
{
namespace tests
{

using lossless::NowPs;

/// @ingroup rdma-tests
/// @brief A sender, its channel and its receiver. It notes who was lost, and when a timeout is due.
class LossyExchange : public LossRecovery::Owner
{
  public:
    static constexpr int64_t TICK = 1'000;    //!< between two chances to send (ps)
    static constexpr int64_t LONG = 20'001;   //!< timeout: never at a tick (ps)
    static constexpr int64_t BRIEF = 7'001;   //!< with few packets in flight (ps)
    static constexpr uint32_t FEW = 3;        //!< how many these are
    static constexpr uint64_t PACKETS = 60;   //!< of the message
    static constexpr uint64_t MOST_OPEN = 12; //!< in flight at most

    /// Begin. @param kind of recovery. @param brief use both timeouts. @param retries until it
    /// gives up. @param random source of chance.
    LossyExchange(const std::string& kind, bool brief, uint32_t retries, std::mt19937_64& random)
        : m_pair(CreateObject<QueuePair>()),
          m_recovery(*m_pair, *this),
          m_kind(kind),
          m_brief(brief),
          m_random(random)
    {
        m_pair->SetAttribute("Retransmit", StringValue(kind));
        m_pair->SetAttribute("Timeout", TimeValue(TimeStep(LONG)));
        m_pair->SetAttribute("ShortTimeout", TimeValue(TimeStep(brief ? BRIEF : 0)));
        m_pair->SetAttribute("ShortTimeoutPackets", UintegerValue(FEW));
        m_pair->SetAttribute("TimeoutRepeats", StringValue(random() % 2 ? "All" : "First"));
        m_pair->SetAttribute("RetryCount", UintegerValue(retries));
        m_recovery.Start();
    }

    void NotifyTimeout() override
    {
        Note(NowPs() == GetDue(), "a timeout expires when it is due");
        m_progress = NowPs();
        ++m_timeouts;
    }

    void NotifyFailure() override
    {
        Note(NowPs() == GetDue(), "it gives up when a timeout is due");
        m_failure = NowPs();
    }

    /// Run it. @param loss of a hundred packets. @param from from this tick on all are lost.
    void Run(uint32_t loss, int64_t from)
    {
        Tick(loss, from);
        Simulator::Run();
        Simulator::Destroy();
    }

    Ptr<QueuePair> m_pair;        //!< its settings
    LossRecovery m_recovery;      //!< under test
    std::set<uint64_t> m_got;     //!< what the receiver has kept
    std::vector<uint32_t> m_sent; //!< by packet, how often it was sent
    std::vector<uint32_t> m_lost; //!< by packet, how often it was lost
    uint32_t m_timeouts{0};       //!< told
    int64_t m_progress{0};        //!< last one (ps)
    int64_t m_failure{-1};        //!< told of failure (ps); -1: not
    std::string m_problem;        //!< the first one

  private:
    /// Say what is wrong, once.
    void Note(bool right, const std::string& what)
    {
        if (!right && m_problem.empty())
        {
            m_problem = what + ", at " + std::to_string(NowPs()) + " ps";
        }
    }

    /// Chances to send, until all is over. @param loss of a hundred. @param from see Run.
    void Tick(uint32_t loss, int64_t from)
    {
        Step(from > 0 ? loss : 100);
        if (m_failure < 0 && m_first < PACKETS)
        {
            Simulator::Schedule(TimeStep(TICK), [this, loss, from] { Tick(loss, from - 1); });
        }
    }

    uint64_t Outstanding() const
    {
        return m_sent.size() - m_first;
    }

    int64_t GetDue() const
    {
        return m_progress + (m_brief && Outstanding() <= FEW ? BRIEF : LONG);
    }

    /// A chance to send.
    void Step(uint32_t loss)
    {
        Note(m_kind == "None" || Outstanding() == 0 || m_failure >= 0 || NowPs() < GetDue(),
             "a timeout is missing");
        const bool fits = m_recovery.GetNext() < std::min(PACKETS, m_first + MOST_OPEN);
        if (m_failure >= 0 || m_random() % 3 == 0 || !(fits || m_recovery.HasMissing()))
        {
            return;
        }
        bool repeat = false;
        const uint64_t psn = m_recovery.TakeNext(repeat);
        Note(repeat == (psn < m_sent.size()), "a packet sent before is a repeat");
        Note(psn <= m_sent.size(), "no packet is left out");
        if (!repeat)
        {
            m_sent.resize(psn + 1);
            m_lost.resize(psn + 1);
        }
        ++m_sent[psn];
        if (psn == m_first)
        {
            m_progress = NowPs();
        }
        m_recovery.WatchProgress(psn, NowPs());
        if (m_random() % 100 < loss)
        {
            ++m_lost[psn];
            if (m_kind == "None")
            {
                Acknowledge(psn + 1); // nothing waits for what is lost
            }
            return;
        }
        Answer(psn);
    }

    /// A packet has arrived, and so has its answer.
    void Answer(uint64_t psn)
    {
        uint64_t expected = m_first;
        const bool gap = psn > expected;
        if (!gap || m_kind != "GoBackN")
        {
            m_got.insert(psn);
        }
        while (m_got.contains(expected))
        {
            ++expected;
        }
        Acknowledge(expected);
        if (m_kind != "None")
        {
            m_recovery.NoteAnswer(gap, expected, psn);
        }
        Note(!gap || m_kind != "GoBackN" || m_recovery.GetNext() == expected,
             "a gap sends the sender back to it");
    }

    void Acknowledge(uint64_t first)
    {
        const bool news = first > m_first;
        Note(m_recovery.Advance(first, NowPs()) == news, "news are news");
        m_progress = news ? NowPs() : m_progress;
        m_first = first;
    }

    std::string m_kind;        //!< of recovery
    bool m_brief;              //!< both timeouts
    std::mt19937_64& m_random; //!< source of chance
    uint64_t m_first{0};       //!< first packet not acknowledged
};

/// @ingroup rdma-tests
/// @brief Every packet arrives, whatever is lost.
class LossRecoveryTest : public TestCase
{
  public:
    LossRecoveryTest()
        : TestCase("whatever is lost arrives, timeouts come when they are due and never else, and "
                   "a selective sender whose answers come at once repeats only what was lost")
    {
    }

  private:
    void DoRun() override
    {
        lossless::UsePicoseconds();
        std::mt19937_64 random(11);
        uint32_t timeouts = 0;
        for (int round = 0; round < lossless::tests::Draws(100); ++round)
        {
            for (const std::string kind : {"None", "GoBackN", "Selective"})
            {
                LossyExchange exchange(kind, round % 2, 0, random);
                exchange.Run(round % 5 * 10, lossless::NEVER);
                NS_TEST_ASSERT_MSG_EQ(exchange.m_problem, "", kind << " " << round);
                const uint64_t size = exchange.m_sent.size();
                NS_TEST_ASSERT_MSG_EQ(size, LossyExchange::PACKETS, kind << ": all are sent");
                for (uint64_t psn = 0; psn < size; ++psn)
                {
                    const uint32_t lost = exchange.m_lost[psn];
                    NS_TEST_ASSERT_MSG_EQ(exchange.m_got.contains(psn),
                                          (kind != "None" || lost == 0),
                                          kind << " " << psn);
                    if (kind != "GoBackN")
                    {
                        NS_TEST_ASSERT_MSG_EQ(exchange.m_sent[psn],
                                              (kind == "None" ? 1 : 1 + lost),
                                              kind << ": packet " << psn);
                    }
                }
                NS_TEST_ASSERT_MSG_EQ((kind == "None" && exchange.m_timeouts > 0),
                                      false,
                                      "without recovery there are none");
                timeouts += exchange.m_timeouts;
            }
        }
        NS_TEST_EXPECT_MSG_GT(timeouts, 20, "timeouts were tried");
        TryFailure(random);
    }

    /// A link that is cut. @param random source of chance.
    void TryFailure(std::mt19937_64& random)
    {
        for (const std::string kind : {"GoBackN", "Selective"})
        {
            for (const uint32_t retries : {1U, 3U})
            {
                LossyExchange exchange(kind, false, retries, random);
                exchange.Run(5, 40);
                NS_TEST_EXPECT_MSG_EQ(exchange.m_problem, "", kind << " " << retries);
                NS_TEST_EXPECT_MSG_EQ(exchange.m_recovery.HasFailed(), true, "it has given up");
                // the timeout that is one too many is no longer told as one
                NS_TEST_EXPECT_MSG_EQ(exchange.m_failure - exchange.m_progress,
                                      LossyExchange::LONG,
                                      "the last wait");
                NS_TEST_EXPECT_MSG_GT_OR_EQ(exchange.m_timeouts, retries, "after so many");
            }
        }
    }
};

/// @ingroup rdma-tests
/// @brief Tests of LossRecovery.
class LossRecoveryTestSuite : public TestSuite
{
  public:
    LossRecoveryTestSuite()
        : TestSuite("rdma-loss-recovery", Type::UNIT)
    {
        AddTestCase(new LossRecoveryTest, TestCase::Duration::QUICK);
    }
};

static LossRecoveryTestSuite g_lossRecoveryTestSuite; //!< registers the suite

} // namespace tests
} // namespace rdma
} // namespace ns3
