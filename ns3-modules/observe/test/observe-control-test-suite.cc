/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "../../lossless/test/lossless-test-node.h"

#include "ns3/lossless-shared-buffer.h"
#include "ns3/observe-probe.h"
#include "ns3/test.h"

#include <array>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup observe-tests
 * The table of MAC control frames.
 */

namespace ns3
{
namespace observe
{
namespace tests
{

using lossless::Frame;
using lossless::FramePool;
using lossless::Port;
using lossless::tests::TestNode;

/// @ingroup observe-tests
/// @brief The table "control" against times reckoned by hand.
class ControlTraceTest : public TestCase
{
  public:
    ControlTraceTest()
        : TestCase("a traced port notes each MAC control frame that it puts on the wire, when it "
                   "begins to go, and no other frame")
    {
    }

  private:
    /// A MAC control frame.
    /// @param opcode its opcode. @param classes its class-enable vector. @return the frame.
    static Frame* Control(uint16_t opcode, uint16_t classes)
    {
        Frame* frame = FramePool::TakeControl();
        frame->control->opcode = opcode;
        frame->control->classes = classes;
        frame->control->value.fill(0);
        return frame;
    }

    /// A column as numbers. @tparam T its type. @param column the column. @return its values.
    template <class T>
    static std::vector<int64_t> Values(const Table::AnyColumn& column)
    {
        const T* data = static_cast<const T*>(column.GetData());
        return {data, data + column.GetRows()};
    }

    void DoRun() override
    {
        lossless::UsePicoseconds();
        // 10 Gb/s, 20 B of overhead: a control frame takes 84 B or 67.2 ns, the data frame 1020 B
        // or 816 ns.
        constexpr int64_t DATA = 816'000;
        constexpr int64_t CONTROL = 67'200;
        std::array<Ptr<TestNode>, 2> nodes{CreateObject<TestNode>(), CreateObject<TestNode>()};
        for (const auto& node : nodes)
        {
            node->SetBuffer(CreateObject<lossless::SharedBuffer>());
            node->AddPort(CreateObject<Port>());
        }
        Port& port = nodes[0]->GetPort(0);
        Port& other = nodes[1]->GetPort(0);
        port.Attach(PeekPointer(nodes[0]), 0, &other, 10'000'000'000, 1'000'000);
        other.Attach(PeekPointer(nodes[1]), 0, &port, 10'000'000'000, 1'000'000);
        nodes[0]->Start();
        nodes[1]->Start();
        auto fabric = CreateObject<lossless::Fabric>();
        Recorder recorder(*fabric);
        recorder.Trace("control", port, 0x08, Time{0});
        recorder.Trace("control", port, 0x10, Time{0}); // adds a class, not a row
        Frame* data = FramePool::Take();
        data->cls = 3;
        data->bytes = 1000;
        nodes[0]->Inject(data); // goes at once, and all others wait for it
        port.SendControl(Control(0x0101, 0x08));
        port.SendControl(Control(0x0fc1, 0x10), true);     // ideal: not on the wire
        port.SendControl(Control(0x0fc1, 0x01));           // addresses no traced class
        port.SendState(Control(0x0fc2, 0x01));             // waits,
        port.SendState(Control(0x0fc2, 0x10));             // and takes along a traced class
        other.SendControl(Control(0x0101, 0x08));          // of a port that is not traced
        Simulator::Schedule(TimeStep(5'000'000), [&port] { // of a port at rest: at once
            port.SendState(Control(0xffff, 0xff), true);
        });
        Simulator::Run();
        const auto& columns = recorder.GetTables().at(0)->GetColumns();
        const std::vector<std::string> names{"time_ps",
                                             "node",
                                             "peer",
                                             "opcode",
                                             "classes",
                                             "bytes"};
        NS_TEST_ASSERT_MSG_EQ(columns.size(), names.size(), "columns");
        for (std::size_t i = 0; i < names.size(); ++i)
        {
            NS_TEST_ASSERT_MSG_EQ(columns[i]->m_name, names[i], "column " << i);
        }
        using List = std::vector<int64_t>;
        const List times{DATA, DATA + 2 * CONTROL, 5'000'000};
        NS_TEST_ASSERT_MSG_EQ((Values<int64_t>(*columns[0]) == times), true, "starts, to the ps");
        const List ends(3, port.GetNodeId());
        NS_TEST_ASSERT_MSG_EQ((Values<uint32_t>(*columns[1]) == ends), true, "node");
        const List peers(3, port.GetPeerId());
        NS_TEST_ASSERT_MSG_EQ((Values<uint32_t>(*columns[2]) == peers), true, "peer");
        const List opcodes{0x0101, 0x0fc2, 0xffff};
        NS_TEST_ASSERT_MSG_EQ((Values<uint16_t>(*columns[3]) == opcodes), true, "opcodes");
        const List classes{0x08, 0x11, 0xff};
        NS_TEST_ASSERT_MSG_EQ((Values<uint16_t>(*columns[4]) == classes), true, "class vectors");
        const List bytes(3, 84);
        NS_TEST_ASSERT_MSG_EQ((Values<int64_t>(*columns[5]) == bytes), true, "bytes on the wire");
        Simulator::Destroy();
        nodes[0]->Dispose();
        nodes[1]->Dispose();
        FramePool::Clear();
    }
};

/// @ingroup observe-tests
/// @brief Tests of the table "control".
class ControlTestSuite : public TestSuite
{
  public:
    ControlTestSuite()
        : TestSuite("observe-control", Type::UNIT)
    {
        AddTestCase(new ControlTraceTest, TestCase::Duration::QUICK);
    }
};

static ControlTestSuite g_controlTestSuite; //!< registers the suite

} // namespace tests
} // namespace observe
} // namespace ns3
