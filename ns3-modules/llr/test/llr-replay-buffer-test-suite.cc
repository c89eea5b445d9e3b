/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/llr-receiver.h"
#include "ns3/llr-replay-buffer.h"
#include "ns3/test.h"

#include <deque>
#include <random>

/**
 * @file
 * @ingroup llr-tests
 * The two ends of a direction without a link: what they keep, accept and say.
 */

namespace ns3
{
namespace llr
{
namespace tests
{

/// @ingroup llr-tests
/// @brief The replay buffer against a deque of whole frames with numbers that never wrap.
class ReplayBufferTest : public TestCase
{
  public:
    ReplayBufferTest()
        : TestCase("the replay buffer keeps what is not acknowledged, in order, as its numbers "
                   "wrap")
    {
    }

  private:
    /// A frame of the model.
    struct Kept
    {
        uint64_t number; //!< not wrapped
        int64_t end;     //!< ps
        uint16_t bytes;  //!< B
    };

    void DoRun() override
    {
        std::mt19937 random(1);
        uint64_t first = 3 * uint64_t{SEQUENCES} - 500; // wraps soon
        ReplayBuffer buffer;
        buffer.Reset(first % SEQUENCES);
        std::deque<Kept> model;
        std::size_t cursor = 0;
        uint64_t next = first;
        uint64_t expected = first; // of the other end
        for (int step = 0; step < 20'000; ++step)
        {
            const bool good = random() % 8 != 0;
            const bool replaying = cursor < model.size();
            const auto action = random() % 8;
            if (action < 5)
            {
                const auto bytes = static_cast<uint16_t>(64 + random() % 1000);
                const uint64_t number = replaying ? model[cursor].number : next;
                NS_TEST_ASSERT_MSG_EQ(buffer.GetNextSequence(), number % SEQUENCES, "its number");
                bool accepted;
                if (replaying)
                {
                    NS_TEST_ASSERT_MSG_EQ(buffer.GetNext().bytes, model[cursor].bytes, "its size");
                    model[cursor].end = step;
                    accepted = buffer.Repeat(step, good);
                }
                else
                {
                    model.push_back({next++, step, bytes});
                    accepted = buffer.Push({step, bytes, 3}, good);
                }
                NS_TEST_ASSERT_MSG_EQ(accepted, (good && number == expected), "in order or not");
                expected += accepted ? 1 : 0;
                ++cursor;
            }
            else if (action < 7 && expected > first)
            {
                // some number that the other end may name, the one before the first included
                const uint64_t upTo = first - 1 + random() % (expected - first + 1);
                const auto released = buffer.Release(upTo % SEQUENCES);
                NS_TEST_ASSERT_MSG_EQ(released.value_or(~0U), upTo + 1 - first, "of them");
                while (first <= upTo)
                {
                    model.pop_front();
                    ++first;
                    cursor -= cursor > 0 ? 1 : 0;
                }
            }
            else if (action == 7 && random() % 20 == 0)
            {
                buffer.Replay();
                cursor = 0;
            }
            int64_t bytes = 0;
            for (const Kept& kept : model)
            {
                bytes += kept.bytes;
            }
            NS_TEST_ASSERT_MSG_EQ(buffer.GetFrames(), model.size(), "frames");
            NS_TEST_ASSERT_MSG_EQ(buffer.GetBytes(), bytes, "bytes");
            NS_TEST_ASSERT_MSG_EQ(buffer.IsReplaying(), (cursor < model.size()), "replaying");
            if (!model.empty())
            {
                NS_TEST_ASSERT_MSG_EQ(buffer.GetOldest().end, model.front().end, "the oldest");
                NS_TEST_ASSERT_MSG_EQ(buffer.GetOldestSequence(), first % SEQUENCES, "its number");
            }
        }
        NS_TEST_ASSERT_MSG_GT(first, 3 * uint64_t{SEQUENCES}, "the numbers have wrapped");
        NS_TEST_ASSERT_MSG_EQ(buffer.Release((next + 1) % SEQUENCES).has_value(),
                              false,
                              "a number that was not sent");
    }
};

/// @ingroup llr-tests
/// @brief The receiver's words in sequences computed by hand; those with 901 are of a public test
/// plan for switches (LLR-02, LLR-03).
class ReceiverTest : public TestCase
{
  public:
    ReceiverTest()
        : TestCase("the receiver sends one NACK, then nothing until the expected frame comes")
    {
    }

  private:
    void DoRun() override
    {
        using Verdict = Receiver::Verdict;
        using State = Receiver::State;
        for (const bool wrong : {false, true})
        {
            Receiver receiver;
            receiver.Start(1);
            for (uint32_t sequence = 1; sequence <= 900; ++sequence)
            {
                NS_TEST_ASSERT_MSG_EQ((receiver.Receive(sequence, false) == Verdict::EXPECTED),
                                      true,
                                      "in order");
            }
            NS_TEST_ASSERT_MSG_EQ(receiver.HasNews(), true, "an ACK is due");
            NS_TEST_ASSERT_MSG_EQ(receiver.TakeNews(), false, "it is no NACK");
            NS_TEST_ASSERT_MSG_EQ(receiver.HasNews(), false, "it was said");
            const Verdict bad = receiver.Receive(wrong ? 901 : 902, wrong);
            NS_TEST_ASSERT_MSG_EQ((bad == (wrong ? Verdict::WRONG : Verdict::MISSING)), true, "");
            NS_TEST_ASSERT_MSG_EQ((receiver.GetState() == State::SEND_NACK), true, "state");
            NS_TEST_ASSERT_MSG_EQ(receiver.GetLast(), 900, "number of the NACK");
            NS_TEST_ASSERT_MSG_EQ(receiver.TakeNews(), true, "a NACK");
            for (const uint32_t sequence : {903, 904, 905, 2000})
            {
                NS_TEST_ASSERT_MSG_EQ((receiver.Receive(sequence, false) == Verdict::EXPECTED),
                                      false,
                                      "not the expected one");
                NS_TEST_ASSERT_MSG_EQ(receiver.HasNews(), false, "neither ACK nor NACK");
            }
            NS_TEST_ASSERT_MSG_EQ((receiver.Receive(901, true) == Verdict::WRONG), true, "again");
            NS_TEST_ASSERT_MSG_EQ(receiver.HasNews(), false, "no second NACK");
            // a replay that begins before: the NACK was lost
            NS_TEST_ASSERT_MSG_EQ((receiver.Receive(899, false) == Verdict::DUPLICATE), true, "");
            NS_TEST_ASSERT_MSG_EQ(receiver.HasNews(), true, "an ACK");
            NS_TEST_ASSERT_MSG_EQ(receiver.TakeNews(), false, "no NACK");
            NS_TEST_ASSERT_MSG_EQ((receiver.Receive(901, false) == Verdict::EXPECTED), true, "it");
            NS_TEST_ASSERT_MSG_EQ((receiver.GetState() == State::SEND_ACKS), true, "all is well");
            NS_TEST_ASSERT_MSG_EQ(receiver.GetLast(), 901, "number of the ACK");
        }
        Receiver receiver;
        receiver.Start(SEQUENCES - 1);
        NS_TEST_ASSERT_MSG_EQ(receiver.GetLast(), SEQUENCES - 2, "nothing yet");
        NS_TEST_ASSERT_MSG_EQ((receiver.Receive(SEQUENCES - 1, false) == Verdict::EXPECTED), 1, "");
        NS_TEST_ASSERT_MSG_EQ((receiver.Receive(0, false) == Verdict::EXPECTED), true, "wraps");
        receiver.TakeNews();
        NS_TEST_ASSERT_MSG_EQ((receiver.Receive(SEQUENCES - 1, false) == Verdict::DUPLICATE),
                              true,
                              "before the wrap");
        NS_TEST_ASSERT_MSG_EQ(receiver.HasNews(), true, "its ACK was lost: it is repeated");
        NS_TEST_ASSERT_MSG_EQ(receiver.TakeNews(), false, "and is no NACK");
    }
};

/// @ingroup llr-tests
/// @brief Tests of ReplayBuffer and Receiver.
class ReplayBufferTestSuite : public TestSuite
{
  public:
    ReplayBufferTestSuite()
        : TestSuite("llr-replay-buffer", Type::UNIT)
    {
        AddTestCase(new ReplayBufferTest, TestCase::Duration::QUICK);
        AddTestCase(new ReceiverTest, TestCase::Duration::QUICK);
    }
};

static ReplayBufferTestSuite g_replayBufferTestSuite; //!< registers the suite

} // namespace tests
} // namespace llr
} // namespace ns3
