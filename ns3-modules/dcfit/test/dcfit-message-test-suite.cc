/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/dcfit-heavy-hitters.h"
#include "ns3/dcfit-message.h"
#include "ns3/observe-mac-control.h"
#include "ns3/test.h"

#include <bitset>
#include <map>
#include <random>
#include <string>

/**
 * @file
 * @ingroup dcfit-tests
 * DCFIT: messages bit by bit, in the padding of a PFC frame; the bounds of the heavy hitters.
 */

namespace ns3
{
namespace dcfit
{
namespace tests
{

/// @ingroup dcfit-tests
/// @brief Every bit of a message is where it belongs.
class LayoutTest : public TestCase
{
  public:
    LayoutTest()
        : TestCase("a message is switch 14, port 6, sequence 12, rank 4, round 4 bits")
    {
    }

  private:
    /// A number as a text of bits.
    /// @param value number. @param bits how many. @return text, most significant first.
    static std::string Bits(uint32_t value, std::size_t bits)
    {
        return std::bitset<32>(value).to_string().substr(32 - bits);
    }

    void DoRun() override
    {
        std::mt19937 random(1);
        for (int i = 0; i < 10'000; ++i)
        {
            const Message message{static_cast<uint16_t>(random() % 16384),
                                  static_cast<uint8_t>(random() % 64),
                                  static_cast<uint16_t>(random() % 4096),
                                  static_cast<uint8_t>(random() % 16),
                                  static_cast<uint8_t>(random() % 16)};
            std::string serialized;
            for (const uint8_t byte : Serialize(message))
            {
                serialized += Bits(byte, 8);
            }
            NS_TEST_ASSERT_MSG_EQ(serialized,
                                  Bits(message.node, 14) + Bits(message.port, 6) +
                                      Bits(message.sequence, 12) + Bits(message.rank, 4) +
                                      Bits(message.round, 4),
                                  "bit by bit");
            NS_TEST_ASSERT_MSG_EQ((Read(Serialize(message)) == message), true, "and back");
        }
    }
};

/// @ingroup dcfit-tests
/// @brief Messages travel in the padding of a PFC frame and leave the fields of IEEE 802.1Qbb
/// unchanged.
class PaddingTest : public TestCase
{
  public:
    PaddingTest()
        : TestCase("up to four messages travel in the padding of a PFC frame")
    {
    }

  private:
    void DoRun() override
    {
        lossless::ControlFrame pause;
        pause.opcode = lossless::PFC_OPCODE;
        pause.classes = 0x0a;
        pause.value.fill(0);
        pause.value[1] = pause.value[3] = 0xffff;
        lossless::ControlFrame tagged = pause;
        Block block(Kind::CHECK);
        const Message first{10000, 63, 255, 2, 0};
        const Message second{3, 5, 4095, 15, 15};
        NS_TEST_ASSERT_MSG_EQ(block.Add(1, first), true, "there is room");
        NS_TEST_ASSERT_MSG_EQ(block.Add(3, second), true, "there is room");
        NS_TEST_ASSERT_MSG_EQ(block.AppendTo(tagged), true, "there is room");
        const auto plainBytes = observe::SerializeMacControl(pause, 7);
        const auto bytes = observe::SerializeMacControl(tagged, 7);
        NS_TEST_ASSERT_MSG_EQ(bytes.size(), 64, "the frame is as long as without");
        for (std::size_t at = 0; at < 34; ++at)
        {
            NS_TEST_ASSERT_MSG_EQ(+bytes[at], +plainBytes[at], "byte " << at << " is PFC's");
        }
        // type, length, kind, classes; 10000 = 10011100010000, 63 = 111111, 255 = 000011111111
        const std::array<uint8_t, 14>
            expected{0xdc, 14, 1, 0x0a, 0x9c, 0x43, 0xf0, 0xff, 0x20, 0x00, 0x0c, 0x5f, 0xff, 0xff};
        for (std::size_t i = 0; i < expected.size(); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(+bytes[34 + i], +expected[i], "byte " << i << " of the block");
        }
        lossless::ControlFrame read;
        NS_TEST_ASSERT_MSG_EQ(observe::ReadMacControl(bytes, read), true, "a proper frame");
        Block got;
        Message message;
        NS_TEST_ASSERT_MSG_EQ(got.ReadFrom(read), true, "there is a block");
        NS_TEST_ASSERT_MSG_EQ((got.Get(1, message) && message == first), true, "class 1");
        NS_TEST_ASSERT_MSG_EQ((got.Get(3, message) && message == second), true, "class 3");
        NS_TEST_ASSERT_MSG_EQ(got.Get(2, message), false, "class 2 has none");
        NS_TEST_ASSERT_MSG_EQ(got.ReadFrom(pause), false, "a frame without one has none");

        lossless::ControlFrame other = pause; // after what another scheme appended
        other.extra[0] = 0x77;
        other.extra[1] = 5;
        other.extraLength = 5;
        NS_TEST_ASSERT_MSG_EQ(block.AppendTo(other), true, "there is room");
        NS_TEST_ASSERT_MSG_EQ(got.ReadFrom(other), true, "it is found");
        NS_TEST_ASSERT_MSG_EQ((got.Get(3, message) && message == second), true, "and read");

        Block full(Kind::NOTICE);
        for (uint8_t cls = 0; cls < 6; ++cls)
        {
            NS_TEST_ASSERT_MSG_EQ(full.Add(cls, first), (cls < 4), "four fit");
        }
        lossless::ControlFrame whole = pause;
        NS_TEST_ASSERT_MSG_EQ(full.AppendTo(whole), true, "four fit into the padding");
        NS_TEST_ASSERT_MSG_EQ(full.AppendTo(other), false, "not behind others");
        for (uint8_t length = 0; length < whole.extraLength; ++length)
        {
            lossless::ControlFrame cut = whole;
            cut.extraLength = length;
            NS_TEST_ASSERT_MSG_EQ(got.ReadFrom(cut), false, "a block cut short is none");
        }
    }
};

/// @ingroup dcfit-tests
/// @brief Which of two messages a port remembers.
class OrderTest : public TestCase
{
  public:
    OrderTest()
        : TestCase("of two messages exactly one precedes, a higher rank before a lower one, and "
                   "which of some initiators comes first differs with their sequence numbers")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937 random(4);
        std::map<uint16_t, uint32_t> firsts;
        for (int i = 0; i < 20'000; ++i)
        {
            const auto make = [&random] {
                return Message{static_cast<uint16_t>(random() % 16384),
                               static_cast<uint8_t>(random() % 64),
                               static_cast<uint16_t>(random() % 128),
                               static_cast<uint8_t>(random() % 3),
                               0};
            };
            const Message a = make();
            const Message b = make();
            const Message c = make();
            NS_TEST_ASSERT_MSG_EQ((a.Precedes(b) != b.Precedes(a)),
                                  !(a.HasInitiatorOf(b) && a.HasEpisodeOf(b)),
                                  "one of two");
            NS_TEST_ASSERT_MSG_EQ((a.Precedes(b) && b.Precedes(c) && !a.Precedes(c)),
                                  false,
                                  "no circle");
            NS_TEST_ASSERT_MSG_EQ((a.rank > b.rank && b.Precedes(a)), false, "the higher rank");
        }
        for (uint16_t sequence = 0; sequence < 20; ++sequence)
        {
            Message first{16, 0, sequence, 0, 0};
            for (uint16_t node = 16; node < 36; ++node) // a k = 4 fat-tree's switches
            {
                const Message other{node, static_cast<uint8_t>(node % 4), sequence, 0, 0};
                first = other.Precedes(first) ? other : first;
            }
            ++firsts[first.node];
        }
        NS_TEST_ASSERT_MSG_GT(firsts.size(), 5, "many are first once");
    }
};

/// @ingroup dcfit-tests
/// @brief The promise of Space-Saving, against exact counts.
class HeavyHittersTest : public TestCase
{
  public:
    HeavyHittersTest()
        : TestCase("every flow above a k-th is there, and counts are off by at most their error")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937 random(2);
        for (int round = 0; round < 200; ++round)
        {
            const std::size_t k = 1 + random() % 8;
            const uint32_t flows = 1 + random() % 40;
            HeavyHitters heavy(k);
            std::map<uint32_t, uint64_t> exact;
            uint64_t total = 0;
            for (int i = 0; i < 500; ++i)
            {
                const uint32_t flow = random() % 3 ? random() % flows : 0;
                const uint32_t bytes = 64 + random() % 1437;
                heavy.Add(flow, bytes);
                exact[flow] += bytes;
                total += bytes;
            }
            NS_TEST_ASSERT_MSG_LT_OR_EQ(heavy.GetEntries().size(), k, "memory is bounded");
            std::map<uint32_t, HeavyHitters::Entry> found;
            for (const auto& entry : heavy.GetEntries())
            {
                found.emplace(entry.flow, entry);
                NS_TEST_ASSERT_MSG_GT_OR_EQ(entry.count, exact[entry.flow], "not below the truth");
                NS_TEST_ASSERT_MSG_LT_OR_EQ(entry.count - entry.error,
                                            exact[entry.flow],
                                            "above it by at most the error");
                NS_TEST_ASSERT_MSG_LT_OR_EQ(entry.error * k, total, "the error is at most n / k");
            }
            for (const auto& [flow, bytes] : exact)
            {
                NS_TEST_ASSERT_MSG_EQ((bytes * k <= total || found.contains(flow)),
                                      true,
                                      "a flow above n / k is there");
            }
            if (exact[0] * 2 > total && k > 1 && flows > 1)
            {
                NS_TEST_ASSERT_MSG_EQ(found.contains(0), true, "the flow that has most is known");
            }
        }
    }
};

/// @ingroup dcfit-tests
/// @brief The suite.
class MessageTestSuite : public TestSuite
{
  public:
    MessageTestSuite()
        : TestSuite("dcfit-message", Type::UNIT)
    {
        AddTestCase(new LayoutTest, Duration::QUICK);
        AddTestCase(new PaddingTest, Duration::QUICK);
        AddTestCase(new OrderTest, Duration::QUICK);
        AddTestCase(new HeavyHittersTest, Duration::QUICK);
    }
};

static MessageTestSuite g_messageTestSuite; //!< registers the suite

} // namespace tests
} // namespace dcfit
} // namespace ns3
