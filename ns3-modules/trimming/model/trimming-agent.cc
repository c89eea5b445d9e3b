/*
 * Copyright (c) 2026 the pyorch developers
 * SPDX-License-Identifier: GPL-2.0-only
 * Author: the pyorch developers
 */
#include "trimming-agent.h"

#include "ns3/enum.h"
#include "ns3/lossless-fabric-node.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{
namespace trimming
{

using lossless::Frame;
using lossless::FrameKind;
using lossless::Port;

NS_OBJECT_ENSURE_REGISTERED(Trimming);

namespace
{

/// First of the ns-3 random streams of coins: node n uses the n-th after it.
constexpr int64_t COIN_STREAM = 1LL << 35;

} // namespace

TypeId
Trimming::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::trimming::Trimming")
            .SetParent<SwitchAgent>()
            .SetGroupName("trimming")
            .AddConstructor<Trimming>()
            .AddAttribute("Size",
                          "Size to which frames are cut, FCS included. 128 B: SAI's default; "
                          "Tomahawk 5 has 206 B (both verified). [B]",
                          UintegerValue(128),
                          MakeUintegerAccessor(&Trimming::m_size),
                          MakeUintegerChecker<uint16_t>(lossless::MIN_FRAME_BYTES, 9216))
            .AddAttribute("Classes",
                          "Bit mask: bit c set trims class c, which must be lossy. 0: all lossy "
                          "classes.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Trimming::m_classes),
                          MakeUintegerChecker<uint32_t>(0, 0xff))
            .AddAttribute("TrimClass",
                          "Class, and so queue, of trimmed frames, which must be lossy: the new "
                          "DSCP of SAI (verified). 7, the highest: ours.",
                          UintegerValue(7),
                          MakeUintegerAccessor(&Trimming::m_trimClass),
                          MakeUintegerChecker<uint8_t>(0, lossless::N_CLASSES - 1))
            .AddAttribute("Victim",
                          "Which frame is trimmed: the Arriving one, as in SAI, or by Coin that "
                          "one or the newest of its egress queue, as in htsim (both verified).",
                          EnumValue(Victim::ARRIVING),
                          MakeEnumAccessor<Victim>(&Trimming::m_victim),
                          MakeEnumChecker(Victim::ARRIVING, "Arriving", Victim::COIN, "Coin"))
            .AddTraceSource("Trim",
                            "A frame was trimmed: egress port, frame, bytes cut off.",
                            MakeTraceSourceAccessor(&Trimming::m_trimTrace),
                            "ns3::trimming::Trimming::TrimCallback");
    return tid;
}

void
Trimming::Start()
{
    if (m_victim == Victim::COIN)
    {
        m_random = CreateObject<UniformRandomVariable>();
        m_random->SetStream(COIN_STREAM + m_node->GetId());
    }
}

std::string
Trimming::Check() const
{
    const std::string where = m_node->GetName() + ": trimming: ";
    if (!m_node->IsSwitch())
    {
        return where + "only switches trim; name it among the agents, not the host agents\n";
    }
    std::string problems;
    const lossless::BufferPolicy& buffer = m_node->GetBuffer();
    if (const uint32_t both = m_classes & buffer.GetLosslessClasses())
    {
        for (uint8_t cls = 0; cls < lossless::N_CLASSES; ++cls)
        {
            if ((both >> cls) & 1U)
            {
                problems += where + "class " + std::to_string(cls) +
                            " is lossless, and such a class is never trimmed; clear its bit in "
                            "Classes, or in LosslessClasses\n";
            }
        }
    }
    if (buffer.IsLossless(m_trimClass))
    {
        problems += where + "TrimClass " + std::to_string(m_trimClass) +
                    " is lossless; choose a lossy class\n";
    }
    if ((m_classes >> m_trimClass) & 1U)
    {
        problems += where + "TrimClass " + std::to_string(m_trimClass) +
                    " is among Classes, so that trimmed frames would wait behind whole ones; "
                    "choose another, or clear its bit in Classes\n";
    }
    uint32_t largest = 0;
    for (uint16_t index = 0; index < m_node->GetNPorts(); ++index)
    {
        largest = std::max<uint32_t>(largest, m_node->GetPort(index).GetLargestFrame());
    }
    if (m_size >= largest)
    {
        problems += where + "Size " + std::to_string(m_size) +
                    " B is not below the largest frame, " + std::to_string(largest) +
                    " B, so that nothing is ever trimmed; lower it\n";
    }
    return problems;
}

bool
Trimming::IsTrimmed(uint8_t cls) const
{
    return m_classes == 0 || (m_classes >> cls) & 1U;
}

bool
Trimming::NotifyRefused(Frame& frame, Port& /* ingress */)
{
    if (frame.truncated)
    {
        ++m_counters.dropped;
        return false;
    }
    if (frame.kind != FrameKind::DATA || !IsTrimmed(frame.cls))
    {
        return false;
    }
    return (m_random && m_random->GetValue(0, 1) < 0.5 && TrimQueued(frame)) || Trim(frame);
}

bool
Trimming::Trim(Frame& frame)
{
    if (frame.bytes <= m_size)
    {
        return false;
    }
    const auto cut = static_cast<uint16_t>(frame.bytes - m_size);
    frame.bytes = m_size;
    frame.payload -= std::min(frame.payload, cut);
    frame.cls = m_trimClass;
    frame.truncated = true;
    ++m_counters.frames;
    m_counters.bytes += cut;
    m_trimTrace(m_node->GetPort(frame.egress), frame, cut);
    return true;
}

bool
Trimming::TrimQueued(const Frame& frame)
{
    Port& egress = m_node->GetPort(frame.egress);
    const Frame* newest = nullptr;
    egress.GetQueues()[frame.cls].ForEach([&newest](const Frame& queued) {
        newest = !newest || queued.order > newest->order ? &queued : newest;
    });
    if (!newest || newest->kind != FrameKind::DATA || newest->truncated || newest->bytes <= m_size)
    {
        return false;
    }
    const uint64_t order = newest->order;
    Frame* taken =
        egress.GetEgress()
            .TakeFrames(frame.cls, [order](const Frame& queued) { return queued.order == order; })
            .front();
    m_node->Release(lossless::Departure::Of(*taken));
    taken->charged = false;
    Trim(*taken);
    if (m_node->Charge(taken, m_node->GetPort(taken->ingress), taken->egress))
    {
        egress.Enqueue(taken);
    }
    return true;
}

void
Trimming::Report(lossless::Summary& summary) const
{
    summary["trimmed_frames"] += static_cast<double>(m_counters.frames);
    summary["trimmed_bytes"] += static_cast<double>(m_counters.bytes);
    summary["trimmed_dropped_frames"] += static_cast<double>(m_counters.dropped);
}

uint32_t
Trimming::GetTruncatedSize() const
{
    return m_size;
}

const Trimming::Counters&
Trimming::GetCounters() const
{
    return m_counters;
}

} // namespace trimming
} // namespace ns3
