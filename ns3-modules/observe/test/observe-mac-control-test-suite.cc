/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "observe-fcs.h"

#include "ns3/observe-mac-control.h"
#include "ns3/test.h"

#include <random>

/**
 * @file
 * @ingroup observe-tests
 * The bytes of MAC control frames.
 */

namespace ns3
{
namespace observe
{
namespace tests
{

using lossless::ControlFrame;

/// @ingroup observe-tests
/// @brief A PFC frame byte by byte, with an FCS computed bit by bit, and random frames there and
/// back.
class MacControlTest : public TestCase
{
  public:
    MacControlTest()
        : TestCase("a PFC frame has the bytes of IEEE 802.1Qbb, and what was written is read back")
    {
    }

  private:
    void DoRun() override
    {
        ControlFrame pause;
        pause.opcode = lossless::PFC_OPCODE;
        pause.classes = 1U << 3 | 1U << 6;
        pause.value.fill(0x1234); // of classes not addressed: not to be sent
        pause.value[3] = 0xffff;
        pause.value[6] = 0x00a0;
        const auto bytes = SerializeMacControl(pause, 0x01020304);
        const uint8_t expected[] = {0x01, 0x80, 0xc2, 0x00, 0x00, 0x01, 0x02, 0x00, 0x01,
                                    0x02, 0x03, 0x04, 0x88, 0x08, 0x01, 0x01, 0x00, 0x48,
                                    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0x00,
                                    0x00, 0x00, 0x00, 0x00, 0xa0, 0x00, 0x00};
        for (std::size_t i = 0; i < sizeof(expected); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(+bytes[i], +expected[i], "byte " << i);
        }
        for (std::size_t i = sizeof(expected); i < 60; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(+bytes[i], 0, "padding byte " << i);
        }
        const uint32_t fcs = Fcs(bytes.data(), 60);
        for (std::size_t i = 0; i < 4; ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(+bytes[60 + i], (fcs >> 8 * i & 0xff), "FCS byte " << i);
        }
        std::mt19937 random(1);
        for (int round = 0; round < 200; ++round)
        {
            ControlFrame frame;
            frame.opcode = static_cast<uint16_t>(random());
            frame.classes = static_cast<uint16_t>(random() & 0xff);
            for (std::size_t cls = 0; cls < lossless::N_CLASSES; ++cls)
            {
                frame.value[cls] = frame.classes >> cls & 1 ? random() & 0xffff : 0;
            }
            frame.extraLength = static_cast<uint8_t>(random() % (frame.extra.size() + 1));
            frame.extra.fill(0);
            for (std::size_t i = 0; i < frame.extraLength; ++i)
            {
                frame.extra[i] = static_cast<uint8_t>(random());
            }
            auto serialized = SerializeMacControl(frame, random());
            ControlFrame read;
            NS_TEST_ASSERT_MSG_EQ(ReadMacControl(serialized, read), true, "it is well formed");
            NS_TEST_ASSERT_MSG_EQ((read.opcode == frame.opcode && read.classes == frame.classes &&
                                   read.value == frame.value && read.extra == frame.extra),
                                  true,
                                  "round trip " << round);
            serialized[random() % serialized.size()] ^= static_cast<uint8_t>(1U << random() % 8);
            NS_TEST_ASSERT_MSG_EQ(ReadMacControl(serialized, read),
                                  false,
                                  "a flipped bit is noticed");
        }
    }
};

/// @ingroup observe-tests
/// @brief Tests of SerializeMacControl and ReadMacControl.
class MacControlTestSuite : public TestSuite
{
  public:
    MacControlTestSuite()
        : TestSuite("observe-mac-control", Type::UNIT)
    {
        AddTestCase(new MacControlTest, TestCase::Duration::QUICK);
    }
};

static MacControlTestSuite g_macControlTestSuite; //!< registers the suite

} // namespace tests
} // namespace observe
} // namespace ns3
