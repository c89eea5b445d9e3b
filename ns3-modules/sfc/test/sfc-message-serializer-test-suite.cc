/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/observe-frame-serializer.h"
#include "ns3/sfc-message-serializer.h"
#include "ns3/sfc-message.h"
#include "ns3/test.h"

/**
 * @file
 * @ingroup sfc-tests
 * The bytes of a source flow control message.
 */

namespace ns3
{
namespace sfc
{
namespace tests
{

/// @ingroup sfc-tests
/// @brief A message byte by byte.
class MessageSerializerTest : public TestCase
{
  public:
    MessageSerializerTest()
        : TestCase("a message has UDP port 1674, version, class, interval and time stamp at their "
                   "places")
    {
    }

  private:
    void DoRun() override
    {
        Message message;
        message.interval = 0x010203040506;
        message.stamp = 0x1112131415161718;
        message.cls = 3;
        message.stamped = true;
        lossless::Frame frame;
        frame.kind = lossless::FrameKind::SIGNAL;
        frame.bytes = 64;
        Write(message, frame);
        const observe::FrameSerializers serializers({});
        observe::FrameBytes bytes;
        NS_TEST_ASSERT_MSG_EQ(serializers.Serialize(frame, 0, true, true, bytes),
                              64,
                              "fits 64 bytes");
        const uint8_t expected[] = {0x06, 0x8a, 0x06, 0x8a, 0x00, 0x16, 0x00, 0x00, // UDP
                                    0x01, 0x83, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, // interval
                                    0x13, 0x14, 0x15, 0x16, 0x17, 0x18};            // stamp
        for (std::size_t i = 0; i < sizeof(expected); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(+bytes.GetData()[38 + i], +expected[i], "byte " << 38 + i);
        }

        message.stamped = false;
        Write(message, frame);
        serializers.Serialize(frame, 0, true, true, bytes);
        NS_TEST_ASSERT_MSG_EQ(+bytes.GetData()[47], 3, "the class alone");
        NS_TEST_ASSERT_MSG_EQ(+bytes.GetData()[57], 0, "no time stamp");
    }
};

/// @ingroup sfc-tests
/// @brief Tests of MessageSerializer.
class MessageSerializerTestSuite : public TestSuite
{
  public:
    MessageSerializerTestSuite()
        : TestSuite("sfc-message-serializer", Type::UNIT)
    {
        AddTestCase(new MessageSerializerTest, TestCase::Duration::QUICK);
    }
};

static MessageSerializerTestSuite g_messageSerializerTestSuite; //!< registers the suite

} // namespace tests
} // namespace sfc
} // namespace ns3
