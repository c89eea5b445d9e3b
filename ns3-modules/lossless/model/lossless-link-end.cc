/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-link-end.h"

#include "lossless-attribute.h"
#include "lossless-frame.h"

#include "ns3/abort.h"
#include "ns3/uinteger.h"

namespace ns3
{
namespace lossless
{

TypeId
LinkEnd::AddAttributes(TypeId tid)
{
    return tid
        .AddAttribute("Overhead",
                      "Wire bytes of a frame in addition to its own: preamble 8 and inter-packet "
                      "gap 12 (IEEE 802.3). [B]",
                      UintegerValue(20),
                      MakeUintegerAccessor(&LinkEnd::m_overhead),
                      MakeUintegerChecker<uint32_t>(0, 1000))
        .AddAttribute("ControlDelay",
                      "Time from the last bit of a MAC control frame to its effect on the "
                      "transmitter. PFC caps it at 60 quanta (3840 B at the link rate); "
                      "reproductions of papers set their feedback latency here.",
                      TimeValue(Seconds(0)),
                      MakeTimeAccessor(&LinkEnd::m_controlDelay),
                      MakePicosecondsChecker())
        .AddAttribute("ControlFrameSize",
                      "Size of a MAC control frame, FCS included. [B]",
                      UintegerValue(MIN_FRAME_BYTES),
                      MakeUintegerAccessor(&LinkEnd::m_controlFrameSize),
                      MakeUintegerChecker<uint32_t>(1, 1500))
        .AddAttribute("TelemetryByteResolution",
                      "Unit of the bytes sent that this port writes into telemetry, rounded down, "
                      "as in a header of few bits. 1: exact. 128: byteUnit of the HPCC simulator "
                      "at 25 Gb/s. [B]",
                      UintegerValue(1),
                      MakeUintegerAccessor(&LinkEnd::m_telemetryBytes),
                      MakeUintegerChecker<uint32_t>(1, 1'000'000))
        .AddAttribute("TelemetryQueueResolution",
                      "The same for the queue length. 80: qlenUnit of the HPCC simulator at 25 "
                      "Gb/s. [B]",
                      UintegerValue(1),
                      MakeUintegerAccessor(&LinkEnd::m_telemetryQueue),
                      MakeUintegerChecker<uint32_t>(1, 1'000'000));
}

TelemetryHop
LinkEnd::InResolution(TelemetryHop hop) const
{
    if (m_telemetryBytes > 1)
    {
        hop.txBytes -= hop.txBytes % m_telemetryBytes;
    }
    if (m_telemetryQueue > 1)
    {
        hop.queue -= hop.queue % m_telemetryQueue;
    }
    return hop;
}

void
LinkEnd::Attach(uint16_t index, uint64_t rate, int64_t delay)
{
    NS_ABORT_MSG_IF(rate == 0, "the rate of a link must be above 0 bit/s");
    m_index = index;
    m_rate = rate;
    m_delay = delay;
    constexpr uint64_t PS_BITS = 8'000'000'000'000ULL;
    m_psPerByte = PS_BITS % rate == 0 ? static_cast<int64_t>(PS_BITS / rate) : 0;
}

} // namespace lossless
} // namespace ns3
