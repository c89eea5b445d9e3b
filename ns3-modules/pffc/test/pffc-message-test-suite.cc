/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "ns3/observe-mac-control.h"
#include "ns3/pffc-message.h"
#include "ns3/test.h"

#include <random>

/**
 * @file
 * @ingroup pffc-tests
 * The bytes of control frames.
 */

namespace ns3
{
namespace pffc
{
namespace tests
{

/// @ingroup pffc-tests
/// @brief Control frames as bytes.
class MessageTest : public TestCase
{
  public:
    MessageTest()
        : TestCase("control frames have the documented bytes and are read back from them")
    {
    }

  private:
    void DoRun() override;
};

void
MessageTest::DoRun()
{
    lossless::ControlFrame control;
    Message migrate;
    migrate.opcode = MIGRATE_OPCODE;
    migrate.cls = 3;
    migrate.sequence = 0x1234;
    migrate.peq = 5;
    migrate.nFlows = 2;
    migrate.flows = {0xdeadbeef, 7, 0};
    Write(migrate, control);
    const auto bytes = observe::SerializeMacControl(control, 9);
    const std::array<uint8_t, 20> expected{
        0x0f, 0xf1,             // opcode
        0x03, 0x3f,             // class 3; words 0 to 5 are in use
        0x12, 0x34,             // sequence number
        0x00, 0x05,             // PEQ
        0xde, 0xad, 0xbe, 0xef, // first flow
        0x00, 0x00, 0x00, 0x07, // second flow
        0x00, 0x00, 0x00, 0x00, // no third
    };
    for (std::size_t i = 0; i < expected.size(); ++i)
    {
        NS_TEST_ASSERT_MSG_EQ(+bytes[14 + i], +expected[i], "byte " << 14 + i << " of MIGRATE");
    }
    Message state;
    state.opcode = STATE_OPCODE;
    state.cls = 6;
    state.sequence = 0xffff;
    state.queues = 0x0e;
    state.paused = 0x0a;
    Write(state, control);
    const auto pause = observe::SerializeMacControl(control, 9);
    const std::array<uint8_t, 12> pauseBytes{
        0x0f,
        0xf0, // opcode
        0x06,
        0x0f, // class 6; words 0 to 3
        0xff,
        0xff, // sequence number
        0xff,
        0xff, // PEQ 1: paused
        0x00,
        0x00, // PEQ 2: not
        0xff,
        0xff, // PEQ 3: paused
    };
    for (std::size_t i = 0; i < pauseBytes.size(); ++i)
    {
        NS_TEST_ASSERT_MSG_EQ(+pause[14 + i], +pauseBytes[i], "byte " << 14 + i << " of PAUSE");
    }
    std::mt19937_64 random(8);
    for (int round = 0; round < 1000; ++round)
    {
        Message sent;
        sent.opcode = static_cast<uint16_t>(STATE_OPCODE + random() % 3);
        sent.cls = random() % 8;
        sent.sequence = static_cast<uint16_t>(random());
        if (sent.opcode == STATE_OPCODE)
        {
            sent.queues = random() & 0xfe;
            sent.paused = random() & sent.queues;
        }
        else
        {
            sent.peq = 1 + random() % 7;
            sent.nFlows = 1 + random() % FLOWS_PER_FRAME;
            for (uint32_t i = 0; i < sent.nFlows; ++i)
            {
                sent.flows[i] = static_cast<uint32_t>(random());
            }
        }
        Write(sent, control);
        lossless::ControlFrame wire;
        Message got;
        NS_TEST_ASSERT_MSG_EQ(
            observe::ReadMacControl(observe::SerializeMacControl(control, 1), wire) &&
                Read(wire, got),
            true,
            "it is understood");
        NS_TEST_ASSERT_MSG_EQ((got.opcode == sent.opcode && got.cls == sent.cls &&
                               got.sequence == sent.sequence && got.queues == sent.queues &&
                               got.paused == sent.paused && got.peq == sent.peq &&
                               got.nFlows == sent.nFlows && got.flows == sent.flows),
                              true,
                              "what was sent, round " << round);
    }
    control.opcode = lossless::PFC_OPCODE;
    Message none;
    NS_TEST_ASSERT_MSG_EQ(Read(control, none), false, "PFC is not PFFC");
}

/// @ingroup pffc-tests
/// @brief Tests of Message.
class MessageTestSuite : public TestSuite
{
  public:
    MessageTestSuite()
        : TestSuite("pffc-message", Type::UNIT)
    {
        AddTestCase(new MessageTest, TestCase::Duration::QUICK);
    }
};

static MessageTestSuite g_messageTestSuite; //!< registers the suite

} // namespace tests
} // namespace pffc
} // namespace ns3
