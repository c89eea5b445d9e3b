/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/gfc-conceptual.h"
#include "ns3/gfc-queue-length-serializer.h"
#include "ns3/observe-frame-serializer.h"
#include "ns3/test.h"

/**
 * @file
 * @ingroup gfc-tests
 * The bytes of conceptual feedback.
 */

namespace ns3
{
namespace gfc
{
namespace tests
{

/// @ingroup gfc-tests
/// @brief Feedback byte by byte.
class QueueLengthSerializerTest : public TestCase
{
  public:
    QueueLengthSerializerTest()
        : TestCase("queue lengths beyond 65535 bytes are serialized in full")
    {
    }

  private:
    void DoRun() override
    {
        lossless::Frame* frame = lossless::FramePool::TakeControl();
        frame->bytes = lossless::MIN_FRAME_BYTES;
        frame->control->opcode = QUEUE_LENGTH_OPCODE;
        frame->control->classes = 1U << 1 | 1U << 7;
        frame->control->value.fill(9);      // of classes not addressed: not to be sent
        frame->control->value[1] = 300'000; // 0x000493e0
        frame->control->value[7] = 0x01020304;
        const observe::FrameSerializers serializers({});
        observe::FrameBytes bytes;
        NS_TEST_ASSERT_MSG_EQ(serializers.Serialize(*frame, 0, true, true, bytes),
                              64,
                              "fits 64 bytes");
        const uint8_t expected[] = {0x88, 0x08, 0x0f, 0xc0, 0x00, 0x82, 0, 0, 0, 0,
                                    0x00, 0x04, 0x93, 0xe0, 0,    0,    0, 0, 0, 0,
                                    0,    0,    0,    0,    0,    0,    0, 0, 0, 0,
                                    0,    0,    0,    0,    1,    2,    3, 4, 0};
        for (std::size_t i = 0; i < sizeof(expected); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(+bytes.GetData()[12 + i], +expected[i], "byte " << 12 + i);
        }
        lossless::FramePool::Give(frame);
    }
};

/// @ingroup gfc-tests
/// @brief Tests of QueueLengthSerializer.
class QueueLengthSerializerTestSuite : public TestSuite
{
  public:
    QueueLengthSerializerTestSuite()
        : TestSuite("gfc-queue-length-serializer", Type::UNIT)
    {
        AddTestCase(new QueueLengthSerializerTest, TestCase::Duration::QUICK);
    }
};

static QueueLengthSerializerTestSuite g_queueLengthSerializerTestSuite; //!< registers the suite

} // namespace tests
} // namespace gfc
} // namespace ns3
