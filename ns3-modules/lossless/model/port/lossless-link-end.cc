/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "lossless-link-end.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-frame.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

namespace ns3
{
namespace lossless
{

namespace
{

/// What a tester of 400 Gb/s and a switch with SONiC take together, by the PFC frames that they
/// exchange in a second (ps).
constexpr int64_t TESTER_RESPONSE = 3'000'000;

} // namespace

uint32_t
GetResponseQuanta(uint64_t rate)
{
    // As the rules of headroom of SONiC quote it (sonic-swss, cfgmgr/buffer_headroom_*.lua). At 10
    // Gb/s 60 is quoted, too; the larger is the bound. 800 Gb/s: theirs, with that of 400 Gb/s.
    static constexpr std::pair<uint64_t, uint32_t> QUANTA[] = {{100'000'000, 1},
                                                               {1'000'000'000, 2},
                                                               {10'000'000'000, 67},
                                                               {25'000'000'000, 80},
                                                               {40'000'000'000, 118},
                                                               {50'000'000'000, 147},
                                                               {100'000'000'000, 394},
                                                               {200'000'000'000, 453}};
    const auto* known = std::find_if(std::begin(QUANTA),
                                     std::end(QUANTA),
                                     [rate](const auto& entry) { return entry.first >= rate; });
    return known == std::end(QUANTA) ? 905 : known->second;
}

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
                      "transmitter. Reproductions of papers set their feedback latency here; for "
                      "what hardware takes see PauseResponse.",
                      TimeValue(Seconds(0)),
                      MakeTimeAccessor(&LinkEnd::m_controlDelay),
                      MakePicosecondsChecker())
        .AddAttribute("PauseResponse",
                      "How long a MAC control frame takes to have its effect, unless ControlDelay "
                      "is longer: Ideal (no time), 802.3 (as long as IEEE 802.3, 31B.3.7 allows: "
                      "67 quanta of 512 bit times at 10 Gb/s, 394 at 100, 905 at 400 and 800; at "
                      "a rate that it lacks those of the next faster one), or Tester (3 us, a 400G "
                      "tester behind a SONiC switch). An experiment that sets neither of the two "
                      "has 802.3.",
                      EnumValue(PauseResponse::IDEAL),
                      MakeEnumAccessor<PauseResponse>(&LinkEnd::m_response),
                      MakeEnumChecker(PauseResponse::IDEAL,
                                      "Ideal",
                                      PauseResponse::IEEE,
                                      "802.3",
                                      PauseResponse::TESTER,
                                      "Tester"))
        .AddAttribute("ClockOffset",
                      "Difference of the clock of the node from the nominal one: this end of the "
                      "link sends faster by so many millionths. IEEE 802.3 allows 100.",
                      DoubleValue(0),
                      MakeDoubleAccessor(&LinkEnd::m_clockOffset),
                      MakeDoubleChecker<double>(-1000, 1000))
        .AddAttribute("ClockTolerance",
                      "The clock of every node differs by up to so many millionths more or less, "
                      "drawn from the seed, the same for all of its ports.",
                      DoubleValue(0),
                      MakeDoubleAccessor(&LinkEnd::m_clockTolerance),
                      MakeDoubleChecker<double>(0, 1000))
        .AddAttribute("BitErrorRate",
                      "Share of the bits sent that are received wrong: a frame with one is lost on "
                      "the link, drawn from the seed.",
                      DoubleValue(0),
                      MakeDoubleAccessor(&LinkEnd::m_bitErrorRate),
                      MakeDoubleChecker<double>(0, 0.1))
        .AddAttribute("LossRate",
                      "Share of the frames sent, of any size, that are lost on the link besides "
                      "those with wrong bits, drawn from the seed.",
                      DoubleValue(0),
                      MakeDoubleAccessor(&LinkEnd::m_lossRate),
                      MakeDoubleChecker<double>(0, 1))
        .AddAttribute("ControlFrameSize",
                      "Size of a MAC control frame, FCS included. [B]",
                      UintegerValue(MIN_FRAME_BYTES),
                      MakeUintegerAccessor(&LinkEnd::m_controlFrameSize),
                      MakeUintegerChecker<uint32_t>(1, 1500))
        .AddAttribute("Mtu",
                      "Largest frame that the port sends and receives, FCS included; 0: any. Both "
                      "ends of a link have the same, and flows with larger frames are refused. "
                      "[B]",
                      UintegerValue(0),
                      MakeUintegerAccessor(&LinkEnd::m_mtu),
                      MakeUintegerChecker<uint32_t>(0, 65'535))
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
    m_delay = delay;
    m_nominalRate = rate;
    SetRate(rate);
}

void
LinkEnd::SetRate(uint64_t rate)
{
    constexpr uint64_t PS_BITS = 8'000'000'000'000ULL;
    m_rate = rate;
    m_psPerByte = PS_BITS % rate == 0 ? static_cast<int64_t>(PS_BITS / rate) : 0;
}

void
LinkEnd::SetClock(double draw)
{
    const double millionths = m_clockOffset + draw * m_clockTolerance;
    if (millionths != 0)
    {
        const auto more = std::llround(static_cast<double>(m_nominalRate) * millionths * 1e-6);
        SetRate(static_cast<uint64_t>(static_cast<int64_t>(m_nominalRate) + more));
    }
}

int64_t
LinkEnd::GetControlDelay() const
{
    const int64_t delay = m_controlDelay.GetTimeStep();
    if (m_response == PauseResponse::IDEAL)
    {
        return delay;
    }
    if (m_response == PauseResponse::TESTER)
    {
        return std::max(delay, TESTER_RESPONSE);
    }
    const int64_t bytes = GetResponseQuanta(m_nominalRate) * QUANTUM_BYTES;
    return std::max(delay, TransmissionTime(bytes, m_nominalRate));
}

} // namespace lossless
} // namespace ns3
