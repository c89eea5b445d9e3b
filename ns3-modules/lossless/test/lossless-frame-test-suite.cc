/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/lossless-frame.h"
#include "ns3/packet.h"
#include "ns3/test.h"

#include <algorithm>
#include <deque>
#include <random>
#include <set>
#include <vector>

/**
 * @file
 * @ingroup lossless-tests
 * The pool that frames come from, and the list that holds them.
 */

namespace ns3
{
namespace lossless
{
namespace tests
{

/// @ingroup lossless-tests
/// @brief Frames are told apart, counted, cleaned and used again.
class FramePoolTest : public TestCase
{
  public:
    FramePoolTest()
        : TestCase("frames in use are distinct and counted; a frame used again is as new")
    {
    }

  private:
    /// Is a frame as declared? @param frame the frame. @return true if so.
    static bool IsNew(const Frame& frame)
    {
        const Frame fresh{};
        return frame.next == nullptr && frame.queued == 0 && frame.control == nullptr &&
               frame.word == fresh.word && frame.flow == 0 && frame.src == 0 && frame.dst == 0 &&
               frame.psn == 0 && frame.hash == 0 && frame.bytes == 0 && frame.payload == 0 &&
               frame.ingress == NO_PORT && frame.egress == NO_PORT &&
               frame.kind == FrameKind::DATA && frame.cls == 0 && frame.ttl == 64 &&
               frame.hop == 0 && frame.ecn == 0 && !frame.pinned && !frame.lost && !frame.charged &&
               frame.packet == nullptr;
    }

    /// Write over everything a user of a frame may have written. @param frame the frame
    static void Spoil(Frame& frame)
    {
        frame.next = &frame;
        frame.queued = -1;
        frame.word = {1, 2};
        frame.flow = frame.src = frame.dst = frame.psn = frame.hash = 77;
        frame.bytes = frame.payload = frame.ingress = frame.egress = 7;
        frame.kind = FrameKind::SIGNAL;
        frame.cls = frame.ttl = frame.hop = frame.ecn = 3;
        frame.pinned = frame.lost = frame.charged = true;
    }

    void DoRun() override
    {
        FramePool::Clear();
        std::mt19937 random(1);
        std::vector<Frame*> used;
        std::size_t most = 0;
        std::set<Frame*> inUse;
        std::set<ControlFrame*> controlInUse;
        for (int step = 0; step < 20'000; ++step)
        {
            if (used.empty() || random() % 100 < (step / 5000 % 2 ? 35U : 65U))
            {
                const bool control = random() % 3 == 0;
                Frame* frame = control ? FramePool::TakeControl() : FramePool::Take();
                NS_TEST_ASSERT_MSG_EQ(inUse.insert(frame).second, true, "a frame not in use");
                if (control)
                {
                    NS_TEST_ASSERT_MSG_EQ(controlInUse.insert(frame->control).second,
                                          true,
                                          "a control record not in use");
                    NS_TEST_ASSERT_MSG_EQ(
                        (frame->kind == FrameKind::MAC && frame->cls == CONTROL_CLASS),
                        true,
                        "a MAC frame of the control class");
                    NS_TEST_ASSERT_MSG_EQ((frame->control->classes == 0 &&
                                           frame->control->opcode == 0 &&
                                           frame->control->extraLength == 0),
                                          true,
                                          "that addresses no class yet");
                    frame->control->classes = 0xff;
                    frame->control->opcode = 1;
                    frame->control->extraLength = 24;
                }
                else
                {
                    NS_TEST_ASSERT_MSG_EQ(IsNew(*frame), true, "as new, step " << step);
                    Spoil(*frame);
                }
                used.push_back(frame);
            }
            else
            {
                const std::size_t which = random() % used.size();
                Frame* frame = used[which];
                used[which] = used.back();
                used.pop_back();
                inUse.erase(frame);
                controlInUse.erase(frame->control);
                FramePool::Give(frame);
            }
            NS_TEST_ASSERT_MSG_EQ(FramePool::GetLive(), used.size(), "frames in use");
            most = std::max(most, used.size());
        }
        NS_TEST_ASSERT_MSG_GT(most, 1024, "more than a chunk of frames in use");
        FramePool::Clear();
        NS_TEST_ASSERT_MSG_EQ(FramePool::GetLive(), 0, "all forgotten");
        // Records are used again: taking and giving one again and again needs one.
        Frame* first = FramePool::Take();
        FramePool::Give(first);
        for (int i = 0; i < 10'000; ++i)
        {
            Frame* frame = FramePool::Take();
            NS_TEST_ASSERT_MSG_EQ(frame, first, "the record just given back");
            FramePool::Give(frame);
        }
        FramePool::Clear();
    }
};

/// @ingroup lossless-tests
/// @brief A packet lives as long as the frame that carries it.
class FramePacketTest : public TestCase
{
  public:
    FramePacketTest()
        : TestCase("a frame holds one reference to its packet until it is given back or forgotten")
    {
    }

  private:
    void DoRun() override
    {
        FramePool::Clear();
        auto packet = Create<Packet>(100);
        NS_TEST_ASSERT_MSG_EQ(packet->GetReferenceCount(), 1, "ours");
        Frame* frame = FramePool::TakePacket(packet);
        NS_TEST_ASSERT_MSG_EQ(frame->packet, PeekPointer(packet), "the packet itself");
        NS_TEST_ASSERT_MSG_EQ((frame->kind == FrameKind::PACKET), true, "known by its kind");
        NS_TEST_ASSERT_MSG_EQ(packet->GetReferenceCount(), 2, "ours and the frame's");
        FramePool::Give(frame);
        NS_TEST_ASSERT_MSG_EQ(packet->GetReferenceCount(), 1, "ours again");
        Frame* again = FramePool::Take();
        NS_TEST_ASSERT_MSG_EQ(again, frame, "the record just given back");
        NS_TEST_ASSERT_MSG_EQ((again->packet == nullptr), true, "refers to nothing");
        for (int i = 0; i < 2000; ++i) // more than one chunk of records
        {
            FramePool::TakePacket(packet);
        }
        NS_TEST_ASSERT_MSG_EQ(packet->GetReferenceCount(), 2001, "ours and one a frame");
        FramePool::Clear();
        NS_TEST_ASSERT_MSG_EQ(packet->GetReferenceCount(), 1, "frames forgotten let go");
    }
};

/// @ingroup lossless-tests
/// @brief FrameFifo against std::deque.
class FrameFifoTest : public TestCase
{
  public:
    FrameFifoTest()
        : TestCase("the list of frames is first in, first out, and counts frames and bytes")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937 random(2);
        FrameFifo fifo;
        std::deque<Frame*> expected;
        int64_t bytes = 0;
        for (int step = 0; step < 20'000; ++step)
        {
            if (expected.empty() || random() % 2)
            {
                Frame* frame = FramePool::Take();
                frame->bytes = static_cast<uint16_t>(random());
                frame->next = frame; // of another list: not to be believed
                fifo.Push(frame);
                expected.push_back(frame);
                bytes += frame->bytes;
            }
            else
            {
                Frame* frame = fifo.Pop();
                NS_TEST_ASSERT_MSG_EQ(frame, expected.front(), "the oldest");
                expected.pop_front();
                bytes -= frame->bytes;
                FramePool::Give(frame);
            }
            NS_TEST_ASSERT_MSG_EQ(fifo.IsEmpty(), expected.empty(), "emptiness");
            NS_TEST_ASSERT_MSG_EQ(fifo.Head(),
                                  (expected.empty() ? nullptr : expected.front()),
                                  "the next to go");
            NS_TEST_ASSERT_MSG_EQ(fifo.GetBytes(), bytes, "bytes");
            NS_TEST_ASSERT_MSG_EQ(fifo.GetFrames(), expected.size(), "frames");
            std::size_t length = 0;
            for (const Frame* frame = fifo.Head(); frame && step % 100 == 0; frame = frame->next)
            {
                NS_TEST_ASSERT_MSG_EQ(frame, expected[length], "place " << length);
                ++length;
            }
            NS_TEST_ASSERT_MSG_EQ(length, (step % 100 ? 0 : expected.size()), "linked to the end");
        }
        FramePool::Clear();
    }
};

/// @ingroup lossless-tests
/// @brief Tests of FramePool and FrameFifo.
class FrameTestSuite : public TestSuite
{
  public:
    FrameTestSuite()
        : TestSuite("lossless-frame", Type::UNIT)
    {
        AddTestCase(new FramePoolTest, TestCase::Duration::QUICK);
        AddTestCase(new FramePacketTest, TestCase::Duration::QUICK);
        AddTestCase(new FrameFifoTest, TestCase::Duration::QUICK);
    }
};

static FrameTestSuite g_frameTestSuite; //!< registers the suite

} // namespace tests
} // namespace lossless
} // namespace ns3
