/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "lossless-frame-log.h"

#include "lossless-event.h"

namespace ns3
{
namespace lossless
{

namespace
{

/**
 * @brief What identifies a frame within its flow.
 *
 * @param frame it.
 * @return packet number; -1 if it has none.
 */
int64_t
NumberOf(const Frame& frame)
{
    switch (frame.kind)
    {
    case FrameKind::DATA:
        return frame.psn;
    case FrameKind::ACK:
    case FrameKind::NACK:
        return static_cast<int64_t>(frame.word[0]);
    default:
        return -1;
    }
}

} // namespace

FrameLog::FrameLog(Recorder& recorder)
{
    Table& table = *recorder.AddTable("frame");
    m_time = table.Add<int64_t>("time_ps");
    m_node = table.Add<uint32_t>("node");
    m_peer = table.Add<uint32_t>("peer");
    m_kind = table.Add<uint8_t>("kind");
    m_cls = table.Add<uint8_t>("class");
    m_flow = table.Add<uint32_t>("flow");
    m_psn = table.Add<int64_t>("psn");
    m_code = table.Add<uint16_t>("opcode");
    m_bytes = table.Add<int64_t>("bytes");
}

void
FrameLog::Add(Port& port)
{
    if (m_ports.insert(&port).second)
    {
        port.TraceConnectWithoutContext("Transmit", MakeCallback(&FrameLog::Record, this));
    }
}

void
FrameLog::Record(const Port& port, const Frame& frame)
{
    m_time->push_back(NowPs());
    m_node->push_back(port.GetNodeId());
    m_peer->push_back(port.GetPeerId());
    m_kind->push_back(static_cast<uint8_t>(frame.kind));
    m_cls->push_back(frame.cls);
    m_flow->push_back(frame.flow);
    m_psn->push_back(NumberOf(frame));
    m_code->push_back(frame.control ? frame.control->opcode : 0);
    m_bytes->push_back(frame.bytes + static_cast<int64_t>(port.GetOverhead()));
}

} // namespace lossless
} // namespace ns3
