/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "rdma-frame-format.h"

#include "ns3/boolean.h"
#include "ns3/lossless-frame.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{
namespace rdma
{

TypeId
FrameFormat::AddAttributes(TypeId tid)
{
    return tid
        .AddAttribute("PayloadSize",
                      "Payload of a full packet. [B]",
                      UintegerValue(1000),
                      MakeUintegerAccessor(&FrameFormat::m_payloadSize),
                      MakeUintegerChecker<uint32_t>(1, 9000))
        .AddAttribute("HeaderSize",
                      "Bytes of a data frame besides its payload, FCS included. 48 as in other "
                      "simulators; real RoCEv2 with an 802.1Q tag has 66. [B]",
                      UintegerValue(48),
                      MakeUintegerAccessor(&FrameFormat::m_headerSize),
                      MakeUintegerChecker<uint32_t>(0, 500))
        .AddAttribute("MinFrameSize",
                      "Smallest frame (IEEE 802.3, clause 4.4.2). [B]",
                      UintegerValue(lossless::MIN_FRAME_BYTES),
                      MakeUintegerAccessor(&FrameFormat::m_minFrame),
                      MakeUintegerChecker<uint32_t>(1, 1500))
        .AddAttribute("AckSize",
                      "Size of an ACK, NACK or CNP. 64 as in other simulators; a real ACK of "
                      "RoCEv2 with an 802.1Q tag has 70. [B]",
                      UintegerValue(64),
                      MakeUintegerAccessor(&FrameFormat::m_ackSize),
                      MakeUintegerChecker<uint32_t>(1, 1500))
        .AddAttribute("CnpSize",
                      "Size of a CNP; 0: as AckSize. Real RoCEv2 has 82 with an 802.1Q tag. "
                      "[B]",
                      UintegerValue(0),
                      MakeUintegerAccessor(&FrameFormat::m_cnpSize),
                      MakeUintegerChecker<uint32_t>(0, 1500))
        .AddAttribute("AnswerClass",
                      "Class of ACK, NACK and CNP; 8 is the control queue, which is never paused.",
                      UintegerValue(lossless::CONTROL_CLASS),
                      MakeUintegerAccessor(&FrameFormat::m_answerClass),
                      MakeUintegerChecker<uint32_t>(0, lossless::CONTROL_CLASS))
        .AddAttribute("Dscp",
                      "Code point of data frames, and of answers of the same class, by which "
                      "switches may tell classes (dscp_classes of [port]); 64: eight times the "
                      "class, as all other frames have.",
                      UintegerValue(lossless::Frame::NO_DSCP),
                      MakeUintegerAccessor(&FrameFormat::m_dscp),
                      MakeUintegerChecker<uint32_t>(0, lossless::Frame::NO_DSCP))
        .AddAttribute("Ttl",
                      "Time to live of a frame: a switch that decrements it to 0 drops the frame.",
                      UintegerValue(64),
                      MakeUintegerAccessor(&FrameFormat::m_ttl),
                      MakeUintegerChecker<uint32_t>(1, 255))
        .AddAttribute("TelemetryHops",
                      "Maximum number of switches whose in-band network telemetry (INT) fits in a "
                      "frame; 5 as in HPCC's simulator. Only flows whose congestion control uses "
                      "telemetry carry it.",
                      UintegerValue(5),
                      MakeUintegerAccessor(&FrameFormat::m_telemetryHops),
                      MakeUintegerChecker<uint32_t>(1, lossless::MOST_TELEMETRY_HOPS))
        .AddAttribute("TelemetryHeaderSize",
                      "Size of the telemetry header in a data frame, an ACK and a NACK; 2 as in "
                      "HPCC's simulator. [B]",
                      UintegerValue(2),
                      MakeUintegerAccessor(&FrameFormat::m_telemetryHeader),
                      MakeUintegerChecker<uint32_t>(0, 100))
        .AddAttribute("TelemetryHopSize",
                      "Size of the telemetry of each hop, reserved by the sender; 8 as in HPCC's "
                      "simulator. [B]",
                      UintegerValue(8),
                      MakeUintegerAccessor(&FrameFormat::m_telemetryHopSize),
                      MakeUintegerChecker<uint32_t>(0, 100))
        .AddAttribute("EcnCapable",
                      "Whether switches may mark data frames (ECN).",
                      BooleanValue(true),
                      MakeBooleanAccessor(&FrameFormat::m_ecnCapable),
                      MakeBooleanChecker());
}

uint32_t
FrameFormat::GetLargestFrame(bool collects) const
{
    const uint32_t extra = collects ? GetTelemetryBytes() : 0;
    return std::max(
        {m_payloadSize + m_headerSize + extra, m_minFrame, m_ackSize + extra, m_cnpSize});
}

} // namespace rdma
} // namespace ns3
