/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../lossless/test/lossless-test-draws.h"
#include "rdma-test-host.h"

#include "ns3/rdma-queue-pair.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <set>
#include <string>

/**
 * @file
 * @ingroup rdma-tests
 * ReceiveQueue: against the set of all that it may keep.
 */

namespace ns3
{
namespace rdma
{
namespace tests
{

using lossless::Frame;
using lossless::FrameKind;

/// @ingroup rdma-tests
/// @brief What both ends know, without its ends.
class TestConnection : public QueuePair
{
  public:
    using Connection::Append;
    using Connection::SetDemand;
};

/// @ingroup rdma-tests
/// @brief Packets of three messages arrive in any order, as often as it happens.
class ReceiveQueueTest : public TestCase
{
  public:
    ReceiveQueueTest()
        : TestCase("what is kept, delivered, finished and answered, and with which marks, with all "
                   "kinds of recovery and windows of reordering, by brute force")
    {
    }

  private:
    static constexpr std::array<uint64_t, 3> BYTES{9'500, 700, 12'000}; //!< of the messages
    static constexpr std::array<uint64_t, 4> FIRST{0, 10, 11, 23};      //!< packets of 1000 B

    /// Which message a packet is of.
    static std::size_t MessageOf(uint64_t psn)
    {
        return psn < FIRST[1] ? 0 : psn < FIRST[2] ? 1 : 2;
    }

    /// Payload of a packet (B).
    static uint64_t PayloadOf(uint64_t psn)
    {
        const std::size_t message = MessageOf(psn);
        return std::min<uint64_t>(1000, BYTES[message] - 1000 * (psn - FIRST[message]));
    }

    /// A random history. @param kind of recovery. @param window of reordering (packets).
    /// @param every packets per ACK. @param random source of chance.
    void Try(const std::string& kind, uint32_t window, uint32_t every, std::mt19937_64& random)
    {
        const auto connection = CreateObject<TestConnection>();
        connection->SetAttribute("PayloadSize", UintegerValue(1000));
        connection->SetAttribute("Retransmit", StringValue(kind));
        connection->SetDemand({BYTES[0]});
        for (std::size_t message = 0; message < BYTES.size(); ++message)
        {
            connection->Append(static_cast<uint32_t>(7 + message), BYTES[message]);
        }
        const auto host = CreateObject<TestHost>();
        ReceiveQueue queue(*connection, *connection);
        queue.SetHost(*host);
        queue.Start(every, window, nullptr);

        std::set<uint64_t> kept;        // those that need not be sent again
        std::set<uint64_t> arrived;     // those that have been here
        std::array<bool, 3> finished{}; // messages
        bool marked = false;            // since the last answer
        bool gap = false;               // go-back-N has reported it
        uint32_t unanswered = 0;        // packets since the last answer to some in order
        uint64_t expected = 0;          // first that is not kept
        uint64_t delivered = 0;         // bytes
        for (int step = 0; step < 400 && expected < FIRST[3]; ++step)
        {
            Frame frame;
            frame.psn = static_cast<uint32_t>(
                std::min<uint64_t>(FIRST[3] - 1, (expected > 2 ? expected - 2 : 0) + random() % 8));
            if (kind == "None" && arrived.contains(frame.psn))
            {
                continue; // each is sent once
            }
            frame.payload = static_cast<uint16_t>(PayloadOf(frame.psn));
            frame.ecn = random() % 4 ? Frame::ECN_CAPABLE : Frame::ECN_MARKED;
            frame.word[0] = random() % 10 == 0;
            frame.truncated = kind == "Selective" && random() % 8 == 0;
            marked |= frame.ecn == Frame::ECN_MARKED;
            const uint64_t before = expected;
            const bool within = frame.psn - before < window;
            const bool ahead = frame.psn > before;
            if (!frame.truncated && (!ahead || within || kind != "GoBackN"))
            {
                kept.insert(frame.psn);
            }
            while (kept.contains(expected))
            {
                delivered += kind == "None" ? 0 : PayloadOf(expected);
                ++expected;
            }
            delivered += kind == "None" ? PayloadOf(frame.psn) : 0;
            arrived.insert(frame.psn);
            bool complete = false;
            for (std::size_t message = 0; message < 3; ++message)
            {
                bool all = FIRST[message + 1] <= expected;
                complete |= all && before < FIRST[message + 1];
                for (uint64_t psn = FIRST[message]; kind == "None" && psn < FIRST[message + 1];
                     ++psn)
                {
                    all = psn == FIRST[message] ? arrived.contains(psn)
                                                : all && arrived.contains(psn);
                }
                finished[message] |= all;
            }

            FrameKind answer = FrameKind::DATA; // none
            if (frame.truncated)
            {
                answer = frame.psn < before ? FrameKind::ACK : FrameKind::NACK;
            }
            else if (frame.psn < before)
            {
                answer = FrameKind::ACK; // a duplicate
            }
            else if (ahead && !within)
            {
                answer = kind == "Selective" || !gap ? FrameKind::NACK : answer;
                gap = true;
            }
            else
            {
                gap = gap && ahead;
                // what was kept behind the packet may have asked for an answer
                const bool several = (window > 0 || kind == "None") && expected > before + 1;
                const bool due = ++unanswered >= every || frame.word[0];
                if (due || (!ahead && (complete || several)))
                {
                    answer = FrameKind::ACK;
                    unanswered = 0;
                }
            }
            host->m_injected.clear();
            queue.Receive(frame);

            NS_TEST_ASSERT_MSG_EQ(queue.GetExpected(), expected, kind << ": packet " << frame.psn);
            NS_TEST_ASSERT_MSG_EQ(host->m_delivered, delivered, kind << ": bytes");
            const auto count = std::count(finished.begin(), finished.end(), true);
            NS_TEST_ASSERT_MSG_EQ(host->m_finished.size(),
                                  std::size_t(count),
                                  kind << ": messages");
            NS_TEST_ASSERT_MSG_EQ(host->m_injected.size(),
                                  (answer == FrameKind::DATA ? 0 : 1),
                                  kind << ": answers to packet " << frame.psn);
            if (answer != FrameKind::DATA && !host->m_injected.empty())
            {
                const Frame& got = host->m_injected.front();
                NS_TEST_ASSERT_MSG_EQ((got.kind == answer), true, kind << ": ACK or NACK");
                NS_TEST_ASSERT_MSG_EQ(got.word[0], expected, "next in order");
                NS_TEST_ASSERT_MSG_EQ(got.word[1], frame.psn, "what it answers");
                NS_TEST_ASSERT_MSG_EQ((got.ecn == Frame::ECN_MARKED), marked, "any was marked");
                NS_TEST_ASSERT_MSG_EQ(got.truncated,
                                      (frame.truncated && answer == FrameKind::NACK),
                                      "came truncated");
                marked = false;
            }
        }
        for (std::size_t message = 0; message < 3 && expected == FIRST[3]; ++message)
        {
            NS_TEST_ASSERT_MSG_EQ(queue.GetCounters(message).delivered, BYTES[message], "all");
        }
    }

    void DoRun() override
    {
        std::mt19937_64 random(3);
        for (int round = 0; round < lossless::tests::Draws(100); ++round)
        {
            for (const std::string kind : {"None", "GoBackN", "Selective"})
            {
                Try(kind, kind == "None" ? 0 : round % 3 * 3, 1 + round % 4, random);
            }
        }
    }
};

/// @ingroup rdma-tests
/// @brief Tests of ReceiveQueue.
class ReceiveQueueTestSuite : public TestSuite
{
  public:
    ReceiveQueueTestSuite()
        : TestSuite("rdma-receive-queue", Type::UNIT)
    {
        AddTestCase(new ReceiveQueueTest, TestCase::Duration::QUICK);
    }
};

static ReceiveQueueTestSuite g_receiveQueueTestSuite; //!< registers the suite

} // namespace tests
} // namespace rdma
} // namespace ns3
