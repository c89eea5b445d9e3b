/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/cbfc-credit-serializer.h"
#include "ns3/cbfc-credit.h"
#include "ns3/observe-frame-serializer.h"
#include "ns3/test.h"

/**
 * @file
 * @ingroup cbfc-tests
 * The bytes of a credit message.
 */

namespace ns3
{
namespace cbfc
{
namespace tests
{

/// @ingroup cbfc-tests
/// @brief A credit message byte by byte.
class CreditSerializerTest : public TestCase
{
  public:
    CreditSerializerTest()
        : TestCase("FCCL and FCTBS follow the class-enable vector, 32 bits each")
    {
    }

  private:
    void DoRun() override
    {
        lossless::Frame* frame = lossless::FramePool::TakeControl();
        frame->bytes = lossless::MIN_FRAME_BYTES;
        frame->control->opcode = CREDIT_OPCODE;
        frame->control->classes = 1U << 5;
        frame->control->value.fill(0);
        frame->control->value[0] = 0x01020304;
        frame->control->value[1] = 0x05060708;
        const observe::FrameSerializers serializers({});
        observe::FrameBytes bytes;
        NS_TEST_ASSERT_MSG_EQ(serializers.Serialize(*frame, 0, true, true, bytes),
                              64,
                              "fits 64 bytes");
        const uint8_t expected[] =
            {0x88, 0x08, 0x0c, 0xbf, 0x00, 0x20, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0};
        for (std::size_t i = 0; i < sizeof(expected); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(+bytes.GetData()[12 + i], +expected[i], "byte " << 12 + i);
        }
        lossless::FramePool::Give(frame);
    }
};

/// @ingroup cbfc-tests
/// @brief Tests of CreditSerializer.
class CreditSerializerTestSuite : public TestSuite
{
  public:
    CreditSerializerTestSuite()
        : TestSuite("cbfc-credit-serializer", Type::UNIT)
    {
        AddTestCase(new CreditSerializerTest, TestCase::Duration::QUICK);
    }
};

static CreditSerializerTestSuite g_creditSerializerTestSuite; //!< registers the suite

} // namespace tests
} // namespace cbfc
} // namespace ns3
