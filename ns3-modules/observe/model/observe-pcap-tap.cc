/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "observe-pcap-tap.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/fatal-impl.h"
#include "ns3/lossless-attribute.h"
#include "ns3/lossless-event.h"
#include "ns3/lossless-rate.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ns3
{
namespace observe
{

using lossless::Frame;
using lossless::Port;

NS_OBJECT_ENSURE_REGISTERED(PcapTap);

namespace
{

constexpr uint32_t NANOSECOND_MAGIC = 0xa1b23c4d;
constexpr uint32_t VERSION = 4U << 16 | 2; // 2.4, read as two halves
constexpr uint32_t LINKTYPE_ETHERNET = 1;
constexpr int64_t PS_PER_NS = 1'000;
constexpr int64_t PS_PER_S = 1'000'000'000'000;

/**
 * @brief Write words, least significant byte first on any machine.
 *
 * @tparam N number of words.
 * @param out output.
 * @param words the words.
 */
template <std::size_t N>
void
WriteWords(std::ostream& out, const std::array<uint32_t, N>& words)
{
    std::array<char, 4 * N> bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i)
    {
        bytes[i] = static_cast<char>(words[i / 4] >> (8 * (i % 4)));
    }
    out.write(bytes.data(), bytes.size());
}

} // namespace

TypeId
PcapTap::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::observe::PcapTap")
            .SetParent<Object>()
            .SetGroupName("observe")
            .AddConstructor<PcapTap>()
            .AddAttribute("Fcs",
                          "Whether frames include their FCS; few NICs capture it.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&PcapTap::m_fcs),
                          MakeBooleanChecker())
            .AddAttribute("Tagged",
                          "Whether routed frames have an 802.1Q tag with their class as priority.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&PcapTap::m_tagged),
                          MakeBooleanChecker())
            .AddAttribute("SnapLength",
                          "Maximum number of bytes written per frame. [B]",
                          UintegerValue(65535),
                          MakeUintegerAccessor(&PcapTap::m_snapLength),
                          MakeUintegerChecker<uint32_t>(1, 65535))
            .AddAttribute("Direction",
                          "Which frames of the port are captured: Both, Transmit or Receive.",
                          EnumValue(Direction::BOTH),
                          MakeEnumAccessor<Direction>(&PcapTap::m_direction),
                          MakeEnumChecker(Direction::BOTH,
                                          "Both",
                                          Direction::TRANSMIT,
                                          "Transmit",
                                          Direction::RECEIVE,
                                          "Receive"))
            .AddAttribute("Start",
                          "Time from which frames are captured.",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&PcapTap::m_start),
                          lossless::MakePicosecondsChecker())
            .AddAttribute("Stop",
                          "Time from which frames are no longer captured; 0: never.",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&PcapTap::m_stop),
                          lossless::MakePicosecondsChecker());
    return tid;
}

PcapTap::PcapTap() = default;

PcapTap::~PcapTap()
{
    Close(); // the port may outlive the tap
}

void
PcapTap::DoDispose()
{
    Close();
    m_serializers.reset();
    Object::DoDispose();
}

bool
PcapTap::Open(const std::string& file,
              Port& port,
              std::shared_ptr<const FrameSerializers> serializers)
{
    NS_ABORT_MSG_IF(!m_file.empty(),
                    "a PcapTap captures one port: this one already writes " << m_file);
    m_file = file;
    m_port = &port;
    m_serializers = serializers ? std::move(serializers) : FrameSerializers::Of(port);
    m_out.open(file, std::ios::binary | std::ios::trunc);
    FatalImpl::RegisterStream(&m_out); // captures matter most after an abort
    WriteHeader();
    if (m_direction != Direction::RECEIVE)
    {
        port.TraceConnectWithoutContext("Transmit", MakeCallback(&PcapTap::Transmitted, this));
    }
    if (m_direction != Direction::TRANSMIT)
    {
        port.TraceConnectWithoutContext("Receive", MakeCallback(&PcapTap::Received, this));
    }
    return m_out.good();
}

void
PcapTap::WriteHeader()
{
    WriteWords<6>(m_out, {NANOSECOND_MAGIC, VERSION, 0, 0, m_snapLength, LINKTYPE_ETHERNET});
    m_out.flush(); // detects an unwritable path at once
}

bool
PcapTap::Close()
{
    if (m_port)
    {
        Disconnect();
        FatalImpl::UnregisterStream(&m_out);
        m_out.close();
    }
    return !m_out.fail();
}

void
PcapTap::Disconnect()
{
    m_port->TraceDisconnectWithoutContext("Transmit", MakeCallback(&PcapTap::Transmitted, this));
    m_port->TraceDisconnectWithoutContext("Receive", MakeCallback(&PcapTap::Received, this));
    m_port = nullptr;
}

const std::string&
PcapTap::GetFile() const
{
    return m_file;
}

uint64_t
PcapTap::GetFrames() const
{
    return m_frames;
}

uint64_t
PcapTap::GetCutFrames() const
{
    return m_cut;
}

void
PcapTap::Transmitted(const Port& port, const Frame& frame)
{
    Write(frame, port.GetNodeId());
}

void
PcapTap::Received(const Port& port, const Frame& frame)
{
    Write(frame, port.GetPeerId());
}

void
PcapTap::Write(const Frame& frame, uint32_t sender)
{
    const int64_t now = lossless::NowPs();
    if (now < m_start.GetTimeStep() || (!m_stop.IsZero() && now >= m_stop.GetTimeStep()))
    {
        return;
    }
    const uint32_t whole = m_serializers->Serialize(frame, sender, m_tagged, m_fcs, m_bytes);
    ++m_frames;
    m_cut += whole > m_bytes.GetSize();
    m_bytes.CutTo(m_snapLength);
    WriteWords<4>(m_out,
                  {static_cast<uint32_t>(now / PS_PER_S),
                   static_cast<uint32_t>(now % PS_PER_S / PS_PER_NS),
                   static_cast<uint32_t>(m_bytes.GetSize()),
                   whole});
    m_out.write(reinterpret_cast<const char*>(m_bytes.GetData()),
                static_cast<std::streamsize>(m_bytes.GetSize()));
}

} // namespace observe
} // namespace ns3
